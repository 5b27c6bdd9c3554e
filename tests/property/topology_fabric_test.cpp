// SPDX-License-Identifier: BSD-3-Clause
//
// Random fabrics against the plainest possible reading of their spec.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "topology_specs.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::topology {
namespace {

using test::SpecMaker;
using Target = config::HealthSpec::Target;

// Any graph of a few switches and nodes of two NICs, some of it down.
SpecMaker random_fabric() {
  const int switches = *rc::gen::inRange(1, 12);
  const int nodes = *rc::gen::inRange(1, 9);
  SpecMaker maker;
  maker.type(2, 2).nodes(fmt::format("n[1-{}]", nodes));
  for (int s = 1; s <= switches; ++s) {
    const int tier = *rc::gen::inRange(0, 5);
    maker.switches(fmt::format("s{}", s), tier == 0 ? std::nullopt : std::optional<std::uint32_t>(tier));
  }
  for (int n = 1; n <= nodes; ++n) {
    for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
      maker.link(fmt::format("n{}", n), fmt::format("s{}", *rc::gen::inRange(1, switches + 1)));
      maker.nics(std::to_string(*rc::gen::inRange(0, 2)));
    }
  }
  for (int count = *rc::gen::inRange(0, 2 * switches + 1); count > 0 && switches > 1; --count) {
    const int a = *rc::gen::inRange(1, switches + 1);
    const int b = *rc::gen::inRange(1, switches);
    maker.link(fmt::format("s{}", a), fmt::format("s{}", b < a ? b : b + 1));
  }
  if (*rc::gen::inRange(0, 3) == 0) maker.down(Target::switch_, fmt::format("s{}", *rc::gen::inRange(1, switches + 1)));
  if (*rc::gen::inRange(0, 3) == 0) maker.down(Target::node, fmt::format("n{}", *rc::gen::inRange(1, nodes + 1)));
  return maker;
}

bool shorter(const Path& x, const Path& y) {
  return y.hops == 0 || std::pair(x.hops, x.tier) < std::pair(y.hops, y.tier);
}

// Floyd and Warshall over (hops, highest tier); hops 0 = none.
std::vector<std::vector<Path>> all_paths(const Fabric& f) {
  const std::uint32_t n = f.switch_count();
  std::vector<std::vector<Path>> d(n, std::vector<Path>(n));
  for (std::uint32_t s = 0; s < n; ++s) {
    if (f.switch_up(SwitchId{s})) d[s][s] = {1, f.tier(SwitchId{s})};
  }
  for (const Link& link : f.links()) {
    if (!link.a.is_switch || !f.switch_up(SwitchId{link.a.id}) || !f.switch_up(SwitchId{link.b.id})) continue;
    const Path two{2, std::max(f.tier(SwitchId{link.a.id}), f.tier(SwitchId{link.b.id}))};
    d[link.a.id][link.b.id] = d[link.b.id][link.a.id] = two;
  }
  for (std::uint32_t k = 0; k < n; ++k) {
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        if (d[i][k].hops == 0 || d[k][j].hops == 0) continue;
        const Path via{static_cast<std::uint8_t>(d[i][k].hops + d[k][j].hops - 1),
                       std::max(d[i][k].tier, d[k][j].tier)};
        if (shorter(via, d[i][j])) d[i][j] = via;
      }
    }
  }
  return d;
}

TEST(FabricProperties, InvariantsHoldOnAnyGraph) {
  EXPECT_TRUE(rc::check([] {
    const auto fabric = random_fabric().build();
    RC_ASSERT(fabric.has_value());
    const auto broken = fabric->check_invariants();
    if (broken) RC_FAIL(*broken);
  }));
}

TEST(FabricProperties, HopTablesEqualFloydWarshall) {
  EXPECT_TRUE(rc::check([] {
    const Fabric f = random_fabric().build().value();
    const auto expected = all_paths(f);
    std::vector<bool> leaf(f.switch_count(), false);
    for (const Link& link : f.links()) {
      if (!link.a.is_switch) leaf[link.b.id] = true;
    }
    for (std::uint32_t a = 0; a < f.switch_count(); ++a) {
      for (std::uint32_t b = 0; b < f.switch_count(); ++b) {
        const bool none = !leaf[a] || !leaf[b] || expected[a][b].hops == 0;
        RC_ASSERT(f.leaf_path(SwitchId{a}, SwitchId{b}) == (none ? std::nullopt : std::optional(expected[a][b])));
      }
    }
  }));
}

TEST(FabricProperties, MaxHopsIsTheWorstPairOfNics) {
  EXPECT_TRUE(rc::check([] {
    const Fabric f = random_fabric().build().value();
    std::uint32_t most = 0;
    for (std::uint32_t a = 0; a < f.node_count(); ++a) {
      for (std::uint32_t b = 0; b < f.node_count(); ++b) {
        for (std::uint32_t k = 0; k < 2; ++k) {
          const auto path = f.nic_path(NodeId{a}, k, NodeId{b}, k);
          if (path) most = std::max<std::uint32_t>(most, path->hops);
        }
      }
    }
    RC_ASSERT(f.max_hops() == most);
  }));
}

TEST(FabricProperties, ADuplicatedPlaneChangesNoDistance) {
  EXPECT_TRUE(rc::check([] {
    // The same random switch graph twice, under other names: planes of equal build.
    const int switches = *rc::gen::inRange(2, 8);
    std::vector<std::pair<int, int>> edges;
    for (int s = 2; s <= switches; ++s) edges.emplace_back(*rc::gen::inRange(1, s), s);
    SpecMaker one;
    SpecMaker two;
    for (SpecMaker* maker : {&one, &two}) {
      maker->type(1, 1).nodes(fmt::format("n[1-{}]", switches));
      for (const char* plane : {"s", "z"}) {
        if (maker == &one && *plane == 'z') continue;
        const std::string all = fmt::format("{}[1-{}]", plane, switches);
        maker->switches(all).link(fmt::format("n[1-{}]", switches), all, config::LinkPattern::zip);
        for (const auto& [a, b] : edges) maker->link(fmt::format("{}{}", plane, a), fmt::format("{}{}", plane, b));
      }
    }
    const Fabric f = one.build().value();
    const Fabric g = two.build().value();
    RC_ASSERT(g.plane_count() == 2U);
    RC_ASSERT(g.check_invariants() == std::nullopt);
    for (std::uint32_t a = 0; a < f.node_count(); ++a) {
      for (std::uint32_t b = 0; b < f.node_count(); ++b) {
        RC_ASSERT(f.nic_path(NodeId{a}, 0, NodeId{b}, 0) == g.nic_path(NodeId{a}, 0, NodeId{b}, 0));
      }
    }
  }));
}

// Every answer that has an order, as text.
std::string everything(const Fabric& f) {
  std::string out;
  for (std::uint32_t i = 0; i < f.link_count(); ++i) {
    out += fmt::format("{} {} {} {}\n", f.link_name(LinkId{i}), f.link(LinkId{i}).cables, f.link(LinkId{i}).up,
                       f.link(LinkId{i}).bandwidth.bits_per_second);
  }
  for (std::uint32_t s = 0; s < f.switch_count(); ++s) {
    out += fmt::format("{} {} {}", f.switch_name(SwitchId{s}), f.tier(SwitchId{s}), f.plane_name(f.plane(SwitchId{s})));
    for (const auto& next : f.neighbours(SwitchId{s})) out += fmt::format(" {}/{}", index(next.sw), index(next.link));
    out += '\n';
  }
  for (const NodeId node : f.fabric_order()) {
    out += fmt::format("{} {}", f.node_name(node), index(f.class_of(node)));
    for (Level level = 0; level < f.level_count(); ++level) out += ' ' + f.domain_name(level, f.domain_of(level, node));
    out += '\n';
  }
  for (const Note& note : f.notes()) out += note.to_string() + '\n';
  return out + fmt::format("{} {}", f.max_hops(), f.hierarchical());
}

TEST(FabricProperties, TheSameSpecGivesTheSameFabric) {
  EXPECT_TRUE(rc::check([] {
    const SpecMaker maker = random_fabric();
    const std::string first = everything(maker.build().value());
    RC_ASSERT(first == everything(maker.build().value()));
  }));
}

TEST(FabricProperties, HealthOfSomeCablesKeepsTheirNumber) {
  EXPECT_TRUE(rc::check([] {
    const std::uint32_t cables = *rc::gen::inRange(1U, 20U);
    const std::uint32_t down = *rc::gen::inRange(1U, cables + 1);
    const std::uint32_t slow = *rc::gen::inRange(0U, cables - down + 1);
    SpecMaker maker;
    maker.type(1, 1).nodes("n1").switches("a,b").link("n1", "a").link("a", "b", config::LinkPattern::all, cables);
    maker.down(Target::link, "b", "a").cables(down);
    if (slow > 0) maker.slow(Target::link, "a", "b", test::k100G).cables(slow);
    const Fabric f = maker.build().value();
    std::array<std::uint32_t, 3> found{};  // up, down, slow
    for (const Link& link : f.links()) {
      if (link.a.is_switch) found[!link.up ? 1 : link.slowed ? 2 : 0] += link.cables;
    }
    RC_ASSERT(found[0] == cables - down - slow);
    RC_ASSERT(found[1] == down);
    RC_ASSERT(found[2] == slow);
  }));
}

}  // namespace
}  // namespace weft::topology
