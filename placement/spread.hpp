// SPDX-License-Identifier: BSD-3-Clause
//
// Where groups and free nodes lie: spread, its bound, fragmentation, exposure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/placement/score.hpp"

namespace weft::placement {

/// Free nodes in each domain of a level. O(nodes).
[[nodiscard]] std::vector<std::uint32_t> free_by_domain(const topology::Fabric& fabric, topology::Level level,
                                                        const NodeMask& free);

/// Places of counts, the largest first; equal ones in order. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> largest_first(std::span<const std::uint32_t> counts);

/// Fewest of the counts, largest first, that hold `nodes`; all of them where they do not suffice.
[[nodiscard]] std::uint32_t fewest_domains(std::span<const std::uint32_t> largest_first, std::uint64_t nodes);

/// Fills the bounds of `out`, where there are any. `free` is what was free before the job, health applied; `digest` may
/// be null. O(nodes * levels), with a digest.
void score_bounds(const topology::Fabric& fabric, const Placement& placement, const Traffic& traffic,
                  const NodeMask& free, const TrafficDigest* digest, Score& out);

/// Fills spread (with its own bounds), fragmentation and exposure of `out`, from the same. O(nodes * levels + ranks *
/// dimensions * levels).
void score_locality(const topology::Fabric& fabric, const Placement& placement, const Traffic& traffic,
                    const NodeMask& free, const TrafficDigest* digest, Score& out);

}  // namespace weft::placement
