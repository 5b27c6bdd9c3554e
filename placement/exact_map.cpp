// SPDX-License-Identifier: BSD-3-Clause
#include "exact_map.hpp"

#include <algorithm>
#include <numeric>

namespace weft::placement {
namespace {

using Counts = std::vector<std::uint32_t>;
using Map = std::vector<std::uint32_t>;
constexpr std::uint32_t kNowhere = ~0U;

class Search {
 public:
  Search(const NodeGraph& graph, SpotTable& spots, const SearchRules& rules, const Map& known, Budget& budget)
      : graph_(graph),
        spots_(spots),
        rules_(rules),
        budget_(budget),
        order_(graph.nodes),
        at_(graph.nodes, kNowhere),
        used_(spots.count(), 0),
        best_(known),
        least_(cost_of_map(graph, spots, known)) {
    std::vector<std::int64_t> bytes(graph.nodes, 0);
    for (std::uint32_t v = 0; v < graph.nodes; ++v)
      for (const NodeGraph::Half& e : graph.edges(v)) bytes[v] += e.bytes;
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return bytes[a] > bytes[b]; });
  }

  // Cheapest map of all; false where the budget ended first.
  bool cheapest() {
    room_.clear();
    for (std::uint32_t s = 0; s < spots_.count(); ++s)
      room_.push_back(static_cast<std::uint32_t>(spots_.spot(s).nodes.size()));
    ties_ = false;
    descend(0, {});
    return !out_;
  }

  // A map as cheap as the best that takes just so many nodes of each spot.
  bool as_cheap(const Counts& counts) {
    room_ = counts;
    ties_ = true;
    found_ = false;
    descend(0, {});
    return found_;
  }

  [[nodiscard]] const Map& best() const { return best_; }

 private:
  void descend(std::uint32_t depth, const Cost& so_far) {
    if (depth == order_.size()) {
      if (!legal()) return;
      best_ = at_;
      least_ = so_far;
      found_ = true;
      return;
    }
    const std::uint32_t v = order_[depth];
    for (std::uint32_t s = 0; s < room_.size() && !out_; ++s) {
      if (used_[s] == room_[s] || (ties_ && found_)) continue;
      Cost cost = so_far;
      for (const NodeGraph::Half& e : graph_.edges(v)) {
        if (at_[e.to] == kNowhere) continue;
        if (v < e.to)
          spots_.add(cost, s, at_[e.to], e);
        else
          spots_.add(cost, at_[e.to], s, e);
      }
      out_ = !budget_.spend(graph_.edges(v).size() + 1);
      if (ties_ ? least_ < cost : !(cost < least_)) continue;
      at_[v] = s;
      ++used_[s];
      descend(depth + 1, cost);
      --used_[s];
      at_[v] = kNowhere;
    }
  }

  [[nodiscard]] bool legal() const {
    std::vector<bool> leaf(spots_.leaf_count());
    std::vector<bool> pod(spots_.pod_count());
    for (std::uint32_t s = 0; s < used_.size(); ++s) {
      if (used_[s] < spots_.spot(s).required) return false;
      if (used_[s] == 0) continue;
      leaf[spots_.spot(s).leaf] = true;
      pod[spots_.spot(s).pod] = true;
    }
    if (rules_.max_leaves && std::count(leaf.begin(), leaf.end(), true) > *rules_.max_leaves) return false;
    if (rules_.max_pods && std::count(pod.begin(), pod.end(), true) > *rules_.max_pods) return false;
    if (rules_.segment > 0)
      for (std::size_t v = 0; v < at_.size(); ++v)
        if (rules_.segment_domain[at_[v]] != rules_.segment_domain[at_[v / rules_.segment * rules_.segment]])
          return false;
    return true;
  }

  const NodeGraph& graph_;
  SpotTable& spots_;
  const SearchRules& rules_;
  Budget& budget_;
  std::vector<std::uint32_t> order_;
  Map at_;
  Counts used_;
  Counts room_;
  Map best_;
  Cost least_;
  bool ties_ = false;
  bool found_ = false;
  bool out_ = false;
};

// All ways to take `left` nodes of the spots from `s` on.
void all_counts(const SpotTable& spots, std::uint32_t s, std::uint32_t left, Counts& so_far, std::vector<Counts>& out) {
  if (s == spots.count()) {
    if (left == 0) out.push_back(so_far);
    return;
  }
  const auto most = std::min(left, static_cast<std::uint32_t>(spots.spot(s).nodes.size()));
  for (std::uint32_t n = 0; n <= most; ++n) {
    so_far.push_back(n);
    all_counts(spots, s + 1, left - n, so_far, out);
    so_far.pop_back();
  }
}

Counts counts_of(const Map& map, std::uint32_t spots) {
  Counts out(spots, 0);
  for (const std::uint32_t s : map) ++out[s];
  return out;
}

}  // namespace

std::optional<Map> exact_map(const NodeGraph& graph, SpotTable& spots, const SearchRules& rules, const Map& known,
                             const BetterCounts& better, Budget& budget) {
  Search search(graph, spots, rules, known, budget);
  if (search.cheapest()) {
    Counts so_far;
    std::vector<Counts> choices;
    all_counts(spots, 0, graph.nodes, so_far, choices);
    std::stable_sort(choices.begin(), choices.end(), better);
    const Counts have = counts_of(search.best(), spots.count());
    for (const Counts& c : choices) {
      if (!better(c, have) || search.as_cheap(c)) break;
    }
  }
  if (search.best() == known) return std::nullopt;
  return search.best();
}

}  // namespace weft::placement
