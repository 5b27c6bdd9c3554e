// SPDX-License-Identifier: BSD-3-Clause
#include "fastest.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "node_order.hpp"
#include "objective.hpp"
#include "rank_map.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

constexpr std::uint64_t kMostTrials = 256;

struct Timed {
  std::vector<NodeId> nodes;
  Score score;
};

bool faster(const Score& a, const Score& b) {
  if (a.links->step_comm_seconds != b.links->step_comm_seconds)
    return a.links->step_comm_seconds < b.links->step_comm_seconds;
  return better_traffic(a, b);
}

}  // namespace

std::vector<NodeId> balanced(const Fabric& fabric, const Eligible& eligible, const std::vector<NodeId>& nodes) {
  const auto leaf_of = fabric.domain_numbers(topology::kLeafLevel);
  const NodeMask required = required_mask(eligible);
  std::map<std::uint32_t, std::vector<NodeId>> free;  // by leaf in use: required nodes first, then in fabric order
  for (const NodeId n : nodes) free[leaf_of[index(n)]];
  for (const bool want : {true, false})
    for (const NodeId n : fabric.fabric_order())
      if (eligible.mask[index(n)] && required[index(n)] == want)
        if (const auto at = free.find(leaf_of[index(n)]); at != free.end()) at->second.push_back(n);
  std::map<std::uint32_t, std::size_t> take;
  std::size_t left = nodes.size();
  for (const NodeId n : eligible.required) {
    ++take[leaf_of[index(n)]];
    --left;
  }
  while (left > 0) {
    // One more to the leaf that gives the fewest so far.
    std::uint32_t next = 0;
    std::size_t least = nodes.size() + 1;
    for (const auto& [leaf, has] : free)
      if (take[leaf] < has.size() && take[leaf] < least) {
        least = take[leaf];
        next = leaf;
      }
    ++take[next];
    --left;
  }
  std::vector<NodeId> out;
  for (const auto& [leaf, has] : free)
    out.insert(out.end(), has.begin(), has.begin() + static_cast<std::ptrdiff_t>(take[leaf]));
  sort_in_fabric_order(fabric, out);
  return out;
}

Result<std::vector<NodeId>> fastest_map(const Fabric& fabric, const Request& request,
                                        const std::vector<std::vector<NodeId>>& maps, const PlaceOptions& options,
                                        PlaceStats& stats) {
  ScoreOptions scoring;
  scoring.cross_rail = request.job->cross_rail;
  scoring.free_before = &request.free;
  if (options.links != nullptr) scoring.links = *options.links;
  scoring.links.routing = Routing::spray;
  const auto timed = [&](std::vector<NodeId> nodes) -> Result<Timed> {
    auto placed = ranks_in_order(fabric, nodes, request.ranks_per_node);
    if (!placed) return fail(placed.error());
    auto s = score(fabric, *placed, *request.traffic, scoring);
    if (!s) return fail(s.error());
    return Timed{std::move(nodes), std::move(*s)};
  };
  Result<Timed> best = timed(maps.front());
  for (std::size_t i = 1; i < maps.size(); ++i)
    if (auto other = timed(maps[i]); other && (!best || faster(other->score, best->score))) best = std::move(other);
  if (!best) return fail(best.error());
  const std::uint64_t flows = std::max<std::uint64_t>(request.traffic->flow_count(), 1);
  const std::uint64_t steps = options.budget_steps > 0 ? options.budget_steps : default_budget(flows);
  const std::size_t count = best->nodes.size();
  if (request.job->constraints.segment || count < 2) return std::move(best->nodes);
  std::mt19937_64 random(options.seed);
  for (std::uint64_t trial = 0; trial < std::min(steps / flows, kMostTrials); ++trial) {
    if (options.stop && options.stop()) {
      stats.stopped = true;
      break;
    }
    std::vector<NodeId> nodes = best->nodes;
    std::swap(nodes[random() % count], nodes[random() % count]);
    stats.steps += flows;
    if (auto other = timed(std::move(nodes)); other && faster(other->score, best->score)) best = std::move(other);
  }
  return std::move(best->nodes);
}

}  // namespace weft::placement
