// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/traffic.hpp"

#include <fmt/format.h>

#include <bit>
#include <map>

#include "shapes.hpp"
#include "weft/placement/comm_file.hpp"
#include "weft/placement/model.hpp"

namespace weft::placement {
namespace {

using config::Algorithm;
using config::Collective;
using config::Dim;

// Lengths of the runs of a group's members that share a node. Members ascend, so their nodes do too.
NodeRuns node_runs(const RankGrid& grid, std::uint32_t ranks_per_node, Dim dim, std::uint32_t group) {
  NodeRuns runs;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < grid.group_size(dim); ++i) {
    const std::uint32_t node = grid.member(dim, group, i) / ranks_per_node;
    if (runs.empty() || node != last) runs.push_back(0);
    ++runs.back();
    last = node;
  }
  return runs;
}

bool hierarchical_collective(Collective c) {
  return c == Collective::allreduce || c == Collective::reduce_scatter || c == Collective::allgather;
}

Result<void> check_algorithm(const config::TrafficTerm& term) {
  if (term.algorithm == Algorithm::tree && term.collective != Collective::allreduce)
    return fail(error(
        ErrorCode::bad_value,
        fmt::format("traffic.{}: algorithm tree does not apply to {}", to_string(term.dim), to_string(term.collective)),
        "allreduce with tree, or ring"));
  if (term.algorithm == Algorithm::hierarchical && !hierarchical_collective(term.collective))
    return fail(error(ErrorCode::bad_value,
                      fmt::format("traffic.{}: algorithm hierarchical does not apply to {}", to_string(term.dim),
                                  to_string(term.collective)),
                      "allreduce, reduce_scatter or allgather with hierarchical, or ring"));
  return {};
}

// The `auto` rule for a group whose members lie on nodes as `runs` says.
Algorithm choose(const config::TrafficTerm& term, const NodeRuns& runs) {
  if (!hierarchical_collective(term.collective) || runs.size() < 2) return Algorithm::ring;
  const auto per_node = even_run(runs);
  if (!per_node) return Algorithm::ring;
  if (*per_node > 1) return Algorithm::hierarchical;
  if (term.collective != Collective::allreduce) return Algorithm::ring;
  return automatic_tree(static_cast<std::uint32_t>(runs.size()), term.bytes) ? Algorithm::tree : Algorithm::ring;
}

struct SaidTraffic {
  std::vector<config::TrafficTerm> terms;
  std::vector<RankFlow> direct;
};

// What the job says it moves, whichever way it says it.
Result<SaidTraffic> terms_of(const config::JobSpec& job, const config::Layout& layout) {
  SaidTraffic out;
  if (job.model) {
    auto derived = derive_traffic(*job.model, layout, job.algorithm, job.source);
    if (!derived) return fail(derived.error());
    for (DerivedTerm& t : derived->terms) out.terms.push_back(t.term);
    return out;
  }
  if (!job.matrix) {
    out.terms = job.traffic;
    return out;
  }
  auto file = load_comm_file(job, layout);
  if (!file) return fail(file.error());
  out.direct = std::move(file->flows);
  out.terms = std::move(file->terms);
  for (config::TrafficTerm& t : out.terms) t.algorithm = algorithm_or_ring(job.algorithm, t.collective);
  return out;
}

class TermBuilder {
 public:
  TermBuilder(const RankGrid& grid, std::uint32_t ranks_per_node, const config::TrafficTerm& term)
      : grid_(grid), ranks_per_node_(ranks_per_node) {
    out_.term = term;
    out_.algorithm = term.algorithm == Algorithm::automatic ? Algorithm::ring : term.algorithm;
  }

  Result<TrafficTermFlows> build() {
    const config::TrafficTerm& term = out_.term;
    if (auto ok = check_algorithm(term); !ok) return fail(ok.error());
    const std::uint32_t size = grid_.group_size(term.dim);
    if (size < 2 || term.bytes.value == 0) {
      out_.shapes.emplace_back();
      return std::move(out_);
    }
    if (flat_edge_count(term.collective, size) > kMaxShapeEdges)
      return fail(
          error(ErrorCode::limit, fmt::format("traffic.{}: {} over {} ranks makes more than {} flows a group",
                                              to_string(term.dim), to_string(term.collective), size, kMaxShapeEdges)));
    if (term.algorithm == Algorithm::ring) {
      out_.shapes.push_back(flat_shape(term.collective, size));
      return std::move(out_);
    }
    return by_nodes();
  }

 private:
  Result<TrafficTermFlows> by_nodes() {
    const Dim dim = out_.term.dim;
    std::map<NodeRuns, std::uint32_t> known;
    out_.shape_of_group.reserve(grid_.group_count(dim));
    for (std::uint32_t g = 0; g < grid_.group_count(dim); ++g) {
      const NodeRuns runs = node_runs(grid_, ranks_per_node_, dim, g);
      const auto [at, fresh] = known.emplace(runs, static_cast<std::uint32_t>(out_.shapes.size()));
      if (fresh) {
        auto shape = shape_for(runs, g);
        if (!shape) return fail(shape.error());
        out_.shapes.push_back(std::move(*shape));
      }
      out_.shape_of_group.push_back(at->second);
    }
    if (out_.shapes.size() == 1) out_.shape_of_group.clear();
    return std::move(out_);
  }

  Result<Shape> shape_for(const NodeRuns& runs, std::uint32_t group) {
    const config::TrafficTerm& term = out_.term;
    Algorithm algorithm = term.algorithm;
    if (algorithm == Algorithm::automatic) {
      algorithm = choose(term, runs);
      // Groups of one term may come to different choices; the term shows the first group's.
      if (group == 0) out_.algorithm = algorithm;
    }
    if (algorithm == Algorithm::tree) return tree_shape(runs);
    if (algorithm == Algorithm::hierarchical) {
      const auto per_node = even_run(runs);
      if (!per_node)
        return fail(error(ErrorCode::unsupported,
                          fmt::format("traffic.{}: algorithm hierarchical needs as many members of a group on each of "
                                      "its nodes; group {} has unequal numbers",
                                      to_string(term.dim), group),
                          "ring, tree or auto"));
      return hierarchical_shape(term.collective, static_cast<std::uint32_t>(runs.size()), *per_node);
    }
    return flat_shape(term.collective, grid_.group_size(term.dim));
  }

  const RankGrid& grid_;
  std::uint32_t ranks_per_node_;
  TrafficTermFlows out_;
};

}  // namespace

double edge_bytes(std::uint64_t units, Bytes volume, std::uint64_t denominator) {
  const unsigned __int128 product = static_cast<unsigned __int128>(units) * volume.value;
  const unsigned __int128 quotient = product / denominator;
  const auto whole = static_cast<double>(quotient);
  const auto rest = static_cast<double>(static_cast<std::uint64_t>(product % denominator));
  return rest == 0 ? whole : whole + rest / static_cast<double>(denominator);
}

bool automatic_tree(std::uint32_t nodes, Bytes volume) {
  if (nodes < 3) return false;
  constexpr double kStepSeconds = 14e-6;
  constexpr double kRingBytesPerSecond = 50e9;
  constexpr double kTreeFactor = 0.92;
  const double n = nodes;
  const double depth = std::bit_width(nodes - 1);  // ceil(log2 n)
  const double ring =
      2 * (n - 1) * kStepSeconds + 2 * static_cast<double>(volume.value) * (n - 1) / n / kRingBytesPerSecond;
  const double tree =
      2 * depth * kStepSeconds + 2 * static_cast<double>(volume.value) / (kTreeFactor * kRingBytesPerSecond);
  return tree < ring;
}

std::vector<Flow> Traffic::flows(const TrafficTermFlows& term) const {
  std::vector<Flow> out;
  const Dim dim = term.term.dim;
  for (std::uint32_t g = 0; g < grid.group_count(dim); ++g) {
    const Shape& shape = term.shape(g);
    for (const ShapeEdge& e : shape.edges)
      out.push_back({grid.member(dim, g, e.from), grid.member(dim, g, e.to),
                     edge_bytes(e.units, term.term.bytes, shape.denominator)});
  }
  return out;
}

std::uint64_t Traffic::flow_count() const {
  std::uint64_t count = 0;
  for (const TrafficTermFlows& term : terms) {
    const std::uint32_t groups = grid.group_count(term.term.dim);
    if (term.shape_of_group.empty()) {
      count += std::uint64_t{groups} * term.shapes.front().edges.size();
    } else {
      for (const std::uint32_t s : term.shape_of_group) count += term.shapes[s].edges.size();
    }
  }
  return count + direct.size();
}

Result<Traffic> build_traffic(const config::JobSpec& job, const config::Layout& layout) {
  if (auto ok = check_layout(layout); !ok) return fail(ok.error());
  if (job.nodes == 0 || layout.ranks() % job.nodes != 0)
    return fail(error(ErrorCode::bad_value,
                      fmt::format("{} ranks cannot be spread evenly over {} nodes", layout.ranks(), job.nodes)));
  Traffic out;
  out.grid = RankGrid(layout);
  out.ranks_per_node = static_cast<std::uint32_t>(layout.ranks() / job.nodes);
  out.cross_rail = job.cross_rail;
  auto said = terms_of(job, layout);
  if (!said) return fail(said.error());
  out.direct = std::move(said->direct);
  for (const config::TrafficTerm& term : said->terms) {
    auto flows = TermBuilder(out.grid, out.ranks_per_node, term).build();
    if (!flows) return fail(flows.error());
    out.terms.push_back(std::move(*flows));
    if (out.flow_count() > kMaxFlows)
      return fail(error(ErrorCode::limit, fmt::format("the job's traffic makes more than {} flows a step", kMaxFlows)));
  }
  return out;
}

}  // namespace weft::placement
