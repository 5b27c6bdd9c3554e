// SPDX-License-Identifier: BSD-3-Clause
//
// Node lists in which communication groups stay whole although the free nodes of domains are no multiples of them.
//
// DESCRIPTION
//   Where a job does not fit in one domain, best fit fills domains to the brim and so cuts a group at every border.
//   Here the domains that are used, fullest first, each give as many whole runs of a group's length as they can; only
//   the runs that are still missing are pieced together from what is left, largest pieces first. Free nodes 28, 25 and
//   18 for four runs of 16 make three whole ones and one cut in two (28, 20, 16), where best fit cuts two. The fewest
//   domains that hold the job are tried, then one more and so on, until every run is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eligible.hpp"
#include "locality.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// The domains over which a job must be spread: those of the highest level, pods at most, no domain of which has as
/// many eligible nodes as it takes. Found once, for many lists; fabric and eligible nodes must outlive it.
class SpannedDomains {
 public:
  /// nullopt where one leaf has `nodes` eligible nodes. O(nodes of the fabric).
  [[nodiscard]] static std::optional<SpannedDomains> find(const topology::Fabric& fabric, const Eligible& eligible,
                                                          std::uint32_t nodes);

  [[nodiscard]] topology::Level level() const { return level_; }
  /// Eligible nodes of each domain.
  [[nodiscard]] const std::vector<std::uint32_t>& free() const { return free_; }
  /// The nodes that the job takes.
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] const Eligible& eligible() const { return *eligible_; }

  /// `count` eligible nodes of one domain, by best fit, in fabric order; the required ones of the domain among them.
  /// Errors: infeasible. O(nodes of the domain). What is free in a domain is kept for the next call.
  [[nodiscard]] Result<std::vector<topology::NodeId>> take(std::uint32_t domain, std::uint32_t count);

 private:
  SpannedDomains(const topology::Fabric& fabric, const Eligible& eligible, std::uint32_t nodes)
      : fabric_(&fabric), eligible_(&eligible), nodes_(nodes) {}

  const topology::Fabric* fabric_;
  const Eligible* eligible_;
  std::uint32_t nodes_;
  topology::Level level_ = topology::kLeafLevel;
  std::vector<std::uint32_t> free_;
  std::vector<std::optional<Locality>> ground_;  // by domain
};

/// Lists of as many nodes as the job takes, a multiple of `run`: the whole runs, domain by domain, then the pieces.
/// None where no domain holds a whole run, and where nodes are required. O(nodes of the domains used), a list.
[[nodiscard]] std::vector<std::vector<topology::NodeId>> packed_runs(SpannedDomains& domains, std::uint32_t run);

}  // namespace weft::placement
