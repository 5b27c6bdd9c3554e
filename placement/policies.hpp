// SPDX-License-Identifier: BSD-3-Clause
//
// Baselines that choose nodes without looking at traffic. Nodes come back in rank order.
#pragma once

#include <cstdint>
#include <vector>

#include "eligible.hpp"

namespace weft::placement {

/// Required nodes and the lowest-numbered eligible ones; ranks in node number order.
[[nodiscard]] std::vector<topology::NodeId> first_fit(const Eligible& eligible, std::uint32_t nodes);

/// Required nodes and a uniform draw of the others, in random order. The generator (SplitMix64, Steele, Lea, Flood
/// 2014) and the draw (Fisher-Yates, bounded by Lemire's method, 2019) are our own, so that a seed means the same
/// everywhere.
[[nodiscard]] std::vector<topology::NodeId> random_nodes(const Eligible& eligible, std::uint32_t nodes,
                                                         std::uint64_t seed);

}  // namespace weft::placement
