// SPDX-License-Identifier: BSD-3-Clause
//
// Last stage of Fabric::build: attachment classes, the locality hierarchy and whether it is one.
//
// A node's leaves are those that it is cabled to and that are up: one broken port does not move a node out of its
// leaf or pod. A node without any link up has no leaves; it is alone (with its NVLink domain) on every level.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "fabric_graph.hpp"
#include "fabric_impl.hpp"
#include "fabric_intern.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kNone = FabricData::kNone;
using Set = std::vector<std::uint32_t>;  // ascending, distinct

void make_set(Set& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

bool attached(const FabricData& data, std::uint32_t node) {
  return data.ports.begin[data.nic_base[node]] != data.ports.begin[data.nic_base[node + 1]];
}

class Levels {
 public:
  explicit Levels(FabricData& data) : data_(data) {}

  void run() {
    find_leaf_sets();
    add_level(nvlink_keys(), {});
    for (std::uint32_t d = 0; d < data_.levels[0].names.size(); ++d) {
      const std::uint32_t node = index(data_.levels[0].domains[d].front());
      const std::uint32_t domain = data_.nvlink_domain[node];
      data_.levels[0].names[d] = domain != kNone ? data_.nvlink_names[domain] : data_.node_names[node];
    }
    add_leaf_level();
    const std::uint8_t top = highest_path_tier();
    Components components(data_.switch_count());
    for (std::uint8_t tier = 2; tier <= top; ++tier) add_tier_level(tier, components);
    if (top == 2) split_groups();
    order_nodes();
  }

 private:
  void find_leaf_sets() {
    std::vector<Set> leaves(data_.node_count());
    for (const Link& link : data_.links) {
      if (link.a.is_switch || data_.switch_up[link.b.id] == 0 || !attached(data_, link.a.id)) continue;
      Set& set = leaves[link.a.id];
      if (set.empty() || set.back() != link.b.id) set.push_back(link.b.id);
    }
    for (Set& set : leaves) make_set(set);
    Interned sets = intern(
        data_.node_count(), [&](std::uint32_t n) { return hash_of(leaves[n]); },
        [&](std::uint32_t m, std::uint32_t n) { return leaves[m] == leaves[n]; });
    set_of_ = std::move(sets.id_of);
    for (const std::uint32_t n : sets.first) sets_.push_back(std::move(leaves[n]));
  }

  [[nodiscard]] std::vector<std::uint64_t> nvlink_keys() const {
    std::vector<std::uint64_t> keys(data_.node_count());
    for (std::uint32_t n = 0; n < keys.size(); ++n) {
      keys[n] = data_.nvlink_domain[n] != kNone ? data_.nvlink_domain[n] : (1ULL << 32) + n;
    }
    return keys;
  }

  // Keys of nodes from keys of their leaf sets; nodes without leaves by NVLink domain.
  [[nodiscard]] std::vector<std::uint64_t> set_keys(const std::vector<std::uint32_t>& key_of_set) const {
    std::vector<std::uint64_t> keys(data_.node_count());
    for (std::uint32_t n = 0; n < keys.size(); ++n) {
      const bool alone = sets_[set_of_[n]].empty();
      keys[n] = alone ? (1ULL << 32) + data_.levels[0].domain_of[n] : key_of_set[set_of_[n]];
    }
    return keys;
  }

  // Domains by key, numbered by their first node. `names` by key of a node with leaves, or empty.
  void add_level(const std::vector<std::uint64_t>& keys, const std::vector<std::string>& names) {
    const Interned domains = intern(
        data_.node_count(), [&](std::uint32_t n) { return mix(0, keys[n]); },
        [&](std::uint32_t m, std::uint32_t n) { return keys[m] == keys[n]; });
    LevelTable level;
    level.domain_of = domains.id_of;
    level.names.resize(domains.first.size());
    std::vector<NodeId> file_order(data_.node_count());
    for (std::uint32_t n = 0; n < file_order.size(); ++n) file_order[n] = NodeId{n};
    level.domains = group_nodes(level.domain_of, static_cast<std::uint32_t>(domains.first.size()), file_order);
    const std::size_t number = data_.levels.size();
    std::uint32_t unnamed = 0;
    for (std::uint32_t d = 0; number > 0 && d < level.names.size(); ++d) {
      const std::uint32_t node = domains.first[d];
      if (keys[node] >> 32 != 0) {
        level.names[d] = data_.levels[0].names[data_.levels[0].domain_of[node]];
      } else if (!names.empty() && !names[keys[node]].empty()) {
        level.names[d] = names[keys[node]];
      } else {
        level.names[d] = number == kPodLevel ? fmt::format("pod{}", ++unnamed)
                         : number == 3       ? fmt::format("core{}", ++unnamed)
                                             : fmt::format("tier{}-{}", number, ++unnamed);
      }
    }
    data_.levels.push_back(std::move(level));
  }

  void add_leaf_level() {
    std::vector<std::uint32_t> keys(sets_.size());
    std::vector<std::string> names(sets_.size());
    for (std::uint32_t s = 0; s < sets_.size(); ++s) {
      keys[s] = s;
      if (sets_[s].size() <= 2) {
        for (const std::uint32_t leaf : sets_[s]) names[s] += (names[s].empty() ? "" : "+") + data_.switch_names[leaf];
        continue;
      }
      std::vector<std::string> leaves;
      for (const std::uint32_t leaf : sets_[s]) leaves.push_back(data_.switch_names[leaf]);
      names[s] = config::compress_hostlist(leaves);
    }
    add_level(set_keys(keys), names);
  }

  [[nodiscard]] std::uint8_t highest_path_tier() const {
    std::uint8_t top = 1;
    for (const HopTable& table : data_.tables) {
      for (const Path& path : table.paths) top = std::max(top, path.tier);
    }
    return top;
  }

  // Replaces each leaf of each set by `component_of` it and gives equal results one key.
  template <typename ComponentOf>
  Interned fold_sets(std::vector<Set>& folded, ComponentOf component_of) const {
    folded.assign(sets_.size(), {});
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      for (const std::uint32_t leaf : sets_[s]) folded[s].push_back(component_of(leaf));
      make_set(folded[s]);
    }
    return intern(
        static_cast<std::uint32_t>(folded.size()), [&](std::uint32_t s) { return hash_of(folded[s]); },
        [&](std::uint32_t r, std::uint32_t s) { return folded[r] == folded[s]; });
  }

  void add_tier_level(std::uint8_t tier, Components& components) {
    for (const Link& link : data_.links) {
      if (!link.a.is_switch || !link.up) continue;
      if (std::max(data_.tier[link.a.id], data_.tier[link.b.id]) <= tier) components.join(link.a.id, link.b.id);
    }
    std::vector<Set> folded;
    const Interned keys = fold_sets(folded, [&](std::uint32_t leaf) { return components.find(leaf); });
    // A domain under a single switch of its tier is called by it.
    std::vector<std::uint32_t> tops(data_.switch_count(), 0);
    std::vector<std::uint32_t> top(data_.switch_count(), kNone);
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      if (data_.tier[s] != tier || data_.switch_up[s] == 0) continue;
      ++tops[components.find(s)];
      top[components.find(s)] = s;
    }
    std::vector<std::string> names(keys.first.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      std::uint32_t count = 0;
      std::uint32_t only = kNone;
      for (const std::uint32_t c : folded[keys.first[k]]) {
        count += tops[c];
        if (tops[c] > 0) only = top[c];
      }
      if (count == 1) names[k] = data_.switch_names[only];
    }
    add_level(set_keys(keys.id_of), names);
  }

  // Two tiers in one piece, but some leaves nearer than others: groups of leaves within three hops of each other
  // (dragonfly+) are the pods, where that is an equivalence.
  void split_groups() {
    LevelTable& pods = data_.levels[kPodLevel];
    std::uint32_t with_leaves = kNone;
    for (std::uint32_t n = 0; n < data_.node_count(); ++n) {
      if (sets_[set_of_[n]].empty()) continue;
      if (with_leaves == kNone) with_leaves = pods.domain_of[n];
      if (pods.domain_of[n] != with_leaves) return;
    }
    std::vector<std::uint32_t> group(data_.switch_count(), kNone);
    if (!group_leaves(group)) return;
    std::vector<Set> folded;
    const Interned keys = fold_sets(folded, [&](std::uint32_t leaf) { return group[leaf]; });
    std::uint32_t distinct = 0;
    for (const std::uint32_t s : keys.first) distinct += sets_[s].empty() ? 0 : 1;
    if (distinct < 2) return;
    data_.levels.pop_back();
    add_level(set_keys(keys.id_of), {});
  }

  // Groups of leaves within three hops; false where that relation is not transitive.
  bool group_leaves(std::vector<std::uint32_t>& group) const {
    std::vector<std::vector<std::uint32_t>> leaves(data_.plane_names.size());
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      if (data_.is_leaf(s) && data_.switch_up[s] != 0) leaves[data_.plane[s]].push_back(s);
    }
    for (const auto& plane : leaves) {
      const auto near = [&](std::uint32_t a, std::uint32_t b) {
        const Path path = data_.leaf_path(a, b);
        return path.hops > 0 && path.hops <= 3;
      };
      for (const std::uint32_t a : plane) {
        const bool fresh = group[a] == kNone;
        if (fresh) group[a] = a;
        for (const std::uint32_t b : plane) {
          if (fresh && near(a, b) && group[b] == kNone) group[b] = a;
          if (near(a, b) != (group[b] == group[a])) return false;
        }
      }
    }
    return true;
  }

  void order_nodes() {
    std::vector<NodeId>& order = data_.order;
    order.resize(data_.node_count());
    for (std::uint32_t n = 0; n < order.size(); ++n) order[n] = NodeId{n};
    std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
      for (std::size_t level = data_.levels.size(); level-- > 0;) {
        const auto& domain_of = data_.levels[level].domain_of;
        if (domain_of[index(a)] != domain_of[index(b)]) return domain_of[index(a)] < domain_of[index(b)];
      }
      return a < b;
    });
    data_.rank.resize(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) data_.rank[index(order[i])] = i;
    for (LevelTable& level : data_.levels) {
      level.domains = group_nodes(level.domain_of, level.domains.count(), order);
    }
  }

  FabricData& data_;
  std::vector<std::uint32_t> set_of_;  // by node
  std::vector<Set> sets_;              // distinct sets of leaves
};

void find_classes(FabricData& data) {
  const auto hash = [&](std::uint32_t n) {
    std::uint64_t h = data.node_type[n];
    for (std::uint32_t slot = data.nic_base[n]; slot < data.nic_base[n + 1]; ++slot) {
      h = mix(h, data.ports[slot].size());
      for (const Port& port : data.ports[slot]) h = mix(h, index(port.leaf));
    }
    return h;
  };
  const auto equal = [&](std::uint32_t m, std::uint32_t n) {
    if (data.node_type[m] != data.node_type[n]) return false;
    for (std::uint32_t k = 0; k < data.types[data.node_type[m]].nics; ++k) {
      if (!std::ranges::equal(data.ports[data.slot(m, k)], data.ports[data.slot(n, k)], {}, &Port::leaf, &Port::leaf)) {
        return false;
      }
    }
    return true;
  };
  Interned classes = intern(data.node_count(), hash, equal);
  data.class_of = std::move(classes.id_of);
  std::vector<NodeId> file_order(data.node_count());
  for (std::uint32_t n = 0; n < file_order.size(); ++n) file_order[n] = NodeId{n};
  data.classes = group_nodes(data.class_of, static_cast<std::uint32_t>(classes.first.size()), file_order);
}

void find_usable(FabricData& data) {
  data.node_usable.resize(data.node_count());
  const bool single = data.node_count() == 1 && data.links.empty();
  for (std::uint32_t n = 0; n < data.node_count(); ++n) {
    data.node_usable[n] = data.node_up[n] != 0 && (single || attached(data, n)) ? 1 : 0;
  }
}

}  // namespace

void build_levels(FabricData& data) {
  find_usable(data);
  find_classes(data);
  Levels(data).run();
  check_hierarchy(data);
}

}  // namespace weft::topology
