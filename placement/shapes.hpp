// SPDX-License-Identifier: BSD-3-Clause
//
// What one group of a collective moves, by algorithm. Pure functions of the group's size and of where its members sit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weft/placement/traffic.hpp"

namespace weft::placement {

/// Ring, chain, pairs or neighbours: the shapes that do not look at nodes. O(edges).
[[nodiscard]] Shape flat_shape(config::Collective collective, std::uint32_t group_size);
/// Number of edges flat_shape would make. O(1).
[[nodiscard]] std::uint64_t flat_edge_count(config::Collective collective, std::uint32_t group_size);

/// `wanted` where the collective has it, else ring: for terms whose algorithm nobody asked for one by one.
[[nodiscard]] config::Algorithm algorithm_or_ring(config::Algorithm wanted, config::Collective collective);

/// A group's members cut into runs that share a node: run lengths, in member order.
using NodeRuns = std::vector<std::uint32_t>;

/// Length of every run where all are equal.
[[nodiscard]] std::optional<std::uint32_t> even_run(std::span<const std::uint32_t> runs);

/// Parent of each of `n` places in the first and second tree of NCCL's double binary tree; nullopt at a root.
struct DoubleTree {
  std::vector<std::optional<std::uint32_t>> first, second;
};
[[nodiscard]] DoubleTree double_tree(std::uint32_t n);

[[nodiscard]] Shape tree_shape(std::span<const std::uint32_t> runs);
/// Allreduce, reduce_scatter or allgather over `nodes` nodes with `per_node` members each.
[[nodiscard]] Shape hierarchical_shape(config::Collective collective, std::uint32_t nodes, std::uint32_t per_node);

}  // namespace weft::placement
