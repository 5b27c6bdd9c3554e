// SPDX-License-Identifier: BSD-3-Clause
//
// Which nodes a job may use, and why not the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/placement/placement.hpp"

namespace weft::placement {

/// The nodes that a constraint's hostlist names, in its order, each once. Errors: bad_name, limit, dangling, with the
/// place in the job file.
[[nodiscard]] Result<std::vector<topology::NodeId>> constraint_nodes(const topology::Fabric& fabric,
                                                                     const config::JobSpec& job,
                                                                     const std::optional<config::Text>& hostlist);

/// Why nodes do not qualify; each node counts under the first reason that applies, in this order.
struct Ineligible {
  std::uint32_t down = 0, busy = 0, excluded = 0, few_gpus = 0, shared = 0;
};

struct Eligible {
  NodeMask mask;
  std::uint32_t count = 0;
  Ineligible not_eligible;
  std::vector<topology::NodeId> required;  ///< all of them eligible
};

/// Applies health, the free mask, excluded_nodes, GPUs per node and `exclusive` (only domains whose every usable node
/// is free). Errors: those of constraint_nodes; infeasible where a required node does not qualify or more nodes are
/// required than the job has; usage where the mask's size is not the fabric's.
[[nodiscard]] Result<Eligible> eligible_nodes(const topology::Fabric& fabric, const Request& request);

/// One flag a node of the fabric: those that are required.
[[nodiscard]] NodeMask required_mask(const Eligible& eligible);

/// Takes the nodes that `out` names out of `from`; required ones stay. O(nodes).
template <typename Out>
[[nodiscard]] Eligible without(Eligible from, Out out) {
  const NodeMask stays = required_mask(from);
  for (std::uint32_t n = 0; n < from.mask.size(); ++n)
    if (from.mask[n] && !stays[n] && out(topology::NodeId{n})) {
      from.mask[n] = false;
      --from.count;
    }
  return from;
}

/// "12 busy, 3 down" for messages; empty where every node qualifies.
[[nodiscard]] std::string describe(const Ineligible& reasons, std::uint32_t ranks_per_node);

/// What a node weighs: the request's weight, else the fabric's; 0 where weights are ignored.
[[nodiscard]] std::uint32_t weight_of(const topology::Fabric& fabric, const Request& request,
                                      const PlaceOptions& options, topology::NodeId node);

/// Level of a constraint's word in this fabric; the coarsest level where the fabric has none so high.
[[nodiscard]] topology::Level level_of(const topology::Fabric& fabric, config::LevelName name);

}  // namespace weft::placement
