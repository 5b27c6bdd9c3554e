// SPDX-License-Identifier: BSD-3-Clause
//
// The decision log: what stands in it, that a replay comes to the same, that logrotate and full disks do no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "bridge_fixtures.hpp"
#include "replay.hpp"

namespace weft::bridge::test {
namespace {

using ::testing::HasSubstr;

struct Logged {
  explicit Logged(const std::string& more = "", Hooks hooks = still())
      : rig("decision_log: " + (place / "log.jsonl") + "\n" + more, std::move(hooks)) {}
  // Closes the bridge, so that all is written.
  std::string text() {
    weft_bridge_close(rig.bridge);
    rig.bridge = nullptr;
    return place.read("log.jsonl");
  }
  Directory place;
  Rig rig;
};

ReplayCounts replayed(const Logged& logged, std::vector<Replayed>* each = nullptr) {
  const auto model = load_model(logged.rig.dir / "weft.yaml");
  EXPECT_TRUE(model.has_value());
  const auto source = read_source(logged.place / "log.jsonl");
  EXPECT_TRUE(source.has_value());
  const auto counts = replay(*model, *source, std::nullopt, [&](const Replayed& one) {
    EXPECT_EQ(one.logged, one.now) << "decision " << one.decision;
    if (each != nullptr) each->push_back(one);
  });
  EXPECT_TRUE(counts.has_value()) << counts.error().to_string();
  return counts.value_or(ReplayCounts{});
}

TEST(DecisionLog, ALineHoldsTheQuestionAndTheAnswer) {
  Logged logged("default_layout: {tp: 8}\n");
  Asked asked(logged.rig, {1, 2, 3, 5, 6});
  asked.request.gpus_per_node = 8;
  asked.weights = Asked::by_node(asked, [](int n) { return n < 3 ? 5U : 1U; });
  EXPECT_EQ(asked.nodes(2).spec("tp=8,max_leaves=1\xff").answer().substr(0, 5), "never");
  EXPECT_EQ(asked.nodes(2).spec("tp=8,max_leaves=1").answer(), "n5 n6");
  EXPECT_EQ(asked.choice.decision, 2U);
  weft_bridge_outcome(logged.rig.bridge, 2, 0, "cores\n");
  const std::string text = logged.text();
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["job"]["spec"], "tp=8,max_leaves=1\\xff");
  EXPECT_EQ(lines[0]["choice"]["verdict"], "never");
  EXPECT_EQ(lines[1]["decision"], 2);
  EXPECT_EQ(lines[1]["free"]["usable"], "n[1,6,2,5,3]");  // in the node table's order
  EXPECT_EQ(lines[1]["free"]["weights"], nlohmann::json::parse("[[5,1],[1,1],[5,1],[1,2]]"));
  EXPECT_EQ(lines[1]["job"]["nodes"], nlohmann::json::parse("[2,2,2]"));
  EXPECT_EQ(lines[1]["settings"]["default_layout"]["tp"], 8);
  EXPECT_EQ(lines[1]["choice"]["nodes"], "n[5-6]");
  EXPECT_EQ(lines[1]["choice"]["summary"], "leaves=1 pods=1 cross_spine=0B/step gap=0.00");
  EXPECT_EQ(lines[2], nlohmann::json::parse(R"({"weft":1,"outcome_of":2,"taken":false,"reason":"cores\\x0a"})"));
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
}

TEST(DecisionLog, EveryKindOfDecisionReplaysToTheByte) {
  Logged logged("node_weight: tie\n");
  const auto ask = [&](const std::vector<int>& usable) { return Asked(logged.rig, usable); };
  ask(range(1, 16)).nodes(4).choose();
  ask({1, 2, 5, 6}).nodes(4).spec("max_leaves=1").choose();
  ask(range(1, 16)).nodes(5).spec("max_leaves=1").choose();
  ask({1, 2}).nodes(4).choose();
  ask(range(1, 16)).nodes(3).flags(WEFT_REQ_CONTIGUOUS).choose();
  ask({1, 2, 3, 9, 10, 11, 12}).nodes(2).flags(WEFT_REQ_EXCLUSIVE_TOPO).choose();
  ask(range(1, 16)).nodes(2).must({3, 14}).choose();
  ask(range(1, 16)).nodes(2).spec("tpp=\x01").choose();
  Asked weights = ask(range(1, 16));
  weights.weights = Asked::by_node(weights, [](int n) { return n % 3U; });
  weights.request.max_switches = 1;
  weights.nodes(2, 6).choose();
  Asked cpus = ask(range(1, 12));
  cpus.cpus = Asked::by_node(cpus, [](int n) { return n < 4 ? 10U : 60U; });
  cpus.request.need_cpus = 120;
  cpus.possible = logged.rig.set(range(1, 13));
  cpus.nodes(1, 1, 9).choose();
  Asked layout = ask(range(1, 16));
  layout.request.gpus_per_node = 8;
  layout.nodes(8).spec("tp=8,pp=2,dp_traffic=allreduce:4GiB").choose();
  Asked parts = ask(range(1, 16));
  parts.request.gpus_per_node = 2;
  parts.free({{1, 0x30}, {2, 0}, {4, 0x31}, {9, 0x80000000000000ffU}}).nodes(2).choose();
  const std::string text = logged.text();
  EXPECT_THAT(text, HasSubstr(R"("free_gpus":[["4-5",1],["0-7",4],["0,4-5",1],)"));
  EXPECT_THAT(text, HasSubstr(R"(["",1],["0-7,63",1])"));
  EXPECT_THAT(text, HasSubstr(R"("gpus":[["4-5",2]],"ranks_per_node")"));
  EXPECT_EQ(replayed(logged).equal, 12U);
}

TEST(DecisionLog, ADeadlineReplaysWhateverTheClockSays) {
  Hooks hooks;
  hooks.now = [at = std::chrono::steady_clock::time_point{}]() mutable { return at += std::chrono::milliseconds(20); };
  Logged logged("", hooks);
  EXPECT_EQ(Asked(logged.rig).nodes(2).answer().substr(0, 8), "delegate");
  EXPECT_THAT(logged.text(), HasSubstr("\"overran_after_checks\":0"));
  EXPECT_EQ(replayed(logged).equal, 1U);
}

TEST(DecisionLog, AReplayTellsWhatDiffersAndWhatIsOfAnotherFabric) {
  Logged logged;
  Asked(logged.rig).nodes(2).choose();
  Asked(logged.rig).nodes(3).choose();
  std::string text = logged.text();
  const std::size_t at = text.find("\"nodes\":\"n[1-2]\"");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 16, "\"nodes\":\"n[3-4]\"");
  const auto log = std::make_shared<const SourceText>("log.jsonl", text);
  const auto model = load_model(logged.rig.dir / "weft.yaml");
  std::vector<Replayed> all;
  const auto counts = replay(*model, log, std::nullopt, [&](const Replayed& each) { all.push_back(each); });
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->different, 1U);
  EXPECT_EQ(counts->equal, 1U);
  EXPECT_FALSE(all[0].equal());
  EXPECT_THAT(all[0].now, HasSubstr("n[1-2]"));
  logged.rig.dir.write("fabric.yaml", tree16() + "health:\n  - {node: n1, state: down}\n");
  const auto changed = load_model(logged.rig.dir / "weft.yaml");
  const auto other = replay(*changed, log, std::nullopt, [](const Replayed&) { FAIL(); });
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->other_fabric, 2U);
}

TEST(DecisionLog, AContiguousJobNeedsTheTablesOrder) {
  Logged logged;
  Asked(logged.rig).nodes(2).flags(WEFT_REQ_CONTIGUOUS).choose();
  std::string text = logged.text();
  EXPECT_EQ(replayed(logged).equal, 1U);
  const std::size_t at = text.find(",\"table\":[[0,16]]");
  ASSERT_NE(at, std::string::npos) << text;
  text.erase(at, 17);
  const auto model = load_model(logged.rig.dir / "weft.yaml");
  const auto counts = replay(*model, std::make_shared<const SourceText>("log.jsonl", text), std::nullopt,
                             [](const Replayed&) { FAIL(); });
  ASSERT_FALSE(counts.has_value());
  EXPECT_THAT(counts.error().message, HasSubstr("no \"table\", and the job is contiguous"));
}

TEST(DecisionLog, BrokenLinesAreShownAtTheirPlace) {
  const Rig rig;
  const auto model = load_model(rig.dir / "weft.yaml");
  const auto refusal = [&](const std::string& text) {
    const auto log = std::make_shared<const SourceText>("log.jsonl", text);
    const auto counts = replay(*model, log, std::nullopt, [](const Replayed&) {});
    return counts ? "" : counts.error().to_string();
  };
  EXPECT_EQ(refusal("\n{\n"), "log.jsonl:2:1: error: no JSON object; expected a line of the decision log\n  {\n  ^");
  EXPECT_EQ(refusal("[]\n"), "log.jsonl:1:1: error: no JSON object; expected a line of the decision log\n  []\n  ^");
  EXPECT_EQ(refusal("{\"a\":1}\n"),
            "log.jsonl:1:1: error: no \"weft\": 1; expected a line of the decision log\n  {\"a\":1}\n  ^");
  EXPECT_EQ(refusal("{\"weft\":1}\n"), "log.jsonl:1:1: error: no \"decision\"\n  {\"weft\":1}\n  ^");
  EXPECT_EQ(refusal("{\"weft\":1,\"decision\":4"), "");  // still being written
}

TEST(DecisionLog, ARenamedFileIsFollowedByANewOne) {
  Logged logged;
  Asked(logged.rig).nodes(2).choose();
  for (int i = 0; i < 200 && logged.place.read("log.jsonl").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::filesystem::rename(logged.place / "log.jsonl", logged.place / "log.jsonl.1");
  Asked(logged.rig).nodes(3).choose();
  EXPECT_THAT(logged.text(), HasSubstr("\"decision\":2"));
  EXPECT_THAT(logged.place.read("log.jsonl.1"), HasSubstr("\"decision\":1"));
}

TEST(DecisionLog, AFileThatCannotBeWrittenIsSaidAndCounted) {
  Directory place;
  Rig rig("decision_log: " + (place / "gone/log.jsonl") + "\n");
  Asked asked(rig);
  EXPECT_EQ(asked.nodes(2).answer(), "n1 n2");
  weft_counters counters{};
  for (int i = 0; i < 200 && counters.log_dropped == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    weft_bridge_get_counters(rig.bridge, &counters);
  }
  EXPECT_EQ(counters.log_dropped, 1U);
  weft_bridge_close(rig.bridge);
  rig.bridge = nullptr;
  EXPECT_THAT(rig.log(), HasSubstr("gone/log.jsonl: No such file or directory"));
}

TEST(DecisionLog, AFullQueueDropsAndCounts) {
  const Directory place;
  std::mutex mutex;
  std::condition_variable go;
  bool open = false, busy = false;
  std::uint64_t kept = 0;
  {
    DecisionLog log(place / "log", [](const std::string&) {});
    log.push(
        [&] {
          std::unique_lock lock(mutex);
          busy = true;
          go.notify_all();
          go.wait(lock, [&] { return open; });
          return std::string("first\n");
        },
        1);
    {
      std::unique_lock lock(mutex);
      go.wait(lock, [&] { return busy; });
    }
    for (std::size_t i = 0; i < DecisionLog::kMaxLines + 10; ++i)
      kept += log.push([] { return std::string("line\n"); }, 1) ? 1 : 0;
    EXPECT_EQ(kept, DecisionLog::kMaxLines);
    EXPECT_EQ(log.dropped(), 10U);
    const std::lock_guard lock(mutex);
    open = true;
    go.notify_all();
  }
  const std::string text = place.read("log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(DecisionLog::kMaxLines + 1));
}

TEST(DecisionLog, QueuedBytesAreBoundedToo) {
  const Directory place;
  DecisionLog log(place / "log", [](const std::string&) {});
  EXPECT_FALSE(log.push([] { return std::string(); }, DecisionLog::kMaxBytes + 1));
}

TEST(Stats, CountsForPrometheus) {
  Logged logged;
  Asked(logged.rig).nodes(4).choose();
  Asked(logged.rig).nodes(8).choose();
  Asked(logged.rig, {1, 2}).nodes(4).choose();
  Asked(logged.rig).nodes(2).spec("x").choose();
  weft_bridge_outcome(logged.rig.bridge, 1, 1, nullptr);
  weft_bridge_outcome(logged.rig.bridge, 2, 0, "cores");
  const auto log = std::make_shared<const SourceText>("log.jsonl", logged.text());
  const auto text = stats({log});
  ASSERT_TRUE(text.has_value()) << text.error().to_string();
  for (const char* line : {
           "weft_decisions_total{verdict=\"delegate\",cause=\"capacity\",mode=\"run_now\"} 1\n",
           "weft_decisions_total{verdict=\"never\",cause=\"spec\",mode=\"run_now\"} 1\n",
           "weft_decisions_total{verdict=\"placed\",cause=\"none\",mode=\"run_now\"} 2\n",
           "weft_decision_seconds_count 4\n",
           "weft_placed_leaves_bucket{le=\"1\"} 1\n",
           "weft_placed_leaves_bucket{le=\"2\"} 2\n",
           "weft_placed_leaves_sum 3\n",
           "weft_placed_nodes_total 12\n",
           "weft_fallbacks_total{cause=\"capacity\"} 1\n",
           "weft_fallbacks_total{cause=\"stock_overruled\"} 1\n",
           "weft_outcomes_total{taken=\"true\"} 1\n",
           "# TYPE weft_decision_seconds histogram\n",
       })
    EXPECT_THAT(*text, HasSubstr(line));
}

}  // namespace
}  // namespace weft::bridge::test
