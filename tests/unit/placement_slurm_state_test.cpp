// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "weft/placement/slurm_state.hpp"

namespace weft::placement {
namespace {

using testing::ElementsAre;

Source text(std::string content) { return std::make_shared<const SourceText>("f", std::move(content)); }

SlurmNode one(const std::string& content) {
  const auto state = parse_slurm_state(text(content));
  EXPECT_TRUE(state) << state.error().to_string();
  return state->nodes.at(0);
}

std::string refusal(const std::string& content) {
  const auto state = parse_slurm_state(text(content));
  return state ? "read" : state.error().to_string();
}

TEST(SlurmState, ReadsTextWithAndWithoutDetail) {
  const SlurmNode detail =
      one("NodeName=gpu01 Arch=x86_64 CoresPerSocket=64\n   CPUAlloc=64\n   Gres=gpu:h100:8(S:0-1),shard:32\n"
          "   GresUsed=gpu:h100:3(IDX:0,2-3),shard:0\n   State=MIXED ThreadsPerCore=2\n   "
          "AllocTRES=cpu=64,mem=1G,gres/gpu=3\n");
  EXPECT_EQ(detail.name, "gpu01");
  EXPECT_TRUE(detail.open);
  EXPECT_FALSE(detail.idle);
  EXPECT_EQ(detail.gpus, 8U);
  EXPECT_TRUE(detail.used_known);
  EXPECT_THAT(detail.used, ElementsAre(0, 2, 3));
  const SlurmNode plain = one("NodeName=gpu01 Gres=gpu:8 State=MIXED AllocTRES=cpu=64,gres/gpu=3,gres/gpu:h100=3\n");
  EXPECT_EQ(plain.used_gpus, 3U);
  EXPECT_FALSE(plain.used_known);
  const SlurmNode two = one("NodeName=a Gres=gpu:a:4,gpu:b:4 GresUsed=gpu:a:1(IDX:1),gpu:b:2(IDX:4-5) State=MIXED\n");
  EXPECT_EQ(two.gpus, 8U);
  EXPECT_THAT(two.used, ElementsAre(1, 4, 5));
  EXPECT_FALSE(one("NodeName=a Gres=(null) State=IDLE\n").gpus);
}

TEST(SlurmState, ReadsJsonOfOldAndNewReleases) {
  const SlurmNode old_style =
      one(R"json({"nodes": [{"name": "a", "state": "mixed", "state_flags": ["DRAIN"], "gres": "gpu:4"}]})json");
  EXPECT_FALSE(old_style.open);
  const SlurmNode current = one(R"json({"nodes": [{"name": "a", "state": ["MIXED"], "gres": "gpu:4(S:0-1)",
      "gres_used": "gpu:2(IDX:1,3)", "tres_used": "cpu=2,gres/gpu=2"}]})json");
  EXPECT_TRUE(current.open);
  EXPECT_THAT(current.used, ElementsAre(1, 3));
}

TEST(SlurmState, KnowsWhichStatesTakeJobs) {
  for (const char* open : {"IDLE", "MIXED", "IDLE+CLOUD", "IDLE~", "MIXED+PLANNED", "IDLE+CLOUD+POWERED_DOWN", "IDLE-"})
    EXPECT_TRUE(one(std::string("NodeName=a State=") + open + "\n").open) << open;
  for (const char* shut :
       {"ALLOCATED", "DOWN", "DOWN*", "IDLE*", "IDLE+DRAIN", "MIXED+DRAIN", "IDLE+MAINT", "IDLE+RESERVED", "COMPLETING",
        "FUTURE", "UNKNOWN", "IDLE+NOT_RESPONDING", "IDLE$", "MIXED@", "IDLE%"})
    EXPECT_FALSE(one(std::string("NodeName=a State=") + shut + "\n").open) << shut;
}

TEST(SlurmState, RefusalsSayWhere) {
  EXPECT_EQ(refusal(""),
            "f:1:1: error: no node in it; expected the output of `scontrol show nodes`, or of `scontrol show nodes "
            "--json`");
  EXPECT_EQ(refusal("NodeName=a Gres=gpu:many State=IDLE\n"),
            "f:1:17: error: Gres is \"gpu:many\"; expected GPUs such as gpu:8 or gpu:h100:8(S:0-1)\n"
            "  NodeName=a Gres=gpu:many State=IDLE\n                  ^^^^^^^^");
  EXPECT_EQ(refusal("NodeName=a\n  Gres=gpu:8\n"),
            "f:1:10: error: node a has no State; expected State=IDLE or another; is the output cut off?\n  NodeName=a\n"
            "           ^");
  EXPECT_EQ(refusal("{\"nodes\": [{}]}"),
            "f:1:12: error: a node without a name; expected \"name\": \"gpu01\"\n  {\"nodes\": [{}]}\n             ^");
  EXPECT_EQ(refusal("{\"nodes\": ["),
            "f:1:12: error: not valid JSON; expected the whole output of `scontrol show nodes --json`; is it cut off?\n"
            "  {\"nodes\": [\n             ^");
}

TEST(SlurmState, FreeGpusOfAFabric) {
  const std::string yaml =
      "weft: 1\nname: t\nnode_types:\n  a: {gpus: 4}\nnodes:\n  - {name: 'n[1-5]', type: a}\nswitches:\n  - {name: "
      "leaf, tier: 1}\n"
      "links:\n  - {from: 'n[1-5]', to: leaf, pattern: all, bandwidth: 200Gb/s}\n";
  const auto fabric = topology::Fabric::build(*config::parse_fabric_yaml(text(yaml)));
  ASSERT_TRUE(fabric);
  const auto state =
      parse_slurm_state(text("NodeName=n1 Gres=gpu:4 GresUsed=gpu:2(IDX:1-2) State=MIXED\n"
                             "NodeName=n2 Gres=gpu:4 State=MIXED AllocTRES=gres/gpu=1\n"
                             "NodeName=n3 Gres=gpu:4 State=IDLE+DRAIN\n"
                             "NodeName=n4 Gres=(null) State=IDLE\n"
                             "NodeName=login State=IDLE\n"));
  ASSERT_TRUE(state);
  const FreeState free = free_state(*fabric, *state, "f");
  EXPECT_EQ(free.nodes, (NodeMask{true, true, false, true, false}));
  EXPECT_EQ(free.gpus[0], (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(free.gpus[1], (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(free.gpus[3], (std::vector<bool>{true, true, true, true}));
  ASSERT_EQ(free.notes.size(), 2U);
  EXPECT_EQ(free.notes[0].message, "1 of Slurm's nodes are not in the fabric; left out");
}

// Real outputs: 135 nodes as text, 4 nodes of Slurm 21.08 as JSON.
TEST(SlurmState, RealOutputs) {
  const char* given = std::getenv("WEFT_SHARED");
  const std::string data = std::string(given != nullptr ? given : WEFT_SHARED_DIR) + "/data/slurm-output/";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no files under " << data << " (set WEFT_SHARED)";
  FILE* in = popen(("gzip -dc '" + data + "rail_cluster/scontrol_show_nodes.txt.gz'").c_str(), "r");
  ASSERT_NE(in, nullptr);
  std::string content;
  std::array<char, 65536> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), in)) > 0;) content.append(buffer.data(), n);
  ASSERT_EQ(pclose(in), 0);
  const auto state = parse_slurm_state(text(content));
  ASSERT_TRUE(state) << state.error().to_string();
  std::size_t names = 0;
  for (std::size_t at = 0; (at = content.find("NodeName=", at)) != std::string::npos; ++at) ++names;
  EXPECT_EQ(state->nodes.size(), names);
  const auto json = read_source(data + "rivos_sinfo_out.json");
  ASSERT_TRUE(json);
  const auto old_json = parse_slurm_state(*json);
  ASSERT_TRUE(old_json) << old_json.error().to_string();
  EXPECT_EQ(old_json->nodes.size(), 4U);
  EXPECT_TRUE(old_json->nodes[0].open);
}

}  // namespace
}  // namespace weft::placement
