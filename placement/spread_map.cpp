// SPDX-License-Identifier: BSD-3-Clause
#include "spread_map.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "level_search.hpp"
#include "packed_runs.hpp"
#include "rank_map.hpp"
#include "region_map.hpp"
#include "spread_plan.hpp"
#include "tilings.hpp"
#include "traffic_digest.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

std::vector<double> weights(const Request& request, const NodeGrid& grid) {
  std::vector<double> out(grid.dim.size(), 0);
  for (const TrafficTermFlows& t : request.traffic->terms)
    for (std::size_t k = 0; k < grid.dim.size(); ++k)
      if (grid.dim[k] == t.term.dim) out[k] += static_cast<double>(t.term.bytes.value);
  const double most = out.empty() ? 0 : *std::max_element(out.begin(), out.end());
  // Without any bytes all weigh the same.
  for (double& w : out) w = most > 0 ? w / most : 1;
  return out;
}

}  // namespace

double weighted_spread(const Fabric& fabric, const Request& request, const std::vector<NodeId>& nodes) {
  const auto grid = node_grid(request.layout, request.ranks_per_node);
  if (!grid) return 0;
  Level level = level_of(fabric, config::LevelName::pod);
  std::set<std::uint32_t> used;
  for (const NodeId n : nodes) used.insert(fabric.domain_numbers(level)[index(n)]);
  if (used.size() < 2) level = topology::kLeafLevel;
  const auto domains = fabric.domain_numbers(level);
  const std::vector<double> w = weights(request, *grid);
  double sum = 0;
  std::size_t stride = 1;
  for (std::size_t k = 0; k < grid->extent.size(); ++k) {
    const std::size_t extent = grid->extent[k];
    std::size_t most = 0;
    for (std::size_t first = 0; first < nodes.size(); ++first) {
      if (first / stride % extent != 0) continue;
      used.clear();
      for (std::size_t i = 0; i < extent; ++i) used.insert(domains[index(nodes[first + i * stride])]);
      most = std::max(most, used.size());
    }
    sum += w[k] * static_cast<double>(most);
    stride *= extent;
  }
  return sum;
}

std::optional<std::vector<NodeId>> spread_map(const Fabric& fabric, const Request& request, const Eligible& eligible,
                                              const PlaceOptions& options) {
  const auto grid = node_grid(request.layout, request.ranks_per_node);
  if (!grid || grid->extent.size() < 2 || request.job->constraints.segment) return std::nullopt;
  auto domains = SpannedDomains::find(fabric, eligible, request.job->nodes);
  if (!domains) return std::nullopt;
  const std::vector<double> w = weights(request, *grid);
  const auto heavy = static_cast<std::size_t>(std::max_element(w.begin(), w.end()) - w.begin());
  SpreadProblem problem;
  problem.columns = grid->extent[heavy];
  problem.rows = request.job->nodes / problem.columns;
  problem.row_weight = w[heavy];
  problem.column_weight = 0;
  for (std::size_t k = 0; k < w.size(); ++k)
    if (k != heavy) problem.column_weight = std::max(problem.column_weight, w[k]);
  problem.capacity = domains->free();
  const SpreadPlan plan = plan_spread(problem);

  // Cells back to the rank order's nodes: the heavy dimension's coordinate is the column.
  std::size_t below = 1;
  for (std::size_t k = 0; k < heavy; ++k) below *= grid->extent[k];
  std::vector<std::uint32_t> pod_of(request.job->nodes);
  for (std::size_t v = 0; v < pod_of.size(); ++v) {
    const std::size_t column = v / below % problem.columns;
    const std::size_t row = v / (below * problem.columns) * below + v % below;
    pod_of[v] = plan.pod_of[column + problem.columns * row];
  }
  std::map<std::uint32_t, std::uint32_t> count;
  for (const std::uint32_t p : pod_of) ++count[p];
  std::map<std::uint32_t, std::vector<NodeId>> chosen;
  std::vector<NodeId> all;
  for (const auto& [pod, nodes] : count) {
    auto here = domains->take(pod, nodes);
    if (!here) return std::nullopt;
    all.insert(all.end(), here->begin(), here->end());
    chosen[pod] = std::move(*here);
  }
  const GraphOf graph_of(*request.traffic, request.digest);
  const NodeGraph& graph = *graph_of;
  SpotTable spots(fabric, all, {}, graph, cross_rail_of(request));
  std::map<std::uint32_t, std::size_t> next;
  std::vector<std::uint32_t> spot_of;
  spot_of.reserve(pod_of.size());
  for (const std::uint32_t p : pod_of) spot_of.push_back(spots.spot_of(chosen[p][next[p]++]));
  if (fabric.hierarchical() && domains->level() == topology::kPodLevel) {
    Budget budget{options.budget_steps > 0 ? options.budget_steps : default_budget(graph.halves.size()), 0,
                  &options.stop, false};
    spot_of = search_levels(graph, spots, std::move(spot_of), 1, kSpotDepths, Parts::anew, budget);
  }
  std::vector<std::size_t> taken(spots.count(), 0);
  std::vector<NodeId> out;
  out.reserve(spot_of.size());
  for (const std::uint32_t s : spot_of) out.push_back(spots.spot(s).nodes[taken[s]++]);
  return out;
}

}  // namespace weft::placement
