// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "inside_score.hpp"
#include "link_tally.hpp"
#include "path_table.hpp"
#include "spread.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

Result<void> check_fit(const Fabric& fabric, const Placement& placement, const Traffic& traffic,
                       const ScoreOptions& options) {
  const auto wrong = [](std::string message) { return fail(error(ErrorCode::usage, std::move(message))); };
  if (placement.ranks.size() != traffic.ranks())
    return wrong(fmt::format("the placement has {} ranks, the job {}", placement.ranks.size(), traffic.ranks()));
  if (options.free_before != nullptr && options.free_before->size() != fabric.node_count())
    return wrong(fmt::format("the mask of free nodes has {} entries, the fabric {} nodes", options.free_before->size(),
                             fabric.node_count()));
  for (const NodeId n : placement.nodes)
    if (index(n) >= fabric.node_count()) return wrong(fmt::format("the fabric has no node number {}", index(n)));
  for (std::size_t r = 0; r < placement.ranks.size(); ++r) {
    const Slot& s = placement.ranks[r];
    if (index(s.node) >= fabric.node_count())
      return wrong(fmt::format("rank {}: the fabric has no node number {}", r, index(s.node)));
    const topology::NodeType& type = fabric.type_of(s.node);
    if (s.gpu >= type.gpus) return wrong(fmt::format("rank {}: {} has no GPU {}", r, fabric.node_name(s.node), s.gpu));
    if (s.nic >= type.nics) return wrong(fmt::format("rank {}: {} has no NIC {}", r, fabric.node_name(s.node), s.nic));
  }
  return {};
}

// Sums over the flows of one shape, in units, so that they are exact.
struct UnitSums {
  std::array<std::uint64_t, 256> tier{};
  std::uint64_t hops = 0;
  std::uint64_t rerouted = 0;
};

class FlowScorer {
 public:
  /// `tally` may be null.
  FlowScorer(const Fabric& fabric, const Placement& placement, const Traffic& traffic, const ScoreOptions& options,
             LinkTally* tally)
      : fabric_(fabric),
        placement_(placement),
        traffic_(traffic),
        tally_(tally),
        paths_(fabric, nodes_of_ranks(placement), options.cross_rail ? options.cross_rail : traffic.cross_rail) {
    sites_.reserve(placement.ranks.size());
    for (const Slot& s : placement.ranks) sites_.push_back(paths_.site(s));
  }

  Result<void> run(Score& out) {
    out.tier_bytes.assign(fabric_.max_tier() + std::size_t{1}, 0.0);
    for (const TrafficTermFlows& term : traffic_.terms)
      if (auto ok = add_term(term, out); !ok) return ok;
    if (auto ok = add_direct(out); !ok) return ok;
    double outside = 0;
    for (std::size_t t = 1; t < out.tier_bytes.size(); ++t) outside += out.tier_bytes[t];
    for (std::size_t t = 2; t < out.tier_bytes.size(); ++t) out.cross_spine_bytes += out.tier_bytes[t];
    out.mean_hops = outside > 0 ? out.hop_bytes / outside : 0;
    return {};
  }

 private:
  static std::vector<NodeId> nodes_of_ranks(const Placement& placement) {
    std::vector<NodeId> out;
    for (const Slot& s : placement.ranks)
      if (out.empty() || out.back() != s.node) out.push_back(s.node);
    return out;
  }

  Result<void> add_term(const TrafficTermFlows& term, Score& out) {
    const config::Dim dim = term.term.dim;
    const RankGrid& grid = traffic_.grid;
    std::vector<UnitSums> sums(term.shapes.size());
    const std::vector<std::vector<double>> volumes = edge_volumes(term);
    std::vector<std::uint32_t> members;
    for (std::uint32_t g = 0; g < grid.group_count(dim); ++g) {
      const std::uint32_t s = term.shape_of_group.empty() ? 0 : term.shape_of_group[g];
      if (term.shapes[s].edges.empty()) continue;
      grid.members(dim, g, members);
      if (auto ok = add_group(term.shapes[s], members, volumes[s], sums[s], out); !ok) return ok;
    }
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const auto bytes = [&](std::uint64_t units) {
        return edge_bytes(units, term.term.bytes, term.shapes[s].denominator);
      };
      for (std::size_t t = 0; t < out.tier_bytes.size(); ++t) out.tier_bytes[t] += bytes(sums[s].tier[t]);
      out.hop_bytes += bytes(sums[s].hops);
      out.rerouted_bytes += bytes(sums[s].rerouted);
    }
    if (tally_ == nullptr) return {};
    tally_->end_term(term, grid.group_size(dim), most_domains(dim));
    return tally_fault();
  }

  // Bytes of each edge of each shape, once for all groups; empty where nobody asks.
  [[nodiscard]] std::vector<std::vector<double>> edge_volumes(const TrafficTermFlows& term) const {
    std::vector<std::vector<double>> out(term.shapes.size());
    if (tally_ == nullptr) return out;
    for (std::size_t s = 0; s < out.size(); ++s)
      for (const ShapeEdge& e : term.shapes[s].edges)
        out[s].push_back(edge_bytes(e.units, term.term.bytes, term.shapes[s].denominator));
    return out;
  }

  // The most NVLink domains that a group of the dimension lies on.
  [[nodiscard]] std::uint32_t most_domains(config::Dim dim) const {
    const RankGrid& grid = traffic_.grid;
    std::vector<std::uint32_t> domains;
    std::size_t most = 1;
    for (std::uint32_t g = 0; g < grid.group_count(dim); ++g) {
      domains.clear();
      for (std::uint32_t i = 0; i < grid.group_size(dim); ++i) domains.push_back(sites_[grid.member(dim, g, i)].domain);
      std::sort(domains.begin(), domains.end());
      most = std::max<std::size_t>(most, std::unique(domains.begin(), domains.end()) - domains.begin());
    }
    return static_cast<std::uint32_t>(most);
  }

  Result<void> add_group(const Shape& shape, const std::vector<std::uint32_t>& members,
                         const std::vector<double>& volumes, UnitSums& sums, Score& out) {
    for (std::size_t i = 0; i < shape.edges.size(); ++i) {
      const ShapeEdge& e = shape.edges[i];
      const std::uint32_t from = members[e.from];
      const std::uint32_t to = members[e.to];
      const auto route = paths_.route(sites_[from], sites_[to]);
      if (!route) return no_path(from, to);
      sums.tier[route->path.tier] += e.units;
      sums.hops += e.units * route->path.hops;
      if (route->rerouted) sums.rerouted += e.units;
      out.max_hops = std::max<std::uint32_t>(out.max_hops, route->path.hops);
      if (tally_ != nullptr) tally_->add(from, to, *route, volumes[i]);
    }
    return {};
  }

  Result<void> add_direct(Score& out) {
    UnitSums sums;
    for (const RankFlow& f : traffic_.direct) {
      const auto route = paths_.route(sites_[f.from], sites_[f.to]);
      if (!route) return no_path(f.from, f.to);
      sums.tier[route->path.tier] += f.bytes;
      sums.hops += f.bytes * route->path.hops;
      if (route->rerouted) sums.rerouted += f.bytes;
      out.max_hops = std::max<std::uint32_t>(out.max_hops, route->path.hops);
      if (tally_ != nullptr) tally_->add(f.from, f.to, *route, static_cast<double>(f.bytes));
    }
    if (tally_ != nullptr) tally_->end_direct();
    if (auto ok = tally_fault(); !ok) return ok;
    for (std::size_t t = 0; t < out.tier_bytes.size(); ++t) out.tier_bytes[t] += static_cast<double>(sums.tier[t]);
    out.hop_bytes += static_cast<double>(sums.hops);
    out.rerouted_bytes += static_cast<double>(sums.rerouted);
    return {};
  }

  [[nodiscard]] Result<void> tally_fault() const {
    if (tally_ == nullptr || !tally_->fault()) return {};
    return fail(*tally_->fault());
  }

  [[nodiscard]] Result<void> no_path(std::uint32_t from, std::uint32_t to) const {
    const auto where = [&](std::uint32_t rank) {
      const Slot& s = placement_.ranks[rank];
      return fmt::format("rank {} on {} GPU {}", rank, fabric_.node_name(s.node), s.gpu);
    };
    return fail(error(ErrorCode::infeasible,
                      fmt::format("{} and {} exchange data but have no path between them", where(from), where(to))));
  }

  const Fabric& fabric_;
  const Placement& placement_;
  const Traffic& traffic_;
  LinkTally* tally_;
  PathTable paths_;
  std::vector<Site> sites_;
};

// The loads of a running job. Its own job's word on cross_rail holds, not that of the options.
Result<SparseLoads> loads_of(const Fabric& fabric, const RunningJob& job, const LinkOptions& options,
                             const StaticPaths* paths) {
  const auto named = [&](Error e) {
    e.message = fmt::format("running job {}: {}", job.name, e.message);
    return fail(std::move(e));
  };
  if (auto ok = check_fit(fabric, *job.placement, *job.traffic, {}); !ok) return named(ok.error());
  LinkOptions own;
  own.routing = paths != nullptr ? Routing::forwarding_tables : Routing::spray;
  own.time_model = options.time_model;
  LinkTally tally(fabric, *job.placement, own, paths);
  Score unused;
  if (auto ok = FlowScorer(fabric, *job.placement, *job.traffic, {}, &tally).run(unused); !ok) return named(ok.error());
  return tally.total();
}

// Scores flows and links: `out.links`, and all that FlowScorer fills in.
Result<void> score_with_links(const Fabric& fabric, const Placement& placement, const Traffic& traffic,
                              const ScoreOptions& options, Score& out) {
  const LinkOptions& links = options.links;
  std::optional<StaticPaths> paths;
  if (links.routing == Routing::forwarding_tables) {
    if (links.tables == nullptr)
      return fail(error(ErrorCode::usage, "static routing without forwarding tables", "LinkOptions::tables"));
    auto made = StaticPaths::make(fabric, *links.tables);
    if (!made) return fail(made.error());
    paths = std::move(*made);
  }
  const StaticPaths* along = paths ? &*paths : nullptr;
  LinkTally tally(fabric, placement, links, along);
  if (auto ok = FlowScorer(fabric, placement, traffic, options, &tally).run(out); !ok) return ok;
  out.links = tally.finish();
  std::vector<SparseLoads> others;
  for (const RunningJob& job : links.running) {
    auto loads = loads_of(fabric, job, links, along);
    if (!loads) return fail(loads.error());
    others.push_back(std::move(*loads));
  }
  score_sharing(fabric, along, tally.total(), others, links, *out.links);
  return {};
}

}  // namespace

Result<Score> score(const Fabric& fabric, const Placement& placement, const Traffic& traffic,
                    const ScoreOptions& options) {
  if (auto ok = check_fit(fabric, placement, traffic, options); !ok) return fail(ok.error());
  Score out;
  const auto scored = options.links.routing ? score_with_links(fabric, placement, traffic, options, out)
                                            : FlowScorer(fabric, placement, traffic, options, nullptr).run(out);
  if (!scored) return fail(scored.error());
  NodeMask free = options.free_before != nullptr ? *options.free_before : NodeMask(fabric.node_count(), true);
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    if (!fabric.usable(NodeId{n})) free[n] = false;
  score_bounds(fabric, placement, traffic, free, options.digest, out);
  if (options.locality) score_locality(fabric, placement, traffic, free, options.digest, out);
  if (options.inside) out.inside = inside_score(fabric, placement, traffic);
  return out;
}

}  // namespace weft::placement
