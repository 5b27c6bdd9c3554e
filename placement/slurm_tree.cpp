// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "slurm_policies.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

constexpr std::uint32_t kNoParent = ~0U;

// A domain of level 1 and up, as Slurm sees a switch.
struct Switch {
  std::uint32_t parent = kNoParent;
  Level level = 0;
  std::int64_t nodes = 0;  // eligible and not yet taken, as Slurm counts them
  bool required = false;
};

class TreeChoice {
 public:
  TreeChoice(const Fabric& fabric, const Eligible& eligible) : fabric_(fabric), free_(eligible.mask) {
    // Switch numbers: all leaves, then all pods, ...
    for (Level l = topology::kLeafLevel; l < fabric.level_count(); ++l) {
      first_.push_back(static_cast<std::uint32_t>(switches_.size()));
      switches_.resize(switches_.size() + fabric.domain_count(l), Switch{kNoParent, l, 0, false});
    }
    for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
      const NodeId node{n};
      for (Level l = topology::kLeafLevel; l < fabric.level_count(); ++l) {
        Switch& s = switches_[number(l, node)];
        if (l + 1 < fabric.level_count()) s.parent = number(static_cast<Level>(l + 1), node);
        if (free_[n]) ++s.nodes;
      }
    }
    for (const NodeId n : eligible.required)
      for (Level l = topology::kLeafLevel; l < fabric.level_count(); ++l) switches_[number(l, n)].required = true;
    required_ = eligible.required;
  }

  std::optional<std::vector<NodeId>> choose(std::uint32_t nodes) {
    left_ = nodes;
    const auto top = top_switch(nodes);
    if (!top || !keep_below(*top)) return std::nullopt;
    for (const NodeId n : required_) {
      free_[index(n)] = false;
      taken_.push_back(n);
      --left_;
    }
    distance_.assign(leaves(), 0);
    if (!required_.empty()) use_required_leaves();
    while (left_ > 0) {
      const auto best = best_leaf();
      if (!best) return std::nullopt;
      add_distance(*best);
      const std::int64_t held = switches_[*best].nodes;
      take_leaf(*best);
      count_off(*best, held);
    }
    std::sort(taken_.begin(), taken_.end());
    return std::move(taken_);
  }

 private:
  [[nodiscard]] std::uint32_t number(Level level, NodeId node) const {
    return first_[level - topology::kLeafLevel] + index(fabric_.domain_of(level, node));
  }
  [[nodiscard]] std::uint32_t leaves() const { return fabric_.domain_count(topology::kLeafLevel); }

  // The highest switch that has enough nodes, the last of its level; with required nodes the highest that has any.
  [[nodiscard]] std::optional<std::uint32_t> top_switch(std::int64_t nodes) const {
    std::optional<std::uint32_t> top;
    for (std::uint32_t s = 0; s < switches_.size(); ++s) {
      const bool fits = required_.empty() ? switches_[s].nodes >= nodes : switches_[s].required;
      const bool higher = !top || switches_[s].level > switches_[*top].level ||
                          (required_.empty() && switches_[s].level == switches_[*top].level);
      if (fits && higher) top = s;
    }
    return top;
  }

  // Drops whatever is not under `top`; false where required nodes are.
  bool keep_below(std::uint32_t top) {
    const Level level = switches_[top].level;
    for (std::uint32_t n = 0; n < fabric_.node_count(); ++n)
      if (free_[n] && number(level, NodeId{n}) != top) {
        remove(NodeId{n});
        if (std::find(required_.begin(), required_.end(), NodeId{n}) != required_.end()) return false;
      }
    return true;
  }

  void remove(NodeId node) {
    free_[index(node)] = false;
    for (Level l = topology::kLeafLevel; l < fabric_.level_count(); ++l) --switches_[number(l, node)].nodes;
  }
  // Takes a leaf's free nodes, as many as are left to take; their number.
  std::uint32_t take_leaf(std::uint32_t leaf) {
    std::vector<NodeId> nodes;
    for (const NodeId n : fabric_.domain_nodes(topology::kLeafLevel, topology::DomainId{leaf}))
      if (free_[index(n)]) nodes.push_back(n);
    std::sort(nodes.begin(), nodes.end());
    if (nodes.size() > left_) nodes.resize(left_);
    for (const NodeId n : nodes) free_[index(n)] = false;
    taken_.insert(taken_.end(), nodes.begin(), nodes.end());
    left_ -= static_cast<std::uint32_t>(nodes.size());
    return static_cast<std::uint32_t>(nodes.size());
  }
  // Counts a leaf's nodes as gone, up to the top.
  void count_off(std::uint32_t leaf, std::int64_t nodes) {
    for (std::uint32_t s = leaf; s != kNoParent; s = switches_[s].parent)
      switches_[s].nodes = std::max<std::int64_t>(switches_[s].nodes - nodes, 0);
  }

  // Leaves with required nodes are used up first. Slurm's counts are not what one expects: required nodes themselves
  // still count as free, and each leaf is charged for what all the leaves before it gave, too. Later choices follow
  // these counts.
  void use_required_leaves() {
    std::int64_t given = 0;
    for (std::uint32_t s = 0; s < leaves() && left_ > 0; ++s) {
      if (!switches_[s].required) continue;
      given += take_leaf(s);
      count_off(s, given);
    }
    for (std::uint32_t s = 0; s < switches_.size(); ++s)
      if (switches_[s].required) add_distance(s);
  }

  // Links of the tree between a switch and each leaf.
  void add_distance(std::uint32_t from) {
    std::vector<std::uint32_t> above(switches_.size(), kNoParent);  // steps from `from` up to each ancestor
    std::uint32_t steps = 0;
    for (std::uint32_t s = from; s != kNoParent; s = switches_[s].parent) above[s] = steps++;
    for (std::uint32_t leaf = 0; leaf < leaves(); ++leaf) {
      if (switches_[leaf].nodes == 0) continue;
      std::uint32_t down = 0;
      std::uint32_t s = leaf;
      while (s != kNoParent && above[s] == kNoParent) {
        s = switches_[s].parent;
        ++down;
      }
      if (s != kNoParent) distance_[leaf] += above[s] + down;
    }
  }

  // Above 0 where `i` is the better switch; `fits` says whether the last switch looked at on i's side holds the rest.
  [[nodiscard]] int compare(std::uint32_t i, std::uint32_t j, bool& fits) const {
    while (true) {
      fits = switches_[i].nodes >= left_;
      const bool other = switches_[j].nodes >= left_;
      if (fits && other)
        return switches_[i].nodes < switches_[j].nodes ? 1 : switches_[i].nodes > switches_[j].nodes ? -1 : 0;
      if (fits) return 1;
      if (other) return -1;
      const std::uint32_t up_i = switches_[i].parent;
      const std::uint32_t up_j = switches_[j].parent;
      if (up_i == up_j || up_i == kNoParent || up_j == kNoParent) break;
      i = up_i;
      j = up_j;
    }
    return switches_[i].nodes > switches_[j].nodes ? 1 : switches_[i].nodes < switches_[j].nodes ? -1 : 0;
  }

  [[nodiscard]] std::optional<std::uint32_t> best_leaf() const {
    std::optional<std::uint32_t> best;
    for (std::uint32_t s = 0; s < leaves(); ++s) {
      if (switches_[s].nodes == 0 || switches_[s].required) continue;
      if (!best) {
        best = s;
        continue;
      }
      bool fits = false;
      const int better = compare(s, *best, fits);
      if ((distance_[s] < distance_[*best] && fits) || (distance_[s] == distance_[*best] && better > 0)) best = s;
    }
    return best;
  }

  const Fabric& fabric_;
  NodeMask free_;
  std::vector<NodeId> required_;
  std::vector<std::uint32_t> first_;  // number of the first switch of each level, from leaves up
  std::vector<Switch> switches_;
  std::vector<std::uint32_t> distance_;  // of each leaf, to the switches used so far
  std::vector<NodeId> taken_;
  std::uint32_t left_ = 0;
};

}  // namespace

Result<std::vector<NodeId>> slurm_tree(const Fabric& fabric, const Eligible& eligible, std::uint32_t nodes) {
  if (auto chosen = TreeChoice(fabric, eligible).choose(nodes)) return std::move(*chosen);
  return fail(
      error(ErrorCode::infeasible, fmt::format("topology/tree finds no {} nodes under one topmost switch", nodes)));
}

}  // namespace weft::placement
