// SPDX-License-Identifier: BSD-3-Clause
//
// GPUs on the same rails: small cases by hand, and every choice of nodes and GPUs tried on small fragmented fabrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

#include "gpu_choice.hpp"
#include "weft/config/fabric_spec.hpp"

namespace weft::placement {
namespace {

using testing::ElementsAre;
using topology::Fabric;
using topology::NodeId;

Fabric fabric_of(std::uint32_t nodes, const std::string& type) {
  const std::string text = "weft: 1\nname: t\nnode_types:\n  a: {" + type + "}\nnodes:\n  - {name: 'n[1-" +
                           std::to_string(nodes) +
                           "]', type: a}\nswitches:\n  - {name: leaf, tier: 1}\nlinks:\n  - {from: 'n[1-" +
                           std::to_string(nodes) + "]', to: leaf, pattern: all, bandwidth: 200Gb/s}\n";
  const auto spec = config::parse_fabric_yaml(std::make_shared<const SourceText>("f", text));
  EXPECT_TRUE(spec) << spec.error().to_string();
  auto fabric = Fabric::build(*spec);
  EXPECT_TRUE(fabric) << fabric.error().to_string();
  return std::move(*fabric);
}

std::vector<NodeId> all_nodes(const Fabric& fabric) {
  std::vector<NodeId> out;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) out.push_back(NodeId{n});
  return out;
}

std::vector<std::vector<bool>> free_of(const std::vector<std::string>& masks) {
  std::vector<std::vector<bool>> out;
  for (const std::string& mask : masks) {
    out.emplace_back();
    for (const char c : mask) out.back().push_back(c == '.');
  }
  return out;
}

GpuChoice choose(const Fabric& fabric, std::uint32_t gpus, std::uint32_t nodes,
                 const std::vector<std::vector<bool>>& free) {
  const std::vector<NodeId> candidates = all_nodes(fabric);
  return choose_gpus(fabric, {.gpus_per_node = gpus, .nodes = nodes, .candidates = candidates, .free = free});
}

TEST(GpuChoice, TakesTheRailsThatAllNodesHaveFree) {
  const Fabric fabric = fabric_of(3, "gpus: 4, nics: 4");
  const auto free = free_of({"x...", ".x..", "..x."});
  const GpuChoice choice = choose(fabric, 2, 2, free);
  EXPECT_THAT(choice.rails, ElementsAre(0, 3));  // of the pairs of nodes with two rails in common the lowest rails
  EXPECT_THAT(choice.nodes, ElementsAre(NodeId{1}, NodeId{2}));
  EXPECT_THAT(choice.gpus, ElementsAre(ElementsAre(0, 3), ElementsAre(0, 3)));
  EXPECT_EQ(choice.off_rail, 0U);
  // Three nodes have only rail 3 in common.
  EXPECT_EQ(choose(fabric, 1, 3, free).off_rail, 0U);
  EXPECT_THAT(choose(fabric, 1, 3, free).rails, ElementsAre(3));
  EXPECT_EQ(choose(fabric, 2, 3, free).off_rail, 1U);
}

TEST(GpuChoice, KeepsToOneGpuANicWhereItCan) {
  const Fabric fabric = fabric_of(2, "gpus: 4, nics: 2, nic_of_gpu: [0, 0, 1, 1]");
  const GpuChoice choice = choose(fabric, 2, 2, free_of({"....", "...."}));
  EXPECT_THAT(choice.rails, ElementsAre(0, 1));
  EXPECT_THAT(choice.gpus, ElementsAre(ElementsAre(0, 2), ElementsAre(0, 2)));
  EXPECT_EQ(choice.shared_nics, 0U);
  const std::vector<NodeId> nodes = all_nodes(fabric);
  const std::vector<std::vector<std::uint32_t>> lowest{{0, 1}, {0, 1}};
  EXPECT_EQ(gpu_cost(fabric, nodes, lowest).shared_nics, 2U);
}

TEST(GpuChoice, PrefersNodesThatAreBrokenUpAlready) {
  const Fabric fabric = fabric_of(3, "gpus: 4, nics: 4");
  const GpuChoice choice = choose(fabric, 2, 2, free_of({"....", "..xx", "..xx"}));
  EXPECT_THAT(choice.nodes, ElementsAre(NodeId{1}, NodeId{2}));
  EXPECT_EQ(choice.aligned.size(), 3U);
}

TEST(GpuChoice, NamesTheNodesThatAlignOnOtherRails) {
  const Fabric fabric = fabric_of(5, "gpus: 4, nics: 4");
  const GpuChoice choice = choose(fabric, 2, 2, free_of({"..xx", "xx..", "xx..", "..xx", "xx.."}));
  EXPECT_THAT(choice.aligned, ElementsAre(NodeId{0}, NodeId{3}));
  EXPECT_THAT(choice.other_aligned, ElementsAre(ElementsAre(NodeId{1}, NodeId{2}, NodeId{4})));
  EXPECT_TRUE(choose(fabric, 2, 4, free_of({"..xx", "xx..", "xx..", "..xx", "xx.."})).other_aligned.empty());
}

TEST(GpuChoice, PrefersNearNics) {
  const std::string text =
      "weft: 1\nname: t\nnode_types:\n  a: {hwloc: node/hwloc2.xml}\nnodes:\n  - {name: 'n[1-2]', type: a}\n"
      "switches:\n  - {name: leaf, tier: 1}\nlinks:\n  - {from: 'n[1-2]', to: leaf, pattern: all, bandwidth: "
      "200Gb/s}\n";
  const auto spec =
      config::parse_fabric_yaml(std::make_shared<const SourceText>(WEFT_SOURCE_DIR "/tests/fixtures/f.yaml", text));
  ASSERT_TRUE(spec);
  const auto fabric = Fabric::build(*spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_THAT(choose(*fabric, 2, 2, free_of({"x...", "...."})).rails, ElementsAre(1, 2));
}

TEST(GpuChoice, SaysWhereTooFewNodesDo) {
  const Fabric fabric = fabric_of(2, "gpus: 4, nics: 4");
  EXPECT_TRUE(choose(fabric, 2, 2, free_of({"xxx.", "...."})).nodes.empty());
  EXPECT_TRUE(choose(fabric, 2, 0, free_of({"....", "...."})).nodes.empty());
  EXPECT_THAT(lowest_gpus(free_of({"x.x."})[0], 2), ElementsAre(1, 3));
  EXPECT_THAT(lowest_gpus(free_of({"x.xx"})[0], 2), ElementsAre(1));
}

// Every ordered choice of `count` free GPUs.
std::vector<std::vector<std::uint32_t>> arrangements(const std::vector<bool>& free, std::uint32_t count) {
  std::vector<std::vector<std::uint32_t>> out;
  std::vector<std::uint32_t> now;
  const auto extend = [&](const auto& self) -> void {
    if (now.size() == count) return out.push_back(now);
    for (std::uint32_t g = 0; g < free.size(); ++g) {
      if (!free[g] || std::find(now.begin(), now.end(), g) != now.end()) continue;
      now.push_back(g);
      self(self);
      now.pop_back();
    }
  };
  extend(extend);
  return out;
}

// The least of (off, shared) over all nodes, GPUs and orders.
std::pair<std::uint64_t, std::uint64_t> brute_force(const Fabric& fabric, std::uint32_t gpus, std::uint32_t nodes,
                                                    const std::vector<std::vector<bool>>& free) {
  std::pair<std::uint64_t, std::uint64_t> best{~0ULL, ~0ULL};
  std::vector<NodeId> taken;
  std::vector<std::vector<std::uint32_t>> chosen;
  const auto extend = [&](const auto& self, std::uint32_t next) -> void {
    if (taken.size() == nodes) {
      const GpuCost cost = gpu_cost(fabric, taken, chosen);
      best = std::min(best, std::pair(cost.off_rail, cost.shared_nics));
      return;
    }
    for (std::uint32_t n = next; n < fabric.node_count(); ++n) {
      for (auto& gpus_of_node : arrangements(free[n], gpus)) {
        taken.push_back(NodeId{n});
        chosen.push_back(gpus_of_node);
        self(self, n + 1);
        taken.pop_back();
        chosen.pop_back();
      }
    }
  };
  extend(extend, 0);
  return best;
}

TEST(GpuChoice, NoChoiceHasFewerRanksOffTheirRail) {
  std::mt19937 random(20261);
  const Fabric one_to_one = fabric_of(4, "gpus: 4, nics: 4");
  const Fabric two_to_one = fabric_of(4, "gpus: 4, nics: 2, nic_of_gpu: [0, 0, 1, 1]");
  std::size_t cases = 0;
  for (int i = 0; i < 150; ++i) {
    const Fabric& fabric = i % 2 == 0 ? one_to_one : two_to_one;
    std::vector<std::vector<bool>> free(4, std::vector<bool>(4));
    for (auto& node : free) {
      for (std::size_t g = 0; g < 4; ++g) node[g] = random() % 2 == 0;
    }
    const auto gpus = static_cast<std::uint32_t>(1 + random() % 2);
    const auto nodes = static_cast<std::uint32_t>(2 + random() % 2);
    const GpuChoice choice = choose(fabric, gpus, nodes, free);
    const auto best = brute_force(fabric, gpus, nodes, free);
    if (choice.nodes.empty()) {
      EXPECT_EQ(best.first, ~0ULL);
      continue;
    }
    ++cases;
    const GpuCost cost = gpu_cost(fabric, choice.nodes, choice.gpus);
    EXPECT_TRUE(choice.exact);
    EXPECT_EQ(choice.off_rail, best.first);
    EXPECT_EQ(cost.off_rail, best.first);
    EXPECT_EQ(choice.shared_nics, cost.shared_nics);
    EXPECT_EQ(cost.shared_nics, best.second);
    for (std::size_t n = 0; n < choice.nodes.size(); ++n) {
      for (const std::uint32_t g : choice.gpus[n]) EXPECT_TRUE(free[topology::index(choice.nodes[n])][g]);
    }
  }
  EXPECT_GT(cases, 50U);
}

}  // namespace
}  // namespace weft::placement
