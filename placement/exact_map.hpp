// SPDX-License-Identifier: BSD-3-Clause
//
// The best rank map of a small job on few free nodes, by branch and bound over all of them.
//
// METHOD
//   Vertices in the order of their bytes, each to every spot with room; what the edges among the placed ones cost only
//   grows, so that a branch that costs as much as the best map known is cut. A second pass looks, among maps of that
//   very cost, for one whose nodes leave larger gangs free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "node_graph.hpp"
#include "rank_search.hpp"
#include "spots.hpp"

namespace weft::placement {

/// Jobs on more free nodes than this are not searched so.
inline constexpr std::uint32_t kMostExactNodes = 10;

/// Nodes taken of each spot, better choices first; equal ones keep their order.
using BetterCounts = std::function<bool(const std::vector<std::uint32_t>&, const std::vector<std::uint32_t>&)>;

/// Spot of each vertex in the best map, where it is better than `known`; nullopt where it is not, or where the budget
/// was spent first. `better` ranks the node counts of maps of equal cost.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> exact_map(const NodeGraph& graph, SpotTable& spots,
                                                                  const SearchRules& rules,
                                                                  const std::vector<std::uint32_t>& known,
                                                                  const BetterCounts& better, Budget& budget);

}  // namespace weft::placement
