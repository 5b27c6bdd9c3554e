// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "eligible.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::NodeId;

// The largest number of GPUs that at least `nodes` usable nodes have; the smallest number of any where none will do.
std::uint32_t gpus_per_node(const Fabric& fabric, std::uint32_t nodes) {
  std::map<std::uint32_t, std::uint32_t, std::greater<>> usable;  // GPUs -> nodes with exactly so many
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
    const std::uint32_t gpus = fabric.type_of(NodeId{n}).gpus;
    if (gpus > 0) usable[gpus] += fabric.usable(NodeId{n}) ? 1 : 0;
  }
  std::uint32_t have = 0;
  for (const auto& [gpus, count] : usable) {
    have += count;
    if (have >= nodes) return gpus;
  }
  return usable.empty() ? 0 : usable.rbegin()->first;
}

}  // namespace

Result<ResolvedJob> resolve_job(const Fabric& fabric, const config::JobSpec& job) {
  const auto at_nodes = [&](ErrorCode code, std::string message, std::string expected) {
    return fail(error_at(code, job.source, job.nodes_at, 1, std::move(message), std::move(expected)));
  };
  if (job.nodes == 0) return at_nodes(ErrorCode::bad_value, "the job has no nodes", "nodes: 1 or more");
  ResolvedJob out;
  out.ranks_per_node = job.ranks_per_node.value_or(gpus_per_node(fabric, job.nodes));
  if (out.ranks_per_node == 0)
    return at_nodes(ErrorCode::bad_value, "no node of the fabric has a GPU", "node types with GPUs, or ranks_per_node");
  const std::uint64_t ranks = std::uint64_t{job.nodes} * out.ranks_per_node;
  if (ranks > kMaxRanks)
    return at_nodes(ErrorCode::limit,
                    fmt::format("{} nodes of {} ranks are {} ranks", job.nodes, out.ranks_per_node, ranks),
                    fmt::format("at most {} ranks", kMaxRanks));
  auto layout = config::resolve_layout(job, ranks);
  if (!layout) return fail(layout.error());
  out.layout = *layout;
  if (auto ok = check_layout(out.layout); !ok) return fail(ok.error());
  for (const auto& list : {job.constraints.required_nodes, job.constraints.excluded_nodes})
    if (auto nodes = constraint_nodes(fabric, job, list); !nodes) return fail(nodes.error());
  return out;
}

}  // namespace weft::placement
