// SPDX-License-Identifier: BSD-3-Clause
//
// What Slurm's own topology plugins would choose, for comparison: the rules of topology/tree and topology/block as of
// Slurm 24.11, written anew from their behaviour, for jobs that take whole nodes and fabrics without node weights that
// differ (nodes of unequal weight are treated alike). Nodes come back in node number order, which is Slurm's rank
// order.
//
// tree    A switch is a domain: leaves at the bottom, then pods and up. The job stays under one topmost domain, the
// last
//         that has enough nodes. Leaves that hold required nodes are used up first. Then leaf after leaf is added:
//         among leaves equally far (sum of tree distances) from those already used, the one with fewest nodes that
//         holds the rest; where none does, the comparison moves to the parents; where none does all the way up, the one
//         with most nodes. A nearer leaf beats a farther one only if it holds the rest. Ties go to the first in order.
// block   A base block is an NVLink domain where those are larger than a node, else a leaf; the base block size is the
//         smallest block's node count, as Slurm's default BlockSizes. A job (or each segment) of at most a block's size
//         goes to the block with fewest sufficient nodes; a larger one to as few blocks as its size needs and no more:
//         the tightest block that holds the rest, else the fullest. Ties go to the last in order.
#pragma once

#include <cstdint>
#include <vector>

#include "eligible.hpp"

namespace weft::placement {

/// Errors: infeasible, in Slurm's sense: also where another choice would have been possible.
[[nodiscard]] Result<std::vector<topology::NodeId>> slurm_tree(const topology::Fabric& fabric, const Eligible& eligible,
                                                               std::uint32_t nodes);

/// `segment` 0 = none. Errors: as slurm_tree; unsupported where a segment is larger than a base block or required nodes
/// meet segments, as in Slurm.
[[nodiscard]] Result<std::vector<topology::NodeId>> slurm_block(const topology::Fabric& fabric,
                                                                const Eligible& eligible, std::uint32_t nodes,
                                                                std::uint32_t segment);

}  // namespace weft::placement
