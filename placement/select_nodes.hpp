// SPDX-License-Identifier: BSD-3-Clause
//
// Best fit on the hierarchy: which nodes, given what is free where.
//
// METHOD
//   The lowest level at which the job fits in one domain; among its domains the one that needs the fewest leaves (then
//   racks), then the one with the fewest free nodes, then the first in fabric order. Above pods, the fewest pods and
//   then the fewest leaves are found exactly by dynamic programming over pods: best[k][j] is the most nodes that k pods
//   with j leaves in all can hold, where the j leaves of one pod are its fullest. Inside, domains are filled fullest
//   first and the last one by best fit.
//
// COMPLEXITY
//   O(nodes) to set up, O(pods * k * j * leaves a pod) for the programme, which gives way to the greedy rule (fullest
//   pods first, the last one best fit) above kMaxPlanSteps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "locality.hpp"

namespace weft::placement {

inline constexpr std::uint64_t kMaxPlanSteps = 30'000'000;

/// How many of its leaves (in Pod::leaves order) each pod gives. Pods that give none are absent.
struct Plan {
  struct Part {
    std::uint32_t pod = 0;
    std::uint32_t leaves = 0;
  };
  std::vector<Part> parts;
  std::uint32_t leaves = 0;
};

/// Fewest pods, then fewest leaves, among `pods` for rules.nodes nodes; nullopt where there is no such choice.
[[nodiscard]] std::optional<Plan> plan_pods(const Locality& where, std::span<const std::uint32_t> pods,
                                            const SelectRules& rules);

/// Nodes in fabric order. Errors: infeasible, with what is missing.
[[nodiscard]] Result<std::vector<topology::NodeId>> select_nodes(const topology::Fabric& fabric,
                                                                 const Eligible& eligible, const SelectRules& rules);
/// The same from `build_locality`'s ground: for several choices out of one set of eligible nodes.
[[nodiscard]] Result<std::vector<topology::NodeId>> select_nodes(const topology::Fabric& fabric, const Locality& ground,
                                                                 const SelectRules& rules);

/// The nodes that a plan comes to, in fabric order.
[[nodiscard]] std::vector<topology::NodeId> nodes_of_plan(const Locality& where, const Plan& plan,
                                                          const SelectRules& rules);

/// Why `select_nodes` found nothing.
[[nodiscard]] Error explain_infeasible(const topology::Fabric& fabric, const Locality& where, const SelectRules& rules);

}  // namespace weft::placement
