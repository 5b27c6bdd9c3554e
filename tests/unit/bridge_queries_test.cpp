// SPDX-License-Identifier: BSD-3-Clause
//
// What the stock plugins offer: node order, hostlist functions, whole domains, fragmentation, routes, the listing.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "bridge_fixtures.hpp"

namespace weft::bridge::test {
namespace {

std::string words(const Rig& rig, std::vector<std::uint32_t> nodes) {
  std::vector<int> numbers;
  for (const std::uint32_t i : nodes) numbers.push_back(std::stoi(rig.names[i].substr(1)));
  std::sort(numbers.begin(), numbers.end());
  std::string out;
  for (const int n : numbers) out += (out.empty() ? "" : " ") + std::to_string(n);
  return out;
}

TEST(NodeRanks, FollowTheFabricAndStrangersComeLast) {
  Rig rig;
  std::vector<const char*> names{"n16", "stranger", nullptr, "n1", "n9", "n2", "n1"};
  std::vector<std::uint32_t> rank(names.size());
  ASSERT_EQ(weft_bridge_node_ranks(rig.bridge, names.size(), names.data(), rank.data()), WEFT_OK);
  // fabric: n1 n2 n9 n16; then strangers (a name that stands twice is one); then holes
  EXPECT_EQ(rank, (std::vector<std::uint32_t>{4, 5, 7, 1, 3, 2, 6}));
}

TEST(NamedNodes, SwitchesAndDomainsOfAnyTier) {
  const Rig rig;
  const auto named = [&](const char* name) -> std::string {
    std::vector<std::uint32_t> out(16);
    std::size_t count = 0;
    const int status = weft_bridge_named_nodes(rig.bridge, name, out.data(), out.size(), &count);
    if (status != WEFT_OK) return "status " + std::to_string(status);
    out.resize(count);
    EXPECT_TRUE(std::is_sorted(out.begin(), out.end()));
    return words(rig, out);
  };
  EXPECT_EQ(named("l2"), "5 6 7 8");
  EXPECT_EQ(named("spineB"), "9 10 11 12 13 14 15 16");
  EXPECT_EQ(named("core"), "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
  EXPECT_EQ(named("l9"), "status -4");
  std::size_t count = 0;
  EXPECT_EQ(weft_bridge_named_nodes(rig.bridge, "core", nullptr, 0, &count), WEFT_ESPACE);
  EXPECT_EQ(count, 16U);
}

TEST(WholeDomains, AddTheRestOfEachLeaf) {
  const Rig rig;
  std::vector<std::uint32_t> out(16);
  std::size_t count = 0;
  const auto nodes = rig.set({1, 6, 7});
  ASSERT_EQ(weft_bridge_whole_domains(rig.bridge, nodes.data(), nodes.size(), out.data(), out.size(), &count), WEFT_OK);
  out.resize(count);
  EXPECT_EQ(words(rig, out), "1 2 3 4 5 6 7 8");
  const std::uint32_t far = 16;
  EXPECT_EQ(weft_bridge_whole_domains(rig.bridge, &far, 1, out.data(), out.size(), &count), WEFT_EINVAL);
}

TEST(Fragmentation, SumsTheDomainsThatAreNotWhole) {
  const Rig rig;
  const auto score = [&](const std::vector<int>& available) {
    const auto nodes = rig.set(available);
    return weft_bridge_fragmentation(rig.bridge, nodes.data(), nodes.size());
  };
  EXPECT_EQ(score(range(1, 16)), 0U);
  EXPECT_EQ(score(range(2, 16)), 4U + 8U);  // one leaf, one pod
  EXPECT_EQ(score(range(1, 8)), 8U + 8U);   // the other pod and its leaves
  EXPECT_EQ(score({1, 5, 9, 13}), 16U + 16U);
}

TEST(Route, EveryNodeOnceInGroupsAlongLeaves) {
  const Rig rig;
  for (const std::uint32_t width : {1U, 2U, 3U, 4U, 7U, 16U, 100U}) {
    const auto nodes = rig.set({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    std::vector<std::uint32_t> order(nodes.size()), start(width + 1);
    std::uint32_t groups = 0, depth = 0;
    ASSERT_EQ(
        weft_bridge_route(rig.bridge, nodes.data(), nodes.size(), width, order.data(), start.data(), &groups, &depth),
        WEFT_OK);
    EXPECT_EQ(groups, std::min(width, 16U));
    EXPECT_EQ(start[0], 0U);
    EXPECT_EQ(start[groups], 16U);
    for (std::uint32_t g = 0; g < groups; ++g) EXPECT_LT(start[g], start[g + 1]);
    EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), 16U);
    if (width == 4) {
      EXPECT_EQ(rig.names[order[0]], "n1");
      EXPECT_EQ(rig.names[order[start[1]]], "n5");
      EXPECT_EQ(rig.names[order[start[3]]], "n13");
    }
  }
}

TEST(Route, AGroupEndsWithALeafWhereOneEndsNearBy) {
  const Rig rig;
  const auto nodes = rig.set({1, 2, 3, 4, 5, 6, 9, 10, 11, 12});  // the even cut is after n5; l2 ends after n6
  std::vector<std::uint32_t> order(nodes.size()), start(3);
  std::uint32_t groups = 0, depth = 0;
  ASSERT_EQ(weft_bridge_route(rig.bridge, nodes.data(), nodes.size(), 2, order.data(), start.data(), &groups, &depth),
            WEFT_OK);
  EXPECT_EQ(start[1], 4U);  // n1-n4 | the rest: one node off the even cut, as after n6, and first
}

TEST(Route, StrangersComeLastAndAnEmptySetIsNoGroup) {
  Rig rig;
  rig.names[0] = "login1";
  rig.bind();
  std::vector<std::uint32_t> nodes{0, rig.index("n16")}, order(2), start(3);
  std::uint32_t groups = 9, depth = 9;
  ASSERT_EQ(weft_bridge_route(rig.bridge, nodes.data(), 2, 2, order.data(), start.data(), &groups, &depth), WEFT_OK);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{rig.index("n16"), 0}));
  EXPECT_EQ(depth, 1U);
  ASSERT_EQ(weft_bridge_route(rig.bridge, nullptr, 0, 2, nullptr, nullptr, &groups, &depth), WEFT_OK);
  EXPECT_EQ(groups, 0U);
  EXPECT_EQ(depth, 0U);
}

std::string listing(const Rig& rig, const char* node, const char* sw) {
  weft_bridge_topology* topology = weft_bridge_topology_new(rig.bridge, node, sw);
  if (topology == nullptr) return "none";
  std::string out;
  for (std::size_t i = 0; i < weft_bridge_topology_count(topology); ++i) {
    const weft_topology_record* r = weft_bridge_topology_record(topology, i);
    out += std::string(r->name) + " tier " + std::to_string(r->tier) + (r->up != 0 ? " up" : " down") + " nodes " +
           r->nodes + " (" + std::to_string(r->node_count) + ") switches " + r->switches + " links " +
           std::to_string(r->links_up) + "/" + std::to_string(r->links) + " " + std::to_string(r->bandwidth_mbps) +
           " Mb/s faults " + r->faults + "\n";
  }
  EXPECT_EQ(weft_bridge_topology_record(topology, weft_bridge_topology_count(topology)), nullptr);
  weft_bridge_topology_free(topology);
  return out;
}

TEST(Listing, SwitchesByTierWithTheirNodesLinksAndFaults) {
  const std::string health =
      "health:\n  - {switch: l2, state: down, reason: \"PSU\"}\n  - {link: [l3, spineB], bandwidth: 100Gb/s}\n";
  const Rig rig("", still(), tree16() + health);
  const std::string all = listing(rig, nullptr, nullptr);
  EXPECT_EQ(
      all,
      "l1 tier 1 up nodes n[1-4] (4) switches  links 36/36 14400000 Mb/s faults \n"
      "l2 tier 1 down nodes n[5-8] (4) switches  links 0/36 0 Mb/s faults down: PSU\n"
      "l3 tier 1 up nodes n[9-12] (4) switches  links 36/36 13200000 Mb/s faults l3 - spineB at 100Gb/s\n"
      "l4 tier 1 up nodes n[13-16] (4) switches  links 36/36 14400000 Mb/s faults \n"
      "spineA tier 2 up nodes n[1-8] (8) switches l[1-2] links 8/12 3200000 Mb/s faults \n"
      "spineB tier 2 up nodes n[9-16] (8) switches l[3-4] links 12/12 3600000 Mb/s faults l3 - spineB at 100Gb/s\n"
      "core tier 3 up nodes n[1-16] (16) switches spineA,spineB links 8/8 3200000 Mb/s faults \n");
}

TEST(Listing, FiltersByNodeAndSwitch) {
  const Rig rig;
  const std::string above = listing(rig, "n6", nullptr);
  EXPECT_EQ(above.substr(0, 3), "l2 ");
  EXPECT_EQ(std::count(above.begin(), above.end(), '\n'), 3);
  EXPECT_EQ(listing(rig, nullptr, "spineA").substr(0, 7), "spineA ");
  EXPECT_EQ(listing(rig, "n99", nullptr), "none");
  EXPECT_EQ(listing(rig, nullptr, "nothing"), "none");
}

TEST(Listing, OutlivesItsBridge) {
  weft_bridge_topology* topology = nullptr;
  {
    const Rig rig;
    topology = weft_bridge_topology_new(rig.bridge, nullptr, nullptr);
  }
  ASSERT_NE(topology, nullptr);
  EXPECT_STREQ(weft_bridge_topology_record(topology, 0)->name, "l1");
  EXPECT_EQ(std::string(weft_bridge_topology_headline(topology)).substr(0, 21), "Fabric=tree16 Digest=");
  weft_bridge_topology_free(topology);
}

}  // namespace
}  // namespace weft::bridge::test
