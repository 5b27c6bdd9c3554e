// SPDX-License-Identifier: BSD-3-Clause
//
// Structured rank maps: the grid of a job's nodes cut into boxes within boxes, one size of box a level of the fabric.
//
// METHOD
//   The rank grid, seen by nodes, has one extent for each dimension that ranges over nodes. A tiling names a box for
//   each level of the fabric that the job fills several domains of (racks, leaves, pods): each box divides the next,
//   and holds as many nodes as a domain of the level commonly gives, or up to half as few. It orders the nodes box by
//   box, so that the n-th run of places in fabric order gets the n-th box. Where domains give unequal numbers of nodes
//   the runs are ragged and the local search (rank_search.hpp) trims them.
//
// SOURCES
//   Boxes bound what crosses by their surface: Loomis, Whitney, "An inequality related to the isoperimetric
//   inequality", Bull. AMS 55 (1949); Hoefler, Snir, "Generic topology mapping strategies for large-scale parallel
//   architectures", ICS 2011.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weft/config/job_spec.hpp"

namespace weft::placement {

/// The rank grid by nodes: extents, innermost dimension first, each above 1. The product is the number of nodes.
struct NodeGrid {
  std::vector<std::uint32_t> extent;
  std::vector<config::Dim> dim;      ///< whose extents they are
  std::vector<std::uint32_t> whole;  ///< size of the dimension in ranks: `extent` times what a node holds of it
};

/// nullopt where a node's ranks are no box of the grid (ranks_per_node cuts a dimension unevenly).
[[nodiscard]] std::optional<NodeGrid> node_grid(const config::Layout& layout, std::uint32_t ranks_per_node);

/// Position of each node in the order of places, for each tiling, the plain rank order first; at most `limit`, no two
/// equal. `fills`: how many nodes of the job a domain commonly holds, by level, finest first. `run`: tilings keep
/// aligned runs of so many nodes of the rank order together (1: no rule).
[[nodiscard]] std::vector<std::vector<std::uint32_t>> tilings(const NodeGrid& grid,
                                                              std::span<const std::uint32_t> fills, std::uint32_t run,
                                                              std::size_t limit);

}  // namespace weft::placement
