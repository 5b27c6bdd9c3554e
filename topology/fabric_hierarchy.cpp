// SPDX-License-Identifier: BSD-3-Clause
//
// Is the hierarchy one? Asked of one representative a kind of node, NIC by NIC.
#include <algorithm>
#include <utility>

#include "fabric_impl.hpp"
#include "fabric_intern.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kNone = FabricData::kNone;

// The distinct attachments of NICs.
struct Attachments {
  std::vector<std::uint32_t> of_slot;  // kNone: no port up
  std::vector<std::uint32_t> slot_of;  // by attachment: one such slot
};

Attachments find_attachments(const FabricData& data) {
  Interned found = intern(
      data.nic_base.back(),
      [&](std::uint32_t slot) {
        std::uint64_t h = data.ports[slot].size();
        for (const Port& port : data.ports[slot]) h = mix(h, index(port.leaf));
        return h;
      },
      [&](std::uint32_t s, std::uint32_t t) {
        return std::ranges::equal(data.ports[s], data.ports[t], {}, &Port::leaf, &Port::leaf);
      });
  Attachments out{std::move(found.id_of), std::move(found.first)};
  for (std::uint32_t slot = 0; slot < out.of_slot.size(); ++slot) {
    if (data.ports[slot].empty()) out.of_slot[slot] = kNone;
  }
  return out;
}

std::uint32_t most_nics(const FabricData& data) {
  std::uint32_t most = 0;
  for (const NodeType& type : data.types) most = std::max(most, type.nics);
  return most;
}

// Attachment of NIC k of a node, kNone where it has none.
std::uint32_t attachment(const FabricData& data, const Attachments& a, std::uint32_t node, std::uint32_t k) {
  return k < data.nic_base[node + 1] - data.nic_base[node] ? a.of_slot[data.slot(node, k)] : kNone;
}

std::uint32_t find_max_hops(const FabricData& data, const Attachments& a) {
  std::vector<std::vector<std::uint32_t>> sets;  // attachments of NIC k, each distinct set once
  const std::uint32_t nics = most_nics(data);
  for (std::uint32_t k = 0; k < nics; ++k) {
    std::vector<std::uint8_t> used(a.slot_of.size(), 0);
    for (std::uint32_t n = 0; n < data.node_count(); ++n) {
      if (const std::uint32_t id = attachment(data, a, n, k); id != kNone) used[id] = 1;
    }
    std::vector<std::uint32_t> set;
    for (std::uint32_t id = 0; id < used.size(); ++id) {
      if (used[id] != 0) set.push_back(id);
    }
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(std::move(set));
  }
  std::uint32_t most = 0;
  for (const auto& set : sets) {
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const Path path = data.port_path(data.ports[a.slot_of[set[i]]], data.ports[a.slot_of[set[j]]]);
        most = std::max<std::uint32_t>(most, path.hops);
      }
    }
  }
  return most;
}

// Every domain inside one of the next level; nodes that cannot be used do not matter.
bool nested(const FabricData& data) {
  for (std::size_t level = 0; level + 1 < data.levels.size(); ++level) {
    const LevelTable& inner = data.levels[level];
    std::vector<std::uint32_t> outer(inner.names.size(), kNone);
    for (std::uint32_t n = 0; n < data.node_count(); ++n) {
      if (data.node_usable[n] == 0) continue;
      std::uint32_t& known = outer[inner.domain_of[n]];
      const std::uint32_t here = data.levels[level + 1].domain_of[n];
      if (known == kNone) known = here;
      if (known != here) return false;
    }
  }
  return true;
}

// Usable nodes, one of each class and leaf domain.
std::vector<std::uint32_t> representatives(const FabricData& data) {
  std::vector<std::uint32_t> usable;
  for (std::uint32_t n = 0; n < data.node_count(); ++n) {
    if (data.node_usable[n] != 0) usable.push_back(n);
  }
  const auto& leaf_of = data.levels[kLeafLevel].domain_of;
  const Interned kinds = intern(
      static_cast<std::uint32_t>(usable.size()),
      [&](std::uint32_t i) { return mix(data.class_of[usable[i]], leaf_of[usable[i]]); },
      [&](std::uint32_t i, std::uint32_t j) {
        return data.class_of[usable[i]] == data.class_of[usable[j]] && leaf_of[usable[i]] == leaf_of[usable[j]];
      });
  std::vector<std::uint32_t> out;
  for (const std::uint32_t i : kinds.first) out.push_back(usable[i]);
  return out;
}

// NICs that need a look: one of each group that is attached alike on every representative.
std::vector<std::uint32_t> distinct_nics(const FabricData& data, const Attachments& a,
                                         const std::vector<std::uint32_t>& nodes) {
  return intern(
             most_nics(data), [](std::uint32_t) { return 0; },
             [&](std::uint32_t j, std::uint32_t k) {
               return std::ranges::all_of(nodes, [&](std::uint32_t node) {
                 return attachment(data, a, node, j) == attachment(data, a, node, k);
               });
             })
      .first;
}

// The lowest level above NVLink that has both in one domain; level_count where none has.
std::uint32_t common_level(const FabricData& data, std::uint32_t a, std::uint32_t b) {
  std::uint32_t level = kLeafLevel;
  while (level < data.levels.size() && data.levels[level].domain_of[a] != data.levels[level].domain_of[b]) ++level;
  return level;
}

bool tiers_fit(const FabricData& data, const Attachments& a) {
  const std::vector<std::uint32_t> nodes = representatives(data);
  const std::vector<std::uint32_t> nics = distinct_nics(data, a, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::uint32_t level = common_level(data, nodes[i], nodes[j]);
      for (const std::uint32_t k : nics) {
        const std::uint32_t x = attachment(data, a, nodes[i], k);
        const std::uint32_t y = attachment(data, a, nodes[j], k);
        if (x == kNone || y == kNone) continue;
        const Path path = data.port_path(data.ports[a.slot_of[x]], data.ports[a.slot_of[y]]);
        if (path.hops == 0 ? level < data.levels.size() : path.tier != level) return false;
      }
    }
  }
  return true;
}

}  // namespace

void check_hierarchy(FabricData& data) {
  const Attachments attachments = find_attachments(data);
  data.max_hops = find_max_hops(data, attachments);
  data.hierarchical = nested(data) && tiers_fit(data, attachments);
  data.tiers_contiguous = std::all_of(data.links.begin(), data.links.end(), [&](const Link& l) {
    return !l.a.is_switch || std::abs(int{data.tier[l.a.id]} - int{data.tier[l.b.id]}) <= 1;
  });
}

Path FabricData::port_path(std::span<const Port> a, std::span<const Port> b) const {
  Path best;
  for (const Port& x : a) {
    for (const Port& y : b) {
      const Path path = leaf_path(index(x.leaf), index(y.leaf));
      if (better(path, best)) best = path;
    }
  }
  return best;
}

Groups<NodeId> group_nodes(std::span<const std::uint32_t> group_of, std::uint32_t groups,
                           std::span<const NodeId> order) {
  Groups<NodeId> out;
  out.begin.assign(groups + 1, 0);
  for (const std::uint32_t g : group_of) ++out.begin[g + 1];
  for (std::uint32_t g = 0; g < groups; ++g) out.begin[g + 1] += out.begin[g];
  out.items.resize(group_of.size());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (const NodeId node : order) out.items[next[group_of[index(node)]]++] = node;
  return out;
}

}  // namespace weft::topology
