// SPDX-License-Identifier: BSD-3-Clause
//
// The terms of a score that the insides of nodes make.
#pragma once

#include "weft/placement/score.hpp"

namespace weft::placement {

/// Counts the flows between nodes of different NVLink domains. O(flows); 0 bytes above kMaxInsideFlows flows, where
/// only shared NICs are counted.
[[nodiscard]] InsideScore inside_score(const topology::Fabric& fabric, const Placement& placement,
                                       const Traffic& traffic);

inline constexpr std::uint64_t kMaxInsideFlows = 1U << 22;

/// Something to tell: a NIC shared, a rail crossed, or paths known.
[[nodiscard]] bool has_inside(const InsideScore& inside);

}  // namespace weft::placement
