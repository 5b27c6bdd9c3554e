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

tl::unexpected<Error> at_nodes(const config::JobSpec& job, ErrorCode code, std::string message, std::string expected) {
  return fail(error_at(code, job.source, job.nodes_at, 1, std::move(message), std::move(expected)));
}

Result<ResolvedJob> with_ranks(const config::JobSpec& job, std::uint32_t ranks_per_node) {
  const std::uint64_t ranks = std::uint64_t{job.nodes} * ranks_per_node;
  if (ranks > kMaxRanks)
    return at_nodes(job, ErrorCode::limit,
                    fmt::format("{} nodes of {} ranks are {} ranks", job.nodes, ranks_per_node, ranks),
                    fmt::format("at most {} ranks", kMaxRanks));
  const auto layout = config::resolve_layout(job, ranks);
  if (!layout) return fail(layout.error());
  if (auto ok = check_layout(*layout); !ok) return fail(ok.error());
  return ResolvedJob{ranks_per_node, *layout};
}

}  // namespace

Result<ResolvedJob> resolve_job(const config::JobSpec& job) {
  if (job.nodes == 0) return at_nodes(job, ErrorCode::bad_value, "the job has no nodes", "nodes: 1 or more");
  if (job.ranks_per_node) return with_ranks(job, *job.ranks_per_node);
  if (!job.layout || !job.dp_given)
    return at_nodes(job, ErrorCode::missing, "nothing says how many ranks a node has",
                    "ranks_per_node, a layout with dp, or a fabric");
  const std::uint64_t ranks = job.layout->ranks();
  if (ranks % job.nodes != 0 || ranks / job.nodes > kMaxRanks)
    return at_nodes(job, ErrorCode::bad_value,
                    fmt::format("the layout has {} ranks, which {} nodes do not share evenly", ranks, job.nodes),
                    "tp x cp x pp x dp = nodes x ranks_per_node");
  return with_ranks(job, static_cast<std::uint32_t>(ranks / job.nodes));
}

Result<ResolvedJob> resolve_job(const Fabric& fabric, const config::JobSpec& job) {
  if (job.nodes == 0) return at_nodes(job, ErrorCode::bad_value, "the job has no nodes", "nodes: 1 or more");
  const std::uint32_t ranks_per_node = job.ranks_per_node.value_or(gpus_per_node(fabric, job.nodes));
  if (ranks_per_node == 0)
    return at_nodes(job, ErrorCode::bad_value, "no node of the fabric has a GPU",
                    "node types with GPUs, or ranks_per_node");
  auto out = with_ranks(job, ranks_per_node);
  if (!out) return out;
  for (const auto& list : {job.constraints.required_nodes, job.constraints.excluded_nodes})
    if (auto nodes = constraint_nodes(fabric, job, list); !nodes) return fail(nodes.error());
  return out;
}

}  // namespace weft::placement
