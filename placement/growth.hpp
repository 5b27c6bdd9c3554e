// SPDX-License-Identifier: BSD-3-Clause
//
// Node selection where there is no hierarchy (torus, dragonfly, irregular graphs): balls around seeds.
//
// METHOD
//   From each of some seeds, attachment classes are taken by distance (hops between leaves, then fabric order) until
//   they hold the job. The ball with the smallest sum of pair distances wins. Required nodes come first and the seeds
//   are then their classes.
// COMPLEXITY
//   O(seeds * (classes log classes + classes taken^2)), the square capped by sampling.
#pragma once

#include <cstdint>
#include <vector>

#include "eligible.hpp"

namespace weft::placement {

/// Nodes in order of growth: seed first, then outward. Empty where fewer than `nodes` eligible nodes can reach each
/// other.
[[nodiscard]] std::vector<topology::NodeId> grow_ball(const topology::Fabric& fabric, const Eligible& eligible,
                                                      std::uint32_t nodes);

}  // namespace weft::placement
