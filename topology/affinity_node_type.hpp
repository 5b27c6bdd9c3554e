// SPDX-License-Identifier: BSD-3-Clause
//
// A node type whose inside a file tells.
#pragma once

#include "weft/topology/fabric.hpp"

namespace weft::topology {

/// Reads in.hwloc (any kind of affinity file; relative to the directory of spec's own file) and makes the node type
/// from it. What the spec says of GPUs and NICs must fit. Adds the file's warnings to `notes`. Errors: io and
/// unsupported at the name in the spec, those of the file at their place in it, conflict and missing at the name in the
/// spec.
[[nodiscard]] Result<NodeType> affinity_node_type(const config::FabricSpec& spec, const config::NodeTypeSpec& in,
                                                  Notes& notes);

}  // namespace weft::topology
