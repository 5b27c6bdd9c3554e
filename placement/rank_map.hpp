// SPDX-License-Identifier: BSD-3-Clause
//
// Which of the chosen nodes takes which place in the rank order, and which nodes exactly: the search that place() runs
// over the node lists that best fit proposes.
//
// METHOD
//   1. fold the step into a graph of the job's nodes (node_graph.hpp);
//   2. lay each tiling of the rank grid (tilings.hpp) over each node list, its domains as they come and fullest first;
//      where there is no grid or no hierarchy, also grow a map greedily from the busiest vertex outward;
//   3. improve the best few by local search (rank_search.hpp) under a budget counted in steps;
//   4. where at most 10 nodes are free, try everything (exact_map.hpp).
//
// COMPLEXITY
//   O(flows log degree + tilings * edges + budget). A job of 512 nodes takes some milliseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "eligible.hpp"
#include "select_nodes.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {

/// Steps of local search that a job of `halves` edge ends takes by default.
[[nodiscard]] std::uint64_t default_budget(std::size_t halves);

/// Node lists in rank order, best first; all that equal the first in traffic (found among those kept), then, up to
/// `keep` in all, others. `lists` not empty, each in fabric order or in an order of growth, each of rules.nodes nodes.
[[nodiscard]] std::vector<std::vector<topology::NodeId>> map_ranks(
    const topology::Fabric& fabric, const Request& request, const Eligible& eligible, const SelectRules& rules,
    const std::vector<std::vector<topology::NodeId>>& lists, const PlaceOptions& options, std::size_t keep,
    PlaceStats& stats);

/// Largest gangs of free nodes, by level.
using Gangs = std::vector<std::uint32_t>;

class FreeGangs {
 public:
  /// Health is applied on top of `free`. O(nodes * levels).
  FreeGangs(const topology::Fabric& fabric, const NodeMask& free);
  /// What is left in one domain of each level once free `nodes` are taken. O(domains + nodes).
  [[nodiscard]] Gangs without(const std::vector<topology::NodeId>& nodes) const;

 private:
  const topology::Fabric& fabric_;
  std::vector<std::vector<std::uint32_t>> free_;  // by level and domain
};

/// Whether gangs `a` are better than `b`: larger, coarsest level first.
[[nodiscard]] bool better_gangs(const Gangs& a, const Gangs& b);

}  // namespace weft::placement
