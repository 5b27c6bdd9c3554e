// SPDX-License-Identifier: BSD-3-Clause
#include "queries.hpp"

#include <algorithm>
#include <tuple>

namespace weft::bridge {
namespace {

using topology::DomainId;
using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;
using topology::SwitchId;

void add_bound(const Binding& binding, std::span<const NodeId> nodes, std::vector<std::uint32_t>& out) {
  for (const NodeId n : nodes)
    if (binding.table[index(n)] != WEFT_NO_NODE) out.push_back(binding.table[index(n)]);
}

void tidy(std::vector<std::uint32_t>& set) {
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
}

std::optional<std::pair<Level, DomainId>> find_domain(const Fabric& fabric, std::string_view name) {
  for (Level level = 0; level < fabric.level_count(); ++level)
    for (std::uint32_t d = 0; d < fabric.domain_count(level); ++d)
      if (fabric.domain_name(level, DomainId{d}) == name) return std::pair(level, DomainId{d});
  return std::nullopt;
}

}  // namespace

bool in_table(const Binding& binding, std::span<const std::uint32_t> nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](std::uint32_t i) { return i < binding.node.size(); });
}

std::vector<std::uint32_t> whole_domains(const Fabric& fabric, const Binding& binding,
                                         std::span<const std::uint32_t> nodes) {
  std::vector<bool> taken(fabric.domain_count(topology::kLeafLevel), false);
  std::vector<std::uint32_t> out(nodes.begin(), nodes.end());
  for (const std::uint32_t i : nodes) {
    if (!binding.node[i]) continue;
    const DomainId domain = fabric.domain_of(topology::kLeafLevel, *binding.node[i]);
    if (taken[index(domain)]) continue;
    taken[index(domain)] = true;
    add_bound(binding, fabric.domain_nodes(topology::kLeafLevel, domain), out);
  }
  tidy(out);
  return out;
}

Below::Below(const Fabric& fabric) : switches_(fabric.switch_count()), nodes_(fabric.switch_count()) {
  for (const topology::Link& link : fabric.links()) {
    const SwitchId b{link.b.id};
    if (!link.a.is_switch) {
      nodes_[index(b)].push_back(NodeId{link.a.id});
      continue;
    }
    const SwitchId a{link.a.id};
    if (fabric.tier(a) < fabric.tier(b)) switches_[index(b)].push_back(a);
    if (fabric.tier(b) < fabric.tier(a)) switches_[index(a)].push_back(b);
  }
}

std::vector<NodeId> Below::nodes(SwitchId sw) const {
  std::vector<bool> seen(switches_.size(), false);
  std::vector<SwitchId> todo{sw};
  seen[index(sw)] = true;
  std::vector<NodeId> out;
  while (!todo.empty()) {
    const SwitchId at = todo.back();
    todo.pop_back();
    out.insert(out.end(), nodes_[index(at)].begin(), nodes_[index(at)].end());
    for (const SwitchId next : switches_[index(at)]) {
      if (seen[index(next)]) continue;
      seen[index(next)] = true;
      todo.push_back(next);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<std::vector<std::uint32_t>> named_nodes(const Fabric& fabric, const Binding& binding,
                                                      std::string_view name) {
  std::vector<std::uint32_t> out;
  if (const auto sw = fabric.find_switch(name)) {
    add_bound(binding, Below(fabric).nodes(*sw), out);
  } else if (const auto domain = find_domain(fabric, name)) {
    add_bound(binding, fabric.domain_nodes(domain->first, domain->second), out);
  } else {
    return std::nullopt;
  }
  tidy(out);
  return out;
}

std::uint32_t fragmentation(const Fabric& fabric, const Binding& binding, std::span<const std::uint32_t> nodes) {
  std::vector<bool> in(fabric.node_count(), false);
  for (const std::uint32_t i : nodes)
    if (binding.node[i]) in[index(*binding.node[i])] = true;
  std::uint32_t out = 0;
  for (const Level level : {topology::kLeafLevel, topology::kPodLevel}) {
    if (level >= fabric.level_count()) continue;
    for (std::uint32_t d = 0; d < fabric.domain_count(level); ++d) {
      std::uint32_t bound = 0, held = 0;
      for (const NodeId n : fabric.domain_nodes(level, DomainId{d})) {
        if (binding.table[index(n)] == WEFT_NO_NODE) continue;
        ++bound;
        held += in[index(n)] ? 1 : 0;
      }
      if (held < bound) out += bound;
    }
  }
  return out;
}

Route route(const Fabric& fabric, const Binding& binding, std::span<const std::uint32_t> nodes, std::uint32_t width) {
  const auto key = [&](std::uint32_t i) {
    const auto node = binding.node[i];
    return std::tuple(!node, node ? fabric.fabric_rank(*node) : 0, i);
  };
  const auto leaf = [&](std::uint32_t i) -> std::optional<DomainId> {
    if (!binding.node[i]) return std::nullopt;
    return fabric.domain_of(topology::kLeafLevel, *binding.node[i]);
  };
  Route out;
  out.order.assign(nodes.begin(), nodes.end());
  std::sort(out.order.begin(), out.order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  const std::size_t total = out.order.size();
  const std::size_t groups = std::min<std::size_t>(std::max(width, 1U), total);
  out.start.push_back(0);
  for (std::size_t g = 1; g < groups; ++g) {
    // The even cut, moved to the nearest end of a leaf within a quarter of a group.
    const std::size_t even = total * g / groups, room = total / groups / 4;
    std::size_t cut = std::max<std::size_t>(even, out.start.back() + 1);
    for (std::size_t off = 0; off <= room; ++off) {
      const auto ends_leaf = [&](std::size_t at) {
        return at > out.start.back() && at < total && leaf(out.order[at - 1]) != leaf(out.order[at]);
      };
      if (even >= off && ends_leaf(even - off)) {
        cut = even - off;
        break;
      }
      if (ends_leaf(even + off)) {
        cut = even + off;
        break;
      }
    }
    out.start.push_back(static_cast<std::uint32_t>(cut));
  }
  if (total > 0) out.start.push_back(static_cast<std::uint32_t>(total));
  // Each group's head forwards to the rest of it.
  for (std::size_t left = total; left > 0; ++out.depth)
    left = (left + std::max(width, 1U) - 1) / std::max(width, 1U) - 1;
  return out;
}

}  // namespace weft::bridge
