// SPDX-License-Identifier: BSD-3-Clause
//
// Between nodes that cost a job the same: those whose own links are not slowed.
#pragma once

#include <cstdint>
#include <vector>

#include "eligible.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {

/// Links of each node that are slowed (Link::slowed); empty where the fabric has no slow link. O(links).
[[nodiscard]] std::vector<std::uint32_t> slowed_links(const topology::Fabric& fabric);

/// `nodes` (rank order) with nodes of slowed links exchanged for eligible ones that have fewer: of the same attachment
/// class, NVLink domain, type and weight, so that neither traffic nor what is left free changes. Required nodes stay.
/// O(nodes log nodes).
[[nodiscard]] std::vector<topology::NodeId> without_slowed(const topology::Fabric& fabric, const Request& request,
                                                           const Eligible& eligible, const PlaceOptions& options,
                                                           const std::vector<std::uint32_t>& slowed,
                                                           std::vector<topology::NodeId> nodes);

/// Whether `other` costs as little traffic as `nodes` (both in rank order) and leaves no smaller gangs.
[[nodiscard]] bool as_good(const topology::Fabric& fabric, const Request& request,
                           const std::vector<topology::NodeId>& nodes, const std::vector<topology::NodeId>& other);

}  // namespace weft::placement
