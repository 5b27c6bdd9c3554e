// SPDX-License-Identifier: BSD-3-Clause
//
// Patience: whose placement is worth waiting for another. The memo: equal questions are answered once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "bridge_fixtures.hpp"
#include "brute_force.hpp"
#include "replay.hpp"

namespace weft::bridge::test {
namespace {

using ::testing::HasSubstr;

// 4 nodes, a ring of 4: 0 bytes over spines under one leaf.
constexpr const char* kFour = "tp=8,dp=4";
const std::vector<int> kTwoAndTwo{1, 2, 5, 6};

TEST(Patience, AJobThatCouldLieNearerWaits) {
  const Rig rig("patience: 2\npatience_limit: 90s\n");
  Asked asked(rig, kTwoAndTwo);
  EXPECT_EQ(asked.nodes(4).spec(kFour).within(range(1, 16)).answer(), "n1 n2 n5 n6");
  EXPECT_EQ(asked.choice.worth_waiting, 1U);
  EXPECT_EQ(asked.choice.patience_seconds, 90U);
  EXPECT_STREQ(asked.choice.reason,
               "waits for nearer nodes: 96GiB a step over spines now, 0B when alone; 2 leaves, 1 would do");
}

TEST(Patience, NoOneIsToldToWaitWhoIsNotAskedToBePatient) {
  for (const char* more : {"", "patience: 0\n"}) {
    const Rig rig(more);
    Asked asked(rig, kTwoAndTwo);
    EXPECT_EQ(asked.nodes(4).spec(kFour).within(range(1, 16)).answer(), "n1 n2 n5 n6");
    EXPECT_EQ(asked.choice.worth_waiting, 0U);
    EXPECT_STREQ(asked.choice.reason, "");
  }
}

TEST(Patience, WhatCannotGetNearerStarts) {
  const Rig rig("patience: 2\n");
  const auto waits = [&](Asked& asked) {
    asked.nodes(4).choose();
    EXPECT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_PLACED)) << asked.choice.reason;
    return asked.choice.worth_waiting == 1;
  };
  Asked one_leaf(rig, {1, 2, 3, 4});
  EXPECT_FALSE(waits(one_leaf.spec(kFour).within(range(1, 16))));
  Asked half(rig, kTwoAndTwo);  // all that it can ever have
  EXPECT_FALSE(waits(half.spec(kFour).within(kTwoAndTwo)));
  Asked unknown(rig, kTwoAndTwo);
  EXPECT_FALSE(waits(unknown.spec(kFour)));
  Asked no_layout(rig, kTwoAndTwo);
  EXPECT_FALSE(waits(no_layout.within(range(1, 16))));
  Asked large(rig, range(1, 15));  // more than a quarter of its reach
  large.nodes(6).spec("tp=8,pp=2,dp=3").within(range(1, 16)).choose();
  EXPECT_EQ(large.choice.worth_waiting, 0U);
  Asked side_by_side(rig, kTwoAndTwo);
  side_by_side.flags(WEFT_REQ_CONTIGUOUS).spec(kFour).within(range(1, 16)).nodes(4).choose();
  EXPECT_EQ(side_by_side.choice.worth_waiting, 0U);
  Asked weighed(rig, kTwoAndTwo);  // strict: Slurm's lighter nodes come first, near or not
  weighed.weights = Asked::by_node(weighed, [](int n) { return n < 6 ? 1U : 9U; });
  EXPECT_FALSE(waits(weighed.spec(kFour).within(range(1, 16))));
}

TEST(Patience, TheJobsOwnWordWins) {
  const Rig patient("patience: 2\n"), hasty;
  Asked now(patient, kTwoAndTwo);
  now.nodes(4).spec("tp=8,dp=4,patience=0").within(range(1, 16)).choose();
  EXPECT_EQ(now.choice.worth_waiting, 0U);
  Asked later(hasty, kTwoAndTwo);
  later.nodes(4).spec("tp=8,dp=4,patience=3").within(range(1, 16)).choose();
  EXPECT_EQ(later.choice.worth_waiting, 1U);
  EXPECT_EQ(later.choice.patience_seconds, 3600U);
  EXPECT_EQ(weft_bridge_patient(patient.bridge, nullptr, 0), 1);
  EXPECT_EQ(weft_bridge_patient(hasty.bridge, nullptr, 0), 0);
  EXPECT_EQ(weft_bridge_patient(hasty.bridge, "tp=8", 4), 0);
  EXPECT_EQ(weft_bridge_patient(hasty.bridge, "tp=8,patience=3", 15), 1);
  EXPECT_EQ(weft_bridge_patient(nullptr, nullptr, 0), 0);
}

// Bytes over spines and leaves of a choice on those nodes, with what the SPEC says besides.
struct Cost {
  bool placed = false;
  double cross = 0;
  std::uint32_t leaves = 0;
};
Cost cost_of(const Rig& rig, const std::vector<int>& usable, std::uint32_t nodes, const std::string& spec) {
  Asked asked(rig, usable);
  asked.nodes(nodes).spec(spec).choose();
  return {asked.choice.verdict == WEFT_PLACED, asked.choice.cross_spine_bytes, asked.choice.leaves};
}

TEST(Patience, WaitsWhereNeitherBytesNorLeavesWillDo) {
  // Four pods of four leaves of four nodes.
  const std::string tree64 = placement::fixtures::three_tiers(64, 16, "s[1-4]", 8, 4);
  const Rig patient("patience: 2\n", still(), tree64, true, 64), hasty("", still(), tree64, true, 64);
  placement::brute::Dice dice(7);
  std::array<int, 3> seen{};  // started as it was, packed, waits
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t nodes = 2 * dice.roll(1, 9);
    const std::uint32_t stages = dice.roll(0, 1) == 0 || nodes % 4 != 0 ? 2 : 4;
    const std::string spec = "tp=8,pp=" + std::to_string(stages);
    std::vector<int> usable;
    const std::uint32_t busy = dice.roll(2, 6);
    for (int n = 1; n <= 64; ++n)
      if (dice.roll(0, 9) >= busy) usable.push_back(n);
    if (usable.size() < nodes) continue;
    const std::uint32_t fewest = (nodes + 3) / 4;
    const Cost now = cost_of(hasty, usable, nodes, spec), alone = cost_of(hasty, range(1, 64), nodes, spec);
    const Cost packed = cost_of(hasty, usable, nodes, spec + ",max_leaves=" + std::to_string(fewest));
    Asked asked(patient, usable);
    asked.nodes(nodes).spec(spec).within(range(1, 64)).choose();
    ASSERT_EQ(asked.choice.verdict, static_cast<std::uint32_t>(WEFT_PLACED));
    const bool good = now.leaves <= fewest || now.cross <= 2 * alone.cross || nodes > 16;
    const bool packs = !good && packed.placed && packed.cross <= 1.5 * now.cross;
    const Cost& expected = packs ? packed : now;
    EXPECT_EQ(asked.choice.worth_waiting == 1, !good && !packed.placed);
    EXPECT_EQ(asked.choice.cross_spine_bytes, expected.cross);
    EXPECT_EQ(asked.choice.leaves, expected.leaves);
    ++seen[packs ? 1 : packed.placed || good ? 0 : 2];
  }
  EXPECT_GT(seen[0], 50);
  EXPECT_GT(seen[1], 0);
  EXPECT_GT(seen[2], 30);
}

// Answers of a bridge that counts how often it places.
struct Counted {
  explicit Counted(const std::string& more = "") : rig(more, hooks()) {}
  Hooks hooks() {
    Hooks out = still();
    out.place = [this](const topology::Fabric& fabric, const placement::Request& request,
                       const placement::PlaceOptions& options) {
      ++calls;
      if (faults-- > 0) throw std::runtime_error("as ordered");
      return placement::place(fabric, request, options);
    };
    return out;
  }
  std::atomic<int> calls{0}, faults{0};
  Rig rig;
};

TEST(Memo, AnEqualQuestionIsAnsweredOnce) {
  Counted counted;
  Asked first(counted.rig, kTwoAndTwo), other(counted.rig, kTwoAndTwo), fewer(counted.rig, {1, 2, 5, 9});
  const std::string answer = first.nodes(4).spec(kFour).answer();
  other.request.job_id = 8;
  other.request.mode = WEFT_MODE_WILL_RUN;
  EXPECT_EQ(other.nodes(4).spec(kFour).answer(), answer);
  EXPECT_EQ(counted.calls, 1);
  EXPECT_STREQ(other.choice.summary, first.choice.summary);
  EXPECT_NE(fewer.nodes(4).spec(kFour).answer(), answer);
  EXPECT_EQ(counted.calls, 2);
  EXPECT_NE(first.spec("tp=8,dp=4,max_leaves=1").answer(), answer);
  EXPECT_EQ(counted.calls, 4);  // now, and whether ever
}

TEST(Memo, AFaultIsNotRemembered) {
  Counted counted;
  counted.faults = 1;
  Asked asked(counted.rig, kTwoAndTwo);
  EXPECT_THAT(asked.nodes(4).spec(kFour).answer(), HasSubstr("delegate: "));
  EXPECT_EQ(asked.answer(), "n1 n2 n5 n6");
  EXPECT_EQ(counted.calls, 2);
}

TEST(Memo, WhatAJobWouldComeToAloneIsWorkedOutOnce) {
  Counted counted("patience: 2\n");
  Asked first(counted.rig, kTwoAndTwo), other(counted.rig, {3, 4, 7, 8});
  first.nodes(4).spec(kFour).within(range(1, 16)).choose();
  EXPECT_EQ(counted.calls, 3);  // now, alone, packed
  other.nodes(4).spec(kFour).within(range(1, 16)).choose();
  EXPECT_EQ(counted.calls, 5);
}

TEST(Memo, TheLogTellsAndReplaysToTheByte) {
  const Directory place;
  Rig rig("patience: 2\ndecision_log: " + (place / "log.jsonl") + "\n");
  for (const int job : {1, 2}) {
    Asked asked(rig, kTwoAndTwo);
    asked.request.job_id = static_cast<std::uint32_t>(job);
    asked.nodes(4).spec(kFour).within(range(1, 16)).choose();
  }
  weft_bridge_close(rig.bridge);
  rig.bridge = nullptr;
  const std::string text = place.read("log.jsonl");
  EXPECT_THAT(text, HasSubstr(R"("worth_waiting":true)"));
  EXPECT_THAT(text, HasSubstr(R"("reach":"n)"));
  EXPECT_THAT(text, HasSubstr(R"("patience":2)"));
  EXPECT_EQ(text.find("repeated"), text.rfind("repeated"));
  EXPECT_GT(text.find("repeated"), text.find('\n'));
  const auto model = load_model(rig.dir / "weft.yaml");
  const auto source = read_source(place / "log.jsonl");
  ASSERT_TRUE(model && source);
  const auto counts = replay(*model, *source, std::nullopt, [](const Replayed& one) {
    EXPECT_EQ(one.logged, one.now) << "decision " << one.decision;
  });
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->equal, 2U);
  const auto told = stats({*source});
  ASSERT_TRUE(told);
  EXPECT_THAT(*told, HasSubstr("weft_decisions_repeated_total 1\n"));
  EXPECT_THAT(*told, HasSubstr("weft_decisions_to_wait_total 2\n"));
}

}  // namespace
}  // namespace weft::bridge::test
