// SPDX-License-Identifier: BSD-3-Clause
//
// Improves a rank map level by level: first what crosses pods, then, inside each pod, what crosses its leaves, then
// racks.
//
// METHOD
//   At each level Kernighan and Lin's passes over the domains of one parent: the best exchange of two vertices between
//   two domains is made even where it costs, the two are locked, and the pass is cut back to its best moment. Inside a
//   domain whose vertices have changed, parts made anew compete with what is there: grown one after the other
//   (region_map.hpp), and by halving, the parts in two groups, what they hold grown and bettered, and each group again.
//   Bytes between two domains of a level count alike, whichever they are: true of hierarchical fabrics, where the exact
//   search (rank_search.hpp) has the last word on rails.
//
// SOURCE
//   Kernighan, Lin, "An efficient heuristic procedure for partitioning graphs", Bell Syst. Tech. J. 49 (1970).
#pragma once

#include <cstdint>
#include <vector>

#include "node_graph.hpp"
#include "rank_search.hpp"
#include "spots.hpp"

namespace weft::placement {

enum class Parts { kept, anew };  ///< whether parts made anew compete

/// The map improved at the depths [from, to) of region_map.hpp; every spot keeps the number of its vertices. Takes its
/// steps from `budget`.
[[nodiscard]] std::vector<std::uint32_t> search_levels(const NodeGraph& graph, const SpotTable& spots,
                                                       std::vector<std::uint32_t> spot_of, int from, int to,
                                                       Parts parts, Budget& budget);

}  // namespace weft::placement
