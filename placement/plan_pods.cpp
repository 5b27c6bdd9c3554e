// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include "select_nodes.hpp"

namespace weft::placement {
namespace {

constexpr std::int64_t kNone = -1;

// Exact choice by dynamic programming; see select_nodes.hpp.
class PodProgramme {
 public:
  PodProgramme(const Locality& where, std::span<const std::uint32_t> pods, std::uint32_t max_pods,
               std::uint32_t max_leaves)
      : where_(where), pods_(pods), width_(max_leaves + 1), cells_((max_pods + 1) * std::size_t{width_}) {}

  std::optional<Plan> solve(std::uint32_t nodes) {
    std::vector<std::int64_t> best(cells_, kNone);
    best[0] = 0;
    taken_.assign(pods_.size() * cells_, 0);
    for (std::size_t p = 0; p < pods_.size(); ++p) best = step(p, best);
    for (std::size_t c = 0; c < cells_; ++c)  // ascending: fewest pods, then fewest leaves
      if (best[c] >= static_cast<std::int64_t>(nodes)) return trace(c);
    return std::nullopt;
  }

 private:
  std::vector<std::int64_t> step(std::size_t p, const std::vector<std::int64_t>& before) {
    const Pod& pod = where_.pods[pods_[p]];
    std::vector<std::int64_t> after = pod.forced > 0 ? std::vector<std::int64_t>(cells_, kNone) : before;
    const std::uint32_t least = std::max(1U, pod.forced);
    for (std::size_t c = 0; c < cells_; ++c) {
      if (before[c] == kNone) continue;
      for (std::uint32_t j = least; j < pod.prefix.size() && c % width_ + j < width_; ++j) {
        const std::size_t to = c + width_ + j;
        if (to >= cells_) break;
        const std::int64_t held = before[c] + pod.prefix[j];
        if (held > after[to]) {
          after[to] = held;
          taken_[p * cells_ + to] = j;
        }
      }
    }
    return after;
  }

  [[nodiscard]] Plan trace(std::size_t cell) const {
    Plan out;
    for (std::size_t p = pods_.size(); p-- > 0;) {
      const std::uint32_t j = taken_[p * cells_ + cell];
      if (j == 0) continue;
      out.parts.push_back({pods_[p], j});
      out.leaves += j;
      cell -= width_ + j;
    }
    std::reverse(out.parts.begin(), out.parts.end());
    return out;
  }

  const Locality& where_;
  std::span<const std::uint32_t> pods_;
  std::uint32_t width_;
  std::size_t cells_;
  std::vector<std::uint32_t> taken_;
};

// Pods that must be used, then the fullest; ties in fabric order.
std::vector<std::uint32_t> fullest_first(const Locality& where, std::span<const std::uint32_t> pods) {
  std::vector<std::uint32_t> out(pods.begin(), pods.end());
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Pod& x = where.pods[a];
    const Pod& y = where.pods[b];
    return std::tuple(x.forced == 0, ~x.cap, a) < std::tuple(y.forced == 0, ~y.cap, b);
  });
  return out;
}

std::uint32_t leaves_for(const Pod& pod, std::uint32_t nodes) {
  std::uint32_t j = std::max(1U, pod.forced);
  while (pod.prefix[j] < nodes) ++j;
  return j;
}

// Fullest pods first, the last one the smallest that holds the rest.
Plan greedy(const Locality& where, std::span<const std::uint32_t> order, std::uint32_t nodes) {
  Plan out;
  std::uint32_t left = nodes;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Pod& pod = where.pods[order[i]];
    if (left == 0 && pod.forced == 0) break;
    std::uint32_t chosen = order[i];
    if (pod.forced == 0 && pod.cap >= left)
      for (std::size_t k = i + 1; k < order.size() && where.pods[order[k]].cap >= left; ++k)
        if (where.pods[order[k]].cap < where.pods[chosen].cap) chosen = order[k];
    const std::uint32_t here = std::min(left, where.pods[chosen].cap);
    const std::uint32_t j = leaves_for(where.pods[chosen], here);
    out.parts.push_back({chosen, j});
    out.leaves += j;
    left -= here;
  }
  return out;
}

}  // namespace

std::optional<Plan> plan_pods(const Locality& where, std::span<const std::uint32_t> pods, const SelectRules& rules) {
  const std::vector<std::uint32_t> order = fullest_first(where, pods);
  std::uint64_t held = 0;
  std::uint64_t need = 0;
  std::uint64_t leaves = 0;
  std::uint32_t fewest = 0;  // pods
  for (const std::uint32_t p : order) {
    const Pod& pod = where.pods[p];
    need += pod.need;
    leaves += pod.leaves.size();
    if (held >= rules.nodes && pod.forced == 0) continue;
    held += pod.cap;
    ++fewest;
  }
  const std::uint32_t max_pods = rules.max_pods.value_or(std::numeric_limits<std::uint32_t>::max());
  if (held < rules.nodes || need > rules.nodes || fewest > max_pods) return std::nullopt;

  const Plan quick = greedy(where, order, rules.nodes);
  if (pods.size() == 1) {
    if (rules.max_leaves && quick.leaves > *rules.max_leaves) return std::nullopt;
    return quick;
  }
  const auto within = [&](const Plan& p) { return !rules.max_leaves || p.leaves <= *rules.max_leaves; };
  const auto exact = [&](std::uint32_t most_pods, std::uint32_t most_leaves) -> std::optional<Plan> {
    return PodProgramme(where, pods, most_pods, most_leaves).solve(rules.nodes);
  };
  const auto affordable = [&](std::uint64_t most_pods, std::uint64_t most_leaves) {
    return most_pods * most_leaves * leaves <= kMaxPlanSteps;
  };
  // The greedy plan uses the fewest pods, so its leaves bound what the programme has to look at.
  const std::uint32_t bound = rules.max_leaves ? std::min(*rules.max_leaves, quick.leaves) : quick.leaves;
  if (affordable(fewest, bound))
    if (auto plan = exact(fewest, bound)) return plan;
  if (within(quick)) return quick;
  // More pods may have fewer leaves.
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(max_pods, pods.size()));
  const std::uint32_t cap = std::min(most, *rules.max_leaves);  // each pod gives a leaf at least
  if (affordable(cap, *rules.max_leaves)) return exact(cap, *rules.max_leaves);
  return std::nullopt;
}

}  // namespace weft::placement
