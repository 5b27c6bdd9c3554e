// SPDX-License-Identifier: BSD-3-Clause
//
// What a training step moves between ranks.
//
// DESCRIPTION
//   A job is a grid of ranks; each dimension cuts it into communication groups of equal size; each traffic term runs
//   one collective in every group of one dimension. Groups of one term move the same bytes between the same places
//   inside the group, so a term keeps one Shape (few where groups lie differently on nodes) instead of a flow for each
//   pair of ranks: 131,072 ranks of data parallelism 16,384 wide take 16,384 shape edges a term, not 131,072 flows, and
//   an all-to-all over experts takes g(g-1) edges, however many groups there are.
//
// EXACTNESS
//   Bytes are kept as whole units over a common denominator (edge bytes = units * volume / denominator), so sums over
//   flows are exact, independent of order, and can be updated by differences without drift.
//
// SOURCES
//   Rings: FORMATS.md. Double binary tree: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast,
//   reduction and scan", Parallel Computing 35 (2009), in the variant that NCCL builds (src/graph/trees.cc).
//   Rank grid: Megatron-LM's order of parallel dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"

namespace weft::placement {

/// More ranks than this in one job are refused (ErrorCode::limit).
inline constexpr std::uint64_t kMaxRanks = 1U << 22;
/// More edges than this in one shape, and more flows than this in one step, are refused (ErrorCode::limit).
inline constexpr std::uint64_t kMaxShapeEdges = 1U << 24;
inline constexpr std::uint64_t kMaxFlows = 1U << 28;

/// Coordinates of ranks in the grid, and the communication groups of each dimension. Every dimension but ep is pure
/// arithmetic; ep keeps two tables of ranks() entries where ep > 1. Precondition: a layout whose sizes are at least 1,
/// whose order names every dimension once, whose ep divides dp*cp and whose ranks are at most kMaxRanks (what
/// resolve_layout and check_layout accept).
class RankGrid {
 public:
  explicit RankGrid(const config::Layout& layout);
  [[nodiscard]] const config::Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  /// Coordinate of `rank` along a dimension; for ep its place in its ep group. O(1).
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t rank, config::Dim dim) const;
  [[nodiscard]] std::uint32_t group_count(config::Dim dim) const { return ranks_ / layout_[dim]; }
  [[nodiscard]] std::uint32_t group_size(config::Dim dim) const { return layout_[dim]; }
  /// Group of `rank` along a dimension. O(1).
  [[nodiscard]] std::uint32_t group_of(std::uint32_t rank, config::Dim dim) const;
  /// Member `i` of group `group`, members in coordinate order; groups ordered by their first rank. O(1).
  [[nodiscard]] std::uint32_t member(config::Dim dim, std::uint32_t group, std::uint32_t i) const;
  /// All members of a group, into `out` (resized to group_size).
  void members(config::Dim dim, std::uint32_t group, std::vector<std::uint32_t>& out) const;

 private:
  config::Layout layout_;
  std::uint32_t ranks_ = 0;
  std::array<std::uint32_t, config::kDims> stride_{};  // ranks between neighbours along a dimension; not for ep
  std::vector<std::uint32_t> ep_members_;              // groups concatenated; empty where ep == 1
  std::vector<std::uint32_t> ep_place_;                // of each rank: its index in ep_members_
};

/// What RankGrid needs of a layout. Errors: bad_value, limit.
[[nodiscard]] Result<void> check_layout(const config::Layout& layout);

/// Directed exchange between two members of a group (their indices in it).
struct ShapeEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t units = 0;
  friend bool operator==(const ShapeEdge&, const ShapeEdge&) = default;
};

/// What one group of a term does. At most one edge a (from, to), ascending by (from, to).
struct Shape {
  std::uint64_t denominator = 1;
  std::vector<ShapeEdge> edges;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// One collective on one dimension, run by every group of that dimension.
struct TrafficTermFlows {
  config::TrafficTerm term;
  config::Algorithm algorithm = config::Algorithm::ring;  ///< what `automatic` came to
  std::vector<Shape> shapes;
  std::vector<std::uint32_t> shape_of_group;  ///< empty where there is one shape
  [[nodiscard]] const Shape& shape(std::uint32_t group) const {
    return shapes[shape_of_group.empty() ? 0 : shape_of_group[group]];
  }
};

/// units * volume / denominator; exact where that is whole and below 2^53.
[[nodiscard]] double edge_bytes(std::uint64_t units, Bytes volume, std::uint64_t denominator);

/// Directed bytes between two ranks in one step.
struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// Bytes between two ranks in one step as a matrix says them: whole, so that their sums are exact.
struct RankFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const RankFlow&, const RankFlow&) = default;
  friend auto operator<=>(const RankFlow&, const RankFlow&) = default;
};

/// More bytes than this in one step's direct flows together, or in one term, are refused (ErrorCode::limit): times the
/// hops of a path they still fit 64 bits.
inline constexpr std::uint64_t kMaxStepBytes = 1ULL << 55;

/// The whole step. A value; shared freely between threads.
struct Traffic {
  RankGrid grid{config::Layout{}};
  std::uint32_t ranks_per_node = 1;
  std::optional<config::CrossRail> cross_rail;  ///< the job's word, if any
  std::vector<TrafficTermFlows> terms;          ///< in the job's order; terms on groups of one rank move nothing

  /// Exchanges that belong to no dimension, ascending by (from, to), each pair once, never a rank with itself. They
  /// count in tier bytes, hop-bytes and hops like any other; spread is of groups and knows nothing of them.
  std::vector<RankFlow> direct;

  [[nodiscard]] std::uint32_t ranks() const { return grid.ranks(); }
  [[nodiscard]] const config::Layout& layout() const { return grid.layout(); }
  /// Flows of one term over all groups, in group order. For tests, reports and exports: one entry each.
  [[nodiscard]] std::vector<Flow> flows(const TrafficTermFlows& term) const;
  /// Of all terms, and direct.
  [[nodiscard]] std::uint64_t flow_count() const;
};

/// What a job moves: its explicit volumes, those derived from its `model` (model.hpp), or its `matrix` file
/// (comm_file.hpp; read from disk, relative to the job file's directory: the one case in which this function is not
/// pure). With g the group size and V the term's bytes, each group moves:
///
///   ring          allreduce 2V(g-1)/g on each edge i -> i+1 of the ring in rank order (g edges, wrapping);
///                 reduce_scatter and allgather V(g-1)/g on each; broadcast V on each edge of the chain (g-1 edges);
///                 alltoall V/g on each ordered pair; neighbour V to the next and V back, without wrap.
///   tree          allreduce only. Nodes that hold members form two binary trees (each takes V/2, up and down again), a
///                 node's members a chain from the one that talks to the tree. Where every node holds m members, m
///                 channels of V/m start at each member in turn, as NCCL gives each NIC its own; else one channel.
///   hierarchical  allreduce, reduce_scatter, allgather, of groups that have equally many members m on each of n nodes:
///                 rings over the m members of each node (V), then over the n members of equal place (V/m).
///   auto          hierarchical where it applies, m > 1 and n > 1; allreduce with m = 1: tree where the latency it
///                 saves outweighs the 8 % of bandwidth that it costs (see automatic_tree); else ring.
///
/// Rank r is on node r / ranks_per_node, ranks_per_node being ranks / job.nodes. A term on groups of one rank has no
/// edges. Errors: bad_value (layout against nodes, an algorithm that a collective does not have), unsupported
/// (hierarchical on uneven groups), limit, and those of derive_traffic and load_comm_file.
[[nodiscard]] Result<Traffic> build_traffic(const config::JobSpec& job, const config::Layout& layout);

/// What place() and score() work out of a traffic alone, for those who ask them again and again about one job: made
/// once and handed to each (Request::digest, ScoreOptions::digest). Without it they make their own; the result is the
/// same. Immutable: threads may share one.
struct TrafficDigest;
[[nodiscard]] std::shared_ptr<const TrafficDigest> make_digest(const Traffic& traffic);

/// The rule by which `auto` prefers the tree over the ring for an allreduce of `volume` over `nodes` nodes with one
/// member each: 2 (n-1) steps of a ring against 2 ceil(log2 n) of a tree at 14 us a step, the tree's bus bandwidth
/// being 0.92 of the ring's 50 GB/s. All three constants are those of NCCL's tuner (src/graph/tuning.cc: network
/// latency of the simple protocol, tree bandwidth factor; 400 Gb/s).
[[nodiscard]] bool automatic_tree(std::uint32_t nodes, Bytes volume);

}  // namespace weft::placement
