// SPDX-License-Identifier: BSD-3-Clause
//
// A rank map grown outward: where the rank grid or the fabric has no structure to follow.
//
// METHOD
//   The busiest vertex takes the first place; then, one by one, the vertex that exchanges most with those placed takes
//   the free place where its edges to them cost least.
//
// SOURCE
//   Hoefler, Snir, "Generic topology mapping strategies for large-scale parallel architectures", ICS 2011 (greedy).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "node_graph.hpp"
#include "spots.hpp"

namespace weft::placement {

/// Spot of each vertex; `places` holds one spot a vertex. nullopt where vertices times edges are too many.
/// O(halves * spots in use).
[[nodiscard]] std::optional<std::vector<std::uint32_t>> greedy_map(const NodeGraph& graph, SpotTable& spots,
                                                                   const std::vector<std::uint32_t>& places);

}  // namespace weft::placement
