// SPDX-License-Identifier: BSD-3-Clause
#include "part_nodes.hpp"

#include <algorithm>
#include <utility>

#include "gpu_choice.hpp"
#include "objective.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

// Above so many flows the choice between two placements is not scored; the preferred one stands.
constexpr std::uint64_t kMaxComparedFlows = 1U << 23;

using FreeGpus = std::vector<std::vector<bool>>;

FreeGpus free_gpus_of(const Fabric& fabric, const Request& request) {
  if (!request.free_gpus.empty()) return request.free_gpus;
  FreeGpus out;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) out.emplace_back(fabric.type_of(NodeId{n}).gpus, true);
  return out;
}

// The request for whole nodes that the rest of the engine knows: nodes with too few free GPUs are not free.
Request whole_nodes(const Fabric& fabric, const Request& request, const FreeGpus& free) {
  Request out = request;
  out.free_gpus.clear();
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
    const auto count = static_cast<std::uint32_t>(std::count(free[n].begin(), free[n].end(), true));
    if (count < request.ranks_per_node && fabric.type_of(NodeId{n}).gpus >= request.ranks_per_node) out.free[n] = false;
  }
  return out;
}

// Ranks keep their nodes; local index i of a node gets its i-th chosen GPU.
void give(const Fabric& fabric, const std::vector<NodeId>& nodes, const std::vector<std::vector<std::uint32_t>>& gpus,
          Placement& placement) {
  std::vector<std::size_t> place(fabric.node_count(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) place[index(nodes[i])] = i;
  std::vector<std::uint32_t> next(fabric.node_count(), 0);
  for (Slot& slot : placement.ranks) {
    slot.gpu = gpus[place[index(slot.node)]][next[index(slot.node)]++];
    slot.nic = fabric.type_of(slot.node).nic_of_gpu[slot.gpu];
  }
}

void give_gpus(const Fabric& fabric, const Request& request, Policy policy, const FreeGpus& free,
               Placement& placement) {
  if (policy == Policy::weft) {
    const GpuChoice choice = choose_gpus(fabric, {.gpus_per_node = request.ranks_per_node,
                                                  .nodes = static_cast<std::uint32_t>(placement.nodes.size()),
                                                  .candidates = placement.nodes,
                                                  .free = free});
    return give(fabric, choice.nodes, choice.gpus, placement);
  }
  std::vector<std::vector<std::uint32_t>> lowest;
  for (const NodeId node : placement.nodes) lowest.push_back(lowest_gpus(free[index(node)], request.ranks_per_node));
  give(fabric, placement.nodes, lowest, placement);
}

NodeMask mask_of(const Fabric& fabric, const std::vector<NodeId>& nodes) {
  NodeMask out(fabric.node_count(), false);
  for (const NodeId node : nodes) out[index(node)] = true;
  return out;
}

// Where to look first: the very nodes that suit best (aligned, near NICs, broken into already), then all whose free
// GPUs are aligned with these, then those aligned on other rails. None where every node suits alike.
std::vector<NodeMask> preferred_nodes(const Fabric& fabric, const Request& whole, const FreeGpus& free) {
  std::vector<NodeId> candidates;
  bool all_free = true;
  for (const NodeId node : fabric.fabric_order()) {
    if (!whole.free[index(node)] || !fabric.usable(node) || fabric.type_of(node).gpus < whole.ranks_per_node) continue;
    candidates.push_back(node);
    all_free =
        all_free && std::find(free[index(node)].begin(), free[index(node)].end(), false) == free[index(node)].end();
  }
  if (all_free) return {};
  const GpuChoice choice = choose_gpus(
      fabric,
      {.gpus_per_node = whole.ranks_per_node, .nodes = whole.job->nodes, .candidates = candidates, .free = free});
  std::vector<NodeMask> out;
  if (!choice.nodes.empty()) out.push_back(mask_of(fabric, choice.nodes));
  if (choice.aligned.size() > whole.job->nodes && choice.aligned.size() < candidates.size()) {
    out.push_back(mask_of(fabric, choice.aligned));
  }
  for (const std::vector<NodeId>& nodes : choice.other_aligned) out.push_back(mask_of(fabric, nodes));
  return out;
}

// Whether what `preferred` costs in traffic is no more than what `any` costs.
bool no_worse(const Fabric& fabric, const Request& request, const Placement& preferred, const Placement& any) {
  if (request.traffic->flow_count() > kMaxComparedFlows) return true;
  ScoreOptions options;
  options.cross_rail = request.job->cross_rail;
  options.free_before = &request.free;
  const auto a = score(fabric, preferred, *request.traffic, options);
  const auto b = score(fabric, any, *request.traffic, options);
  return a && (!b || !better_traffic(*b, *a));
}

}  // namespace

bool takes_part_nodes(const Fabric& fabric, const Request& request) {
  if (request.whole_nodes) return false;
  if (!request.free_gpus.empty()) return true;
  return std::any_of(fabric.node_types().begin(), fabric.node_types().end(),
                     [&](const topology::NodeType& type) { return type.gpus > request.ranks_per_node; });
}

Result<Placement> place_part_nodes(const Fabric& fabric, const Request& request, const PlaceOptions& options,
                                   PlaceStats* stats) {
  const FreeGpus free = free_gpus_of(fabric, request);
  bool fits = free.size() == fabric.node_count() && request.free.size() == fabric.node_count();
  for (std::uint32_t n = 0; fits && n < fabric.node_count(); ++n)
    fits = free[n].size() == fabric.type_of(NodeId{n}).gpus;
  if (!fits) return fail(error(ErrorCode::usage, "the free nodes or GPUs are not those of the fabric"));
  const Request whole = whole_nodes(fabric, request, free);
  auto any = place_on_whole_nodes(fabric, whole, options, stats);
  if (!any) return any;
  give_gpus(fabric, request, options.policy, free, *any);
  if (options.policy != Policy::weft || options.objective == Objective::time) return any;
  for (const NodeMask& mask : preferred_nodes(fabric, whole, free)) {
    Request narrow = whole;
    for (std::uint32_t n = 0; n < fabric.node_count(); ++n) narrow.free[n] = narrow.free[n] && mask[n];
    auto placed = place_on_whole_nodes(fabric, narrow, options, stats);
    if (!placed) continue;  // these nodes break a constraint
    give_gpus(fabric, request, options.policy, free, *placed);
    if (no_worse(fabric, request, *placed, *any)) return placed;
  }
  return any;
}

}  // namespace weft::placement
