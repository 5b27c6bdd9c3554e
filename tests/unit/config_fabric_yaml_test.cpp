// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "weft/config.hpp"

namespace weft::config {
namespace {

using ::testing::ElementsAre;

Source text(std::string value) { return std::make_shared<const SourceText>("f.yaml", std::move(value)); }

FabricSpec su_demo() {
  auto source = read_source(WEFT_SOURCE_DIR "/config/examples/su-demo.yaml");
  EXPECT_TRUE(source.has_value());
  auto spec = parse_fabric_yaml(*source);
  EXPECT_TRUE(spec.has_value()) << spec.error().to_string();
  return spec.value_or(FabricSpec());
}

TEST(FabricYaml, ReadsTheDemoWhole) {
  const FabricSpec spec = su_demo();
  EXPECT_EQ(spec.name, "su-demo");
  ASSERT_EQ(spec.node_types.size(), 1U);
  EXPECT_EQ(spec.node_types[0].name.value, "h100");
  EXPECT_EQ(spec.node_types[0].gpus, 8U);
  EXPECT_EQ(spec.node_types[0].nics, 8U);
  EXPECT_THAT(spec.node_types[0].nic_of_gpu, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(spec.node_types[0].nvlink, NvlinkScope::node);
  EXPECT_EQ(spec.node_types[0].nvlink_bandwidth, Bandwidth{3'600'000'000'000});
  ASSERT_EQ(spec.switches.size(), 2U);
  EXPECT_EQ(spec.switches[1].names.value, "spine[1-4]");
  EXPECT_EQ(spec.switches[1].tier, 2U);
  ASSERT_EQ(spec.nodes.size(), 1U);
  EXPECT_EQ(spec.nodes[0].type.value, "h100");
  EXPECT_EQ(spec.nodes[0].weight, 1U);
  ASSERT_EQ(spec.links.size(), 2U);
  EXPECT_EQ(spec.links[0].pattern, LinkPattern::rail);
  EXPECT_EQ(spec.links[1].pattern, LinkPattern::all);
  EXPECT_EQ(spec.links[1].bandwidth, Bandwidth{400'000'000'000});
  EXPECT_EQ(spec.links[1].cables, 2U);
  ASSERT_EQ(spec.health.size(), 3U);
  EXPECT_EQ(spec.health[0].target, HealthSpec::Target::switch_);
  EXPECT_TRUE(spec.health[0].down);
  EXPECT_EQ(spec.health[2].target, HealthSpec::Target::link);
  EXPECT_EQ(spec.health[2].a.value, "gpu17:3");
  EXPECT_EQ(spec.health[2].b.value, "leaf4");
  EXPECT_FALSE(spec.health[2].down);
  EXPECT_EQ(spec.health[2].bandwidth, Bandwidth{100'000'000'000});
}

TEST(FabricYaml, PlacesPointInsideQuotes) {
  const auto spec = parse_fabric_yaml(text("weft: 1\nswitches:\n  - {name: \"leaf[1-8]\", tier: 1}\n  - {name: s1}\n"));
  ASSERT_TRUE(spec) << spec.error().to_string();
  EXPECT_EQ(spec->switches[0].names.at, (Position{3, 13}));
  EXPECT_EQ(spec->switches[1].names.at, (Position{4, 12}));
  EXPECT_FALSE(spec->switches[1].tier.has_value());
}

TEST(FabricYaml, DefaultsAreThoseOfTheFormat) {
  const auto spec = parse_fabric_yaml(text(
      "weft: 1\nnode_types:\n  t: {gpus: 4}\nlinks:\n  - {from: a, to: b, bandwidth: 1Gb/s}\nhealth:\nswitches: []\n"));
  ASSERT_TRUE(spec) << spec.error().to_string();
  EXPECT_EQ(spec->name, "");
  EXPECT_EQ(spec->node_types[0].nics, 4U);
  EXPECT_TRUE(spec->node_types[0].nic_of_gpu.empty());
  EXPECT_EQ(spec->node_types[0].nvlink, NvlinkScope::node);
  EXPECT_FALSE(spec->node_types[0].nvlink_bandwidth.has_value());
  EXPECT_EQ(spec->links[0].cables, 1U);
  EXPECT_EQ(spec->links[0].pattern, LinkPattern::all);
  EXPECT_FALSE(spec->links[0].nics.has_value());
  EXPECT_FALSE(spec->links[0].plane.has_value());
  EXPECT_TRUE(spec->health.empty());
}

TEST(FabricYaml, IsWrittenAsATidyPersonWould) {
  std::ifstream in(WEFT_SOURCE_DIR "/config/examples/su-demo.yaml");
  std::ostringstream original;
  original << in.rdbuf();
  std::string expected = original.str();
  expected.erase(0, expected.find('\n') + 1);  // the comment
  EXPECT_EQ(write_fabric_yaml(su_demo()), expected);
}

TEST(FabricYaml, WritesWhatAWriterMayLeaveOutAndQuotesWhatYamlWouldMistake) {
  FabricSpec spec;
  spec.name = "yes";
  spec.node_types.push_back({{"dgx #1", {}}, 0, 0, {}, NvlinkScope::none, std::nullopt, Text{"a b.xml", {}}, {}});
  spec.switches.push_back({{"1101", {}}, std::nullopt});
  spec.nodes.push_back({{"gpu01", {}}, {"null", {}}, 7});
  spec.links.push_back(
      {{"gpu01", {}}, {"1101", {}}, LinkPattern::zip, {1}, 3, Text{"0-3", {}}, Text{"back\\slash \"q\"\n", {}}});
  spec.health.push_back({HealthSpec::Target::port, {"gpu01:3", {}}, {}, false, std::nullopt, std::nullopt, "x: y"});
  EXPECT_EQ(write_fabric_yaml(spec),
            "weft: 1\n"
            "name: \"yes\"\n"
            "node_types:\n"
            "  \"dgx #1\":\n"
            "    nvlink: {domain: none}\n"
            "    hwloc: \"a b.xml\"\n"
            "switches:\n"
            "  - {name: \"1101\"}\n"
            "nodes:\n"
            "  - {name: gpu01, type: \"null\", weight: 7}\n"
            "links:\n"
            "  - {from: gpu01, to: \"1101\", pattern: zip, bandwidth: 1b/s, cables: 3, nics: \"0-3\", "
            "plane: \"back\\\\slash \\\"q\\\"\\x0a\"}\n"
            "health:\n"
            "  - {port: \"gpu01:3\", state: up, reason: \"x: y\"}\n");
}

TEST(HealthYaml, ReadsEveryKindOfTarget) {
  auto source = read_source(WEFT_SOURCE_DIR "/config/examples/su-demo-health.yaml");
  ASSERT_TRUE(source.has_value());
  const auto health = parse_health_yaml(*source);
  ASSERT_TRUE(health) << health.error().to_string();
  ASSERT_EQ(health->size(), 4U);
  EXPECT_EQ((*health)[0].target, HealthSpec::Target::node);
  EXPECT_EQ((*health)[0].reason, "Xid 79, drained");
  EXPECT_EQ((*health)[1].target, HealthSpec::Target::port);
  EXPECT_EQ((*health)[1].a.value, "gpu09:0");
  EXPECT_EQ((*health)[2].cables, 1U);
  EXPECT_EQ((*health)[3].bandwidth, Bandwidth{200'000'000'000});
}

TEST(HealthYaml, AListOfNamesIsThatManyEntries) {
  const auto health = parse_health_yaml(text("weft: 1\nhealth:\n  - {node: \"gpu[07,09]\", state: down, reason: r}\n"));
  ASSERT_TRUE(health) << health.error().to_string();
  ASSERT_EQ(health->size(), 2U);
  EXPECT_EQ((*health)[0].a.value, "gpu07");
  EXPECT_EQ((*health)[1].a.value, "gpu09");
  EXPECT_EQ((*health)[1].a.at, (Position{3, 13}));
  EXPECT_TRUE((*health)[1].down);
  EXPECT_EQ((*health)[1].reason, "r");
  EXPECT_EQ(parse_health_yaml(text("weft: 1\nhealth:\n  - {node: \"n[0-65536]\", state: down}\n")).error().to_string(),
            "f.yaml:3:5: error: more than 65536 health entries\n    - {node: \"n[0-65536]\", state: down}\n      ^");
}

}  // namespace
}  // namespace weft::config
