// SPDX-License-Identifier: BSD-3-Clause
//
// What slurmctld gets for what it asks: the fabric is bridge_fixtures.hpp's tree of 16 nodes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bridge_fixtures.hpp"

namespace weft::bridge::test {
namespace {

TEST(Choose, APlainJobGetsOneLeafInFabricOrder) {
  const Rig rig;
  Asked asked(rig);
  EXPECT_EQ(asked.nodes(4).answer(), "n1 n2 n3 n4");
  EXPECT_STREQ(asked.choice.summary, "leaves=1 pods=1 gap=0.00");
  EXPECT_EQ(asked.choice.leaves, 1U);
  EXPECT_EQ(asked.choice.pods, 1U);
  EXPECT_EQ(asked.choice.gap, 0);
  EXPECT_STREQ(asked.choice.reason, "");
}

TEST(Choose, TheFullestLeafIsLeftWholeForOthers) {
  const Rig rig;
  EXPECT_EQ(Asked(rig, {1, 2, 3, 4, 5, 6}).nodes(2).answer(), "n5 n6");
  EXPECT_EQ(Asked(rig, {1, 2, 3, 4, 5, 6, 9, 10, 11}).nodes(3).answer(), "n9 n10 n11");
}

TEST(Choose, OnePodBeforeTwo) {
  const Rig rig;
  Asked asked(rig, {1, 2, 3, 4, 9, 10, 11, 13, 14, 15});
  EXPECT_EQ(asked.nodes(6).answer(), "n9 n10 n11 n13 n14 n15");
  EXPECT_STREQ(asked.choice.summary, "leaves=2 pods=1 gap=0.00");
}

TEST(Choose, ALayoutIsScored) {
  const Rig rig;
  Asked asked(rig);
  asked.request.gpus_per_node = 8;
  EXPECT_EQ(asked.nodes(4).spec("tp=8,pp=2").answer(), "n1 n2 n3 n4");
  EXPECT_EQ(asked.choice.ranks_per_node, 8U);
  EXPECT_STREQ(asked.choice.summary, "leaves=1 pods=1 cross_spine=0B/step gap=0.00");
  Asked wide(rig);
  wide.request.gpus_per_node = 8;
  EXPECT_EQ(wide.nodes(8).spec("tp=8,pp=2").answer(), "n1 n2 n3 n4 n5 n6 n7 n8");
  EXPECT_GT(wide.choice.cross_spine_bytes, 0);
  EXPECT_GE(wide.choice.gap, 0);
}

TEST(Choose, ASpecThatDoesNotFitIsRefusedWithTheArithmetic) {
  const Rig rig;
  Asked asked(rig);
  asked.request.gpus_per_node = 8;
  asked.request.tasks_per_node = 1;
  EXPECT_EQ(asked.nodes(4).spec("tp=8,pp=4,dp=16").answer(),
            "never: tp 8 x cp 1 x pp 4 x dp 16 = 512 ranks, but the job has 4 nodes, 32 GPUs and 4 tasks");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_SPEC));
  EXPECT_EQ(asked.spec("tp=8,pp=3").answer(),
            "never: tp 8 x cp 1 x pp 3 = 24 does not divide 32 ranks; the job has 4 nodes, 32 GPUs and 4 tasks");
  EXPECT_EQ(asked.spec("tp=1,dp=4").answer(), "n1 n2 n3 n4");  // a rank a task
}

TEST(Choose, AMalformedSpecIsRefusedEscaped) {
  const Rig rig;
  EXPECT_EQ(Asked(rig).nodes(2).spec("tp=\x01\n8").answer(),
            "never: tp is \"\\x01\\x0a8\" at byte 4; expected a whole number from 1 to 4194304");
  EXPECT_EQ(Asked(rig).nodes(2).spec(std::string(100'000, 'x')).answer(), "never: the SPEC has more than 4096 bytes");
  EXPECT_EQ(Asked(rig).nodes(2).spec("").answer(), "never: the SPEC is empty; expected key=value such as tp=8,pp=4");
}

TEST(Choose, RanksMustFitOnNodes) {
  const Rig rig;
  Asked asked(rig);
  asked.request.tasks = 32;
  EXPECT_EQ(asked.nodes(2).spec("tp=8").answer(),
            "never: 32 ranks over 2 nodes are 16 a node, but no usable node has more than 8 GPUs");
  EXPECT_EQ(asked.nodes(3).spec("tp=8").answer(), "never: 32 ranks do not divide over 3 nodes");
}

TEST(Choose, NotNowIsToldFromNever) {
  const Rig rig;
  // Two leaves have two free nodes each.
  EXPECT_EQ(Asked(rig, {1, 2, 5, 6}).nodes(4).spec("max_leaves=1").answer(),
            "not now: needs 4 free nodes under one leaf; the fullest, l1, has 2 free");
  EXPECT_EQ(Asked(rig).nodes(5).spec("max_leaves=1").answer().substr(0, 6), "never:");
  Asked confined(rig, {1, 2, 5, 6});  // a partition that never holds more of a leaf
  confined.possible = rig.set({1, 2, 5, 6, 9});
  EXPECT_EQ(confined.nodes(4).spec("max_leaves=1").answer().substr(0, 6), "never:");
}

TEST(Choose, NeverLooksAtTheSoundFabric) {
  const std::string health = "health:\n  - {node: n1, state: down}\n";
  const Rig rig("", still(), tree16() + health);
  EXPECT_EQ(Asked(rig, {1, 2, 3, 4}).nodes(4).spec("max_leaves=1").answer().substr(0, 8), "not now:");
}

TEST(Choose, WithoutASpecTooFewNodesAreSlurmsToTell) {
  const Rig rig;
  Asked asked(rig, {1, 2});
  EXPECT_EQ(asked.nodes(4).answer(), "delegate: 2 usable nodes; the job needs 4");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_CAPACITY));
}

TEST(Choose, RequiredNodesAreInTheAnswer) {
  const Rig rig;
  EXPECT_EQ(Asked(rig).nodes(4).must({6, 8}).answer(), "n5 n6 n7 n8");
  EXPECT_EQ(Asked(rig).nodes(2).must({1, 16}).answer(), "n1 n16");
  EXPECT_EQ(Asked(rig).nodes(1, 1, 2).must({3, 4}).answer(), "n3 n4");  // more than the least: the list counts
}

TEST(Choose, ARangeOfNodesTakesTheMostThatCanBeHad) {
  const Rig rig;
  EXPECT_EQ(Asked(rig, {1, 2, 3, 5, 6}).nodes(2, 8, 8).answer(), "n1 n2 n3 n5 n6");
  // Eight are wished for, but only segments of three fit.
  EXPECT_EQ(Asked(rig, {1, 2, 3, 5, 6}).nodes(2, 8, 8).spec("segment=3").answer(), "n1 n2 n3");
}

TEST(Choose, TasksOrGpusAloneSayHowManyNodes) {
  const Rig rig;
  Asked asked(rig);
  asked.request.tasks = 512;
  asked.cpus = Asked::by_node(asked, [](int) { return 128U; });
  asked.request.need_cpus = 512;
  EXPECT_EQ(asked.nodes(1, 1, 500'000).answer(), "n1 n2 n3 n4");
  Asked gpus(rig);
  gpus.request.gpus = 20;
  gpus.gpus = Asked::by_node(gpus, [](int n) { return n <= 8 ? 4U : 8U; });
  gpus.request.need_gpus = 20;
  // Three nodes of eight hold them; five of four would too.
  EXPECT_EQ(gpus.nodes(1, 1, 500'000).answer(), "n9 n10 n11");
}

TEST(Choose, UnevenNodesAreAddedUp) {
  const Rig rig;
  Asked asked(rig, {1, 2, 3, 5, 6, 9});
  asked.cpus = Asked::by_node(asked, [](int n) { return n <= 3 ? 10U : 60U; });
  asked.request.need_cpus = 120;
  EXPECT_EQ(asked.nodes(1, 1, 500'000).answer(), "n5 n6");
  asked.request.need_cpus = 1000;
  EXPECT_EQ(asked.answer(), "delegate: the usable nodes have fewer than the 1000 CPUs asked for");
}

TEST(Choose, SwitchesIsASoftCap) {
  const Rig rig;
  Asked asked(rig, {1, 2, 5, 6, 9, 10, 11, 12});
  asked.request.max_switches = 1;
  EXPECT_EQ(asked.nodes(4).answer(), "n9 n10 n11 n12");
  EXPECT_EQ(asked.choice.switches_exceeded, 0U);
  Asked none(rig, {1, 2, 5, 6});
  none.request.max_switches = 1;
  EXPECT_EQ(none.nodes(4).answer(), "n1 n2 n5 n6");
  EXPECT_EQ(none.choice.switches_exceeded, 1U);
}

TEST(Choose, SegmentsStayTogether) {
  const Rig rig;
  Asked asked(rig, {1, 2, 3, 5, 6, 9, 10});
  asked.request.segment = 2;
  const std::string got = asked.nodes(6).answer();
  ASSERT_EQ(asked.choice.node_count, 6U) << got;
  for (std::uint32_t i = 0; i < 6; i += 2) {
    const int a = std::stoi(rig.names[asked.chosen[i]].substr(1)),
              b = std::stoi(rig.names[asked.chosen[i + 1]].substr(1));
    EXPECT_EQ((a - 1) / 4, (b - 1) / 4) << got;
  }
  EXPECT_EQ(asked.nodes(5).answer(), "never: segment 2 divides no number of nodes from 5 to 5");
  EXPECT_EQ(asked.nodes(6).spec("segment=3").answer(),
            "never: the SPEC says segment=3, the job --segment=2; expected one of them");
}

TEST(Choose, ExclusiveTopoTakesWholeFreeLeavesOnly) {
  const Rig rig;
  EXPECT_EQ(Asked(rig, {1, 2, 3, 9, 10, 11, 12}).nodes(2).flags(WEFT_REQ_EXCLUSIVE_TOPO).answer(), "n9 n10");
  EXPECT_EQ(Asked(rig, {1, 2, 3, 9, 10, 11}).nodes(2).flags(WEFT_REQ_EXCLUSIVE_TOPO).answer(),
            "not now: needs 2 nodes in whole free leaf domains; 0 are, 6 share theirs");
}

TEST(Choose, ContiguousNodesAreNeighboursInTheTable) {
  const Rig rig;  // table: 1 8 15 6 13 4 11 2 9 16 7 14 5 12 3 10
  Asked asked(rig);
  asked.nodes(3).flags(WEFT_REQ_CONTIGUOUS).choose();
  ASSERT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_PLACED)) << asked.choice.reason;
  std::vector<std::uint32_t> got(asked.chosen.begin(), asked.chosen.begin() + 3);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got[2], got[0] + 2);
  EXPECT_EQ(Asked(rig, {1, 15, 13, 11}).nodes(2).flags(WEFT_REQ_CONTIGUOUS).answer(),
            "delegate: no 2 usable nodes side by side in the node table");
  EXPECT_EQ(Asked(rig).nodes(2).must({8, 10}).flags(WEFT_REQ_CONTIGUOUS).answer(),
            "delegate: no 2 usable nodes side by side in the node table");
}

TEST(Choose, WeightsCountAsWeftYamlSays) {
  const auto heavy_first_leaf = [](int n) { return n <= 4 ? 10U : n <= 6 ? 1U : 5U; };
  const auto answer = [&](const Rig& rig, std::uint32_t nodes) {
    Asked asked(rig);
    asked.weights = Asked::by_node(asked, heavy_first_leaf);
    return asked.nodes(nodes).answer();
  };
  const Rig strict("node_weight: strict\n"), tie("node_weight: tie\n"), ignore("node_weight: ignore\n");
  EXPECT_EQ(answer(strict, 2), "n5 n6");
  EXPECT_EQ(answer(strict, 4), "n5 n6 n7 n8");  // weights 1 and 5 suffice
  EXPECT_EQ(answer(ignore, 4), "n1 n2 n3 n4");
  EXPECT_EQ(answer(tie, 4), "n5 n6 n7 n8");  // as good, and lighter
  // Two nodes of one leaf are better than the two lightest, which lie apart.
  const auto apart = [](int n) { return n == 1 || n == 16 ? 1U : 5U; };
  for (const Rig* rig : {&strict, &tie}) {
    Asked asked(*rig);
    asked.weights = Asked::by_node(asked, apart);
    EXPECT_EQ(asked.nodes(2).answer(), rig == &strict ? "n1 n16" : "n1 n2");
  }
}

TEST(Choose, TheDefaultLayoutIsForJobsThatSayNothing) {
  const Rig rig("default_layout: {tp: 8, pp: 2}\n");
  Asked asked(rig);
  asked.request.gpus_per_node = 8;
  EXPECT_EQ(asked.nodes(4).answer(), "n1 n2 n3 n4");
  EXPECT_EQ(asked.choice.ranks_per_node, 8U);
  Asked odd(rig);
  odd.request.gpus_per_node = 4;
  EXPECT_EQ(odd.nodes(3).answer(), "n1 n2 n3");  // 12 ranks: nearness alone
  EXPECT_EQ(odd.choice.ranks_per_node, 1U);
}

TEST(Choose, SpreadJobIsLeftAlone) {
  const Rig rig;
  EXPECT_EQ(Asked(rig).nodes(4).flags(WEFT_REQ_SPREAD).answer(),
            "delegate: --spread-job asks for the opposite of near nodes");
}

}  // namespace
}  // namespace weft::bridge::test
