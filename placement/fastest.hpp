// SPDX-License-Identifier: BSD-3-Clause
//
// The map whose step communicates for the least time (`--objective time`).
//
// METHOD
//   Time is bound by single links, which the search for little traffic does not see: each of its maps is scored in
//   full, then the best is improved by exchanges of two nodes, drawn by lot, each scored in full too. The budget counts
//   flows.
#pragma once

#include <vector>

#include "eligible.hpp"
#include "select_nodes.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {

/// `nodes` spread over the same leaves as evenly as what is eligible there allows, in fabric order; required ones kept.
[[nodiscard]] std::vector<topology::NodeId> balanced(const topology::Fabric& fabric, const Eligible& eligible,
                                                     const std::vector<topology::NodeId>& nodes);

/// `maps` not empty. Errors: those of score for every map.
[[nodiscard]] Result<std::vector<topology::NodeId>> fastest_map(const topology::Fabric& fabric, const Request& request,
                                                                const std::vector<std::vector<topology::NodeId>>& maps,
                                                                const PlaceOptions& options, PlaceStats& stats);

}  // namespace weft::placement
