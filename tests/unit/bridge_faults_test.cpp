// SPDX-License-Identifier: BSD-3-Clause
//
// Everything that can go wrong: each has its answer, its message, and harms nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "bridge_fixtures.hpp"

namespace weft::bridge::test {
namespace {

using ::testing::HasSubstr;

std::string open_error(const Directory& dir, const std::string& name = "weft.yaml") {
  char error[WEFT_ERROR_MAX] = "";
  weft_bridge* bridge = nullptr;
  const int status = open_with((dir / name).c_str(), nullptr, nullptr, {}, &bridge, error, sizeof(error));
  EXPECT_EQ(status, WEFT_EFILE);
  EXPECT_EQ(bridge, nullptr);
  std::string out = error;
  const std::string path = dir / "";
  for (std::size_t at = out.find(path); at != std::string::npos; at = out.find(path)) out.erase(at, path.size());
  return out;
}

TEST(Open, AMissingWeftYamlIsSaid) {
  const Directory dir;
  EXPECT_EQ(open_error(dir), "weft.yaml: error: cannot read: No such file or directory");
}

TEST(Open, AMissingFabricIsShownAtItsKey) {
  const Directory dir;
  dir.write("weft.yaml", "weft: 1\nfabric: gone.yaml\n");
  EXPECT_EQ(open_error(dir),
            "weft.yaml:2:9: error: cannot read: No such file or directory\n"
            "  fabric: gone.yaml\n"
            "          ^^^^^^^^^");
}

TEST(Open, ABrokenFabricIsShownWhereItIsBroken) {
  const Directory dir;
  dir.write("weft.yaml", "weft: 1\nfabric: fabric.yaml\n");
  dir.write("fabric.yaml", "weft: 1\nnodes:\n  - {name: n1, tpye: t}\n");
  EXPECT_THAT(open_error(dir), HasSubstr("fabric.yaml:3:"));
}

TEST(Open, AHealthFileThatNamesNothingIsAtFault) {
  const Directory dir;
  dir.write("weft.yaml", "weft: 1\nfabric: fabric.yaml\nhealth: health.yaml\n");
  dir.write("fabric.yaml", tree16());
  dir.write("health.yaml", "weft: 1\nhealth:\n  - {switch: l9, state: down}\n");
  EXPECT_THAT(open_error(dir), HasSubstr("health.yaml:3:"));
}

TEST(Open, AWrongNodeTypeIsShownInWeftYaml) {
  const Directory dir;
  dir.write("weft.yaml", "weft: 1\nfabric: fabric.yaml\nnode_type: h999\n");
  dir.write("fabric.yaml", tree16());
  EXPECT_THAT(open_error(dir), HasSubstr("weft.yaml:3:12: error: "));
}

TEST(Open, TwoBridgesLiveSideBySide) {
  const Rig one, two;
  EXPECT_EQ(Asked(one).nodes(2).answer(), "n1 n2");
  EXPECT_EQ(Asked(two).nodes(2).answer(), "n1 n2");
}

TEST(Bind, DifferencesAreReportedAndLogged) {
  Rig rig;
  rig.messages.clear();
  rig.names[3] = "";        // a hole: n6 is not there
  rig.names[0] = "login1";  // Slurm alone; n1 is the fabric's alone
  rig.names.push_back("cpu[1]");
  weft_bind_report report;
  ASSERT_EQ(rig.bind(&report), WEFT_OK);
  EXPECT_EQ(report.bound, 14U);
  EXPECT_EQ(report.only_slurm, 2U);
  EXPECT_EQ(report.only_fabric, 2U);
  EXPECT_STREQ(report.only_fabric_list, "n[1,6]");
  EXPECT_THAT(rig.log(), HasSubstr("2 nodes known to Slurm alone (left to stock selection): login1,"));
  EXPECT_THAT(rig.log(), HasSubstr("2 nodes known to the fabric alone (never chosen): n[1,6]\n"));
  Asked asked(rig, {2, 3, 4, 5});
  EXPECT_EQ(asked.nodes(3).answer(), "n2 n3 n4");
}

TEST(Bind, JobsOnNodesThatTheFabricDoesNotKnowAreLeftToSlurm) {
  Rig rig;
  rig.names[0] = "login1";
  rig.bind();
  Asked asked(rig, {2, 3});
  asked.usable.insert(asked.usable.begin(), 0U);
  EXPECT_EQ(asked.nodes(2).answer(),
            "delegate: no SPEC, no GPUs asked for, and 1 of 3 usable nodes is not in the fabric");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_MIXED));
  asked.request.gpus_per_node = 8;
  EXPECT_EQ(asked.nodes(2).answer(), "n2 n3");
  EXPECT_EQ(asked.nodes(3).answer(), "delegate: 2 usable nodes are in the fabric, 1 is not; the job needs 3");
  asked.required = {0};
  EXPECT_EQ(asked.nodes(1).answer(), "delegate: 1 required node is not in the fabric");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_FOREIGN));
}

TEST(Bind, BeforeItEverythingIsLeftToSlurm) {
  Rig rig("", still(), tree16(), false);
  EXPECT_EQ(Asked(rig).nodes(2).answer(), "delegate: no node table yet");
  std::size_t count = 0;
  EXPECT_EQ(weft_bridge_named_nodes(rig.bridge, "l1", nullptr, 0, &count), WEFT_EUNBOUND);
  EXPECT_EQ(weft_bridge_topology_new(rig.bridge, nullptr, nullptr), nullptr);
  EXPECT_EQ(weft_bridge_fragmentation(rig.bridge, nullptr, 0), 0U);
}

TEST(Request, ContradictionsAreTheCallersFaultAndLogged) {
  Rig rig;
  Asked asked(rig);
  std::swap(asked.usable[2], asked.usable[3]);
  EXPECT_EQ(asked.nodes(2).answer(), "delegate: usable is not ascending at 3");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_REQUEST));
  EXPECT_THAT(rig.log(), HasSubstr("internal fault 1 in request: usable is not ascending at 3"));
  Asked far(rig);
  far.usable.back() = 16;
  EXPECT_EQ(far.nodes(2).answer(), "delegate: usable[15] is 16, the node table has 16");
  EXPECT_EQ(Asked(rig, {1, 2}).nodes(2).must({3}).answer(), "delegate: required[0] is 14, which is not usable");
}

TEST(Request, NullsAndWrongSizesAreRefused) {
  const Rig rig;
  Asked asked(rig);
  asked.nodes(2).choose();
  EXPECT_EQ(weft_bridge_choose(nullptr, &asked.request, &asked.choice), WEFT_EINVAL);
  EXPECT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_DELEGATE));
  EXPECT_EQ(weft_bridge_choose(rig.bridge, nullptr, &asked.choice), WEFT_EINVAL);
  EXPECT_EQ(weft_bridge_choose(rig.bridge, &asked.request, nullptr), WEFT_EINVAL);
  asked.request.size = 8;
  EXPECT_EQ(weft_bridge_choose(rig.bridge, &asked.request, &asked.choice), WEFT_EINVAL);
  EXPECT_EQ(weft_bridge_open(nullptr, nullptr, nullptr, nullptr, nullptr, 0), WEFT_EINVAL);
  EXPECT_EQ(weft_bridge_bind(nullptr, 0, nullptr, nullptr), WEFT_EINVAL);
  EXPECT_EQ(weft_bridge_get_api(WEFT_BRIDGE_ABI + 1), nullptr);
  weft_bridge_close(nullptr);
  weft_bridge_topology_free(nullptr);
}

TEST(Request, AnArrayThatIsTooSmallIsNeverOverrun) {
  const Rig rig;
  Asked asked(rig);
  asked.nodes(4).choose();
  asked.chosen.assign(4, 99);
  asked.choice.nodes = asked.chosen.data();
  asked.choice.nodes_size = 3;
  ASSERT_EQ(weft_bridge_choose(rig.bridge, &asked.request, &asked.choice), WEFT_OK);
  EXPECT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_DELEGATE));
  EXPECT_EQ(asked.choice.node_count, 0U);
  EXPECT_EQ(asked.chosen[3], 99U);
}

Hooks failing(void (*fault)()) {
  Hooks out = still();
  out.place = [fault](const topology::Fabric&, const placement::Request&,
                      const placement::PlaceOptions&) -> Result<placement::Placement> {
    fault();
    return fail(error(ErrorCode::infeasible, "no"));
  };
  return out;
}

TEST(Engine, ExceptionsOfAnyKindBecomeDelegation) {
  for (void (*fault)() :
       {+[] { throw std::runtime_error("boom"); }, +[] { throw std::bad_alloc(); }, +[] { throw 42; }}) {
    const Rig rig("", failing(fault));
    Asked asked(rig);
    EXPECT_EQ(asked.nodes(2).answer(), "delegate: internal fault");
    EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_INTERNAL));
    EXPECT_THAT(rig.log(), HasSubstr("internal fault 1 in choose: "));
    weft_counters counters;
    weft_bridge_get_counters(rig.bridge, &counters);
    EXPECT_EQ(counters.internal_faults, 1U);
    EXPECT_EQ(counters.delegated, 1U);
  }
}

TEST(Engine, FaultsThatComeBackDoNotFillTheLog) {
  const Rig rig("", failing(+[] { throw std::runtime_error("boom"); }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Asked(rig).nodes(2).answer(), "delegate: internal fault");
  const std::string log = rig.log();
  std::size_t said = 0;
  for (std::size_t at = log.find("boom"); at != std::string::npos; at = log.find("boom", at + 1)) ++said;
  EXPECT_EQ(said, 7U);  // the 1st, 2nd, 4th ... 64th
}

TEST(Engine, AChoiceThatBreaksTheRulesIsNotPassedOn) {
  Hooks hooks = still();
  hooks.place = [](const topology::Fabric&, const placement::Request&,
                   const placement::PlaceOptions&) -> Result<placement::Placement> {
    placement::Placement out;
    out.nodes = {topology::NodeId{0}, topology::NodeId{0}};
    return out;
  };
  const Rig rig("", hooks);
  EXPECT_EQ(Asked(rig).nodes(2).answer(), "delegate: internal fault");
  EXPECT_THAT(rig.log(), HasSubstr("the engine chose nodes that it may not choose"));
}

TEST(Engine, OnErrorRefuseLetsTheJobWait) {
  const Rig rig("on_error: refuse\n", failing(+[] { throw std::runtime_error("boom"); }));
  EXPECT_EQ(Asked(rig).nodes(2).answer(), "not now: internal fault");
}

// A clock that moves on by `step` at each look.
Hooks ticking(std::chrono::microseconds step) {
  Hooks out;
  out.now = [step, at = std::chrono::steady_clock::time_point{}]() mutable { return at += step; };
  return out;
}

TEST(Deadline, PastItNothingMoreIsTried) {
  const Rig rig("", ticking(std::chrono::milliseconds(20)));
  Asked asked(rig);
  EXPECT_EQ(asked.nodes(2).answer(), "delegate: the deadline passed before a choice was made");
  EXPECT_EQ(asked.choice.cause, static_cast<std::uint32_t>(WEFT_CAUSE_DEADLINE));
  EXPECT_THAT(rig.log(), HasSubstr("deadline overrun 1: a choice took 40000 us, the deadline is 10000 us"));
  weft_counters counters;
  weft_bridge_get_counters(rig.bridge, &counters);
  EXPECT_EQ(counters.deadline_overruns, 1U);
  const Rig refusing("on_error: refuse\n", ticking(std::chrono::milliseconds(20)));
  EXPECT_EQ(Asked(refusing).nodes(2).answer(), "not now: the deadline passed before a choice was made");
}

TEST(Deadline, ACompleteChoiceThatCameLateIsTakenAndCounted) {
  const Rig rig("", ticking(std::chrono::milliseconds(6)));
  Asked asked(rig);
  EXPECT_EQ(asked.nodes(2).answer(), "n1 n2");
  weft_counters counters;
  weft_bridge_get_counters(rig.bridge, &counters);
  EXPECT_EQ(counters.deadline_overruns, 1U);
  EXPECT_EQ(counters.placed, 1U);
}

TEST(Deadline, TheRequestMayBringItsOwn) {
  const Rig rig("", ticking(std::chrono::milliseconds(20)));
  Asked asked(rig);
  asked.request.deadline_us = 900'000;
  EXPECT_EQ(asked.nodes(2).answer(), "n1 n2");
}

}  // namespace
}  // namespace weft::bridge::test
