// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology_specs.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::topology {
namespace {

using config::LinkPattern;
using test::k100G;
using test::k200G;
using test::k400G;
using test::SpecMaker;
using testing::ElementsAre;
using testing::IsEmpty;
using Target = config::HealthSpec::Target;

Fabric built(const SpecMaker& maker) {
  auto fabric = maker.build();
  EXPECT_TRUE(fabric.has_value()) << fabric.error().to_string();
  EXPECT_EQ(fabric->check_invariants(), std::nullopt);
  return std::move(*fabric);
}

std::vector<std::string> domains(const Fabric& f, Level level) {
  std::vector<std::string> out;
  for (std::uint32_t d = 0; d < f.domain_count(level); ++d) out.push_back(f.domain_name(level, DomainId{d}));
  return out;
}

std::vector<std::string> order(const Fabric& f) {
  std::vector<std::string> out;
  for (const NodeId node : f.fabric_order()) out.push_back(f.node_name(node));
  return out;
}

std::optional<Path> path(const Fabric& f, std::string_view a, std::uint32_t i, std::string_view b, std::uint32_t j) {
  return f.nic_path(f.find_node(a).value(), i, f.find_node(b).value(), j);
}

std::optional<Path> path(const Fabric& f, std::string_view a, std::string_view b) { return path(f, a, 0, b, 0); }

Path hops_tier(std::uint8_t hops, std::uint8_t tier) { return {hops, tier}; }

//      s1      s2
//     /  \    /  \       each leaf to each spine
//    l1   l2   l3
//   n1 n2 n3 n4 n5 n6    two NICs each, both to the leaf
SpecMaker two_tier() {
  return SpecMaker()
      .type(4, 2)
      .nodes("n[1-6]")
      .switches("l[1-3]")
      .switches("s[1-2]")
      .link("n[1-6]", "l[1-3]", LinkPattern::split)
      .link("l[1-3]", "s[1-2]", LinkPattern::all, 2);
}

TEST(Fabric, TwoTiers) {
  const Fabric f = built(two_tier());
  EXPECT_EQ(f.name(), "test");
  EXPECT_EQ(f.node_count(), 6U);
  EXPECT_EQ(f.gpu_count(), 24U);
  EXPECT_EQ(f.switch_count(), 5U);
  EXPECT_EQ(f.link_count(), 18U);
  EXPECT_EQ(f.max_tier(), 2);
  EXPECT_EQ(f.tier(f.find_switch("l2").value()), 1);
  EXPECT_EQ(f.tier(f.find_switch("s2").value()), 2);
  EXPECT_EQ(f.plane_count(), 1U);
  EXPECT_EQ(f.plane_name(PlaneId{0}), "plane0");
  EXPECT_EQ(path(f, "n1", "n2"), hops_tier(1, 1));
  EXPECT_EQ(path(f, "n1", 0, "n1", 1), hops_tier(1, 1));
  EXPECT_EQ(path(f, "n1", "n6"), hops_tier(3, 2));
  EXPECT_EQ(f.max_hops(), 3U);
  EXPECT_EQ(f.class_count(), 3U);
  EXPECT_EQ(f.level_count(), 3);
  EXPECT_THAT(domains(f, kNvlinkLevel), ElementsAre("n1", "n2", "n3", "n4", "n5", "n6"));
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("l1", "l2", "l3"));
  EXPECT_THAT(domains(f, kPodLevel), ElementsAre("pod1"));
  EXPECT_EQ(f.level_name(kPodLevel), "pod");
  EXPECT_TRUE(f.hierarchical());
  EXPECT_THAT(f.notes(), IsEmpty());
  EXPECT_EQ(f.link_name(LinkId{1}), "n1:1 - l1");
  EXPECT_EQ(f.link_name(LinkId{12}), "l1 - s1");
  EXPECT_EQ(f.link(LinkId{12}).cables, 2U);
  EXPECT_EQ(f.neighbours(f.find_switch("l1").value()).size(), 2U);
  EXPECT_THAT(f.type_of(NodeId{0}).nic_of_gpu, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(f.find_node("l1"), std::nullopt);
  EXPECT_EQ(f.find_switch("n1"), std::nullopt);
}

//           c1              tier 3
//         /    \.
//       s1      s2          tier 2, one a pod
//      /  \    /  \.
//     l1  l2  l3  l4        tier 1
//     n1  n3  n2  n4        (file order n1 n2 n3 n4)
TEST(Fabric, ThreeTiersAndFabricOrder) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-4]")
                             .switches("l[1-4],s[1-2],c1")
                             .link("n1,n3,n2,n4", "l[1-4]", LinkPattern::zip)
                             .link("l[1-4]", "s[1-2]", LinkPattern::split)
                             .link("s[1-2]", "c1"));
  EXPECT_EQ(f.max_tier(), 3);
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(3, 2));
  EXPECT_EQ(path(f, "n1", "n2"), hops_tier(5, 3));
  EXPECT_EQ(f.max_hops(), 5U);
  EXPECT_EQ(f.level_count(), 4);
  EXPECT_THAT(domains(f, kPodLevel), ElementsAre("s1", "s2"));
  EXPECT_THAT(domains(f, 3), ElementsAre("c1"));
  EXPECT_EQ(f.level_name(3), "core");
  EXPECT_TRUE(f.hierarchical());
  EXPECT_THAT(order(f), ElementsAre("n1", "n3", "n2", "n4"));
  EXPECT_EQ(f.fabric_rank(f.find_node("n2").value()), 2U);
  EXPECT_EQ(f.link_name(LinkId{0}), "n1 - l1");  // one NIC: no index
}

//      s1     s2
//     / | \  / | \.      every leaf to every spine
//   a0 a1   b0 b1        NIC i of n1 n2 to a<i>, of n3 n4 to b<i>
SpecMaker rail(bool shared_spines) {
  SpecMaker maker;
  maker.type(2, 2).nodes("n[1-4]").switches("a[0-1],b[0-1],s[1-2]");
  maker.link("n[1-2]", "a[0-1]", LinkPattern::rail).link("n[3-4]", "b[0-1]", LinkPattern::rail);
  if (shared_spines) return maker.link("a[0-1],b[0-1]", "s[1-2]");
  return maker.link("a[0-1]", "s[1-2]", LinkPattern::zip).link("b[0-1]", "s[1-2]", LinkPattern::zip);
}

TEST(Fabric, RailOptimised) {
  const Fabric f = built(rail(true));
  EXPECT_EQ(f.plane_count(), 1U);
  EXPECT_EQ(path(f, "n1", 0, "n2", 0), hops_tier(1, 1));
  EXPECT_EQ(path(f, "n1", 0, "n2", 1), hops_tier(3, 2));
  EXPECT_EQ(path(f, "n1", 1, "n4", 1), hops_tier(3, 2));
  EXPECT_EQ(f.class_count(), 2U);
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("a0+a1", "b0+b1"));
  EXPECT_THAT(domains(f, kPodLevel), ElementsAre("pod1"));
  EXPECT_TRUE(f.hierarchical());
}

//     s1      s2         rail-only: a spine for each rail, no path between rails
//    /  \    /  \.
//   a0  b0  a1  b1
TEST(Fabric, RailOnlyIsAPlaneARail) {
  const Fabric f = built(rail(false));
  EXPECT_EQ(f.plane_count(), 2U);
  EXPECT_EQ(path(f, "n1", 0, "n3", 0), hops_tier(3, 2));
  EXPECT_EQ(path(f, "n1", 0, "n2", 1), std::nullopt);
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("a0+a1", "b0+b1"));
  EXPECT_EQ(f.domain_count(kPodLevel), 1U);
  EXPECT_TRUE(f.hierarchical());
}

}  // namespace
}  // namespace weft::topology
