// SPDX-License-Identifier: BSD-3-Clause
//
// Fabric::check_invariants: everything that the rest of Weft relies on, recomputed the slow way.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fabric_impl.hpp"

namespace weft::topology {
namespace {

using Broken = std::optional<std::string>;

Broken check_links(const FabricData& d) {
  for (std::uint32_t i = 0; i < d.links.size(); ++i) {
    const Link& link = d.links[i];
    const bool ends_exist =
        link.b.is_switch && link.b.id < d.switch_count() &&
        (link.a.is_switch ? link.a.id < d.switch_count() && link.a.id != link.b.id
                          : link.a.id < d.node_count() && link.a.nic < d.types[d.node_type[link.a.id]].nics);
    if (!ends_exist) return fmt::format("link {} has a bad end", i);
    if (link.cables == 0 || link.bandwidth.bits_per_second == 0) return fmt::format("link {} is empty", i);
    const bool near_up = link.a.is_switch ? d.switch_up[link.a.id] != 0 : d.node_up[link.a.id] != 0;
    if (link.up && !(near_up && d.switch_up[link.b.id] != 0)) return fmt::format("link {} is up, an end is down", i);
  }
  return std::nullopt;
}

Broken check_ports(const FabricData& d) {
  std::size_t expected = 0;
  for (const Link& link : d.links) expected += link.up && !link.a.is_switch ? 1 : 0;
  if (d.ports.items.size() != expected) return "ports and node links that are up differ in number";
  for (std::uint32_t n = 0; n < d.node_count(); ++n) {
    for (std::uint32_t k = 0; k < d.types[d.node_type[n]].nics; ++k) {
      for (const Port& port : d.ports[d.slot(n, k)]) {
        const Link& link = d.links[index(port.link)];
        if (link.a.is_switch || link.a.id != n || link.a.nic != k || link.b.id != index(port.leaf) || !link.up) {
          return fmt::format("a port of {} is not its link", d.end_name({false, n, k}));
        }
        if (!d.is_leaf(index(port.leaf))) return fmt::format("'{}' is no leaf", d.switch_names[index(port.leaf)]);
      }
    }
  }
  return std::nullopt;
}

Broken check_neighbours(const FabricData& d) {
  std::size_t expected = 0;
  for (const Link& link : d.links) expected += link.up && link.a.is_switch ? 2 : 0;
  if (d.neighbours.items.size() != expected) return "neighbours and switch links that are up differ in number";
  for (std::uint32_t s = 0; s < d.switch_count(); ++s) {
    const auto list = d.neighbours[s];
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Link& link = d.links[index(list[i].link)];
      const std::uint32_t other = index(list[i].sw);
      const bool joins =
          link.a.is_switch && ((link.a.id == s && link.b.id == other) || (link.b.id == s && link.a.id == other));
      if (!joins || !link.up) return fmt::format("a neighbour of '{}' is not over its link", d.switch_names[s]);
      if (d.plane[s] != d.plane[other]) return fmt::format("'{}' has a neighbour in another plane", d.switch_names[s]);
      if (i > 0 && std::pair(list[i - 1].sw, list[i - 1].link) >= std::pair(list[i].sw, list[i].link)) {
        return fmt::format("the neighbours of '{}' are not ascending", d.switch_names[s]);
      }
    }
  }
  return std::nullopt;
}

// The leaves of one plane: a metric in switches, d - 1 being the distance in links.
Broken check_plane(const FabricData& d, const std::vector<std::uint32_t>& leaves) {
  const auto broken = [&](std::string_view what, std::uint32_t a, std::uint32_t b) {
    return fmt::format("hop table: {} ('{}', '{}')", what, d.switch_names[a], d.switch_names[b]);
  };
  for (const std::uint32_t a : leaves) {
    const Path self = d.leaf_path(a, a);
    if (self != (d.switch_up[a] != 0 ? Path{1, d.tier[a]} : Path{})) return broken("diagonal", a, a);
    for (const std::uint32_t b : leaves) {
      const Path ab = d.leaf_path(a, b);
      if (ab != d.leaf_path(b, a)) return broken("not symmetric", a, b);
      if (ab.hops == 0) continue;
      if (a != b && ab.hops < 2) return broken("two leaves, one switch", a, b);
      if (ab.tier < std::max(d.tier[a], d.tier[b]) || ab.tier > d.max_tier) return broken("tier", a, b);
      for (const std::uint32_t c : leaves) {
        const Path bc = d.leaf_path(b, c);
        if (bc.hops == 0) continue;
        const Path ac = d.leaf_path(a, c);
        if (ac.hops == 0 || ac.hops > ab.hops + bc.hops - 1) return broken("triangle inequality", a, c);
      }
    }
  }
  return std::nullopt;
}

Broken check_hops(const FabricData& d) {
  std::vector<std::vector<std::uint32_t>> leaves(d.plane_names.size());
  std::vector<std::uint8_t> has_nodes(d.switch_count(), 0);
  for (const Link& link : d.links) {
    if (!link.a.is_switch) has_nodes[link.b.id] = 1;
  }
  for (std::uint32_t s = 0; s < d.switch_count(); ++s) {
    if (d.plane[s] >= d.plane_names.size()) return fmt::format("'{}' is in no plane", d.switch_names[s]);
    if (d.is_leaf(s) != (has_nodes[s] != 0)) return fmt::format("'{}' is wrongly a leaf or none", d.switch_names[s]);
    if (!d.is_leaf(s)) continue;
    if (d.leaf_pos[s] != leaves[d.plane[s]].size()) return fmt::format("'{}' is misplaced", d.switch_names[s]);
    leaves[d.plane[s]].push_back(s);
  }
  for (std::uint32_t p = 0; p < leaves.size(); ++p) {
    if (d.tables[d.table_of_plane[p]].leaves != leaves[p].size()) return "a hop table is of another size";
    if (auto broken = check_plane(d, leaves[p])) return broken;
  }
  return std::nullopt;
}

Broken check_tiers(const FabricData& d) {
  std::uint8_t most = 0;
  for (std::uint32_t s = 0; s < d.switch_count(); ++s) {
    if (d.tier[s] < 1 || d.tier[s] > kMaxTier) return fmt::format("'{}' has tier {}", d.switch_names[s], d.tier[s]);
    most = std::max(most, d.tier[s]);
  }
  return most == d.max_tier ? Broken() : Broken("max_tier is not the highest tier");
}

// `groups` holds every node once, under its own id, numbered by first node.
Broken check_partition(const FabricData& d, std::span<const std::uint32_t> group_of, const Groups<NodeId>& groups,
                       std::string_view what) {
  std::vector<std::uint8_t> seen(d.node_count(), 0);
  for (std::uint32_t g = 0; g < groups.count(); ++g) {
    if (groups[g].empty()) return fmt::format("{} {} is empty", what, g);
    for (const NodeId node : groups[g]) {
      if (group_of[index(node)] != g) return fmt::format("{} {} holds a stranger", what, g);
      if (std::exchange(seen[index(node)], std::uint8_t{1}) != 0) return fmt::format("{}: a node twice", what);
    }
  }
  if (std::find(seen.begin(), seen.end(), 0) != seen.end()) return fmt::format("{}: a node in none", what);
  std::uint32_t next = 0;
  for (const std::uint32_t g : group_of) {
    if (g > next) return fmt::format("{}: not numbered by first node", what);
    if (g == next) ++next;
  }
  return std::nullopt;
}

Broken check_classes(const FabricData& d) {
  if (auto broken = check_partition(d, d.class_of, d.classes, "class")) return broken;
  std::map<std::vector<std::uint32_t>, std::uint32_t> class_by_key;
  for (std::uint32_t n = 0; n < d.node_count(); ++n) {
    std::vector<std::uint32_t> key{d.node_type[n]};
    for (std::uint32_t k = 0; k < d.types[d.node_type[n]].nics; ++k) {
      key.push_back(FabricData::kNone);
      for (const Port& port : d.ports[d.slot(n, k)]) key.push_back(index(port.leaf));
    }
    if (class_by_key.emplace(key, d.class_of[n]).first->second != d.class_of[n]) return "equal nodes, two classes";
  }
  return class_by_key.size() == d.classes.count() ? Broken() : Broken("unequal nodes in one class");
}

Broken check_levels(const FabricData& d) {
  if (d.levels.size() < 2) return "fewer than two levels";
  for (std::size_t level = 0; level < d.levels.size(); ++level) {
    const LevelTable& table = d.levels[level];
    if (auto broken = check_partition(d, table.domain_of, table.domains, fmt::format("domain of level {}", level))) {
      return broken;
    }
    for (std::uint32_t g = 0; g < table.domains.count(); ++g) {
      if (table.names[g].empty()) return fmt::format("a domain of level {} has no name", level);
      if (!std::ranges::is_sorted(table.domains[g], {}, [&](NodeId n) { return d.rank[index(n)]; })) {
        return fmt::format("a domain of level {} is not in fabric order", level);
      }
      const auto nodes = table.domains[g];
      const bool whole = d.rank[index(nodes.back())] - d.rank[index(nodes.front())] + 1 == nodes.size();
      if (d.hierarchical && !whole &&
          std::ranges::all_of(nodes, [&](NodeId n) { return d.node_usable[index(n)] != 0; })) {
        return fmt::format("a domain of level {} is torn in fabric order", level);
      }
    }
  }
  for (std::uint32_t i = 0; i < d.order.size(); ++i) {
    if (d.rank[index(d.order[i])] != i) return "fabric order and rank differ";
  }
  return std::nullopt;
}

Broken check_hierarchical(const FabricData& d) {
  for (std::uint32_t a = 0; d.hierarchical && a < d.node_count(); ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      if (d.node_usable[a] == 0 || d.node_usable[b] == 0) continue;
      std::size_t level = 1;
      while (level < d.levels.size() && d.levels[level].domain_of[a] != d.levels[level].domain_of[b]) ++level;
      const std::uint32_t nics = std::min(d.types[d.node_type[a]].nics, d.types[d.node_type[b]].nics);
      for (std::uint32_t k = 0; k < nics; ++k) {
        const Path path = d.port_path(d.ports[d.slot(a, k)], d.ports[d.slot(b, k)]);
        if (path.hops > d.max_hops) return "max_hops is exceeded";
        if (path.hops > 0 && path.tier != level) {
          return fmt::format("'{}' and '{}' meet on level {}, their path on tier {}", d.node_names[a], d.node_names[b],
                             level, path.tier);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_invariant(const FabricData& data) {
  for (const auto check : {check_links, check_ports, check_neighbours, check_tiers, check_hops, check_classes,
                           check_levels, check_hierarchical}) {
    if (auto broken = check(data)) return broken;
  }
  return std::nullopt;
}

}  // namespace weft::topology
