// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "eligible.hpp"
#include "fastest.hpp"
#include "growth.hpp"
#include "node_order.hpp"
#include "objective.hpp"
#include "packed_runs.hpp"
#include "part_nodes.hpp"
#include "policies.hpp"
#include "rank_map.hpp"
#include "select_nodes.hpp"
#include "slurm_policies.hpp"
#include "soundness.hpp"
#include "spread_map.hpp"
#include "tilings.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

// Jobs with more flows than this are not scored to choose between candidates; the first one stands.
constexpr std::uint64_t kMaxScoredFlows = 1U << 23;
constexpr std::size_t kTimedMaps = 4;

SelectRules rules_of(const Fabric& fabric, const config::JobSpec& job) {
  SelectRules out;
  out.nodes = job.nodes;
  if (job.constraints.segment) {
    out.segment = *job.constraints.segment;
    out.segment_level = level_of(fabric, job.constraints.segment_level);
  }
  out.max_leaves = job.constraints.max_leaves;
  out.max_pods = job.constraints.max_pods;
  return out;
}

// Nodes that the communication groups of the inner dimensions fill: cutting between two such runs, never inside one,
// keeps those groups whole. Largest first.
std::vector<std::uint32_t> group_runs(const Request& request) {
  std::vector<std::uint32_t> out;
  std::uint64_t ranks = 1;
  for (const config::Dim d : request.layout.order) {
    if (d == config::Dim::ep || request.layout[d] == 1) continue;
    ranks *= request.layout[d];
    if (ranks % request.ranks_per_node != 0) continue;
    const std::uint64_t nodes = ranks / request.ranks_per_node;
    if (nodes > 1 && nodes < request.job->nodes) out.push_back(static_cast<std::uint32_t>(nodes));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// Nodes that groups of one dimension, or of all but one, fill, wherever they stand in the order.
std::vector<std::uint32_t> grid_runs(const Request& request) {
  std::vector<std::uint32_t> out;
  const auto grid = node_grid(request.layout, request.ranks_per_node);
  if (!grid || grid->extent.size() < 2) return out;
  for (const std::uint32_t extent : grid->extent)
    for (const std::uint32_t run : {extent, request.job->nodes / extent})
      if (std::find(out.begin(), out.end(), run) == out.end()) out.push_back(run);
  return out;
}

void add_candidate(std::vector<std::vector<NodeId>>& to, std::vector<NodeId> nodes) {
  if (!nodes.empty() && std::find(to.begin(), to.end(), nodes) == to.end()) to.push_back(std::move(nodes));
}

std::vector<NodeId> sorted(std::vector<NodeId> nodes) {
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

// Lists that keep groups of one dimension whole, of nodes that no list has yet.
void add_packed(std::vector<std::vector<NodeId>>& to, const Fabric& fabric, const Request& request,
                const Eligible& eligible) {
  const std::vector<std::uint32_t> runs = grid_runs(request);
  if (runs.empty()) return;
  auto domains = SpannedDomains::find(fabric, eligible, request.job->nodes);
  if (!domains) return;
  std::vector<std::vector<NodeId>> known;
  known.reserve(to.size());
  for (const auto& list : to) known.push_back(sorted(list));
  for (const std::uint32_t run : runs)
    for (auto& nodes : packed_runs(*domains, run)) {
      const std::size_t before = known.size();
      add_candidate(known, sorted(nodes));
      if (known.size() > before) to.push_back(std::move(nodes));
    }
}

// Node lists in rank order, the plain best fit first.
Result<std::vector<std::vector<NodeId>>> candidates(const Fabric& fabric, const Request& request,
                                                    const Eligible& eligible) {
  const SelectRules rules = rules_of(fabric, *request.job);
  std::vector<std::vector<NodeId>> out;
  const Locality ground = build_locality(fabric, eligible);
  auto plain = select_nodes(fabric, ground, rules);
  if (!plain) return fail(plain.error());
  add_candidate(out, std::move(*plain));
  const bool choice = eligible.count > rules.nodes;
  if (rules.segment == 0 && choice) {
    for (const std::uint32_t run : group_runs(request)) {
      for (const Level level : {topology::kLeafLevel, topology::kPodLevel}) {
        if (level >= fabric.level_count()) continue;
        SelectRules aligned = rules;
        aligned.segment = run;
        aligned.segment_level = level;
        if (auto nodes = select_nodes(fabric, ground, aligned)) add_candidate(out, std::move(*nodes));
      }
    }
    if (!rules.max_leaves && !rules.max_pods) add_packed(out, fabric, request, eligible);
  }
  if (!fabric.hierarchical() && rules.segment == 0 && !rules.max_leaves && !rules.max_pods) {
    std::vector<NodeId> ball = grow_ball(fabric, eligible, rules.nodes);
    std::vector<NodeId> in_order = ball;
    sort_in_fabric_order(fabric, in_order);
    add_candidate(out, std::move(in_order));
    add_candidate(out, std::move(ball));
  }
  return out;
}

// Of maps equal in traffic, the one that leaves the largest gangs of free nodes.
const std::vector<NodeId>& roomiest(const Fabric& fabric, const Request& request,
                                    const std::vector<std::vector<NodeId>>& maps) {
  const std::vector<NodeId> first = sorted(maps.front());
  if (std::all_of(maps.begin() + 1, maps.end(), [&](const auto& m) { return sorted(m) == first; })) return maps.front();
  const FreeGangs gangs(fabric, request.free);
  std::size_t best = 0;
  Gangs largest = gangs.without(maps.front());
  for (std::size_t i = 1; i < maps.size(); ++i)
    if (Gangs here = gangs.without(maps[i]); better_gangs(here, largest)) {
      best = i;
      largest = std::move(here);
    }
  return maps[best];
}

Result<Placement> best_map(const Fabric& fabric, const Request& request, const Eligible& eligible,
                           const PlaceOptions& options, PlaceStats& stats) {
  auto lists = candidates(fabric, request, eligible);
  if (!lists) return fail(lists.error());
  if (request.traffic->flow_count() > kMaxScoredFlows)
    return ranks_in_order(fabric, std::move(lists->front()), request.ranks_per_node);
  const SelectRules rules = rules_of(fabric, *request.job);
  const bool time = options.objective == Objective::time;
  if (time && rules.segment == 0) add_candidate(*lists, balanced(fabric, eligible, lists->front()));
  auto maps = map_ranks(fabric, request, eligible, rules, *lists, options, time ? kTimedMaps : 1, stats);
  if (options.objective == Objective::spread) {
    // The plan knows no constraints: it counts where it keeps them and touches fewer domains.
    const auto spread = spread_map(fabric, request, eligible, options);
    if (spread && weighted_spread(fabric, request, *spread) < weighted_spread(fabric, request, maps.front())) {
      auto placed = ranks_in_order(fabric, *spread, request.ranks_per_node);
      if (placed && check_placement(fabric, request, *placed)) return placed;
    }
  }
  if (!time) return ranks_in_order(fabric, roomiest(fabric, request, maps), request.ranks_per_node);
  for (const auto& list : *lists) add_candidate(maps, list);
  auto nodes = fastest_map(fabric, request, maps, options, stats);
  if (!nodes) return fail(nodes.error());
  return ranks_in_order(fabric, std::move(*nodes), request.ranks_per_node);
}

// Of placements equal in traffic, one on nodes whose links are not slowed. The objective of time sees slow links
// itself.
Result<Placement> soundest(const Fabric& fabric, const Request& request, const Eligible& eligible,
                           const PlaceOptions& options, PlaceStats& stats) {
  auto placed = best_map(fabric, request, eligible, options, stats);
  if (!placed || options.objective == Objective::time) return placed;
  const std::vector<std::uint32_t> slowed = slowed_links(fabric);
  const auto slow = [&](NodeId n) { return slowed[index(n)] > 0; };
  if (slowed.empty() || std::none_of(placed->nodes.begin(), placed->nodes.end(), slow)) return placed;
  std::vector<NodeId> nodes = without_slowed(fabric, request, eligible, options, slowed, placed->nodes);
  const bool still = std::any_of(nodes.begin(), nodes.end(), slow);
  if (still && options.objective == Objective::traffic && request.traffic->flow_count() <= kMaxScoredFlows) {
    const Eligible sound = without(eligible, slow);
    const bool all = std::none_of(eligible.required.begin(), eligible.required.end(), slow);
    if (all && sound.count >= request.job->nodes) {
      auto other = best_map(fabric, request, sound, options, stats);
      if (other && as_good(fabric, request, nodes, other->nodes)) return other;
    }
  }
  return ranks_in_order(fabric, std::move(nodes), request.ranks_per_node);
}

// Nodes of higher weight only where those of lower weight do not do.
Result<Placement> lightest(const Fabric& fabric, const Request& request, const Eligible& eligible,
                           const PlaceOptions& options, PlaceStats& stats) {
  const auto weight = [&](NodeId n) { return weight_of(fabric, request, options, n); };
  std::vector<std::uint32_t> weights;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    if (eligible.mask[n]) weights.push_back(weight(NodeId{n}));
  std::sort(weights.begin(), weights.end());
  // Fewer nodes than the job has cannot do.
  std::size_t at = request.job->nodes - 1;
  weights.erase(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(at));
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  for (at = 0; at + 1 < weights.size(); ++at) {
    const Eligible light = without(eligible, [&](NodeId n) { return weight(n) > weights[at]; });
    if (auto placed = soundest(fabric, request, light, options, stats)) return placed;
  }
  return soundest(fabric, request, eligible, options, stats);
}

Result<void> check_request(const Request& request) {
  const auto wrong = [](std::string message) { return fail(error(ErrorCode::usage, std::move(message))); };
  if (request.job == nullptr || request.traffic == nullptr) return wrong("a request needs a job and its traffic");
  if (request.job->nodes == 0) return wrong("the job has no nodes");
  const std::uint64_t ranks = std::uint64_t{request.job->nodes} * request.ranks_per_node;
  if (request.ranks_per_node == 0 || ranks != request.layout.ranks() || ranks != request.traffic->ranks())
    return wrong(fmt::format("{} nodes of {} ranks do not make the layout's {} and the traffic's {} ranks",
                             request.job->nodes, request.ranks_per_node, request.layout.ranks(),
                             request.traffic->ranks()));
  if (const auto segment = request.job->constraints.segment;
      segment && (*segment == 0 || request.job->nodes % *segment))
    return wrong(fmt::format("segment {} does not divide the job's {} nodes", *segment, request.job->nodes));
  return {};
}

Result<std::vector<NodeId>> baseline_nodes(const Fabric& fabric, const Request& request, const Eligible& eligible,
                                           const PlaceOptions& options) {
  const std::uint32_t nodes = request.job->nodes;
  switch (options.policy) {
    case Policy::tree: return slurm_tree(fabric, eligible, nodes);
    case Policy::block: return slurm_block(fabric, eligible, nodes, request.job->constraints.segment.value_or(0));
    case Policy::random: return random_nodes(eligible, nodes, options.seed);
    case Policy::first_fit:
    case Policy::weft: break;
  }
  return first_fit(eligible, nodes);
}

Result<Placement> place_baseline(const Fabric& fabric, const Request& request, const Eligible& eligible,
                                 const PlaceOptions& options) {
  auto nodes = baseline_nodes(fabric, request, eligible, options);
  if (!nodes) return fail(nodes.error());
  auto placed = ranks_in_order(fabric, std::move(*nodes), request.ranks_per_node);
  if (!placed) return placed;
  if (auto ok = check_placement(fabric, request, *placed); !ok) {
    Error e = ok.error();
    e.message = fmt::format("what {} chose breaks a constraint: {}", to_string(options.policy), e.message);
    return fail(std::move(e));
  }
  return placed;
}

}  // namespace

Result<Placement> ranks_in_order(const Fabric& fabric, std::vector<NodeId> nodes, std::uint32_t ranks_per_node) {
  Placement out;
  out.ranks.reserve(nodes.size() * ranks_per_node);
  for (const NodeId n : nodes) {
    const topology::NodeType& type = fabric.type_of(n);
    if (type.gpus < ranks_per_node)
      return fail(error(ErrorCode::bad_value, fmt::format("node {} has {} GPUs, the job needs {} a node",
                                                          fabric.node_name(n), type.gpus, ranks_per_node)));
    for (std::uint32_t g = 0; g < ranks_per_node; ++g) out.ranks.push_back({n, g, type.nic_of_gpu[g]});
  }
  out.nodes = std::move(nodes);
  return out;
}

Result<Placement> place(const Fabric& fabric, const Request& request, const PlaceOptions& options, PlaceStats* stats) {
  if (auto ok = check_request(request); !ok) return fail(ok.error());
  return takes_part_nodes(fabric, request) ? place_part_nodes(fabric, request, options, stats)
                                           : place_on_whole_nodes(fabric, request, options, stats);
}

Result<Placement> place_on_whole_nodes(const Fabric& fabric, const Request& request, const PlaceOptions& options,
                                       PlaceStats* stats) {
  if (!request.weights.empty() && request.weights.size() != fabric.node_count())
    return fail(error(ErrorCode::usage, fmt::format("{} node weights for the fabric's {} nodes", request.weights.size(),
                                                    fabric.node_count())));
  const auto eligible = eligible_nodes(fabric, request);
  if (!eligible) return fail(eligible.error());
  if (eligible->count < request.job->nodes) {
    const std::string reasons = describe(eligible->not_eligible, request.ranks_per_node);
    return fail(
        error(ErrorCode::infeasible,
              fmt::format("needs {} free nodes; {} of the fabric's {} qualify{}", request.job->nodes, eligible->count,
                          fabric.node_count(), reasons.empty() ? std::string() : fmt::format(" ({})", reasons))));
  }
  if (options.policy != Policy::weft) return place_baseline(fabric, request, *eligible, options);
  PlaceStats unused;
  PlaceStats& count = stats != nullptr ? *stats : unused;
  if (options.node_weight == NodeWeight::strict) return lightest(fabric, request, *eligible, options, count);
  return soundest(fabric, request, *eligible, options, count);
}

}  // namespace weft::placement
