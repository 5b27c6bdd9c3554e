// SPDX-License-Identifier: BSD-3-Clause
//
// The SPEC of --weft=: what is taken, what is refused and in which words.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "weft_spec.h"

namespace {

std::string refusal(std::string_view text) {
  weft_spec spec;
  char error[WEFT_SPEC_MESSAGE] = "";
  return weft_spec_parse(text.data(), text.size(), &spec, error, sizeof(error)) == 0 ? "" : error;
}

weft_spec parsed(std::string_view text) {
  weft_spec spec;
  weft_spec_init(&spec);
  char error[WEFT_SPEC_MESSAGE] = "";
  EXPECT_EQ(weft_spec_parse(text.data(), text.size(), &spec, error, sizeof(error)), 0) << text << ": " << error;
  return spec;
}

std::string written(const weft_spec& spec) {
  char text[WEFT_SPEC_BYTES];
  const std::size_t length = weft_spec_write(&spec, text, sizeof(text));
  EXPECT_EQ(length, std::strlen(text));
  return text;
}

TEST(Spec, EveryKeyArrives) {
  const weft_spec s = parsed(
      "tp=8,cp=2,ep=4,pp=3,dp=16,order=tp-pp-cp-ep-dp,segment=6,segment_level=nvlink,max_leaves=5,max_pods=2,"
      "exclusive=pod,objective=time,patience=2.5,dp_traffic=reduce_scatter:4GiB+allgather:1.5GB:hierarchical,tp_"
      "traffic="
      "allreduce:"
      "12GiB,"
      "cross_rail=fabric");
  EXPECT_EQ(s.size[WEFT_DIM_TP], 8U);
  EXPECT_EQ(s.size[WEFT_DIM_CP], 2U);
  EXPECT_EQ(s.size[WEFT_DIM_EP], 4U);
  EXPECT_EQ(s.size[WEFT_DIM_PP], 3U);
  EXPECT_EQ(s.size[WEFT_DIM_DP], 16U);
  EXPECT_EQ(s.order[1], WEFT_DIM_PP);
  EXPECT_EQ(s.segment, 6U);
  EXPECT_EQ(s.segment_level, WEFT_LEVEL_NVLINK);
  EXPECT_EQ(s.max_leaves, 5U);
  EXPECT_EQ(s.max_pods, 2U);
  EXPECT_EQ(s.exclusive, WEFT_LEVEL_POD);
  EXPECT_EQ(s.objective, WEFT_OBJECTIVE_TIME);
  EXPECT_EQ(s.patience, 250U);
  EXPECT_EQ(s.patience_given, 1);
  EXPECT_EQ(s.cross_rail, WEFT_CROSS_RAIL_FABRIC);
  ASSERT_EQ(s.term_count, 3);
  EXPECT_EQ(s.terms[0].dim, WEFT_DIM_TP);  // by dimension, whatever the order of the keys
  EXPECT_EQ(s.terms[1].collective, WEFT_REDUCE_SCATTER);
  EXPECT_EQ(s.terms[1].bytes, 4ULL << 30);
  EXPECT_EQ(s.terms[2].bytes, 1'500'000'000ULL);
  EXPECT_EQ(s.terms[2].algorithm, WEFT_HIERARCHICAL);
}

TEST(Spec, WhatIsNotSaidIsTheDefault) {
  const weft_spec s = parsed("tp=8");
  EXPECT_EQ(s.given[WEFT_DIM_TP], 1);
  EXPECT_EQ(s.given[WEFT_DIM_DP], 0);
  EXPECT_EQ(s.size[WEFT_DIM_DP], 1U);
  EXPECT_EQ(s.order[0], WEFT_DIM_TP);
  EXPECT_EQ(s.order[3], WEFT_DIM_DP);
  EXPECT_EQ(s.order[4], WEFT_DIM_PP);
  EXPECT_EQ(s.segment_level, WEFT_LEVEL_NONE);
  EXPECT_EQ(s.patience_given, 0);
  EXPECT_EQ(parsed("segment=8").segment_level, WEFT_LEVEL_LEAF);
}

TEST(Spec, OrderWithoutEpPutsItBeforeDp) {
  EXPECT_EQ(written(parsed("order=tp-cp-dp-pp")), "order=tp-cp-ep-dp-pp");
  EXPECT_EQ(written(parsed("order=dp-tp-cp-pp")), "order=ep-dp-tp-cp-pp");
  EXPECT_EQ(written(parsed("order=tp-pp-cp-dp")), "order=tp-pp-cp-ep-dp");
}

TEST(Spec, WritesTheCanonicalText) {
  EXPECT_EQ(written(parsed("max_leaves=4,segment=8,dp=16,pp=4,tp=08")),
            "tp=8,pp=4,dp=16,segment=8,segment_level=leaf,max_leaves=4");
  EXPECT_EQ(written(parsed("patience=0,tp=8")), "tp=8,patience=0");
  EXPECT_EQ(written(parsed("patience=002.50")), "patience=2.5");
  EXPECT_EQ(written(parsed("patience=1000.0")), "patience=1000");
  EXPECT_EQ(written(parsed("patience=1.05")), "patience=1.05");
  EXPECT_EQ(written(parsed("dp_traffic=allgather:1024MiB+allgather:1500B")),
            "dp_traffic=allgather:1GiB+allgather:1500B");
}

TEST(Spec, RefusalsSayWhereAndWhatWouldBeRight) {
  EXPECT_EQ(refusal(""), "the SPEC is empty; expected key=value such as tp=8,pp=4");
  EXPECT_EQ(refusal(std::string(4097, 'a')), "the SPEC has more than 4096 bytes");
  EXPECT_EQ(refusal("tp=8,tpp=4"),
            "unknown key \"tpp\" at byte 6; expected tp, cp, ep, pp, dp, order, segment, segment_level, max_leaves, "
            "max_pods, exclusive, objective, patience, tp_traffic, cp_traffic, ep_traffic, pp_traffic, dp_traffic or "
            "cross_rail");
  EXPECT_EQ(refusal("tp=8,,pp=4"), "nothing between commas at byte 6; expected key=value");
  EXPECT_EQ(refusal("tp=8,"), "nothing between commas at byte 6; expected key=value");
  EXPECT_EQ(refusal("tp"), "tp at byte 1 has no value; expected tp=...");
  EXPECT_EQ(refusal("tp="), "tp is \"\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=0"), "tp is \"0\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=-8"), "tp is \"-8\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=18446744073709551624"),
            "tp is \"18446744073709551624\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=8,pp=4,tp=8"), "tp stands twice, at byte 1 and at byte 11");
  EXPECT_EQ(refusal("tp=8 ,pp=4"), "tp is \"8 \" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=4096,dp=4096"), "tp 4096 x cp 1 x pp 1 x dp 4096 are more than 4194304 ranks");
  EXPECT_EQ(refusal("dp=6,ep=4"), "ep 4 does not divide dp 6 x cp 1 = 6");
  EXPECT_EQ(refusal("order=tp-cp-xx-dp-pp"),
            "order: \"xx\" at byte 13 is no dimension; expected tp, cp, ep, pp, dp once each, innermost first");
  EXPECT_EQ(refusal("order=tp-tp-cp-dp-pp"), "order names tp twice, at byte 10");
  EXPECT_EQ(refusal("order=tp-cp"), "order does not name pp; expected tp, cp, ep, pp, dp once each");
  EXPECT_EQ(refusal("order=ep"), "order does not name tp; expected tp, cp, ep, pp, dp once each");
  EXPECT_EQ(refusal("ep=2,order=tp-cp-dp-pp"), "order does not name ep, which is 2");
  EXPECT_EQ(refusal("segment_level=leaf"), "segment_level without a segment; expected segment=8 or so beside it");
  EXPECT_EQ(refusal("segment=8,segment_level=rack"),
            "segment_level is \"rack\" at byte 25; expected nvlink, leaf or pod");
  EXPECT_EQ(refusal("objective=speed"), "objective is \"speed\" at byte 11; expected traffic, time or spread");
  for (const char* value : {"1001", "1000.01", "", ".5", "2.", "2.555", "1.5.5", "-1", "1e2", "99999999999999999999"})
    EXPECT_EQ(refusal("patience=" + std::string(value)),
              "patience is \"" + std::string(value) + "\" at byte 10; expected a number from 0 to 1000, such as 2.5");
  EXPECT_EQ(refusal("tp_traffic=allreduce:1GiB"), "tp_traffic without tp; expected tp=8 or so beside it");
  EXPECT_EQ(refusal("dp_traffic=sum:1GiB"),
            "dp_traffic is \"sum\" at byte 12; expected allreduce, reduce_scatter, allgather, broadcast, alltoall or "
            "neighbour");
  EXPECT_EQ(refusal("dp_traffic=allreduce"),
            "dp_traffic: \"allreduce\" at byte 12 says no bytes; expected collective:bytes such as allreduce:4GiB");
  for (const char* bytes :
       {"4", "GiB", "4gib", "1.GiB", ".5GiB", "0B", "1.1B", "2000TiB", "1e3B", "99999999999999999999B"}) {
    const std::string text = refusal("dp_traffic=allreduce:" + std::string(bytes));
    EXPECT_EQ(text, "dp_traffic: bytes are \"" + std::string(bytes) +
                        "\" at byte 22; expected a whole number of bytes with its unit, up to 1024TiB, such as 4GiB");
  }
  EXPECT_EQ(refusal("dp_traffic=allreduce:1GiB:ring:x"),
            "dp_traffic: \"x\" at byte 32 is one part too many; expected collective:bytes[:algorithm]");
  std::string many = "dp_traffic=allreduce:1B";
  for (int i = 0; i < 16; ++i) many += "+allreduce:1B";
  EXPECT_EQ(refusal(many), "dp_traffic at byte 220: more than 16 traffic terms");
}

TEST(Spec, BytesOfTheUserAreShownEscaped) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal("tp=\x1b[31m\n\xff\"\\"),
            "tp is \"\\x1b[31m\\x0a\\xff\\x22\\x5c\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=8\0x"sv), "tp is \"8\\x00x\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(refusal("tp=" + std::string(1000, 'z')),
            "tp is \"" + std::string(32, 'z') + "...\" at byte 4; expected a whole number from 1 to 4194304");
}

TEST(Spec, AMessageIsCutToItsBuffer) {
  weft_spec spec;
  char error[12];
  EXPECT_EQ(weft_spec_parse("tpp=8", 5, &spec, error, sizeof(error)), -1);
  EXPECT_STREQ(error, "unknown key");
  EXPECT_EQ(weft_spec_parse("tpp=8", 5, &spec, nullptr, 0), -1);
  EXPECT_EQ(weft_spec_parse(nullptr, 5, &spec, nullptr, 0), -1);
}

std::string misfit(std::string_view text, weft_spec_job job) {
  const weft_spec spec = parsed(text);
  char error[WEFT_SPEC_MESSAGE] = "";
  std::uint32_t ranks = 0, dp = 0;
  if (weft_spec_fit(&spec, &job, &ranks, &dp, error, sizeof(error)) != 0) return error;
  return std::to_string(ranks) + " ranks, dp " + std::to_string(dp);
}

TEST(Spec, RanksAreTheGpusElseTheTasks) {
  EXPECT_EQ(misfit("tp=8,pp=4", {16, 16, 128, 0}), "128 ranks, dp 4");  // torchrun: a task a node
  EXPECT_EQ(misfit("tp=8,pp=4", {16, 128, 0, 0}), "128 ranks, dp 4");   // srun: a task a GPU
  EXPECT_EQ(misfit("tp=8,pp=4", {16, 0, 0, 8}), "128 ranks, dp 4");     // -N 16 and no more
  EXPECT_EQ(misfit("tp=4,dp=4", {16, 16, 128, 0}), "16 ranks, dp 4");   // named: may be the tasks
}

TEST(Spec, AMisfitIsToldWithItsArithmetic) {
  EXPECT_EQ(misfit("tp=8,pp=4,dp=16", {16, 16, 128, 8}),
            "tp 8 x cp 1 x pp 4 x dp 16 = 512 ranks, but the job has 16 nodes, 128 GPUs and 16 tasks");
  EXPECT_EQ(misfit("tp=8,pp=4,dp=16", {16, 0, 0, 8}),
            "tp 8 x cp 1 x pp 4 x dp 16 = 512 ranks, but the job has 16 nodes and 128 GPUs");
  EXPECT_EQ(misfit("tp=8,pp=3", {16, 128, 0, 0}),
            "tp 8 x cp 1 x pp 3 = 24 does not divide 128 ranks; the job has 16 nodes and 128 tasks");
  EXPECT_EQ(misfit("tp=8", {0, 0, 0, 8}), "the job has no ranks: a layout takes 1 to 4194304 ranks");
  EXPECT_EQ(misfit("tp=8", {3, 512, 0, 8}), "512 ranks do not divide over 3 nodes");
  EXPECT_EQ(misfit("ep=3", {1, 1, 8, 8}), "ep 3 does not divide dp 8 x cp 1 = 8");
}

TEST(Spec, TheTokenIsFoundInExtra) {
  const auto token = [](const char* extra) -> std::string {
    const char* at = nullptr;
    std::size_t length = 0;
    const int found = weft_spec_in_extra(extra, &at, &length);
    return found < 0 ? "twice" : found == 0 ? "none" : std::string(at, length);
  };
  EXPECT_EQ(token(nullptr), "none");
  EXPECT_EQ(token(""), "none");
  EXPECT_EQ(token("weft:tp=8,pp=4"), "tp=8,pp=4");
  EXPECT_EQ(token("site=x; weft:tp=8 other"), "tp=8");
  EXPECT_EQ(token("xweft:tp=8"), "none");
  EXPECT_EQ(token("weft:"), "");
  EXPECT_EQ(token("weft:tp=8 weft:tp=4"), "twice");
}

}  // namespace
