// SPDX-License-Identifier: BSD-3-Clause
//
// What a choice comes to, in numbers and in a line for `scontrol show job`.
#pragma once

#include <string>

#include "candidates.hpp"
#include "job_of_ask.hpp"

namespace weft::bridge {

/// More flows than this are not scored while slurmctld's locks are held.
inline constexpr std::uint64_t kMaxScoredFlows = 1U << 18;

/// Fills leaves, pods, bytes, bound, gap and summary of a decision whose nodes are chosen.
void summarise(const topology::Fabric& fabric, const Ask& ask, const Job& job, const Sized& sized, const Pool& pool,
               TrafficCache* cache, Decision& out);

/// "12.5GiB", "640B": three digits at most before the unit.
[[nodiscard]] std::string short_bytes(double bytes);

}  // namespace weft::bridge
