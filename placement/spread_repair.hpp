// SPDX-License-Identifier: BSD-3-Clause
//
// Repairs a plan of group spread (spread_plan.hpp) towards smaller spreads.
//
// METHOD
//   Min-conflicts: cells of rows and columns that touch too many pods change places with others, or move to free nodes,
//   wherever that leaves no more excess, drawn by lot from a fixed seed.
//
// SOURCE
//   Minton, Johnston, Philips, Laird, "Minimizing conflicts", Artificial Intelligence 58 (1992).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spread_plan.hpp"

namespace weft::placement {

/// `cells`: pod of each cell, within the capacities. Cells of a plan with at most so many pods in each row and column;
/// nullopt where `steps` draws do not lead to one.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> repair_spread(const SpreadProblem& problem,
                                                                      std::vector<std::uint32_t> cells,
                                                                      std::uint32_t most_in_row,
                                                                      std::uint32_t most_in_column,
                                                                      std::uint32_t steps);

}  // namespace weft::placement
