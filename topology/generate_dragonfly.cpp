// SPDX-License-Identifier: BSD-3-Clause
//
// Dragonfly and Dragonfly+: groups, and cables between every two of them.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "generate_common.hpp"

namespace weft::topology {
namespace {

using config::FabricSpec;
using config::LinkPattern;
using generate::Numbers;
using generate::times;

/// How a group's numbered global cables are dealt over its switches.
enum class Deal : std::uint8_t { blocks, turns };

/// Groups of switches that hold the global cables.
struct Groups {
  std::string prefix;  // of the switches' names, up to the group's number
  std::uint64_t groups = 0;
  std::uint64_t switches = 0;  // a group
  std::uint64_t cables = 0;    // between each pair of groups
  Deal deal = Deal::turns;
  std::uint64_t block = 1;  // cables a switch, where dealt in blocks
};

std::string switch_names(const Groups& groups, std::uint64_t first, std::uint64_t last, std::uint64_t index) {
  return fmt::format("{}{}-{}", groups.prefix, Numbers(groups.groups).range(first, last),
                     Numbers(groups.switches).one(index + 1));
}

// The same switch of every group, starting with the one `offset` groups on.
std::string rotated(const Groups& groups, std::uint64_t offset, std::uint64_t index) {
  return switch_names(groups, offset + 1, groups.groups, index) + "," + switch_names(groups, 1, offset, index);
}

// The cables of a group go round the others in turn: its cable (round, offset) leads to the group `offset` on, which in
// turn sees this one at groups - offset. One entry says a pair of switches for all groups at once.
void add_global_links(FabricSpec& spec, const Groups& groups, Bandwidth bandwidth) {
  const std::uint64_t others = groups.groups - 1;
  const auto switch_of = [&](std::uint64_t round, std::uint64_t offset) {
    if (groups.deal == Deal::blocks) return (round * others + offset - 1) / groups.block;
    return ((offset - 1) * groups.cables + round) % groups.switches;
  };
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> cables;  // offset, from, to
  for (std::uint64_t offset = 1; offset * 2 <= groups.groups && others > 0; ++offset) {
    for (std::uint64_t round = 0; round < groups.cables; ++round) {
      ++cables[{offset, switch_of(round, offset), switch_of(round, groups.groups - offset)}];
    }
  }
  for (const auto& [key, count] : cables) {
    const auto& [offset, from, to] = key;
    if (offset * 2 == groups.groups) {  // halfway round each pair would be met twice
      generate::add_link(spec, switch_names(groups, 1, offset, from),
                         switch_names(groups, offset + 1, groups.groups, to), LinkPattern::zip, bandwidth, count);
    } else {
      generate::add_link(spec, switch_names(groups, 1, groups.groups, from), rotated(groups, offset, to),
                         LinkPattern::zip, bandwidth, count);
    }
  }
}

std::string all_of(const char* word, std::uint64_t groups, std::uint64_t switches) {
  return fmt::format("{}-g{}-{}", word, Numbers(groups).range(1, groups), Numbers(switches).range(1, switches));
}

void add_node_links(FabricSpec& spec, std::uint64_t nodes, std::uint64_t switches, std::string names,
                    Bandwidth bandwidth) {
  const std::string gpus = "gpu" + Numbers(nodes).range(1, nodes);
  generate::add_nodes(spec, gpus);
  generate::add_link(spec, gpus, std::move(names), switches == 1 ? LinkPattern::all : LinkPattern::split, bandwidth);
}

}  // namespace

Result<FabricSpec> generate_dragonfly(const DragonflyOptions& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.routers, "routers"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.nodes_per_router, "nodes_per_router"); !ok) return fail(ok.error());
  const std::uint64_t ports = times(options.routers, options.global_links);  // global ones of a group
  if (auto ok = generate::check_count(ports, "global links a group"); !ok) return fail(ok.error());
  const std::uint64_t groups = options.groups > 0 ? options.groups : ports + 1;
  if (groups > ports + 1) {
    return fail(error(ErrorCode::bad_value,
                      fmt::format("{} routers with {} global links each cannot reach {} other groups", options.routers,
                                  options.global_links, groups - 1),
                      fmt::format("at most {} groups, or more routers or global links", ports + 1)));
  }
  const std::uint64_t routers = times(groups, options.routers);
  const std::uint64_t nodes = times(routers, options.nodes_per_router);
  if (auto ok = generate::check_count(routers, "switches"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(nodes, "nodes"); !ok) return fail(ok.error());

  FabricSpec spec = generate::start(fmt::format("dragonfly-{}", nodes), options.node);
  const Bandwidth bandwidth = options.node.bandwidth;
  const std::string names = all_of("router", groups, options.routers);
  generate::add_switches(spec, names, 1);
  add_node_links(spec, nodes, routers, names, bandwidth);
  const std::string prefix = "router-g" + Numbers(groups).range(1, groups) + "-";
  const Numbers in_group(options.routers);
  for (std::uint64_t apart = 1; apart < options.routers; ++apart) {
    generate::add_link(spec, prefix + in_group.range(1, options.routers - apart),
                       prefix + in_group.range(1 + apart, options.routers), LinkPattern::zip, bandwidth);
  }
  const std::uint64_t cables = groups > 1 ? ports / (groups - 1) : 0;
  add_global_links(spec, {"router-g", groups, options.routers, cables, Deal::blocks, options.global_links}, bandwidth);
  return spec;
}

Result<FabricSpec> generate_dragonfly_plus(const DragonflyPlusOptions& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.groups, "groups"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.leaves, "leaves"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.spines, "spines"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.nodes_per_leaf, "nodes_per_leaf"); !ok) return fail(ok.error());
  if (options.groups > 1) {
    if (auto ok = generate::check_positive(options.global_cables, "global_cables"); !ok) return fail(ok.error());
  }
  const std::uint64_t leaves = times(options.groups, options.leaves);
  const std::uint64_t nodes = times(leaves, options.nodes_per_leaf);
  if (auto ok = generate::check_count(leaves + times(options.groups, options.spines), "switches"); !ok) {
    return fail(ok.error());
  }
  if (auto ok = generate::check_count(nodes, "nodes"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(times(options.groups, options.global_cables), "global cables a group"); !ok) {
    return fail(ok.error());
  }

  FabricSpec spec = generate::start(fmt::format("dragonfly-plus-{}", nodes), options.node);
  const Bandwidth bandwidth = options.node.bandwidth;
  const std::string leaf_names = all_of("leaf", options.groups, options.leaves);
  generate::add_switches(spec, leaf_names, 1);
  generate::add_switches(spec, all_of("spine", options.groups, options.spines), 2);
  add_node_links(spec, nodes, leaves, leaf_names, bandwidth);
  const Numbers groups(options.groups);
  for (std::uint64_t group = 1; group <= options.groups; ++group) {
    generate::add_link(spec,
                       fmt::format("leaf-g{}-{}", groups.one(group), Numbers(options.leaves).range(1, options.leaves)),
                       fmt::format("spine-g{}-{}", groups.one(group), Numbers(options.spines).range(1, options.spines)),
                       LinkPattern::all, bandwidth);
  }
  add_global_links(spec, {"spine-g", options.groups, options.spines, options.global_cables, Deal::turns, 1}, bandwidth);
  return spec;
}

}  // namespace weft::topology
