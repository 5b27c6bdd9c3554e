// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the flows of a score, term by term, and makes the LinkScore of them.
#pragma once

#include <optional>
#include <vector>

#include "ecmp.hpp"
#include "link_router.hpp"
#include "path_table.hpp"
#include "static_router.hpp"
#include "weft/placement/link_score.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {

class LinkTally {
 public:
  /// For `placement`'s job. `paths` is not null where options.routing is static; all outlive it.
  LinkTally(const topology::Fabric& fabric, const Placement& placement, const LinkOptions& options,
            const StaticPaths* paths);

  /// One flow of the term at hand, over `route`.
  void add(std::uint32_t from, std::uint32_t to, const Route& route, double bytes);
  /// Ends the term; its groups have `ranks` ranks on up to `domains` NVLink domains.
  void end_term(const TrafficTermFlows& term, std::uint32_t ranks, std::uint32_t domains);
  /// Ends the flows that belong to no term, added since the last term's end.
  void end_direct();
  /// The score of all terms.
  [[nodiscard]] LinkScore finish();
  /// Why a flow has no path along the tables, if one has none.
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }
  /// Bytes of all terms, by cable along the tables, or by link spread evenly.
  [[nodiscard]] const SparseLoads& total() const { return total_; }

 private:
  // What the flows since the last end put on links and NVLink.
  struct Load {
    std::optional<LinkUse> worst;
    double nvlink_seconds = 0;
    std::uint32_t hops = 0;
    [[nodiscard]] bool any() const { return worst || nvlink_seconds > 0; }
    [[nodiscard]] double network_seconds() const { return worst ? worst->seconds : 0; }
  };
  [[nodiscard]] Load take_load();
  [[nodiscard]] std::optional<LinkUse> slowest(const SparseLoads& loads) const;
  [[nodiscard]] double nvlink_seconds() const;
  void finish_ecmp(LinkScore& out);

  const topology::Fabric& fabric_;
  const Placement& placement_;
  const LinkOptions& options_;
  const StaticPaths* paths_;
  SprayRouter spray_;
  std::optional<StaticRouter> static_;
  std::optional<EcmpRouter> term_ecmp_;
  std::optional<EcmpRouter> all_ecmp_;
  SparseLoads total_;
  std::vector<double> nvlink_out_;  // by rank, of the term at hand
  std::vector<double> nvlink_in_;
  std::uint32_t hops_ = 0;
  std::vector<std::optional<DimTime>> dims_;
  std::vector<double> slowest_term_;  // by dim: the longest term so far
  std::optional<CommTime> direct_;
  std::optional<Error> fault_;
};

/// Fills in what this job and the running ones do to each other; loads in the order of options.running, by cable where
/// `paths` is not null.
void score_sharing(const topology::Fabric& fabric, const StaticPaths* paths, const SparseLoads& own,
                   const std::vector<SparseLoads>& others, const LinkOptions& options, LinkScore& out);

}  // namespace weft::placement
