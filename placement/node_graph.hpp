// SPDX-License-Identifier: BSD-3-Clause
//
// What a job's nodes exchange, seen by the rank map: ranks sit on nodes in runs of ranks_per_node, so a rank map is an
// order of nodes, and all that ranks exchange over the fabric folds into one weighted graph of the job's nodes.
//
// DESCRIPTION
//   A vertex is the k-th node of the rank order. An edge joins two vertices whose ranks exchange anything; its pattern
//   says which GPU sends how much to which, for where rails matter the path depends on the pair of GPUs (a lane). Jobs
//   are regular: thousands of edges share a handful of patterns.
//
//   Bytes are whole multiples of 1/scale of a byte, so that sums and differences are exact and independent of order.
//
// COMPLEXITY
//   O(flows log degree) time, O(flows) memory while it is made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/placement/traffic.hpp"

namespace weft::placement {

/// GPU `low` of the lower vertex and GPU `high` of the higher one; `up` = from the lower vertex to the higher.
struct Lane {
  std::uint32_t low = 0, high = 0;
  bool up = true;
  friend bool operator==(const Lane&, const Lane&) = default;
  friend auto operator<=>(const Lane&, const Lane&) = default;
};

struct LaneBytes {
  std::uint32_t lane = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const LaneBytes&, const LaneBytes&) = default;
};

struct NodeGraph {
  /// One end of an edge, as its other end's neighbour.
  struct Half {
    std::uint32_t to = 0;
    std::uint32_t pattern = 0;
    std::int64_t bytes = 0;  ///< of all lanes
  };
  std::uint32_t nodes = 0;
  double scale = 1;                     ///< units in a byte
  std::vector<std::size_t> begin;       ///< of each vertex's halves; nodes + 1 entries
  std::vector<Half> halves;             ///< ascending by `to` within a vertex
  std::vector<Lane> lanes;              ///< ascending
  std::vector<std::size_t> pattern_at;  ///< of each pattern's lanes; patterns + 1 entries
  std::vector<LaneBytes> pattern_lanes;

  [[nodiscard]] std::span<const Half> edges(std::uint32_t v) const {
    return {halves.data() + begin[v], begin[v + 1] - begin[v]};
  }
  [[nodiscard]] std::span<const LaneBytes> pattern(std::uint32_t p) const {
    return {pattern_lanes.data() + pattern_at[p], pattern_at[p + 1] - pattern_at[p]};
  }
  [[nodiscard]] std::size_t pattern_count() const { return pattern_at.size() - 1; }
};

/// Folds a job's step. Precondition: traffic.ranks() is a multiple of traffic.ranks_per_node.
[[nodiscard]] NodeGraph build_node_graph(const Traffic& traffic);

}  // namespace weft::placement
