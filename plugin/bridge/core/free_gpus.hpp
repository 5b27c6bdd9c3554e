// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs on parts of nodes: which GPUs are free where, for the engine, and which ones it took, for Slurm. A set of a
// node's GPUs is a word whose bit g is GPU g.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decision.hpp"
#include "job_of_ask.hpp"

namespace weft::bridge {

/// The job as the engine is to see it where GPUs count: one rank a GPU. A job whose ranks are no GPUs, or that does not
/// say how many of a node it wants, has none; nor has one that gets all GPUs of its nodes anyhow. A job without a
/// layout becomes groups over the GPUs of one number on all nodes: that is what near and aligned mean then.
[[nodiscard]] std::optional<Sized> with_gpus(const topology::Fabric& fabric, const Ask& ask, const Sized& sized);

/// Of every node of the fabric which GPUs are free (placement::Request::free_gpus): all where Slurm does not know, or
/// counts other GPUs than the node type has.
[[nodiscard]] std::vector<std::vector<bool>> free_gpus(const topology::Fabric& fabric, const Ask& ask,
                                                       std::uint32_t gpus_per_node);

/// The GPUs of each of placed.nodes. Throws std::logic_error where they are not free, or not gpus_per_node.
[[nodiscard]] std::vector<std::uint64_t> gpus_of(const placement::Placement& placed,
                                                 const std::vector<std::vector<bool>>& free,
                                                 std::uint32_t gpus_per_node);

}  // namespace weft::bridge
