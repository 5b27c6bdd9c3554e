// SPDX-License-Identifier: BSD-3-Clause
//
// Cuts a job's graph into regions: one a pod, each of those into one a leaf, and so on down to spots. For domains that
// give uneven numbers of nodes, where boxes of one size (tilings.hpp) do not fit.
//
// METHOD
//   A region starts at the vertex with the fewest bytes to those not yet in a region (a corner), and takes, until it
//   fills its domain, the vertex that adds least to what crosses its border. The largest region first.
//
// SOURCE
//   Karypis, Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput.
//   20 (1998): greedy graph growing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node_graph.hpp"
#include "spots.hpp"

namespace weft::placement {

/// Depths at which spots are told apart: pods, leaves, racks, spots.
inline constexpr int kSpotDepths = 4;
/// Domain of a spot at a depth.
[[nodiscard]] std::uint32_t spot_domain(const SpotTable& spots, std::uint32_t spot, int depth);

/// Part of each of `vertices` (ascending), the k-th part of sizes[k] vertices; the sizes add up.
/// O(halves * log halves + parts * vertices).
[[nodiscard]] std::vector<std::uint32_t> grow_parts(const NodeGraph& graph, std::span<const std::uint32_t> vertices,
                                                    std::span<const std::size_t> sizes);

/// Spot of each vertex; `places` holds one spot a vertex, and each spot gets as many vertices as it stands there.
[[nodiscard]] std::vector<std::uint32_t> region_map(const NodeGraph& graph, const SpotTable& spots,
                                                    std::vector<std::uint32_t> places);

}  // namespace weft::placement
