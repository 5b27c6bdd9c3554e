// SPDX-License-Identifier: BSD-3-Clause
//
// What hangs on a job's traffic alone (TrafficDigest of traffic.hpp).
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "bounds.hpp"
#include "node_graph.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {

struct TrafficDigest {
  explicit TrafficDigest(const Traffic& traffic);

  NodeGraph graph;
  TrafficBounder bounder;
  std::array<std::uint32_t, config::kDims> fewest{};  ///< fewest_nodes of each dimension
};

/// How a request's ranks cross rails: the job's word, else the traffic's; nullopt where neither says.
[[nodiscard]] std::optional<config::CrossRail> cross_rail_of(const Request& request);

/// The digest's graph, or one made here where there is no digest.
class GraphOf {
 public:
  GraphOf(const Traffic& traffic, const TrafficDigest* digest) : digest_(digest) {
    if (digest == nullptr) own_ = build_node_graph(traffic);
  }
  [[nodiscard]] const NodeGraph& operator*() const { return digest_ != nullptr ? digest_->graph : *own_; }

 private:
  const TrafficDigest* digest_;
  std::optional<NodeGraph> own_;
};

}  // namespace weft::placement
