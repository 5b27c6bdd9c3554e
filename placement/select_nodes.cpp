// SPDX-License-Identifier: BSD-3-Clause
#include "select_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

// Shares `nodes` among parts with (cap, need), in the order given: needs first, then fill. The last part that is filled
// partly gives way to the smallest part that nobody uses and that holds as much.
template <typename Part>
std::vector<std::uint32_t> share(std::span<const Part> parts, std::size_t usable, std::uint32_t nodes) {
  std::vector<std::uint32_t> out(parts.size(), 0);
  std::uint32_t left = nodes;
  for (std::size_t i = 0; i < usable; ++i) {
    out[i] = parts[i].need;
    left -= out[i];
  }
  for (std::size_t i = 0; i < usable && left > 0; ++i) {
    const std::uint32_t more = std::min(left, parts[i].cap - out[i]);
    out[i] += more;
    left -= more;
    if (left > 0 || parts[i].need > 0 || out[i] == parts[i].cap) continue;
    std::size_t better = i;
    for (std::size_t k = i + 1; k < parts.size(); ++k)
      if (out[k] == 0 && parts[k].need == 0 && parts[k].cap >= out[i] && parts[k].cap < parts[better].cap) better = k;
    std::swap(out[i], out[better]);
  }
  return out;
}

class Taker {
 public:
  Taker(const Locality& where, const SelectRules& rules) : where_(where), rules_(rules), taken_(where.nodes.size()) {}

  std::vector<NodeId> take(const Plan& plan) {
    std::vector<Plan::Part> parts = plan.parts;
    std::stable_sort(parts.begin(), parts.end(),
                     [&](const Plan::Part& a, const Plan::Part& b) { return held(a) > held(b); });
    std::uint32_t left = rules_.nodes;
    for (const Plan::Part& p : parts) left -= where_.pods[p.pod].need;
    for (const Plan::Part& p : parts) {
      const std::uint32_t need = where_.pods[p.pod].need;
      const std::uint32_t more = std::min(left, held(p) - need);
      left -= more;
      take_pod(where_.pods[p.pod], p.leaves, need + more);
    }
    return collect();
  }

  std::vector<NodeId> take_one_leaf(std::uint32_t leaf) {
    take_leaf(where_.leaves[leaf], rules_.nodes);
    return collect();
  }

 private:
  [[nodiscard]] std::vector<NodeId> collect() const {
    std::vector<NodeId> out;
    out.reserve(rules_.nodes);
    for (std::size_t i = 0; i < taken_.size(); ++i)
      if (taken_[i]) out.push_back(where_.nodes[i]);
    return out;
  }
  [[nodiscard]] std::uint32_t held(const Plan::Part& p) const { return where_.pods[p.pod].prefix[p.leaves]; }

  void take_pod(const Pod& pod, std::uint32_t leaves, std::uint32_t nodes) {
    std::vector<Leaf> parts;
    parts.reserve(pod.leaves.size());
    for (const std::uint32_t l : pod.leaves) parts.push_back(where_.leaves[l]);
    const auto counts = share<Leaf>(parts, leaves, nodes);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (counts[i] > 0) take_leaf(parts[i], counts[i]);
  }

  void take_leaf(const Leaf& leaf, std::uint32_t nodes) {
    const auto all = std::span(where_.racks).subspan(leaf.rack_begin, leaf.rack_end - leaf.rack_begin);
    std::vector<Rack> racks(all.begin(), all.end());
    std::stable_sort(racks.begin(), racks.end(), [](const Rack& a, const Rack& b) {
      return std::tuple(a.need == 0, ~a.cap) < std::tuple(b.need == 0, ~b.cap);
    });
    const auto counts = share<Rack>(racks, racks.size(), nodes);
    for (std::size_t i = 0; i < racks.size(); ++i) take_rack(racks[i], counts[i]);
  }

  void take_rack(const Rack& rack, std::uint32_t nodes) {
    for (const bool required : {true, false})
      for (std::uint32_t i = rack.begin; i < rack.end && nodes > 0; ++i) {
        if (where_.required[i] != required) continue;
        taken_[i] = true;
        --nodes;
      }
  }

  const Locality& where_;
  const SelectRules& rules_;
  std::vector<bool> taken_;
};

// Racks that `nodes` nodes of a leaf need, and what is free in the smallest single rack that would do.
std::pair<std::uint32_t, std::uint32_t> racks_for(const Locality& where, const Leaf& leaf, std::uint32_t nodes) {
  if (leaf.rack_end - leaf.rack_begin == leaf.free()) return {nodes, leaf.free()};  // racks are single nodes
  std::vector<std::pair<bool, std::uint32_t>> caps;
  std::uint32_t fitting = 0;
  for (std::uint32_t r = leaf.rack_begin; r < leaf.rack_end; ++r) {
    const Rack& rack = where.racks[r];
    caps.emplace_back(rack.need == 0, ~rack.cap);
    if (rack.cap >= nodes && rack.need == leaf.need && (fitting == 0 || rack.end - rack.begin < fitting))
      fitting = rack.end - rack.begin;
  }
  if (fitting > 0) return {1, fitting};
  std::sort(caps.begin(), caps.end());
  std::uint32_t held = 0;
  std::uint32_t used = 0;
  for (const auto& [optional, cap] : caps) {
    if (held >= nodes && optional) break;
    held += ~cap;
    ++used;
  }
  return {used, leaf.free()};
}

class Selector {
 public:
  Selector(const Fabric& fabric, const Locality& where, const SelectRules& rules)
      : fabric_(fabric), where_(where), rules_(rules) {
    for (const Pod& p : where.pods) {
      required_ += p.need;
      for (const std::uint32_t l : p.leaves) needing_leaves_ += where.leaves[l].need > 0 ? 1 : 0;
      needing_pods_ += p.need > 0 ? 1 : 0;
    }
  }

  std::optional<std::vector<NodeId>> select() {
    for (const Pod& p : where_.pods)
      if (p.need > p.cap) return std::nullopt;
    for (const Leaf& l : where_.leaves)
      if (l.need > l.cap) return std::nullopt;
    for (const Rack& r : where_.racks)
      if (r.need > r.cap) return std::nullopt;
    if (required_ > rules_.nodes) return std::nullopt;
    if (auto nodes = in_one_leaf()) return nodes;
    if (auto plan = in_one_pod()) return Taker(where_, rules_).take(*plan);
    for (Level level = topology::kPodLevel + 1; level < fabric_.level_count(); ++level)
      if (auto plan = in_one_domain([&](std::uint32_t p) {
            return index(fabric_.domain_of(level, where_.pods[p].sample)) * std::uint64_t{where_.islands} +
                   where_.pods[p].island;
          }))
        return Taker(where_, rules_).take(*plan);
    if (auto plan = in_one_domain([&](std::uint32_t p) { return std::uint64_t{where_.pods[p].island}; }))
      return Taker(where_, rules_).take(*plan);
    return std::nullopt;
  }

 private:
  std::optional<std::vector<NodeId>> in_one_leaf() {
    if (needing_leaves_ > 1) return std::nullopt;
    std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> best;  // racks, free, leaf
    for (std::uint32_t p = 0; p < where_.pods.size(); ++p) {
      for (const std::uint32_t l : where_.pods[p].leaves) {
        const Leaf& leaf = where_.leaves[l];
        if (leaf.cap < rules_.nodes || (needing_leaves_ > 0 && leaf.need == 0)) continue;
        const auto [racks, free] = racks_for(where_, leaf, rules_.nodes);
        const std::tuple candidate(racks, free, l);
        if (!best || candidate < *best) best = candidate;
      }
    }
    if (!best) return std::nullopt;
    return Taker(where_, rules_).take_one_leaf(std::get<2>(*best));
  }

  std::optional<Plan> in_one_pod() {
    if (needing_pods_ > 1) return std::nullopt;
    std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> best;  // leaves, free, pod
    std::optional<Plan> out;
    for (std::uint32_t p = 0; p < where_.pods.size(); ++p) {
      const Pod& pod = where_.pods[p];
      if (pod.cap < rules_.nodes || (needing_pods_ > 0 && pod.need == 0)) continue;
      auto plan = plan_pods(where_, std::span(&p, 1), rules_);
      if (!plan) continue;
      const std::tuple candidate(plan->leaves, pod.free(), p);
      if (best && *best < candidate) continue;
      best = candidate;
      out = std::move(plan);
    }
    return out;
  }

  // Pods grouped by `group_of`; the best plan within one group.
  template <typename GroupOf>
  std::optional<Plan> in_one_domain(GroupOf group_of) {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    for (std::uint32_t p = 0; p < where_.pods.size(); ++p) order.emplace_back(group_of(p), p);
    std::sort(order.begin(), order.end());
    std::optional<std::tuple<std::size_t, std::uint32_t, std::uint64_t, std::uint32_t>> best;
    std::optional<Plan> out;
    for (std::size_t begin = 0; begin < order.size();) {
      std::vector<std::uint32_t> pods;
      std::uint64_t free = 0;
      std::uint32_t needing = 0;
      std::size_t end = begin;
      for (; end < order.size() && order[end].first == order[begin].first; ++end) {
        const Pod& pod = where_.pods[order[end].second];
        pods.push_back(order[end].second);
        free += pod.free();
        needing += pod.need > 0 ? 1 : 0;
      }
      begin = end;
      if (needing < needing_pods_ || free < rules_.nodes) continue;
      auto plan = plan_pods(where_, pods, rules_);
      if (!plan) continue;
      const std::tuple candidate(plan->parts.size(), plan->leaves, free, pods.front());
      if (best && *best < candidate) continue;
      best = candidate;
      out = std::move(plan);
    }
    return out;
  }

  const Fabric& fabric_;
  const Locality& where_;
  const SelectRules& rules_;
  std::uint32_t required_ = 0;
  std::uint32_t needing_leaves_ = 0;
  std::uint32_t needing_pods_ = 0;
};

}  // namespace

std::vector<NodeId> nodes_of_plan(const Locality& where, const Plan& plan, const SelectRules& rules) {
  return Taker(where, rules).take(plan);
}

Result<std::vector<NodeId>> select_nodes(const Fabric& fabric, const Eligible& eligible, const SelectRules& rules) {
  return select_nodes(fabric, build_locality(fabric, eligible), rules);
}

Result<std::vector<NodeId>> select_nodes(const Fabric& fabric, const Locality& ground, const SelectRules& rules) {
  const Locality where = with_rules(ground, rules);
  if (auto nodes = Selector(fabric, where, rules).select()) return std::move(*nodes);
  return fail(explain_infeasible(fabric, where, rules));
}

}  // namespace weft::placement
