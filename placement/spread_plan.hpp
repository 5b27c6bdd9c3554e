// SPDX-License-Identifier: BSD-3-Clause
//
// Shares a grid of nodes among pods so that no group is spread over many of them (`--objective spread`).
//
// DESCRIPTION
//   Two dimensions cut the grid into rows and columns; each is a communication group (many groups, where a node holds
//   several ranks). A plan gives every cell a pod within the pods' free capacities, and costs
//   row_weight * (most pods in a row) + column_weight * (most pods in a column): a collective waits for its worst
//   group.
//
// METHOD
//   Pairs of spreads (a, b) by cost, cheapest first, from the bound up; the first for which a construction works. Bands
//   of rows whose pods stand side by side: b bands with upright borders, or b - 1 with stepped ones, each column with
//   at most one step; a pods a band; and the same turned round. A band takes the pods that fill it with the least left
//   over. Cheaper pairs for which none works are then searched for: among sets of pods (spread_sets.hpp), and from the
//   best plan so far cell by cell (spread_repair.hpp).
//
// SOURCES
//   The bound: spread_bound below, with bounds.hpp's product over the two dimensions. Group spread as an objective:
//   Slurm and Kubernetes gang schedulers' practice of bounding it per job; the exact program is in
//   tests/bench/spread_bench.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::placement {

struct SpreadProblem {
  std::uint32_t rows = 1, columns = 1;
  double row_weight = 1, column_weight = 1;
  std::vector<std::uint32_t> capacity;  ///< free nodes of each pod; at least rows * columns in all
};

struct SpreadPlan {
  std::vector<std::uint32_t> pod_of;  ///< of cell column + columns * row
  std::uint32_t row_spread = 0;       ///< most pods in a row
  std::uint32_t column_spread = 0;
  double cost = 0;
  double bound = 0;  ///< no plan costs less
};

/// Least cost that the bound on single groups, the product bound and, for small problems, its integral form allow.
[[nodiscard]] double spread_bound(const SpreadProblem& problem);

/// O(pairs of spreads * pods * bands * log pods).
[[nodiscard]] SpreadPlan plan_spread(const SpreadProblem& problem);

}  // namespace weft::placement
