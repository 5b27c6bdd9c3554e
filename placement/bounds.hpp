// SPDX-License-Identifier: BSD-3-Clause
//
// What no placement can beat, given how many nodes are free where.
//
// METHOD
//   A group whose nodes lie on s domains of a level sends at least s times its lightest edge between them where its
//   edges between nodes form a ring, s - 1 times where they merely connect it, and for an all-to-all V/g (g^2 - sum
//   n_p^2), n_p being the members in domain p. A single group needs the fewest domains, fullest first. All lines of the
//   grid of nodes together need more: with n_p nodes of the job in domain p, filling the fullest first, the mean
//   spreads s_k of the d dimensions obey
//
//       prod_k s_k  >=  (sum_p n_p^((d-1)/d))^d / N^(d-1),
//
//   for a domain's nodes touch at least n_p^((d-1)/d) lines in the geometric mean. The bytes are least where
//   s_k = max(l_k, lambda / a_k), a_k being what a unit of spread costs in dimension k, l_k the single group's bound.
//   Bytes between domains of level l go over tier l + 1 or higher, and so over 2l + 1 hops or more.
//
// SOURCES
//   Loomis, Whitney, "An inequality related to the isoperimetric inequality", Bull. AMS 55 (1949), with Hoelder's
//   inequality over the domains.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weft/placement/score.hpp"

namespace weft::placement {

/// Whether rank r sits on node r / ranks_per_node of the placement, whichever GPU: what the bounds are made for.
[[nodiscard]] bool ranks_in_node_order(const Placement& placement, std::uint32_t ranks_per_node);

/// Fewest nodes that a group of a dimension lies on, ranks in node order. O(ranks).
[[nodiscard]] std::uint32_t fewest_nodes(const Traffic& traffic, config::Dim dim);

/// The bounds of one traffic on whatever is free. Made in O(ranks + flows of a group a term).
class TrafficBounder {
 public:
  explicit TrafficBounder(const Traffic& traffic);
  /// On a hierarchical fabric. `reach`: nodes that the job might have had. O(nodes * levels).
  [[nodiscard]] TrafficBounds on(const topology::Fabric& fabric, const NodeMask& reach) const;

 private:
  struct Terms;
  std::shared_ptr<const Terms> terms_;
};

}  // namespace weft::placement
