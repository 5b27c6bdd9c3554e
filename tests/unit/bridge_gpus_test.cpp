// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs on parts of nodes: the fabric is bridge_fixtures.hpp's tree of 16 nodes of eight GPUs, GPU i on NIC i.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bridge_fixtures.hpp"

namespace weft::bridge::test {
namespace {

constexpr std::uint64_t kLow = 0x0f, kHigh = 0xf0;

struct GpuAsked : Asked {
  GpuAsked(const Rig& on, std::uint32_t a_node, const std::vector<int>& usable_nodes = range(1, 8))
      : Asked(on, usable_nodes) {
    request.gpus_per_node = a_node;
  }
};

TEST(FreeGpus, NodesWhoseFreeGpusAlignArePreferred) {
  const Rig rig;
  // First fit would take n1 .. n4, two of each kind.
  GpuAsked asked(rig, 4, {1, 2, 3, 4, 5, 6, 7, 8});
  asked.free({{1, kLow}, {2, kHigh}, {3, kHigh}, {4, kLow}, {5, kHigh}, {6, kHigh}, {7, kLow}, {8, kHigh}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1:0123 n4:0123");
  EXPECT_EQ(asked.nodes(3).answer(), "n5:4567 n6:4567 n8:4567");
  EXPECT_EQ(asked.spec("tp=4,dp=3").answer(), "n5:4567 n6:4567 n8:4567");
}

TEST(FreeGpus, NearnessComesBeforeRails) {
  const Rig rig;
  // Two nodes under one leaf would have to mix; two under different leaves would cross the spine with all they send.
  GpuAsked asked(rig, 4, {1, 2, 9});
  asked.free({{1, kLow}, {2, kHigh}, {9, kLow}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1:0123 n2:4567");
}

TEST(FreeGpus, NodesBrokenIntoGoFirst) {
  const Rig rig;
  GpuAsked asked(rig, 2);
  asked.free({{3, 0x3c}, {4, 0x3c}});
  EXPECT_EQ(asked.nodes(2).answer(), "n3:23 n4:23");
  asked.free({{3, 0x3c}, {6, 0x3c}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1:01 n2:01");  // not two leaves for it
}

TEST(FreeGpus, TasksAndGpusATaskSayHowMany) {
  const Rig rig;
  GpuAsked asked(rig, 0);
  asked.request.gpus_per_task = 2;
  asked.request.tasks_per_node = 2;
  asked.free({{1, kHigh}, {2, kLow}, {3, 0xcc}, {4, kHigh}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1:4567 n4:4567");
}

TEST(FreeGpus, WhatSlurmDoesNotKnowIsFree) {
  const Rig rig;
  GpuAsked asked(rig, 4, {1, 2});
  asked.free({{1, kHigh}, {2, 0}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1:4567 n2:4567");
  asked.free({{1, kHigh}, {2, 0x1f00}});  // GPUs that the node type does not have
  EXPECT_EQ(asked.nodes(2).answer(), "n1:4567 n2:4567");
  asked.free({{1, kHigh}, {2, 0x3}});  // fewer than the job needs, and yet usable
  EXPECT_EQ(asked.nodes(2).answer(), "n1:4567 n2:4567");
  asked.free({{1, 0}, {2, 0}});
  EXPECT_EQ(asked.nodes(2).answer(), "n1 n2");
}

TEST(FreeGpus, JobsThatTheyDoNotConcernGoTheUsualWay) {
  const Rig rig;
  GpuAsked whole(rig, 8);
  whole.free({});
  EXPECT_EQ(whole.nodes(4).answer(), "n1 n2 n3 n4");
  GpuAsked open(rig, 0);  // how many of each node is left to Slurm
  open.request.gpus = 8;
  open.free({{1, kHigh}});
  EXPECT_EQ(open.nodes(2).answer(), "n1 n2");
  GpuAsked ranks(rig, 2);  // eight ranks, which are no GPUs
  ranks.request.tasks = 8;
  ranks.free({{1, kHigh}});
  EXPECT_EQ(ranks.nodes(2).spec("tp=4,dp=2").answer(), "n1 n2");
  GpuAsked more(rig, 9);
  more.free({{1, 0x1ff}});
  EXPECT_EQ(more.nodes(2).answer(), "n1 n2");
}

TEST(FreeGpus, ACallerWithoutRoomForThemGetsNodes) {
  const Rig rig;
  GpuAsked asked(rig, 4);
  asked.free({{1, kHigh}}).nodes(2).choose();
  EXPECT_EQ(asked.choice.gpus_said, 1U);
  asked.choice.gpus = nullptr;
  ASSERT_EQ(weft_bridge_choose(rig.bridge, &asked.request, &asked.choice), WEFT_OK);
  EXPECT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_PLACED));
  EXPECT_EQ(asked.choice.gpus_said, 0U);
}

// On rail-optimised fabrics the GPUs decide which leaves are used.
TEST(FreeGpus, TheScoreIsOfTheGpusChosen) {
  const Rig rig("", still(), R"(weft: 1
name: rails
node_types:
  two: {gpus: 2, nics: 2}
switches:
  - {name: "rail[0-1]", tier: 1}
  - {name: spine, tier: 2}
nodes:
  - {name: "n[1-16]", type: two}
links:
  - {from: "n[1-16]", nics: "0", to: rail0, pattern: all, bandwidth: 400Gb/s}
  - {from: "n[1-16]", nics: "1", to: rail1, pattern: all, bandwidth: 400Gb/s}
  - {from: "rail[0-1]", to: spine, pattern: all, bandwidth: 400Gb/s}
)");
  GpuAsked mixed(rig, 1, {1, 2});
  mixed.free({{1, 1}, {2, 2}});
  EXPECT_EQ(mixed.nodes(2).spec("dp=2,cross_rail=fabric").answer(), "n1:0 n2:1");
  EXPECT_GT(mixed.choice.cross_spine_bytes, 0);
  GpuAsked aligned(rig, 1, {1, 2, 3});
  aligned.free({{1, 1}, {2, 2}, {3, 1}});
  EXPECT_EQ(aligned.nodes(2).spec("dp=2,cross_rail=fabric").answer(), "n1:0 n3:0");
  EXPECT_EQ(aligned.choice.cross_spine_bytes, 0);
}

TEST(FreeGpus, AnEngineThatChoosesOthersIsNotPassedOn) {
  Hooks hooks = still();
  hooks.place = [](const topology::Fabric& fabric, const placement::Request& request,
                   const placement::PlaceOptions& options) {
    auto placed = placement::place(fabric, request, options);
    if (placed) placed->ranks.front().gpu = 7;
    return placed;
  };
  const Rig rig("", hooks);
  GpuAsked asked(rig, 4, {1, 2});
  asked.free({{1, kLow}, {2, kLow}});
  EXPECT_EQ(asked.nodes(2).answer(), "delegate: internal fault");
  EXPECT_THAT(rig.log(), testing::HasSubstr("the engine chose GPUs that it may not choose"));
}

}  // namespace
}  // namespace weft::bridge::test
