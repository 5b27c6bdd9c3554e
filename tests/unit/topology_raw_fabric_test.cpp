// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "raw_fabric.hpp"
#include "support/expanded_spec.hpp"

namespace weft::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr Bandwidth kFast{400'000'000'000};

std::string_view word(config::LinkPattern pattern) {
  switch (pattern) {
    case config::LinkPattern::all: return "all";
    case config::LinkPattern::zip: return "zip";
    case config::LinkPattern::split: return "split";
    case config::LinkPattern::rail: return "rail";
  }
  return "";
}

// "gpu[1-4] -> leaf1 all nics 0-3 x2"
std::vector<std::string> links_of(const config::FabricSpec& spec) {
  std::vector<std::string> out;
  for (const config::LinkSpec& link : spec.links) {
    out.push_back(fmt::format("{} -> {} {}{}{}{}", link.from.value, link.to.value, word(link.pattern),
                              link.nics ? " nics " + link.nics->value : "",
                              link.plane ? " on " + link.plane->value : "",
                              link.cables > 1 ? fmt::format(" x{}", link.cables) : ""));
  }
  return out;
}

RawFabric fabric(std::uint32_t nodes, std::uint32_t nics, std::uint32_t leaves, std::uint32_t spines) {
  RawFabric raw;
  raw.name = "f";
  for (std::uint32_t i = 1; i <= nodes; ++i) raw.nodes.push_back({fmt::format("gpu{:03}", i), nics, nics, 1, {i, 1}});
  for (std::uint32_t i = 1; i <= leaves; ++i) raw.switches.push_back({fmt::format("leaf{:02}", i), std::nullopt, {}});
  for (std::uint32_t i = 1; i <= spines; ++i) raw.switches.push_back({fmt::format("spine{:02}", i), std::nullopt, {}});
  return raw;
}

void attach(RawFabric& raw, std::uint32_t node, std::uint32_t nic, std::uint32_t sw) {
  RawCable cable;
  cable.a = {false, node, nic};
  cable.b = {true, sw, 0};
  cable.nominal = kFast;
  cable.at = {static_cast<std::uint32_t>(raw.cables.size()) + 1, 1};
  raw.cables.push_back(cable);
}

void join(RawFabric& raw, std::uint32_t a, std::uint32_t b, std::uint32_t cables = 1) {
  RawCable cable;
  cable.a = {true, a, 0};
  cable.b = {true, b, 0};
  cable.nominal = kFast;
  for (std::uint32_t i = 0; i < cables; ++i) raw.cables.push_back(cable);
}

// 128 nodes of 8 NICs in units of 32 on 32 rail leaves, two cables to each of 8 spines.
RawFabric rails() {
  RawFabric raw = fabric(128, 8, 32, 8);
  for (std::uint32_t n = 0; n < 128; ++n) {
    for (std::uint32_t nic = 0; nic < 8; ++nic) attach(raw, n, nic, n / 32 * 8 + nic);
  }
  for (std::uint32_t leaf = 0; leaf < 32; ++leaf) {
    for (std::uint32_t spine = 32; spine < 40; ++spine) join(raw, leaf, spine, 2);
  }
  return raw;
}

TEST(ToSpec, FoldsAThousandPortsOfRailsIntoALineAUnit) {
  const config::FabricSpec spec = to_spec(rails(), nullptr);
  EXPECT_THAT(links_of(spec), ElementsAre("gpu[001-032] -> leaf[01-08] rail", "gpu[033-064] -> leaf[09-16] rail",
                                          "gpu[065-096] -> leaf[17-24] rail", "gpu[097-128] -> leaf[25-32] rail",
                                          "leaf[01-32] -> spine[01-08] all x2"));
  ASSERT_THAT(spec.nodes, SizeIs(1));
  EXPECT_EQ(spec.nodes[0].names.value, "gpu[001-128]");
  EXPECT_EQ(spec.nodes[0].type.value, "node");
}

TEST(ToSpec, ALostCableCostsOnlyItsNodeTheRail) {
  RawFabric raw = rails();
  std::erase_if(raw.cables, [](const RawCable& c) { return !c.a.is_switch && c.a.index == 5 && c.a.nic == 2; });
  const auto links = links_of(to_spec(raw, nullptr));
  EXPECT_THAT(links, SizeIs(5 + 7));
  EXPECT_EQ(links[0], "gpu[001-005,007-032] -> leaf[01-08] rail");
  EXPECT_EQ(links[1], "gpu006 -> leaf01 all nics 0");
}

TEST(ToSpec, SplitsEqualRunsOfNodesOverTheirLeaves) {
  RawFabric raw = fabric(20, 4, 3, 2);
  for (std::uint32_t n = 0; n < 20; ++n) {
    for (std::uint32_t nic = 0; nic < 4; ++nic) attach(raw, n, nic, n / 8);
  }
  for (std::uint32_t leaf = 0; leaf < 3; ++leaf) join(raw, leaf, 3), join(raw, 4, leaf);
  EXPECT_THAT(links_of(to_spec(raw, nullptr)),
              ElementsAre("gpu[001-016] -> leaf[01-02] split", "gpu[017-020] -> leaf03 all",
                          "leaf[01-03] -> spine[01-02] all"));
}

TEST(ToSpec, DualPortedNicsAreTwoRailsOrOneAll) {
  RawFabric raw = fabric(2, 2, 4, 0);
  for (std::uint32_t nic = 0; nic < 2; ++nic) {
    attach(raw, 0, nic, nic);
    attach(raw, 0, nic, 2 + nic);
    attach(raw, 1, nic, 0);
    attach(raw, 1, nic, 1);
  }
  EXPECT_THAT(links_of(to_spec(raw, nullptr)),
              ElementsAre("gpu001 -> leaf[01-02] rail", "gpu001 -> leaf[03-04] rail", "gpu002 -> leaf[01-02] all"));
}

TEST(ToSpec, NicsThatShareALeafAreNamed) {
  RawFabric raw = fabric(4, 8, 2, 0);
  for (std::uint32_t n = 0; n < 4; ++n) {
    for (std::uint32_t nic = 0; nic < 8; ++nic) attach(raw, n, nic, nic % 4 < 2 ? 0 : 1);
  }
  EXPECT_THAT(links_of(to_spec(raw, nullptr)),
              ElementsAre("gpu[001-004] -> leaf01 all nics 0-1,4-5", "gpu[001-004] -> leaf02 all nics 2-3,6-7"));
}

TEST(ToSpec, ARingOfSwitchesIsTwoZips) {
  RawFabric raw = fabric(6, 1, 6, 0);
  for (std::uint32_t n = 0; n < 6; ++n) {
    attach(raw, n, 0, n);
    join(raw, n, (n + 1) % 6);
  }
  EXPECT_THAT(links_of(to_spec(raw, nullptr)),
              ElementsAre("gpu[001-006] -> leaf[01-06] zip", "leaf01 -> leaf06 all", "leaf[01-05] -> leaf[02-06] zip"));
}

TEST(ToSpec, PlanesAndBandwidthsStayApart) {
  RawFabric raw = fabric(1, 1, 2, 0);
  attach(raw, 0, 0, 0);
  attach(raw, 0, 0, 1);
  raw.cables[1].plane = "b";
  attach(raw, 0, 0, 1);
  raw.cables[2].plane = "b";
  raw.cables[2].nominal = {1'000'000'000};
  EXPECT_THAT(links_of(to_spec(raw, nullptr)),
              ElementsAre("gpu001 -> leaf01 all", "gpu001 -> leaf02 all on b", "gpu001 -> leaf02 all on b"));
}

TEST(ToSpec, ShapesBecomeTypesAndOrderIsKept) {
  RawFabric raw = fabric(4, 8, 1, 1);
  raw.nodes[1].gpus = 4;
  raw.nodes[3].weight = 7;
  raw.switches[1].tier = 2;
  raw.type_prefix = "h100";
  raw.nvlink = false;
  raw.nvlink_domains.push_back({"rack1", {0, 2, 3}, {}});
  const config::FabricSpec spec = to_spec(raw, nullptr);
  ASSERT_THAT(spec.node_types, SizeIs(2));
  EXPECT_EQ(spec.node_types[0].name.value, "h100-8g8n");
  EXPECT_EQ(spec.node_types[1].name.value, "h100-4g8n");
  EXPECT_EQ(spec.node_types[0].nvlink, config::NvlinkScope::none);
  ASSERT_THAT(spec.nodes, SizeIs(4));
  EXPECT_EQ(spec.nodes[2].names.value, "gpu003");
  EXPECT_EQ(spec.nodes[2].type.value, "h100-8g8n");
  EXPECT_EQ(spec.nodes[3].weight, 7U);
  ASSERT_THAT(spec.switches, SizeIs(2));
  EXPECT_EQ(spec.switches[1].tier, 2U);
  ASSERT_THAT(spec.nvlink_domains, SizeIs(1));
  EXPECT_EQ(spec.nvlink_domains[0].nodes.value, "gpu[001,003-004]");
}

TEST(ToSpec, AilingCablesBecomeHealthOfTheirBundle) {
  RawFabric raw = fabric(1, 2, 2, 0);
  join(raw, 0, 1, 4);
  raw.cables[0].actual = Bandwidth{100'000'000'000};
  raw.cables[0].reason = "width 1X";
  raw.cables[2].down = true;
  raw.cables[3].down = true;
  attach(raw, 0, 1, 0);
  raw.cables[4].down = true;
  raw.cables[4].actual = Bandwidth{1};
  const config::FabricSpec spec = to_spec(raw, nullptr);
  ASSERT_THAT(spec.health, SizeIs(3));
  EXPECT_EQ(spec.health[0].a.value, "leaf01");
  EXPECT_EQ(spec.health[0].b.value, "leaf02");
  EXPECT_FALSE(spec.health[0].down);
  EXPECT_EQ(spec.health[0].bandwidth, (Bandwidth{100'000'000'000}));
  EXPECT_EQ(spec.health[0].cables, 1U);
  EXPECT_EQ(spec.health[0].reason, "width 1X");
  EXPECT_TRUE(spec.health[1].down);
  EXPECT_EQ(spec.health[1].cables, 2U);
  EXPECT_EQ(spec.health[2].a.value, "gpu001:1");
  EXPECT_EQ(spec.health[2].b.value, "leaf01");
  EXPECT_FALSE(spec.health[2].cables.has_value());  // all of the bundle
  EXPECT_FALSE(spec.health[2].bandwidth.has_value());
}

TEST(ToSpec, NoLineGrowsTooLongToRead) {
  RawFabric raw = fabric(64, 1, 64, 0);
  for (std::uint32_t i = 0; i < 64; ++i) {
    raw.nodes[i].name = fmt::format("{}-host", std::string(1 + i, 'n'));
    raw.switches[i].name = fmt::format("{}-sw", std::string(1 + i, 's'));
    attach(raw, i, 0, i);
    join(raw, i, (i + 1) % 64);
  }
  const config::FabricSpec spec = to_spec(raw, nullptr);
  std::size_t longest = 0;
  for (const auto& link : spec.links) longest = std::max({longest, link.from.value.size(), link.to.value.size()});
  for (const auto& node : spec.nodes) longest = std::max(longest, node.names.value.size());
  EXPECT_LE(longest, 400U);
  EXPECT_THAT(weft::testing::expand(spec).cables, SizeIs(128));
}

TEST(ToSpec, AnEmptyFabricIsAnEmptySpec) {
  const config::FabricSpec spec = to_spec(RawFabric{}, nullptr);
  EXPECT_TRUE(spec.links.empty() && spec.nodes.empty() && spec.switches.empty() && spec.node_types.empty());
}

}  // namespace
}  // namespace weft::topology
