// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "eligible.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

tl::unexpected<Error> broken(std::string message) { return fail(error(ErrorCode::infeasible, std::move(message))); }

Result<void> check_nodes(const Fabric& fabric, const Request& request, const Eligible& eligible,
                         const std::vector<NodeId>& nodes) {
  if (nodes.size() != request.job->nodes)
    return broken(fmt::format("the placement has {} nodes, the job {}", nodes.size(), request.job->nodes));
  std::vector<bool> seen(fabric.node_count(), false);
  for (const NodeId n : nodes) {
    if (index(n) >= fabric.node_count()) return broken(fmt::format("the fabric has no node number {}", index(n)));
    if (seen[index(n)]) return broken(fmt::format("node {} stands twice", fabric.node_name(n)));
    seen[index(n)] = true;
    if (!eligible.mask[index(n)])
      return broken(
          fmt::format("node {} does not qualify (busy, down, excluded, too few GPUs or shared)", fabric.node_name(n)));
  }
  for (const NodeId n : eligible.required)
    if (!seen[index(n)]) return broken(fmt::format("required node {} is missing", fabric.node_name(n)));
  return {};
}

Result<void> check_ranks(const Fabric& fabric, const Request& request, const Placement& placement) {
  const std::uint32_t per_node = request.ranks_per_node;
  if (placement.ranks.size() != placement.nodes.size() * std::size_t{per_node})
    return broken(fmt::format("the placement has {} ranks, {} nodes of {} need {}", placement.ranks.size(),
                              placement.nodes.size(), per_node, placement.nodes.size() * std::size_t{per_node}));
  std::vector<std::uint32_t> place(fabric.node_count(), ~0U);
  for (std::uint32_t i = 0; i < placement.nodes.size(); ++i) place[index(placement.nodes[i])] = i;
  std::vector<std::uint32_t> on_node(placement.nodes.size(), 0);
  std::set<std::pair<std::uint32_t, std::uint32_t>> gpus;
  for (std::uint32_t r = 0; r < placement.ranks.size(); ++r) {
    const Slot& s = placement.ranks[r];
    if (index(s.node) >= fabric.node_count() || place[index(s.node)] == ~0U)
      return broken(fmt::format("rank {} is on a node that is not the job's", r));
    const topology::NodeType& type = fabric.type_of(s.node);
    if (s.gpu >= type.gpus || s.nic >= type.nics)
      return broken(fmt::format("rank {}: {} has no GPU {} or no NIC {}", r, fabric.node_name(s.node), s.gpu, s.nic));
    if (!gpus.emplace(index(s.node), s.gpu).second)
      return broken(fmt::format("rank {}: GPU {} of {} is taken already", r, s.gpu, fabric.node_name(s.node)));
    if (++on_node[place[index(s.node)]] > per_node)
      return broken(fmt::format("node {} has more than {} ranks", fabric.node_name(s.node), per_node));
  }
  return {};
}

std::size_t domains(const Fabric& fabric, Level level, const std::vector<NodeId>& nodes) {
  std::set<topology::DomainId> seen;
  for (const NodeId n : nodes) seen.insert(fabric.domain_of(level, n));
  return seen.size();
}

Result<void> check_constraints(const Fabric& fabric, const config::Constraints& rules,
                               const std::vector<NodeId>& nodes) {
  const auto cap = [&](std::optional<std::uint32_t> most, Level level, std::string_view word) -> Result<void> {
    if (!most || level >= fabric.level_count()) return {};
    const std::size_t used = domains(fabric, level, nodes);
    if (used <= *most) return {};
    return broken(fmt::format("max_spread {} {}: {} are used", word, *most, used));
  };
  if (auto ok = cap(rules.max_leaves, topology::kLeafLevel, "leaf"); !ok) return ok;
  if (auto ok = cap(rules.max_pods, topology::kPodLevel, "pod"); !ok) return ok;
  if (!rules.segment || *rules.segment == 0) return {};
  const Level level = level_of(fabric, rules.segment_level);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId first = nodes[i / *rules.segment * *rules.segment];
    if (fabric.domain_of(level, nodes[i]) != fabric.domain_of(level, first))
      return broken(fmt::format("segment {} (from {}) leaves its {} at {}", i / *rules.segment, fabric.node_name(first),
                                config::to_string(rules.segment_level), fabric.node_name(nodes[i])));
  }
  return {};
}

}  // namespace

Result<void> check_placement(const Fabric& fabric, const Request& request, const Placement& placement) {
  const auto eligible = eligible_nodes(fabric, request);
  if (!eligible) return fail(eligible.error());
  if (auto ok = check_nodes(fabric, request, *eligible, placement.nodes); !ok) return ok;
  if (auto ok = check_ranks(fabric, request, placement); !ok) return ok;
  return check_constraints(fabric, request.job->constraints, placement.nodes);
}

}  // namespace weft::placement
