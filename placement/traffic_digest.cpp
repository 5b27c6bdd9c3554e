// SPDX-License-Identifier: BSD-3-Clause
#include "traffic_digest.hpp"

namespace weft::placement {

TrafficDigest::TrafficDigest(const Traffic& traffic) : graph(build_node_graph(traffic)), bounder(traffic) {
  for (std::size_t d = 0; d < config::kDims; ++d)
    if (const auto dim = static_cast<config::Dim>(d); traffic.grid.group_size(dim) > 1)
      fewest[d] = fewest_nodes(traffic, dim);
}

std::shared_ptr<const TrafficDigest> make_digest(const Traffic& traffic) {
  return std::make_shared<const TrafficDigest>(traffic);
}

std::optional<config::CrossRail> cross_rail_of(const Request& request) {
  return request.job->cross_rail ? request.job->cross_rail : request.traffic->cross_rail;
}

}  // namespace weft::placement
