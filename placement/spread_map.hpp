// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes and rank map for the least weighted maximum spread (`--objective spread`).
//
// METHOD
//   The grid of nodes, its heaviest dimension against all the others, is shared among pods (leaves, where the job fits
//   one pod) by spread_plan.hpp; in each pod best fit chooses as many nodes as the plan gives it, and the level search
//   lays its ranks over the leaves.
#pragma once

#include <optional>
#include <vector>

#include "eligible.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {

/// Sum over the dimensions that range over nodes of weight * most domains that a group touches, at the pod level (leaf,
/// where the fabric has no pods or the nodes are all in one). A dimension weighs its terms' bytes, as a part of those
/// of the heaviest.
[[nodiscard]] double weighted_spread(const topology::Fabric& fabric, const Request& request,
                                     const std::vector<topology::NodeId>& nodes);

/// Nodes in rank order; nullopt where there is nothing to share: a grid of fewer than two dimensions, segments, or all
/// in one leaf.
[[nodiscard]] std::optional<std::vector<topology::NodeId>> spread_map(const topology::Fabric& fabric,
                                                                      const Request& request, const Eligible& eligible,
                                                                      const PlaceOptions& options);

}  // namespace weft::placement
