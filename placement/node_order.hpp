// SPDX-License-Identifier: BSD-3-Clause
//
// Nodes in the fabric's order.
#pragma once

#include <algorithm>
#include <vector>

#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// Sorts by place in Fabric::fabric_order(). O(n log n).
inline void sort_in_fabric_order(const topology::Fabric& fabric, std::vector<topology::NodeId>& nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [&](topology::NodeId a, topology::NodeId b) { return fabric.fabric_rank(a) < fabric.fabric_rank(b); });
}

}  // namespace weft::placement
