// SPDX-License-Identifier: BSD-3-Clause
//
// Stages of Fabric::build that need names: link patterns and health.
#pragma once

#include <vector>

#include "fabric_names.hpp"

namespace weft::topology {

/// Expands link entries into data.links: merged, in the order of the file, all up.
[[nodiscard]] Done resolve_links(const config::FabricSpec& spec, NameIndex& names, FabricData& data,
                                 std::vector<PlaneClaim>& claims);
/// Downs and slows; splits bundles of which only some cables are meant (the split-off part goes last). Fills faults.
[[nodiscard]] Done apply_health(const config::FabricSpec& spec, NameIndex& names, FabricData& data);

/// The links at each node and at each switch, in order. O(links).
struct LinksByEnd {
  explicit LinksByEnd(const FabricData& data);
  Groups<std::uint32_t> of_node;
  Groups<std::uint32_t> of_switch;
};

}  // namespace weft::topology
