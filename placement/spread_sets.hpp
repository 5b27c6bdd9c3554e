// SPDX-License-Identifier: BSD-3-Clause
//
// Looks for a plan of group spread (spread_plan.hpp) among sets of pods instead of cells.
//
// DESCRIPTION
//   Each row is given a set of pods, each column too; a cell may lie in any pod that its row's and its column's sets
//   share. Cells can be dealt out within the capacities if and only if, for every set S of pods, no more cells are
//   confined to S than S holds (Hall). So what is searched are the sets of rows and columns, some dozens, and not the
//   cells.
//
// METHOD
//   Excess: what is confined beyond what S holds, over all S. A row or column drawn by lot takes the set that leaves
//   the least excess, now and then any, from a fixed seed, until none is left; then a flow deals out the cells.
//
// SOURCES
//   Hall, "On representatives of subsets", J. London Math. Soc. 10 (1935), in the form of Gale's supply and demand
//   (1957); Minton, Johnston, Philips, Laird, "Minimizing conflicts", Artificial Intelligence 58 (1992).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spread_plan.hpp"

namespace weft::placement {

/// Pod of each cell of a plan with at most so many pods in each row and column, among the eight fullest pods; nullopt
/// where `steps` draws do not lead to one. O(steps * sets * 2^pods).
[[nodiscard]] std::optional<std::vector<std::uint32_t>> spread_by_sets(const SpreadProblem& problem,
                                                                       std::uint32_t most_in_row,
                                                                       std::uint32_t most_in_column,
                                                                       std::uint32_t steps);

}  // namespace weft::placement
