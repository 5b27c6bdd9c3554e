// SPDX-License-Identifier: BSD-3-Clause
//
// Node lists in which communication groups stay whole although the free nodes of domains are no multiples of them.
//
// DESCRIPTION
//   Where a job does not fit in one domain, best fit fills domains to the brim and so cuts a group at every border.
//   Here the domains that are used, fullest first, each give as many whole runs of a group's length as they can; only
//   the runs that are still missing are pieced together from what is left, largest pieces first. Free nodes 28, 25 and
//   18 for four runs of 16 make three whole ones and one cut in two (28, 20, 16), where best fit cuts two. The fewest
//   domains that hold the job are tried, then one more and so on, until every run is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eligible.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// The highest level, pods at most, no domain of which has `nodes` eligible nodes; nullopt where one leaf does.
[[nodiscard]] std::optional<topology::Level> spanned_level(const topology::Fabric& fabric, const NodeMask& mask,
                                                           std::uint32_t nodes);

/// As many eligible nodes of one domain as asked for, by best fit, in fabric order. Errors: infeasible.
[[nodiscard]] Result<std::vector<topology::NodeId>> nodes_in_domain(const topology::Fabric& fabric,
                                                                    const Eligible& eligible, topology::Level level,
                                                                    topology::DomainId domain, std::uint32_t count);

/// Lists of `nodes` nodes, a multiple of `run`: the whole runs, domain by domain, then the pieces. None where no domain
/// holds a whole run, where one domain holds the job, and where nodes are required. O(nodes).
[[nodiscard]] std::vector<std::vector<topology::NodeId>> packed_runs(const topology::Fabric& fabric,
                                                                     const Eligible& eligible, std::uint32_t nodes,
                                                                     std::uint32_t run);

}  // namespace weft::placement
