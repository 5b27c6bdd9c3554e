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

//   es1     ws1       two disjoint planes of equal build; the one NIC of each node has a port in both
//   / \     / \.
//  e1  e2  w1  w2     n1 n2 on e1 w1, n3 n4 on e2 w2
TEST(Fabric, PlanesOfEqualBuild) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-4]")
                             .switches("e[1-2],es1,w[1-2],ws1")
                             .link("n[1-4]", "e[1-2]", LinkPattern::split)
                             .plane("east")
                             .link("e[1-2]", "es1")
                             .link("n[1-4]", "w[1-2]", LinkPattern::split)
                             .link("w[1-2]", "ws1"));
  EXPECT_EQ(f.plane_count(), 2U);
  EXPECT_EQ(f.plane_name(f.plane(f.find_switch("es1").value())), "east");
  EXPECT_EQ(f.plane_name(f.plane(f.find_switch("w2").value())), "plane1");
  EXPECT_EQ(f.leaf_path(f.find_switch("e1").value(), f.find_switch("w1").value()), std::nullopt);
  EXPECT_EQ(f.leaf_path(f.find_switch("w1").value(), f.find_switch("w2").value()), hops_tier(3, 2));
  EXPECT_EQ(f.leaf_path(f.find_switch("w1").value(), f.find_switch("ws1").value()), std::nullopt);  // no leaf
  EXPECT_EQ(path(f, "n1", "n4"), hops_tier(3, 2));
  EXPECT_EQ(f.ports(NodeId{0}, 0).size(), 2U);
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("e1+w1", "e2+w2"));
  EXPECT_TRUE(f.hierarchical());
}

// As above with the east spine down: the planes are no longer alike, and west still carries.
TEST(Fabric, APlaneWithAFaultHasItsOwnDistances) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-4]")
                             .switches("e[1-2],es1,w[1-2],ws1")
                             .link("n[1-4]", "e[1-2]", LinkPattern::split)
                             .link("e[1-2]", "es1")
                             .link("n[1-4]", "w[1-2]", LinkPattern::split)
                             .link("w[1-2]", "ws1")
                             .down(Target::switch_, "es1"));
  EXPECT_EQ(f.plane_count(), 2U);
  EXPECT_EQ(f.leaf_path(f.find_switch("e1").value(), f.find_switch("e2").value()), std::nullopt);
  EXPECT_EQ(path(f, "n1", "n4"), hops_tier(3, 2));
}

//  [n1 n2] [n3 n4]      racks joined by NVLink, all on one leaf
//      \    /
//        l1
TEST(Fabric, NvlinkDomains) {
  const Fabric f = built(SpecMaker()
                             .type(4, 1)
                             .nodes("n[1-4]")
                             .switches("l1")
                             .link("n[1-4]", "l1")
                             .nvlink("rackB", "n[2,4]")
                             .nvlink("rackA", "n1"));
  EXPECT_THAT(domains(f, kNvlinkLevel), ElementsAre("rackA", "rackB", "n3"));
  EXPECT_EQ(f.domain_nodes(kNvlinkLevel, DomainId{1}).size(), 2U);
  EXPECT_THAT(order(f), ElementsAre("n1", "n2", "n4", "n3"));
  EXPECT_EQ(f.level_count(), 2);
  EXPECT_TRUE(f.hierarchical());
}

//   n1 - l1 - s1 - l2 - n2     rack n1 n2 lies on two leaves: NVLink is no level inside the leaf
TEST(Fabric, AnNvlinkDomainOverTwoLeavesIsNoHierarchy) {
  const Fabric f = built(SpecMaker()
                             .type(4, 1)
                             .nodes("n[1-2]")
                             .switches("l[1-2],s1")
                             .link("n[1-2]", "l[1-2]", LinkPattern::zip)
                             .link("l[1-2]", "s1")
                             .nvlink("rack", "n[1-2]"));
  EXPECT_FALSE(f.hierarchical());
}

//   a1 a2      b1 b2     leaves
//   | X |      | X |
//   x1 x2      y1 y2     spines, x1=y1 and x2=y2 joined: 4 hops between groups
TEST(Fabric, DragonflyPlusHasItsGroupsAsPods) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-4]")
                             .switches("a[1-2],b[1-2]", 1)
                             .switches("x[1-2],y[1-2]", 2)
                             .link("n[1-4]", "a[1-2],b[1-2]", LinkPattern::zip)
                             .link("a[1-2]", "x[1-2]")
                             .link("b[1-2]", "y[1-2]")
                             .link("x[1-2]", "y[1-2]", LinkPattern::zip));
  EXPECT_EQ(path(f, "n1", "n2"), hops_tier(3, 2));
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(4, 2));
  EXPECT_EQ(f.max_hops(), 4U);
  EXPECT_THAT(domains(f, kPodLevel), ElementsAre("pod1", "pod2"));
  EXPECT_EQ(f.domain_of(kPodLevel, NodeId{0}), f.domain_of(kPodLevel, NodeId{1}));
  EXPECT_FALSE(f.hierarchical());
}

//   s1 - s2 - s3
//   |         |        one node each
//   s5 ------ s4
TEST(Fabric, RingIsNoHierarchy) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-5]")
                             .switches("s[1-5]")
                             .link("n[1-5]", "s[1-5]", LinkPattern::zip)
                             .link("s[1-5]", "s[2-5],s1", LinkPattern::zip));
  EXPECT_EQ(f.max_tier(), 1);
  EXPECT_EQ(path(f, "n1", "n5"), hops_tier(2, 1));
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(3, 1));
  EXPECT_EQ(f.max_hops(), 3U);
  EXPECT_EQ(f.level_count(), 2);
  EXPECT_FALSE(f.hierarchical());
}

//   n1 - a - b - c - n2        c and d are joined directly
//                 \ d - n3
TEST(Fabric, Irregular) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-3]")
                             .switches("a,b,c,d")
                             .link("n[1-3]", "a,c,d", LinkPattern::zip)
                             .link("a,b,c", "b,c,d", LinkPattern::zip));
  EXPECT_EQ(f.tier(f.find_switch("b").value()), 2);
  EXPECT_EQ(path(f, "n2", "n3"), hops_tier(2, 1));
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(4, 2));
  EXPECT_FALSE(f.hierarchical());
}

//        x (tier 3)
//       /  \.
//   n1-a    b-n2      of two shortest paths the one over the lower tier counts
//       \  /
//        y (tier 2)
TEST(Fabric, OfEqualPathsTheLowerTier) {
  SpecMaker maker;
  maker.type(8, 1).nodes("n[1-2]").switches("a,b", 1).switches("x", 3).switches("y", 2);
  maker.link("n[1-2]", "a,b", LinkPattern::zip).link("a,b", "x,y");
  EXPECT_EQ(path(built(maker), "n1", "n2"), hops_tier(3, 2));
  maker.down(Target::switch_, "y");
  EXPECT_EQ(path(built(maker), "n1", "n2"), hops_tier(3, 3));
}

//    l1   l2   l3
//     \  /  \  /       one NIC with two ports
//     n1 n2  n3
TEST(Fabric, DualHomedNodes) {
  const Fabric f =
      built(SpecMaker().type(8, 1).nodes("n[1-3]").switches("l[1-3]").link("n[1-2]", "l[1-2]").link("n3", "l[2-3]"));
  EXPECT_EQ(f.class_count(), 2U);
  EXPECT_EQ(f.ports(NodeId{2}, 0).size(), 2U);
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("l1+l2", "l2+l3"));
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(1, 1));
  EXPECT_FALSE(f.hierarchical());  // two leaf domains, yet no spine between them
  EXPECT_EQ(f.plane_count(), 3U);
}

TEST(Fabric, NicsPicksAndOrdersRails) {
  const Fabric f = built(SpecMaker()
                             .type(8, 4)
                             .nodes("n[1-2]")
                             .switches("l[1-2],m1")
                             .link("n[1-2]", "l[1-2]", LinkPattern::rail)
                             .nics("3,0")
                             .link("n[1-2]", "m1")
                             .nics("1-2"));
  EXPECT_EQ(f.link_name(LinkId{0}), "n1:3 - l1");
  EXPECT_EQ(f.link_name(LinkId{1}), "n1:0 - l2");
  EXPECT_EQ(f.ports(NodeId{1}, 2).front().leaf, f.find_switch("m1"));
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("l[1-2],m1"));
}

TEST(Fabric, ParallelEntriesOfOneBandwidthAreOneBundle) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n1")
                             .switches("l1,s1")
                             .link("n1", "l1")
                             .link("l1", "s1", LinkPattern::all, 2)
                             .link("l1", "s1", LinkPattern::all, 1, k100G)
                             .link("s1", "l1", LinkPattern::all, 3));
  ASSERT_EQ(f.link_count(), 3U);
  EXPECT_EQ(f.link(LinkId{1}).cables, 5U);
  EXPECT_EQ(f.link(LinkId{2}).bandwidth, k100G);
  EXPECT_EQ(f.neighbours(f.find_switch("s1").value()).size(), 2U);
}

std::vector<std::string> faults(const Fabric& f) {
  std::vector<std::string> out;
  for (const Fault& fault : f.faults()) out.push_back(fault.what + (fault.reason.empty() ? "" : ": " + fault.reason));
  return out;
}

TEST(Fabric, DownSwitchAndLinkCutALeafOff) {
  const Fabric f = built(two_tier().down(Target::switch_, "s2", "", "fan").down(Target::link, "s1", "l2"));
  EXPECT_THAT(faults(f), ElementsAre("s2: fan", "l2 - s1"));
  EXPECT_EQ(f.faults()[0].kind, Fault::Kind::switch_down);
  EXPECT_EQ(f.faults()[1].kind, Fault::Kind::link_down);
  EXPECT_FALSE(f.switch_up(f.find_switch("s2").value()));
  EXPECT_EQ(path(f, "n1", "n3"), std::nullopt);
  EXPECT_EQ(path(f, "n3", "n4"), hops_tier(1, 1));
  EXPECT_EQ(path(f, "n1", "n5"), hops_tier(3, 2));
  EXPECT_EQ(f.link_count(), 18U);  // kept, to be shown
  EXPECT_EQ(f.plane_count(), 1U);  // a fault makes no plane
  EXPECT_EQ(f.domain_count(kPodLevel), 2U);
  EXPECT_TRUE(f.hierarchical());
}

TEST(Fabric, DownNodeAndPort) {
  const Fabric f = built(rail(true).down(Target::node, "n4").down(Target::port, "n1:0"));
  EXPECT_FALSE(f.usable(f.find_node("n4").value()));
  EXPECT_TRUE(f.usable(f.find_node("n1").value()));
  EXPECT_THAT(f.ports(f.find_node("n1").value(), 0), IsEmpty());
  EXPECT_EQ(path(f, "n1", 0, "n2", 0), std::nullopt);
  EXPECT_EQ(path(f, "n1", 1, "n2", 1), hops_tier(1, 1));
  EXPECT_EQ(f.class_count(), 4U);
  // One port down does not move a node out of its scalable unit; a node that is down is alone.
  EXPECT_THAT(domains(f, kLeafLevel), ElementsAre("a0+a1", "b0+b1", "n4"));
  EXPECT_TRUE(f.hierarchical());
  ASSERT_EQ(f.notes().size(), 1U);
  EXPECT_EQ(f.notes()[0].message, "1 node cannot be used because of its health: n4");
}

TEST(Fabric, SomeCablesOfABundle) {
  const Fabric f = built(two_tier()
                             .down(Target::link, "l1", "s1", "bent")
                             .cables(1)
                             .slow(Target::link, "l1", "s2", k100G)
                             .cables(1)
                             .slow(Target::switch_, "l3", "", k200G));
  EXPECT_THAT(faults(f), ElementsAre("l1 - s1 (1 of 2 cables): bent", "l1 - s2 (1 of 2 cables)", "l3"));
  EXPECT_EQ(f.faults()[1].bandwidth, k100G);
  ASSERT_EQ(f.link_count(), 20U);
  EXPECT_EQ(f.link(LinkId{12}).cables, 1U);
  EXPECT_TRUE(f.link(LinkId{12}).up);
  EXPECT_EQ(f.link_name(LinkId{18}), "l1 - s1");
  EXPECT_FALSE(f.link(LinkId{18}).up);
  EXPECT_TRUE(f.link(LinkId{19}).slowed);
  EXPECT_EQ(f.link(LinkId{19}).bandwidth, k100G);
  EXPECT_EQ(f.link(LinkId{13}).bandwidth, k400G);
  EXPECT_FALSE(f.link(LinkId{13}).slowed);
  for (const Port& port : f.ports(f.find_node("n6").value(), 1)) EXPECT_EQ(f.link(port.link).bandwidth, k200G);
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(3, 2));
}

TEST(Fabric, TheSameHealthSaidTwiceIsSaidOnce) {
  const Fabric f = built(two_tier().down(Target::link, "l1", "s1").down(Target::link, "s1", "l1"));
  EXPECT_EQ(f.faults().size(), 1U);
}

TEST(Fabric, OnlyCoreDownLeavesThePods) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-4]")
                             .switches("l[1-4],s[1-2],c1")
                             .link("n[1-4]", "l[1-4]", LinkPattern::zip)
                             .link("l[1-4]", "s[1-2]", LinkPattern::split)
                             .link("s[1-2]", "c1")
                             .down(Target::switch_, "c1"));
  EXPECT_EQ(f.max_tier(), 3);
  EXPECT_EQ(f.level_count(), 3);
  EXPECT_THAT(domains(f, kPodLevel), ElementsAre("s1", "s2"));
  EXPECT_EQ(f.plane_count(), 1U);
  EXPECT_EQ(f.max_hops(), 3U);
  EXPECT_TRUE(f.hierarchical());
}

TEST(Fabric, NotesWhatIsOdd) {
  const Fabric f = built(SpecMaker()
                             .type(8, 1)
                             .nodes("n[1-5]")
                             .switches("l1,spare")
                             .switches("s1", 2)
                             .link("n[1-2]", "l1")
                             .link("n3", "s1")
                             .link("l1", "s1"));
  std::vector<std::string> notes;
  for (const Note& note : f.notes()) notes.push_back(note.to_string());
  EXPECT_THAT(notes, ElementsAre("fabric.yaml: warning: 2 nodes have no link and cannot be used: n[4-5]",
                                 "fabric.yaml: warning: 1 switch has no link: spare",
                                 "fabric.yaml: warning: 1 switch above tier 1 has nodes of its own: s1"));
  EXPECT_FALSE(f.usable(f.find_node("n5").value()));
  EXPECT_EQ(f.plane_count(), 1U);  // the spare switch is no plane
  EXPECT_EQ(path(f, "n1", "n3"), hops_tier(2, 2));
}

TEST(Fabric, OneNodeNeedsNoLinks) {
  const Fabric f = built(SpecMaker().type(8, 8).nodes("only"));
  EXPECT_TRUE(f.usable(NodeId{0}));
  EXPECT_EQ(f.max_hops(), 0U);
  EXPECT_EQ(f.plane_count(), 0U);
  EXPECT_TRUE(f.hierarchical());
}

TEST(Fabric, NodeTypesMayDiffer) {
  const Fabric f = built(
      SpecMaker().type(8, 2).type(4, 1, "small").nodes("n1").nodes("m1", "small").switches("l1").link("n1,m1", "l1"));
  EXPECT_EQ(f.gpu_count(), 12U);
  EXPECT_EQ(f.class_count(), 2U);
  EXPECT_EQ(f.type_of(f.find_node("m1").value()).name, "small");
  EXPECT_EQ(f.link_count(), 3U);
  EXPECT_EQ(f.domain_count(kLeafLevel), 1U);
}

TEST(Fabric, CopiesAreWhole) {
  auto f = std::make_unique<Fabric>(built(two_tier()));
  const Fabric copy = *f;
  f.reset();
  EXPECT_EQ(copy.node_name(copy.find_node("n4").value()), "n4");
  EXPECT_EQ(path(copy, "n1", "n6"), hops_tier(3, 2));
  EXPECT_EQ(copy.check_invariants(), std::nullopt);
}

}  // namespace
}  // namespace weft::topology
