// SPDX-License-Identifier: BSD-3-Clause
//
// Generated fabrics against the formulas of their papers (weft/topology/generate.hpp), counted cable by cable.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "support/expanded_spec.hpp"
#include "support/worst_path.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/generate.hpp"

namespace weft::topology {
namespace {

using testing::expand;
using testing::ExpandedSpec;
using testing::worst_path;

std::uint32_t from_to(std::uint32_t low, std::uint32_t high) { return *rc::gen::inRange(low, high + 1); }

NodeShape some_node(std::uint32_t max_nics) {
  NodeShape node;
  node.nics = from_to(1, max_nics);
  node.gpus = node.nics * from_to(1, 2);
  return node;
}

// Ports in use of every switch, by tier.
std::map<std::string, std::uint64_t> ports_used(const ExpandedSpec& spec) {
  std::map<std::string, std::uint64_t> ports;
  for (const auto& [name, tier] : spec.switches) ports[name] = 0;
  for (const auto& cable : spec.cables) {
    if (const auto it = ports.find(cable.a); it != ports.end()) ++it->second;
    if (const auto it = ports.find(cable.b); it != ports.end()) ++it->second;
  }
  return ports;
}

std::uint64_t cables_between(const ExpandedSpec& spec, std::uint32_t low, std::uint32_t high) {
  std::map<std::string, std::uint32_t> tier;
  for (const auto& [name, t] : spec.switches) tier[name] = *t;
  const auto is = [&](const std::string& end, std::uint32_t t) {
    const auto it = tier.find(end);
    return it == tier.end() ? t == 0 : it->second == t;
  };
  return static_cast<std::uint64_t>(std::count_if(spec.cables.begin(), spec.cables.end(), [&](const auto& c) {
    return (is(c.a, low) && is(c.b, high)) || (is(c.a, high) && is(c.b, low));
  }));
}

// Fabric::build agrees with the trivial expander and with its own invariants.
void check_fabric(const config::FabricSpec& spec, const ExpandedSpec& expected, std::uint32_t planes) {
  const auto fabric = Fabric::build(spec);
  if (!fabric) RC_FAIL(fabric.error().to_string());
  if (const auto broken = fabric->check_invariants()) RC_FAIL(*broken);
  RC_ASSERT(fabric->node_count() == expected.nodes.size());
  RC_ASSERT(fabric->gpu_count() == expected.gpus());
  RC_ASSERT(fabric->switch_count() == expected.switches.size());
  RC_ASSERT(fabric->plane_count() == planes);
  RC_ASSERT(fabric->max_hops() == worst_path(expected).switches);
  RC_ASSERT(fabric->notes().empty());
  RC_ASSERT(fabric->faults().empty());
  std::uint64_t cables = 0;
  for (const Link& link : fabric->links()) cables += link.cables;
  RC_ASSERT(cables == expected.cables.size());
}

TEST(GenerateFatTreeProperty, OneNicAndNoTaperIsTheKAryFatTree) {
  EXPECT_TRUE(rc::check("k^3/4 nodes, k^2/2 leaves and spines, k^2/4 cores", [] {
    FatTreeOptions options;
    options.node.nics = 1;
    options.tiers = 3;
    const std::uint32_t k = 2 * from_to(1, 4);
    options.radix = k;
    const auto spec = generate_fat_tree(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    RC_ASSERT(got.nodes.size() == k * k * k / 4);
    RC_ASSERT(got.switches_of(1) == k * k / 2);
    RC_ASSERT(got.switches_of(2) == k * k / 2);
    RC_ASSERT(got.switches_of(3) == k * k / 4);
    RC_ASSERT(got.cables.size() == 3 * k * k * k / 4);
    for (const auto& [name, ports] : ports_used(got)) RC_ASSERT(ports == k);
    RC_ASSERT(worst_path(got).switches == 5);
    check_fabric(*spec, got, 1);
  }));
}

TEST(GenerateFatTreeProperty, EveryTreeKeepsItsRadixTapersAndWorstPath) {
  EXPECT_TRUE(rc::check("tapers exact, ports within the radix, 2 tiers - 1 switches at worst", [] {
    FatTreeOptions options;
    options.node = some_node(4);
    options.tiers = from_to(1, 4);
    options.radix = 4 * from_to(1, 4);
    options.nodes = from_to(0, 60);
    for (std::uint32_t t = 1; t < options.tiers; ++t) options.taper.push_back(from_to(1, 3));
    const auto spec = generate_fat_tree(options);
    RC_PRE(spec.has_value());  // apart: RC_PRE evaluates both sides of its &&
    RC_PRE(testing::names(spec->nodes.at(0).names.value).size() <= 60);
    const ExpandedSpec got = expand(*spec);
    RC_ASSERT(options.nodes == 0 || got.nodes.size() == options.nodes);
    RC_ASSERT(got.gpus() == got.nodes.size() * options.node.gpus);
    for (const auto& [name, ports] : ports_used(got)) RC_ASSERT(ports <= options.radix);
    RC_ASSERT(cables_between(got, 0, 1) == got.nodes.size() * options.node.nics);
    const auto worst = worst_path(got);
    RC_ASSERT(worst.all_reachable);
    RC_ASSERT(worst.switches == 2 * options.tiers - 1);
    check_fabric(*spec, got, 1);
  }));
}

TEST(GenerateFatTreeProperty, FullTreesTaperExactly) {
  EXPECT_TRUE(rc::check("cables down / cables up of each tier is the taper", [] {
    FatTreeOptions options;
    options.node = some_node(2);
    options.tiers = from_to(2, 3);
    options.nodes_per_leaf = from_to(1, 3) * 6;
    options.leaves_per_pod = options.tiers > 2 ? from_to(1, 3) : 0;
    for (std::uint32_t t = 1; t < options.tiers; ++t) options.taper.push_back(from_to(1, 3));
    const std::uint32_t groups = from_to(2, 4);
    options.nodes = options.nodes_per_leaf * groups * (options.tiers > 2 ? options.leaves_per_pod : 1);
    const auto spec = generate_fat_tree(options);
    RC_PRE(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    for (std::uint32_t t = 1; t < options.tiers; ++t) {
      RC_ASSERT(cables_between(got, t - 1, t) == options.taper[t - 1] * cables_between(got, t, t + 1));
    }
    RC_ASSERT(got.switches_of(1) == options.nodes / options.nodes_per_leaf);
  }));
}

TEST(GenerateRailProperty, CountsAndPortsAreTheFormulas) {
  EXPECT_TRUE(rc::check("rails", [] {
    RailOptions options;
    options.node = some_node(4);
    options.tiers = from_to(2, 3);
    options.rail_only = options.tiers == 2 && from_to(0, 1) == 1;
    options.taper = from_to(1, 2);
    options.nodes_per_unit = options.taper * from_to(1, 8);
    const std::uint32_t units = from_to(1, 6);
    options.nodes = units * options.nodes_per_unit;
    options.radix = 4 * from_to(2, 8);
    const auto spec = generate_rail(options);
    RC_PRE(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    const std::uint64_t n = options.node.nics;
    const std::uint64_t up = options.nodes_per_unit / options.taper;
    const bool spines = !(options.rail_only && units == 1);
    RC_ASSERT(got.switches_of(1) == units * n);
    RC_ASSERT(cables_between(got, 0, 1) == options.nodes * n);
    RC_ASSERT(cables_between(got, 1, 2) == (spines ? units * n * up : 0));
    RC_ASSERT(cables_between(got, 2, 3) == (options.tiers == 3 ? units * n * up : 0));
    for (const auto& [name, ports] : ports_used(got)) RC_ASSERT(ports <= options.radix);
    const auto worst = worst_path(got);
    RC_ASSERT(worst.all_reachable);
    RC_ASSERT(worst.switches == (units == 1 ? 1U : 3U));
    check_fabric(*spec, got, options.rail_only ? options.node.nics : 1);
    for (const auto& cable : got.cables) {  // NIC i on rail i only
      const std::size_t nic = cable.a.find(':');
      if (nic != std::string::npos) RC_ASSERT(cable.b.ends_with("-r" + cable.a.substr(nic + 1)));
    }
  }));
}

TEST(GenerateMultiPlaneProperty, PlanesAreDisjointAndAlike) {
  EXPECT_TRUE(rc::check("planes", [] {
    MultiPlaneOptions options;
    options.node = some_node(4);
    options.planes = from_to(1, 4);
    const std::uint32_t per_leaf = from_to(1, 4);
    const std::uint32_t leaves = from_to(1, 5);
    options.gpus_per_leaf = per_leaf * options.node.gpus;
    options.gpus = std::uint64_t{options.gpus_per_leaf} * leaves;
    const std::uint64_t ports = per_leaf * options.node.nics;
    options.spines = from_to(0, 1) == 0 ? 0 : ports % 2 == 0 ? 2 : 1;
    const auto spec = generate_multi_plane(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    const std::uint64_t spines = options.spines == 0 ? ports : options.spines;
    RC_ASSERT(got.gpus() == options.gpus);
    RC_ASSERT(got.switches_of(1) == options.planes * leaves);
    RC_ASSERT(got.switches_of(2) == options.planes * spines);
    RC_ASSERT(cables_between(got, 0, 1) == options.planes * got.nodes.size() * options.node.nics);
    RC_ASSERT(cables_between(got, 1, 2) == options.planes * leaves * ports);
    RC_ASSERT(worst_path(got).switches == (leaves == 1 ? 1U : 3U));
    RC_ASSERT(worst_path(got).all_reachable == (options.planes == 1));
    check_fabric(*spec, got, options.planes);
    for (const auto& cable : got.cables) {
      const std::string number = cable.plane.substr(std::string("plane").size());
      RC_ASSERT(cable.b.find("-p" + number + "-") != std::string::npos);
      RC_ASSERT(cable.a.find(':') != std::string::npos || cable.a.find("-p" + number + "-") != std::string::npos);
    }
  }));
}

TEST(GenerateNvl72Property, RacksAreDomainsAndUnitsAreRails) {
  EXPECT_TRUE(rc::check("racks", [] {
    Nvl72Options options;
    options.racks_per_unit = from_to(1, 3);
    options.racks = options.racks_per_unit * from_to(1, 3);
    options.nodes_per_rack = from_to(1, 18);
    const auto spec = generate_nvl72(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    RC_ASSERT(got.nodes.size() == options.racks * options.nodes_per_rack);
    RC_ASSERT(got.switches_of(1) == options.racks / options.racks_per_unit * 4);
    RC_ASSERT(spec->nvlink_domains.size() == options.racks);
    std::vector<std::string> members;
    for (const auto& domain : spec->nvlink_domains) {
      const auto names = testing::names(domain.nodes.value);
      RC_ASSERT(names.size() == options.nodes_per_rack);
      members.insert(members.end(), names.begin(), names.end());
    }
    RC_ASSERT(members.size() == got.nodes.size());
    for (std::size_t i = 0; i < members.size(); ++i) RC_ASSERT(members[i] == got.nodes[i].name);
    check_fabric(*spec, got, 1);
    for (const auto& [name, ports] : ports_used(got)) RC_ASSERT(ports <= options.radix);
  }));
}

// Global cables by pair of groups; a name's group is its third dash-separated part's number.
std::map<std::pair<std::string, std::string>, std::uint64_t> between_groups(const ExpandedSpec& spec) {
  const auto group = [](const std::string& name) {
    const std::size_t begin = name.find("-g") + 2;
    return name.substr(begin, name.find('-', begin) - begin);
  };
  std::map<std::pair<std::string, std::string>, std::uint64_t> out;
  for (const auto& cable : spec.cables) {
    if (cable.a.find(':') != std::string::npos || group(cable.a) == group(cable.b)) continue;
    ++out[std::minmax(group(cable.a), group(cable.b))];
  }
  return out;
}

TEST(GenerateDragonflyProperty, CountsAreKims) {
  EXPECT_TRUE(rc::check("a routers, h global links, p nodes", [] {
    DragonflyOptions options;
    options.routers = from_to(1, 5);
    options.global_links = from_to(1, 3);
    options.nodes_per_router = from_to(1, 3);
    const std::uint32_t a = options.routers;
    const std::uint32_t most = a * options.global_links + 1;
    options.groups = from_to(0, most);
    const std::uint32_t g = options.groups == 0 ? most : options.groups;
    const auto spec = generate_dragonfly(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    const std::uint64_t q = g > 1 ? a * options.global_links / (g - 1) : 0;
    RC_ASSERT(got.nodes.size() == a * options.nodes_per_router * g);
    RC_ASSERT(got.switches_of(1) == a * g);
    RC_ASSERT(got.cables.size() == got.nodes.size() + g * a * (a - 1) / 2 + q * g * (g - 1) / 2);
    const auto pairs = between_groups(got);
    RC_ASSERT(pairs.size() == g * (g - 1) / 2);
    for (const auto& [pair, cables] : pairs) RC_ASSERT(cables == q);
    for (const auto& [name, ports] : ports_used(got)) {
      RC_ASSERT(ports <= options.nodes_per_router + a - 1 + options.global_links);
    }
    const auto worst = worst_path(got);
    RC_ASSERT(worst.all_reachable);
    RC_ASSERT(worst.switches <= 4);
    check_fabric(*spec, got, 1);
  }));
}

TEST(GenerateDragonflyPlusProperty, EveryTwoGroupsAreJoinedAlike) {
  EXPECT_TRUE(rc::check("groups of leaves and spines", [] {
    DragonflyPlusOptions options;
    options.groups = from_to(1, 7);
    options.leaves = from_to(1, 3);
    options.spines = from_to(1, 4);
    options.nodes_per_leaf = from_to(1, 3);
    options.global_cables = from_to(1, 6);
    const auto spec = generate_dragonfly_plus(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    const std::uint64_t g = options.groups;
    RC_ASSERT(got.nodes.size() == g * options.leaves * options.nodes_per_leaf);
    RC_ASSERT(cables_between(got, 1, 2) == g * options.leaves * options.spines);
    RC_ASSERT(cables_between(got, 2, 2) == options.global_cables * g * (g - 1) / 2);
    const auto pairs = between_groups(got);
    RC_ASSERT(pairs.size() == g * (g - 1) / 2);
    for (const auto& [pair, cables] : pairs) RC_ASSERT(cables == options.global_cables);
    const std::uint64_t most = (options.global_cables * (g - 1) + options.spines - 1) / options.spines;
    for (const auto& [name, ports] : ports_used(got)) {
      if (name.starts_with("spine")) RC_ASSERT(ports <= options.leaves + most);
    }
    const auto worst = worst_path(got);
    RC_ASSERT(worst.all_reachable);
    RC_ASSERT(worst.switches <= 4);
    RC_ASSERT(g == 1 || worst.switches == 4);
    check_fabric(*spec, got, 1);
  }));
}

TEST(GenerateTorusProperty, CountsAndDiameterAreTheFormulas) {
  EXPECT_TRUE(rc::check("k-ary n-cube", [] {
    TorusOptions options;
    options.dims.clear();
    for (std::uint32_t dims = from_to(1, 3); dims > 0; --dims) options.dims.push_back(from_to(1, 5));
    options.nodes_per_switch = from_to(1, 2);
    options.wrap = from_to(0, 1) == 1;
    const auto spec = generate_torus(options);
    RC_ASSERT(spec.has_value());
    const ExpandedSpec got = expand(*spec);
    std::uint64_t switches = 1;
    for (const std::uint32_t k : options.dims) switches *= k;
    std::uint64_t links = 0;
    std::uint32_t diameter = 1;
    for (const std::uint32_t k : options.dims) {
      links += switches / k * (options.wrap && k > 2 ? k : k - 1);
      diameter += options.wrap ? k / 2 : k - 1;
    }
    RC_ASSERT(got.switches_of(1) == switches);
    RC_ASSERT(got.nodes.size() == switches * options.nodes_per_switch);
    RC_ASSERT(cables_between(got, 1, 1) == links);
    RC_ASSERT(worst_path(got).all_reachable);
    RC_ASSERT(worst_path(got).switches == diameter);
    check_fabric(*spec, got, 1);
  }));
}

}  // namespace
}  // namespace weft::topology
