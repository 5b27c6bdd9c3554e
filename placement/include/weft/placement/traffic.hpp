// SPDX-License-Identifier: BSD-3-Clause
//
// What a training step moves between ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"

namespace weft::placement {

/// Coordinates of ranks in the grid, and the communication groups of each dimension.
class RankGrid {
 public:
  explicit RankGrid(const config::Layout& layout);
  [[nodiscard]] const config::Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  /// Coordinate of `rank` along a dimension; for ep its place in its ep group.
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t rank, config::Dim dim) const;
  [[nodiscard]] std::uint32_t group_count(config::Dim dim) const;
  [[nodiscard]] std::uint32_t group_size(config::Dim dim) const;
  /// Member `i` of group `group`, members in coordinate order; groups ordered by their first rank.
  [[nodiscard]] std::uint32_t member(config::Dim dim, std::uint32_t group, std::uint32_t i) const;

 private:
  config::Layout layout_;
  std::uint32_t ranks_ = 0;
  // Per dimension: members of all groups, concatenated (ranks_ entries each).
  std::vector<std::vector<std::uint32_t>> members_;
};

/// Directed bytes between two ranks in one step.
struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
};

/// One collective on one dimension: which flows each of its groups makes. All groups of a term are alike up to ranks.
struct TrafficTermFlows {
  config::TrafficTerm term;
  std::vector<Flow> flows;  ///< over all groups, in group order, merged per (from,to) within a group
};

/// The whole step.
struct Traffic {
  config::Layout layout;
  std::uint32_t ranks = 0;
  std::vector<TrafficTermFlows> terms;
};

/// Expands explicit volumes into flows (FORMATS.md: allreduce ring 2V(g-1)/g on each ring edge in rank order;
/// reduce_scatter, allgather V(g-1)/g each; broadcast V along the chain from the group's first rank; alltoall V/g for
/// each ordered pair; neighbour V to the next and V back, no wrap). Errors: bad_value, limit.
[[nodiscard]] Result<Traffic> build_traffic(const config::JobSpec& job, const config::Layout& layout);

}  // namespace weft::placement
