// SPDX-License-Identifier: BSD-3-Clause
#include "rank_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "exact_map.hpp"
#include "greedy_map.hpp"
#include "level_search.hpp"
#include "node_graph.hpp"
#include "node_order.hpp"
#include "rank_search.hpp"
#include "region_map.hpp"
#include "spots.hpp"
#include "spread.hpp"
#include "tilings.hpp"
#include "traffic_digest.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

constexpr std::size_t kMostTilings = 8;  // times two for every dimension of the grid
constexpr std::size_t kMostStarts = 4;   // that the local search takes up; one fewer where the grid has two dimensions
constexpr std::uint32_t kMostSpotsOfAll = 256;
constexpr std::uint64_t kTilingSteps = 1U << 21;  // edges looked at to compare tilings
constexpr std::size_t kMostFinished = 1;          // of those that are improved on every level
constexpr std::uint32_t kMostNodesTwice = 32;     // of jobs of which two equal ones are finished
constexpr std::uint64_t kExactSteps = 400'000;
constexpr std::size_t kMostPodsInAllOrders = 4;
constexpr std::uint64_t kPodOrderSteps = 1U << 16;  // edges looked at to order more pods

struct Start {
  Cost cost;
  std::vector<std::uint32_t> spot_of;
};

class Mapper {
 public:
  Mapper(const Fabric& fabric, const Request& request, const Eligible& eligible, const SelectRules& rules,
         const std::vector<std::vector<NodeId>>& lists, const PlaceOptions& options, const NodeGraph& graph)
      : fabric_(fabric),
        request_(request),
        eligible_(eligible),
        rules_(rules),
        lists_(lists),
        options_(options),
        graph_(graph),
        required_(fabric.node_count(), false),
        spots_(fabric, nodes_in_reach(), required_, graph_, cross_rail_of(request)) {
    search_rules_.segment = rules.segment;
    search_rules_.max_leaves = rules.max_leaves;
    search_rules_.max_pods = rules.max_pods;
    if (rules.segment > 0)
      for (std::uint32_t s = 0; s < spots_.count(); ++s)
        search_rules_.segment_domain.push_back(
            index(fabric.domain_of(rules.segment_level, spots_.spot(s).nodes.front())));
  }

  std::vector<std::vector<NodeId>> run(std::size_t keep, PlaceStats& stats) {
    Budget budget{options_.budget_steps > 0 ? options_.budget_steps : default_budget(graph_.halves.size()), 0,
                  &options_.stop, false};
    // A job that moves nothing between nodes is best where best fit puts it.
    if (graph_.halves.empty()) return {lists_.front()};
    for (const auto& list : lists_) starts_of(list);
    improve(budget, std::max(kMostFinished, keep));
    if (eligible_.count <= kMostExactNodes) {
      budget.left = kExactSteps;
      search_all(budget);
      stats.exact = budget.left > 0;
    }
    stats.steps = budget.used;
    stats.stopped = budget.stopped;
    return results(keep);
  }

 private:
  // Coarse first: all starts by what crosses pods, then the best of them to the end, with what is left the next ones.
  void improve(Budget& budget, std::size_t finished) {
    const bool levels = fabric_.hierarchical() && rules_.segment == 0;
    if (levels) {
      for (Start& s : starts_) s = between_pods(std::move(s.spot_of), budget);
      sort_starts();
    }
    // Of two with as many bytes over the top, only the end shows which one is better below.
    if (graph_.nodes <= kMostNodesTwice && starts_.size() > 1 && starts_[0].cost.v[0] == starts_[1].cost.v[0])
      finished = std::max<std::size_t>(finished, 2);
    for (std::size_t i = 0; i < std::min(finished, starts_.size()) && budget.left > 0; ++i) {
      Start& s = starts_[i];
      const std::uint64_t rest = hold_back(budget, budget.left / 4);
      if (levels) s.spot_of = search_levels(graph_, spots_, std::move(s.spot_of), 1, kSpotDepths, Parts::anew, budget);
      RankSearch search(graph_, spots_, search_rules_, std::move(s.spot_of));
      search.improve(budget);
      s = {search.cost(), search.spot_of()};
      budget.left += rest;
    }
    sort_starts();
  }

  Start between_pods(std::vector<std::uint32_t> spot_of, Budget& budget) {
    // Parts made anew are the same whenever the places are.
    std::vector<std::uint32_t> held(spots_.count(), 0);
    for (const std::uint32_t s : spot_of) ++held[s];
    const Parts parts = held == parted_ ? Parts::kept : Parts::anew;
    parted_ = std::move(held);
    const std::uint64_t rest = hold_back(budget, budget.left - budget.left / (parts == Parts::anew ? 4 : 16));
    spot_of = search_levels(graph_, spots_, std::move(spot_of), 0, 1, parts, budget);
    budget.left += rest;
    return {cost_of_map(graph_, spots_, spot_of), std::move(spot_of)};
  }

  // Keeps `steps` of the budget from what follows; give them back by adding.
  static std::uint64_t hold_back(Budget& budget, std::uint64_t steps) {
    budget.left -= steps;
    return steps;
  }
  void sort_starts() {
    std::stable_sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) { return a.cost < b.cost; });
  }

  // The lists' nodes and what is free beside them under the same leaves; all where that is not much more.
  std::vector<NodeId> nodes_in_reach() {
    for (const NodeId n : eligible_.required) required_[index(n)] = true;
    std::vector<bool> leaf(fabric_.domain_count(topology::kLeafLevel), false);
    for (const auto& list : lists_)
      for (const NodeId n : list) leaf[index(fabric_.domain_of(topology::kLeafLevel, n))] = true;
    std::vector<NodeId> near;
    std::vector<NodeId> all;
    std::vector<bool> seen(fabric_.class_count(), false);
    std::uint32_t classes = 0;
    for (const NodeId n : fabric_.fabric_order()) {
      if (!eligible_.mask[index(n)]) continue;
      if (!seen[index(fabric_.class_of(n))]) ++classes;
      seen[index(fabric_.class_of(n))] = true;
      all.push_back(n);
      if (leaf[index(fabric_.domain_of(topology::kLeafLevel, n))]) near.push_back(n);
    }
    std::vector<NodeId>& out = classes <= kMostSpotsOfAll ? all : near;
    std::stable_sort(out.begin(), out.end(), [&](NodeId a, NodeId b) {
      if (required_[index(a)] != required_[index(b)]) return bool{required_[index(a)]};
      return weight_of(fabric_, request_, options_, a) < weight_of(fabric_, request_, options_, b);
    });
    return std::move(out);
  }

  // How many of a list's nodes a domain commonly holds, for each level at which it is on several, finest first.
  [[nodiscard]] std::vector<std::uint32_t> fills(const std::vector<std::uint32_t>& places) const {
    std::vector<std::uint32_t> out;
    for (const auto part : {&Spot::rack, &Spot::leaf, &Spot::pod}) {
      std::map<std::uint32_t, std::uint32_t> held;
      for (const std::uint32_t s : places)
        if (part != &Spot::rack || !spots_.spot(s).alone) ++held[spots_.spot(s).*part];
      std::map<std::uint32_t, std::uint32_t> nodes;  // in domains that hold so many
      for (const auto& [domain, n] : held) nodes[n] += n;
      if (held.size() < 2) continue;
      const auto common = std::max_element(nodes.begin(), nodes.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (common->first > 1 && (out.empty() || common->first > out.back())) out.push_back(common->first);
    }
    return out;
  }

  // The same places, pods and then leaves that hold the most first.
  [[nodiscard]] std::vector<std::uint32_t> fullest_first(std::vector<std::uint32_t> places) const {
    std::vector<std::uint32_t> pod(spots_.pod_count(), 0);
    std::vector<std::uint32_t> leaf(spots_.leaf_count(), 0);
    for (const std::uint32_t s : places) {
      ++pod[spots_.spot(s).pod];
      ++leaf[spots_.spot(s).leaf];
    }
    const auto key = [&](std::uint32_t s) {
      const Spot& spot = spots_.spot(s);
      return std::tuple(~pod[spot.pod], spot.pod, ~leaf[spot.leaf], spot.leaf);
    };
    std::stable_sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    return places;
  }

  void starts_of(const std::vector<NodeId>& list) {
    std::vector<std::uint32_t> places;
    places.reserve(list.size());
    for (const NodeId n : list) places.push_back(spots_.spot_of(n));
    const auto grid = node_grid(request_.layout, request_.ranks_per_node);
    if (grid && grid->extent.size() < 3) most_starts_ = kMostStarts - 1;
    std::vector<std::vector<std::uint32_t>> orders;
    if (grid && request_.traffic->direct.empty() && spots_.count() > 1) {
      const std::size_t limit = std::clamp<std::size_t>(kTilingSteps / std::max<std::size_t>(graph_.halves.size(), 1),
                                                        4, kMostTilings << grid->extent.size());
      orders = tilings(*grid, fills(places), std::max(rules_.segment, 1U), limit);
    } else {
      orders.emplace_back(places.size());
      std::iota(orders.front().begin(), orders.front().end(), 0U);
    }
    const std::vector<std::uint32_t> sorted = rules_.segment > 0 ? places : fullest_first(places);
    std::optional<Cost> least;
    const std::vector<std::uint32_t>* best = nullptr;
    for (const auto& order : orders) {
      const Cost cost = add_start(places, order);
      if (!least || cost < *least) {
        least = cost;
        best = &order;
      }
      if (sorted != places) add_start(sorted, order);
    }
    if (rules_.segment == 0 && spots_.pod_count() > 1) order_pods(sorted, *best);
    // Where levels are searched, that grows regions itself.
    if (rules_.segment == 0 && spots_.count() > 1 && !fabric_.hierarchical()) add(region_map(graph_, spots_, places));
    if (rules_.segment == 0 && (!fabric_.hierarchical() || !request_.traffic->direct.empty()))
      if (auto map = greedy_map(graph_, spots_, places)) add(std::move(*map));
  }

  // The pods of `places` in other orders, of which the cheapest is a start. Where they give unequal numbers of nodes,
  // what the rank order leaves over in one pod goes to the next: best where that one is just as much too small.
  void order_pods(const std::vector<std::uint32_t>& places, const std::vector<std::uint32_t>& order) {
    std::vector<std::vector<std::uint32_t>> pods;
    for (const std::uint32_t s : places) {
      if (pods.empty() || spots_.spot(pods.back().front()).pod != spots_.spot(s).pod) pods.emplace_back();
      pods.back().push_back(s);
    }
    const auto smaller = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    std::stable_sort(pods.begin(), pods.end(), smaller);
    if (pods.front().size() == pods.back().size()) return;
    std::vector<std::vector<std::uint32_t>> best = pods;
    Cost least = cost_of_map(graph_, spots_, laid_out(pods, order));
    const auto cheaper = [&] {
      const Cost cost = cost_of_map(graph_, spots_, laid_out(pods, order), &least);
      if (!(cost < least)) return false;
      least = cost;
      best = pods;
      return true;
    };
    if (pods.size() <= kMostPodsInAllOrders) {
      while (std::next_permutation(pods.begin(), pods.end(), smaller)) cheaper();
    } else {
      std::uint64_t left = kPodOrderSteps / (graph_.halves.size() + 1);
      for (bool again = true; again && left > 0;) {
        again = false;
        for (std::size_t i = 0; i < pods.size(); ++i)
          for (std::size_t k = i + 1; k < pods.size() && left > 0; ++k) {
            if (pods[i].size() == pods[k].size()) continue;
            --left;
            std::swap(pods[i], pods[k]);
            if (cheaper())
              again = true;
            else
              std::swap(pods[i], pods[k]);
          }
      }
    }
    add(laid_out(best, order));
  }

  // The n-th vertex of `order` on the n-th place of the pods, one after the other.
  static std::vector<std::uint32_t> laid_out(const std::vector<std::vector<std::uint32_t>>& pods,
                                             const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> places;
    places.reserve(order.size());
    for (const auto& p : pods) places.insert(places.end(), p.begin(), p.end());
    std::vector<std::uint32_t> spot_of(order.size());
    for (std::size_t v = 0; v < order.size(); ++v) spot_of[v] = places[order[v]];
    return spot_of;
  }

  Cost add_start(const std::vector<std::uint32_t>& places, const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> spot_of(order.size());
    for (std::size_t v = 0; v < order.size(); ++v) spot_of[v] = places[order[v]];
    return add(std::move(spot_of));
  }

  // Its cost, or where that is no less than what the starts at hand cost, a part of it that is no less either.
  Cost add(std::vector<std::uint32_t> spot_of) {
    const bool full = starts_.size() >= most_starts_;
    const Cost cost = cost_of_map(graph_, spots_, spot_of, full ? &starts_.back().cost : nullptr);
    if (full && !(cost < starts_.back().cost)) return cost;
    for (const Start& s : starts_)
      if (s.cost == cost && s.spot_of == spot_of) return cost;
    const auto at = std::upper_bound(starts_.begin(), starts_.end(), cost,
                                     [](const Cost& c, const Start& s) { return c < s.cost; });
    starts_.insert(at, {cost, std::move(spot_of)});
    if (starts_.size() > most_starts_) starts_.pop_back();
    return cost;
  }

  void search_all(Budget& budget) {
    const FreeGangs gangs(fabric_, request_.free);
    const auto better = [&](const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
      return better_gangs(gangs.without(taken(a)), gangs.without(taken(b)));
    };
    auto best = exact_map(graph_, spots_, search_rules_, starts_.front().spot_of, better, budget);
    if (!best) return;
    starts_.insert(starts_.begin(), {cost_of_map(graph_, spots_, *best), std::move(*best)});
  }

  [[nodiscard]] std::vector<NodeId> taken(const std::vector<std::uint32_t>& counts) const {
    std::vector<NodeId> out;
    for (std::uint32_t s = 0; s < counts.size(); ++s)
      out.insert(out.end(), spots_.spot(s).nodes.begin(), spots_.spot(s).nodes.begin() + counts[s]);
    return out;
  }

  [[nodiscard]] std::vector<NodeId> nodes_of(const std::vector<std::uint32_t>& spot_of) const {
    std::vector<std::uint32_t> next(spots_.count(), 0);
    std::vector<std::uint32_t> count(spots_.count(), 0);
    for (const std::uint32_t s : spot_of) ++count[s];
    // Of a spot the nodes are given out in fabric order, whatever the order of preference in which they are taken.
    std::vector<std::vector<NodeId>> give(spots_.count());
    for (std::uint32_t s = 0; s < spots_.count(); ++s) {
      const auto& nodes = spots_.spot(s).nodes;
      give[s].assign(nodes.begin(), nodes.begin() + count[s]);
      sort_in_fabric_order(fabric_, give[s]);
    }
    std::vector<NodeId> out;
    out.reserve(spot_of.size());
    for (const std::uint32_t s : spot_of) out.push_back(give[s][next[s]++]);
    return out;
  }

  [[nodiscard]] std::vector<std::vector<NodeId>> results(std::size_t keep) const {
    std::vector<std::vector<NodeId>> out;
    for (const Start& s : starts_)
      if (out.size() < keep || s.cost == starts_.front().cost) out.push_back(nodes_of(s.spot_of));
    return out;
  }

  const Fabric& fabric_;
  const Request& request_;
  const Eligible& eligible_;
  const SelectRules& rules_;
  const std::vector<std::vector<NodeId>>& lists_;
  const PlaceOptions& options_;
  const NodeGraph& graph_;
  std::vector<bool> required_;
  SpotTable spots_;
  SearchRules search_rules_;
  std::vector<Start> starts_;  // ascending by cost
  std::size_t most_starts_ = kMostStarts;
  std::vector<std::uint32_t> parted_;  // nodes of each spot among which parts were last made anew
};

// A ring over the nodes in their order, each GPU with its like. On a hierarchical fabric nothing beats the best fit in
// fabric order: a ring crosses k domains k times at least, and no choice touches fewer domains.
bool ring_in_order(const NodeGraph& graph) {
  if (graph.nodes < 3) return false;
  for (std::uint32_t v = 0; v < graph.nodes; ++v) {
    const auto edges = graph.edges(v);
    if (edges.size() != 2) return false;
    const auto ends = std::minmax({(v + 1) % graph.nodes, (v + graph.nodes - 1) % graph.nodes});
    if (edges[0].to != ends.first || edges[1].to != ends.second) return false;
    if (edges[0].bytes != graph.halves.front().bytes || edges[1].bytes != graph.halves.front().bytes) return false;
  }
  return std::all_of(graph.lanes.begin(), graph.lanes.end(), [](const Lane& l) { return l.low == l.high; });
}

// No two nodes share an NVLink domain, which best fit sees to last.
bool apart(const Fabric& fabric, const std::vector<NodeId>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId n) {
    return fabric.domain_nodes(topology::kNvlinkLevel, fabric.domain_of(topology::kNvlinkLevel, n)).size() == 1;
  });
}

}  // namespace

std::uint64_t default_budget(std::size_t halves) {
  return std::clamp<std::uint64_t>(std::uint64_t{256} * halves, 100'000, 8'000'000);
}

std::vector<std::vector<NodeId>> map_ranks(const Fabric& fabric, const Request& request, const Eligible& eligible,
                                           const SelectRules& rules, const std::vector<std::vector<NodeId>>& lists,
                                           const PlaceOptions& options, std::size_t keep, PlaceStats& stats) {
  const GraphOf graph(*request.traffic, request.digest);
  if (keep == 1 && rules.segment == 0 && eligible.count > kMostExactNodes && ring_in_order(*graph) &&
      fabric.hierarchical() && apart(fabric, lists.front()))
    return {lists.front()};
  return Mapper(fabric, request, eligible, rules, lists, options, *graph).run(keep, stats);
}

FreeGangs::FreeGangs(const Fabric& fabric, const NodeMask& free) : fabric_(fabric) {
  NodeMask usable = free;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    if (usable[n] && !fabric.usable(NodeId{n})) usable[n] = false;
  for (topology::Level level = 0; level < fabric.level_count(); ++level)
    free_.push_back(free_by_domain(fabric, level, usable));
}

Gangs FreeGangs::without(const std::vector<NodeId>& nodes) const {
  Gangs out;
  for (topology::Level level = 0; level < fabric_.level_count(); ++level) {
    std::vector<std::uint32_t> left = free_[level];
    const auto domains = fabric_.domain_numbers(level);
    for (const NodeId n : nodes) --left[domains[index(n)]];
    out.push_back(*std::max_element(left.begin(), left.end()));
  }
  return out;
}

bool better_gangs(const Gangs& a, const Gangs& b) {
  for (std::size_t l = a.size(); l-- > 0;)
    if (a[l] != b[l]) return a[l] > b[l];
  return false;
}

}  // namespace weft::placement
