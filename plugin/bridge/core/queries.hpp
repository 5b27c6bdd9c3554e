// SPDX-License-Identifier: BSD-3-Clause
//
// What Slurm asks a topology plugin beside choosing: whole domains, nodes by name, fragmentation, message routes. Nodes
// come and go as node table indices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bridge.hpp"

namespace weft::bridge {

/// Every index of `nodes` is one of the table.
[[nodiscard]] bool in_table(const Binding& binding, std::span<const std::uint32_t> nodes);

/// The set and all bound nodes of its nodes' leaf domains, ascending, each once.
[[nodiscard]] std::vector<std::uint32_t> whole_domains(const topology::Fabric& fabric, const Binding& binding,
                                                       std::span<const std::uint32_t> nodes);

/// Bound nodes below a switch (those that reach it going up only) or in a domain of that name, ascending.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> named_nodes(const topology::Fabric& fabric,
                                                                    const Binding& binding, std::string_view name);

/// The fabric seen from above, over every cable, up or not: what is broken still stands where it stood.
class Below {
 public:
  explicit Below(const topology::Fabric& fabric);
  /// Nodes that reach a switch going up only, ascending by NodeId. O(what is below).
  [[nodiscard]] std::vector<topology::NodeId> nodes(topology::SwitchId sw) const;

 private:
  std::vector<std::vector<topology::SwitchId>> switches_;
  std::vector<std::vector<topology::NodeId>> nodes_;
};

/// As topology/block counts it: the sizes of all leaf and pod domains that are not wholly in the set, summed. Domains
/// count with their bound nodes alone.
[[nodiscard]] std::uint32_t fragmentation(const topology::Fabric& fabric, const Binding& binding,
                                          std::span<const std::uint32_t> nodes);

/// A set cut for message forwarding.
struct Route {
  std::vector<std::uint32_t> order;  ///< table indices, group by group
  std::vector<std::uint32_t> start;  ///< where each group begins; last, the end
  std::uint32_t depth = 0;           ///< levels of the tree if groups are cut again likewise
};
/// At most `width` (at least 1) groups of about equal size that follow fabric order and, where that costs no balance
/// worth speaking of, end where a leaf ends.
[[nodiscard]] Route route(const topology::Fabric& fabric, const Binding& binding, std::span<const std::uint32_t> nodes,
                          std::uint32_t width);

}  // namespace weft::bridge
