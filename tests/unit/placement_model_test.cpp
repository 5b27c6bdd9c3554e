// SPDX-License-Identifier: BSD-3-Clause
//
// Volumes of known models, worked out on paper beside each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "weft/placement.hpp"

namespace weft::placement::test {
namespace {

using config::Algorithm;
using config::Collective;
using config::Dim;
using config::Layout;
using config::ModelSpec;
using testing::ElementsAre;
using testing::HasSubstr;

Layout layout(std::uint32_t tp, std::uint32_t cp, std::uint32_t ep, std::uint32_t pp, std::uint32_t dp) {
  Layout out;
  out.size = {tp, cp, ep, pp, dp};
  return out;
}

std::string line(const config::TrafficTerm& t) {
  return std::string(to_string(t.dim)) + " " + std::string(to_string(t.collective)) + " " +
         std::to_string(t.bytes.value);
}

std::vector<std::string> terms(const ModelSpec& model, const Layout& layout) {
  const auto traffic = derive_traffic(model, layout);
  if (!traffic) return {traffic.error().to_string()};
  std::vector<std::string> out;
  for (const DerivedTerm& t : traffic->terms) out.push_back(line(t.term));
  return out;
}

std::string fault(const ModelSpec& model, const Layout& layout) {
  const auto traffic = derive_traffic(model, layout);
  return traffic ? "no error" : traffic.error().to_string();
}

std::string value_of(const ModelSpec& model, const Layout& layout, std::string_view name) {
  const auto traffic = derive_traffic(model, layout);
  if (!traffic) return traffic.error().to_string();
  for (const DerivedNumber& n : traffic->numbers)
    if (n.name == name) return n.value;
  return "absent";
}

ModelSpec gpt3() {
  ModelSpec m;
  m.parameters = 175e9;
  m.layers = 96;
  m.hidden = 12288;
  m.heads = 96;
  m.seq = 2048;
  m.microbatch = 1;
  m.global_batch = 1536;
  return m;
}

ModelSpec llama3_70b() {
  ModelSpec m;
  m.layers = 80;
  m.hidden = 8192;
  m.ffn_hidden = 28672;
  m.heads = 64;
  m.kv_heads = 8;
  m.vocab = 128256;
  m.seq = 8192;
  m.microbatch = 1;
  m.global_batch = 512;
  m.zero = 1;
  m.sequence_parallel = true;
  return m;
}

ModelSpec mixtral() {
  ModelSpec m;
  m.layers = 32;
  m.hidden = 4096;
  m.ffn_hidden = 14336;
  m.heads = 32;
  m.kv_heads = 8;
  m.vocab = 32000;
  m.seq = 4096;
  m.microbatch = 1;
  m.global_batch = 512;
  m.zero = 1;
  m.sequence_parallel = true;
  m.experts = 8;
  m.experts_per_token = 2;
  return m;
}

TEST(PlacementModel, Gpt3) {
  // 1536 / (1 x 16) = 96 microbatches. Activation 2048 x 1 x 12288 x 2 = 50331648 bytes.
  // tp  4 x 50331648 x 96 layers / 8 stages x 96 = 231928233984
  // pp  50331648 x 96 = 4831838208
  // dp  175e9 / 64 = 2734375000 parameters of 4 bytes (bf16 gradients are reduced in fp32)
  EXPECT_THAT(terms(gpt3(), layout(8, 1, 1, 8, 16)),
              ElementsAre("tp allreduce 231928233984", "pp neighbour 4831838208", "dp allreduce 10937500000"));
}

TEST(PlacementModel, Llama3) {
  // Layer: 2 x 8192^2 + 2 x 8192 x 1024 + 3 x 8192 x 28672 + 2 x 8192 = 855654400; x 80 + 2 x 128256 x 8192 + 8192 =
  // 70553706496, as published. Ranks hold 1/32 of it: 2204803328.
  // 512 / 8 = 64 microbatches. Activation 8192 / cp 2 x 8192 x 2 = 67108864.
  // tp  4 x 67108864 x 80/4 x 64 = 343597383680, gathered and scattered
  // cp  keys and values 8192 x 2 x 1024 / tp 8 x 2 = 4194304; x 20 x 64 = 5368709120, twice gathered;
  //     gradients 4 x 2204803328 = 8819213312, weights half
  // pp  67108864 / tp 8 x 64 = 536870912
  // dp  half of cp's
  EXPECT_EQ(value_of(llama3_70b(), layout(8, 2, 1, 4, 8), "parameters"), "70553706496");
  EXPECT_THAT(terms(llama3_70b(), layout(8, 2, 1, 4, 8)),
              ElementsAre("tp allgather 343597383680", "tp reduce_scatter 343597383680", "cp allgather 10737418240",
                          "cp reduce_scatter 5368709120", "pp neighbour 536870912", "cp reduce_scatter 8819213312",
                          "cp allgather 4409606656", "dp reduce_scatter 4409606656", "dp allgather 2204803328"));
}

TEST(PlacementModel, Mixtral) {
  // Layer: 2 x 4096^2 + 2 x 4096 x 1024 + 8 x 3 x 4096 x 14336 + router 8 x 4096 + 2 x 4096 = 1451270144; x 32 +
  // 2 x 32000 x 4096 + 4096 = 46702792704, as published; experts 45097156608, the rest 1605636096.
  // 512 / 16 = 32 microbatches. Activation 4096 x 4096 x 2 = 33554432.
  // tp  (2 + 2 x 2) x 33554432 x 32/2 x 32 = 103079215104
  // ep  4 x 2 x 33554432 / tp 4 x 16 x 32 = 34359738368
  // pp  33554432 / 4 x 32 = 268435456
  // dp  rest 1605636096 / 8 = 200704512, x 4 and x 2; experts 45097156608 / 64 = 704643072 on 16/8 = 2 replicas:
  //     x 4 x (1/2) x (16/15) = 1503238553.6; x 2 751619276.8
  EXPECT_EQ(value_of(mixtral(), layout(4, 1, 8, 2, 16), "parameters"), "46702792704");
  EXPECT_THAT(terms(mixtral(), layout(4, 1, 8, 2, 16)),
              ElementsAre("tp allgather 103079215104", "tp reduce_scatter 103079215104", "ep alltoall 34359738368",
                          "pp neighbour 268435456", "dp reduce_scatter 802818048", "dp allgather 401409024",
                          "dp reduce_scatter 1503238554", "dp allgather 751619277"));
}

TEST(PlacementModel, ExpertsWithoutReplicasAreNotReduced) {
  const auto traffic = derive_traffic(mixtral(), layout(1, 1, 8, 1, 8));
  ASSERT_TRUE(traffic) << traffic.error().to_string();
  // Only what is no expert: 1605636096 x 4 and x 2. ep without tp: 4 x 2 x 33554432 x 32 x 64 microbatches.
  EXPECT_THAT(terms(mixtral(), layout(1, 1, 8, 1, 8)),
              ElementsAre("ep alltoall 549755813888", "dp reduce_scatter 6422544384", "dp allgather 3211272192"));
  EXPECT_THAT(traffic->notes, testing::Contains("experts are not replicated: dp 8 x cp 1 / ep 8 = 1"));
}

TEST(PlacementModel, AsAicbLogsIt) {
  // AICB's GPT-13B (tp 8, dp 16, microbatch 1): 160 all-reduces of 20971520 bytes a microbatch besides embedding and
  // loss, gradients 6422958080 and weights 3211479040 bytes for 1605739520 parameters a rank.
  ModelSpec m;
  m.parameters = 8.0 * 1605739520;
  m.layers = 40;
  m.hidden = 5120;
  m.seq = 2048;
  m.global_batch = 16;
  m.zero = 1;
  EXPECT_THAT(terms(m, layout(8, 1, 1, 1, 16)), ElementsAre("tp allreduce " + std::to_string(160ULL * 20971520),
                                                            "dp reduce_scatter 6422958080", "dp allgather 3211479040"));
}

TEST(PlacementModel, ZeroStages) {
  ModelSpec m;
  m.parameters = 1e9;
  m.global_batch = 32;  // on dp 8: 4 microbatches
  m.precision = "fp16";
  const Layout eight = layout(1, 1, 1, 1, 8);
  EXPECT_THAT(terms(m, eight), ElementsAre("dp allreduce 2000000000"));
  m.zero = 1;
  EXPECT_THAT(terms(m, eight), ElementsAre("dp reduce_scatter 2000000000", "dp allgather 2000000000"));
  m.zero = 2;
  EXPECT_THAT(terms(m, eight), ElementsAre("dp reduce_scatter 8000000000", "dp allgather 2000000000"));
  m.zero = 3;
  EXPECT_THAT(terms(m, eight), ElementsAre("dp reduce_scatter 8000000000", "dp allgather 16000000000"));
}

TEST(PlacementModel, Precisions) {
  ModelSpec m = gpt3();
  const Layout l = layout(8, 1, 1, 8, 16);
  m.precision = "fp32";
  EXPECT_THAT(terms(m, l),
              ElementsAre("tp allreduce 463856467968", "pp neighbour 9663676416", "dp allreduce 10937500000"));
  m.precision = "fp16";
  EXPECT_THAT(terms(m, l),
              ElementsAre("tp allreduce 231928233984", "pp neighbour 4831838208", "dp allreduce 5468750000"));
  m.precision = "fp8";
  EXPECT_EQ(terms(m, l), terms(gpt3(), l));
  m.precision = "int4";
  EXPECT_EQ(fault(m, l), "error: precision \"int4\"; expected fp32, bf16, fp16 or fp8");
}

TEST(PlacementModel, InterleavingSendsEachMicrobatchOnceAChunk) {
  ModelSpec m = gpt3();
  m.interleave = 4;
  EXPECT_THAT(terms(m, layout(8, 1, 1, 8, 16)), testing::Contains("pp neighbour 19327352832"));
}

TEST(PlacementModel, TermsTakeAnAlgorithmThatTheyHave) {
  const auto tree = derive_traffic(mixtral(), layout(4, 1, 8, 2, 16), Algorithm::tree);
  ASSERT_TRUE(tree);
  for (const DerivedTerm& t : tree->terms) EXPECT_EQ(t.term.algorithm, Algorithm::ring);
  const auto levels = derive_traffic(mixtral(), layout(4, 1, 8, 2, 16), Algorithm::hierarchical);
  ASSERT_TRUE(levels);
  for (const DerivedTerm& t : levels->terms)
    EXPECT_EQ(t.term.algorithm == Algorithm::hierarchical,
              t.term.collective != Collective::alltoall && t.term.collective != Collective::neighbour);
}

TEST(PlacementModel, EveryTermHasFormulaAndSource) {
  const auto traffic = derive_traffic(llama3_70b(), layout(8, 2, 1, 4, 8));
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->terms.front().formula,
            "4 x seq 8192 / cp 2 x microbatch 1 x hidden 8192 x 2 bytes x layers 80 / pp 4 x microbatches 64");
  EXPECT_EQ(traffic->terms.front().source, "Korthikanti 2022, section 4.2");
  for (const DerivedTerm& t : traffic->terms) {
    EXPECT_FALSE(t.formula.empty());
    EXPECT_FALSE(t.source.empty());
    EXPECT_FALSE(t.what.empty());
  }
}

TEST(PlacementModel, MissingNumbersAreNamed) {
  ModelSpec m = gpt3();
  m.layers.reset();
  EXPECT_EQ(fault(m, layout(8, 1, 1, 8, 16)),
            "error: model does not say layers, which tp 8 needs; expected \"layers: 80\" under model");
  m = gpt3();
  m.seq.reset();
  EXPECT_EQ(fault(m, layout(1, 1, 1, 8, 16)),
            "error: model does not say seq, which pp 8 needs; expected \"seq: 8192\" under model");
  m = gpt3();
  m.global_batch.reset();
  EXPECT_EQ(fault(m, layout(8, 1, 1, 8, 16)),
            "error: model does not say global_batch, which the number of microbatches needs; expected "
            "\"global_batch: 1024\" under model");
  m = gpt3();
  m.parameters.reset();
  EXPECT_EQ(fault(m, layout(8, 1, 1, 8, 16)),
            "error: model does not say vocab, which the number of parameters needs; expected \"vocab: 128256\" or "
            "\"parameters: 70B\" under model");
  EXPECT_EQ(fault(gpt3(), layout(8, 1, 2, 8, 16)),
            "error: model does not say experts, which ep 2 needs; expected \"experts: 8\" under model");
}

TEST(PlacementModel, NumbersThatDoNotDivideShowTheArithmetic) {
  ModelSpec m = gpt3();
  m.global_batch = 100;
  EXPECT_EQ(fault(m, layout(8, 1, 1, 8, 16)),
            "error: global_batch 100 is no multiple of microbatch 1 x dp 16 = 16: 100 / 16 = 6.25; expected a whole "
            "number of microbatches on each data-parallel rank");
  m = mixtral();
  m.experts = 12;
  EXPECT_EQ(fault(m, layout(4, 1, 8, 2, 16)),
            "error: ep 8 does not divide experts 12: 12 / 8 = 1.5; expected as many experts on each rank of an ep "
            "group");
  m = llama3_70b();
  m.seq = 8191;
  EXPECT_EQ(fault(m, layout(8, 2, 1, 4, 8)),
            "error: seq 8191 is not a multiple of cp 2: 8191 / 2 = 4095.5; expected a sequence that cp cuts into equal "
            "parts");
  m = mixtral();
  m.parameters = 5e9;
  EXPECT_EQ(fault(m, layout(4, 1, 8, 2, 16)),
            "error: parameters 5000000000 are fewer than the experts' alone, 45097156608; expected layers, hidden, "
            "ffn_hidden and experts that fit the total");
  m = gpt3();
  m.interleave = 16;
  EXPECT_EQ(fault(m, layout(8, 1, 1, 8, 16)),
            "error: pp 8 x interleave 16 = 128 chunks of 96 layers; expected at least a layer a chunk");
}

TEST(PlacementModel, HugeNumbersAreALimitNotNonsense) {
  ModelSpec m = gpt3();
  m.hidden = 1ULL << 40;
  m.seq = 1ULL << 40;
  m.heads.reset();
  EXPECT_THAT(fault(m, layout(8, 1, 1, 8, 16)), HasSubstr("expected at most "));
}

config::JobSpec job_of(const std::string& text) {
  const auto job = config::parse_job_yaml(std::make_shared<const SourceText>("job.yaml", text));
  EXPECT_TRUE(job) << job.error().to_string();
  return job ? *job : config::JobSpec{};
}

constexpr const char* kMoeJob = R"(weft: 1
name: moe
nodes: 16
ranks_per_node: 8
layout: {tp: 4, ep: 8, pp: 2}
model:
  layers: 32
  hidden: 4096
  ffn_hidden: 14336
  heads: 32
  kv_heads: 8
  vocab: 32000
  seq: 4096
  global_batch: 512
  zero: 1
  sequence_parallel: true
  experts: 8
)";

TEST(PlacementModel, JobsWithAModelExpand) {
  const config::JobSpec job = job_of(kMoeJob);
  const auto resolved = config::resolve_layout(job, 128);
  ASSERT_TRUE(resolved) << resolved.error().to_string();
  const auto traffic = build_traffic(job, *resolved);
  ASSERT_TRUE(traffic) << traffic.error().to_string();
  ASSERT_EQ(traffic->terms.size(), 8U);
  // Two tp terms, 32 groups of 4, 4 edges each of V x 3/4.
  const auto flows = traffic->flows(traffic->terms.front());
  ASSERT_EQ(flows.size(), 128U);
  EXPECT_EQ(flows.front().bytes, 103079215104.0 * 3 / 4);
}

TEST(PlacementModel, ErrorsShowTheJobFile) {
  std::string text = kMoeJob;
  text.replace(text.find("512"), 3, "500");
  const config::JobSpec job = job_of(text);
  const auto traffic = build_traffic(job, *config::resolve_layout(job, 128));
  ASSERT_FALSE(traffic);
  EXPECT_THAT(traffic.error().to_string(), testing::StartsWith("job.yaml:7:3: error: global_batch 500 is no multiple"));
}

TEST(PlacementModel, ReportSaysAllInTextAndJson) {
  const config::JobSpec job = job_of(kMoeJob);
  const auto report = describe_traffic(job, *config::resolve_layout(job, 128));
  ASSERT_TRUE(report) << report.error().to_string();
  const std::string text = write_traffic_text(*report);
  EXPECT_THAT(text, HasSubstr("layout          tp 4, cp 1, ep 8, dp 16, pp 2 (order tp-cp-ep-dp-pp)\n"));
  EXPECT_THAT(text, HasSubstr("ep alltoall of tokens, dispatch and combine, forward and backward = 34359738368 bytes a "
                              "rank and step (32.00 GiB)\n    = 4 x experts_per_token 2 x seq 4096 x microbatch 1 x "
                              "hidden 4096 x 2 bytes / tp 4 x layers 32 / pp 2 x microbatches 32\n"));
  // 16 groups of 8 ranks, 56 pairs each of V/8.
  EXPECT_THAT(text, HasSubstr("    16 groups of 8: 3.50 TiB on the wire\n"));
  const std::string json = write_traffic_json(*report);
  EXPECT_THAT(json, HasSubstr("\"bytes\": 34359738368"));
  EXPECT_THAT(json, HasSubstr("\"wire_bytes\": 3848290697216"));
  EXPECT_THAT(json, HasSubstr("\"origin\": \"model\""));
}

}  // namespace
}  // namespace weft::placement::test
