// SPDX-License-Identifier: BSD-3-Clause
//
// Local search for a rank map: exchanges of two places, moves to free ones.
//
// METHOD
//   Kernighan and Lin's exchanges in the form of Fiduccia and Mattheyses: a vertex whose edges would cost less from a
//   neighbour's spot changes places with the vertex of that spot that makes the best bargain of it, or takes a free
//   place. Where segments tie vertices to a domain, whole segments change places too. Every step lowers the cost, so
//   the search ends; the budget counts edges looked at, not seconds, so that it ends at the same step everywhere.
//
// SOURCES
//   Kernighan, Lin, "An efficient heuristic procedure for partitioning graphs", Bell Syst. Tech. J. 49 (1970);
//   Fiduccia, Mattheyses, "A linear-time heuristic for improving network partitions", DAC 1982.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "node_graph.hpp"
#include "spots.hpp"

namespace weft::placement {

/// What a search must not break. Zero or nullopt = no rule.
struct SearchRules {
  std::uint32_t segment = 0;                  ///< vertices in runs of this many keep to one domain
  std::vector<std::uint32_t> segment_domain;  ///< by spot; where segment > 0
  std::optional<std::uint32_t> max_leaves, max_pods;
};

/// Steps left; `stop`, asked now and then, may end the search early.
struct Budget {
  std::uint64_t left = 0;
  std::uint64_t used = 0;
  const std::function<bool()>* stop = nullptr;
  bool stopped = false;
  /// Takes `steps`; false where there are none left.
  bool spend(std::uint64_t steps) {
    used += steps;
    if (left <= steps || stopped) {
      left = 0;
      return false;
    }
    left -= steps;
    return true;
  }
  void poll() {
    if (stop != nullptr && *stop && (*stop)()) stopped = true;
  }
};

class RankSearch {
 public:
  /// `graph`, `spots` and `rules` outlive it. `spot_of` by vertex; no spot beyond its nodes, rules kept.
  RankSearch(const NodeGraph& graph, SpotTable& spots, const SearchRules& rules, std::vector<std::uint32_t> spot_of);

  [[nodiscard]] const Cost& cost() const { return cost_; }
  [[nodiscard]] const std::vector<std::uint32_t>& spot_of() const { return spot_of_; }

  /// What changes if two vertices change places. O(their edges).
  [[nodiscard]] Cost exchange_delta(std::uint32_t u, std::uint32_t w);
  /// Lowers the cost until nothing does or the budget is spent.
  void improve(Budget& budget);

 private:
  [[nodiscard]] Cost leave_delta(std::uint32_t u, std::uint32_t to, std::uint32_t except);
  bool improve_vertex(std::uint32_t u, Budget& budget);
  bool exchange_segments(Budget& budget);
  [[nodiscard]] bool may_exchange(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool may_move(std::uint32_t from, std::uint32_t to) const;
  void put(std::uint32_t u, std::uint32_t to);
  void exchange(std::uint32_t u, std::uint32_t w);
  void apply(std::span<const std::uint32_t> vertices, std::span<const std::uint32_t> targets);
  [[nodiscard]] Cost cost_of(std::span<const std::uint32_t> vertices, Budget& budget);
  void count(std::uint32_t spot, int by);

  const NodeGraph& graph_;
  SpotTable& spots_;
  const SearchRules& rules_;
  std::vector<std::uint32_t> spot_of_;
  std::vector<std::vector<std::uint32_t>> members_;  // by spot
  std::vector<std::uint32_t> place_;                 // of each vertex in its spot's members
  std::vector<std::uint32_t> in_leaf_, in_pod_;
  std::uint32_t leaves_ = 0, pods_ = 0;
  Cost cost_;
  std::vector<std::uint32_t> mark_;  // scratch: by spot, round in which it was tried
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> inside_;  // scratch: by vertex, likewise
  std::uint32_t round_of_vertices_ = 0;
};

/// Sum over all edges; with a `limit`, over the first of them only where these already cost more. O(edges).
[[nodiscard]] Cost cost_of_map(const NodeGraph& graph, SpotTable& spots, std::span<const std::uint32_t> spot_of,
                               const Cost* limit = nullptr);

}  // namespace weft::placement
