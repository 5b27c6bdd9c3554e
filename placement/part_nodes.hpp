// SPDX-License-Identifier: BSD-3-Clause
//
// Placement of jobs on nodes of which they may not have every GPU: nodes whose free GPUs are on the same rails are
// preferred where the traffic is no worse for it, and each node's GPUs are chosen by gpu_choice.hpp.
#pragma once

#include "weft/placement/placement.hpp"

namespace weft::placement {

/// The job needs fewer GPUs than some node has, or some node has not all of them free.
[[nodiscard]] bool takes_part_nodes(const topology::Fabric& fabric, const Request& request);

/// place() for such a job. Errors: those of place(); usage where free_gpus is not of the fabric's size.
[[nodiscard]] Result<Placement> place_part_nodes(const topology::Fabric& fabric, const Request& request,
                                                 const PlaceOptions& options, PlaceStats* stats);

/// What place() does where jobs have all GPUs of a node, or its first ones: in place.cpp.
[[nodiscard]] Result<Placement> place_on_whole_nodes(const topology::Fabric& fabric, const Request& request,
                                                     const PlaceOptions& options, PlaceStats* stats);

}  // namespace weft::placement
