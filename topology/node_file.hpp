// SPDX-License-Identifier: BSD-3-Clause
//
// One node's inside for an imported fabric: which node types it fits, and which of its NICs is which of theirs.
#pragma once

#include "weft/topology/affinity.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {

/// Reads the file. Errors: those of read_affinity, io.
[[nodiscard]] Result<NodeAffinity> read_node_file(const std::string& path);

/// What `node` says of GPUs and NICs, where the options do not: for files that have none.
[[nodiscard]] ImportOptions with_counts(ImportOptions options, const NodeAffinity& node);

/// Gives the node types of `imported` their inside, as read_fabric says. Errors: conflict where it fits none.
[[nodiscard]] Result<void> use_node_file(const std::string& path, const NodeAffinity& node, Imported& imported);

}  // namespace weft::topology
