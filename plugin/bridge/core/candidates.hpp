// SPDX-License-Identifier: BSD-3-Clause
//
// Which of the usable nodes an attempt may draw on: whole free domains, node weights, capacities, runs of the node
// table. A pool is a set of places in Ask::usable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decision.hpp"

namespace weft::bridge {

using Pool = std::vector<std::uint32_t>;  ///< ascending indices into Ask::usable

/// Every node, or with `exclusive` those in domains of that level all of whose healthy nodes are usable.
[[nodiscard]] Pool whole_pool(const topology::Fabric& fabric, const Ask& ask, std::optional<topology::Level> exclusive);

/// For strict node weights: the nodes up to each weight in turn, lightest first, those that must be taken always in it.
/// Only pools of at least `nodes` nodes; the last is the whole.
[[nodiscard]] std::vector<Pool> by_weight(const Ask& ask, const Pool& pool, std::uint32_t nodes);

/// Nodes that can each give an equal part of what the job needs, and those that must be taken.
[[nodiscard]] Pool able_alone(const Ask& ask, const Pool& pool, std::uint32_t nodes);

/// For --contiguous: windows of `nodes` nodes side by side in the node table that hold all required nodes
/// and what the job needs; fewest pods
/// first, then fewest leaves, then the first in the table. At most `limit`.
[[nodiscard]] std::vector<Pool> windows(const topology::Fabric& fabric, const Ask& ask, const Pool& pool,
                                        std::uint32_t nodes, std::size_t limit);

/// Distinct domains of a level.
[[nodiscard]] std::uint32_t count_domains(const topology::Fabric& fabric, topology::Level level,
                                          const std::vector<topology::NodeId>& nodes);

/// Fewest domains of a level that hold `nodes` of the pool's nodes.
[[nodiscard]] std::uint32_t fewest_domains(const topology::Fabric& fabric, topology::Level level, const Ask& ask,
                                           const Pool& pool, std::uint32_t nodes);

}  // namespace weft::bridge
