// SPDX-License-Identifier: BSD-3-Clause
#include "soundness.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "node_order.hpp"
#include "rank_map.hpp"
#include "rank_search.hpp"
#include "spots.hpp"
#include "traffic_digest.hpp"

namespace weft::placement {

using topology::Fabric;
using topology::index;
using topology::NodeId;

std::vector<std::uint32_t> slowed_links(const Fabric& fabric) {
  std::vector<std::uint32_t> out;
  const auto slow = [](const topology::Fault& f) { return f.kind == topology::Fault::Kind::link_slow; };
  if (std::none_of(fabric.faults().begin(), fabric.faults().end(), slow)) return out;
  for (const topology::Link& link : fabric.links()) {
    if (!link.slowed || link.a.is_switch) continue;
    if (out.empty()) out.assign(fabric.node_count(), 0);
    ++out[link.a.id];
  }
  return out;
}

std::vector<NodeId> without_slowed(const Fabric& fabric, const Request& request, const Eligible& eligible,
                                   const PlaceOptions& options, const std::vector<std::uint32_t>& slowed,
                                   std::vector<NodeId> nodes) {
  // Nodes of equal kind may take each other's place. Racks of one node are all alike.
  const auto kind = [&](NodeId n) {
    const auto rack = fabric.domain_of(topology::kNvlinkLevel, n);
    const bool alone = fabric.domain_nodes(topology::kNvlinkLevel, rack).size() == 1;
    return std::tuple(index(fabric.class_of(n)), alone ? ~0U : index(rack), index(fabric.type_id(n)),
                      weight_of(fabric, request, options, n));
  };
  struct Group {
    std::vector<std::size_t> places;  // in the job
    std::vector<NodeId> held, spare;  // spare: fewest slowed links first, then in fabric order
  };
  const NodeMask fixed = required_mask(eligible);
  std::map<decltype(kind(NodeId{})), Group> groups;
  for (const NodeId n : nodes)
    if (slowed[index(n)] > 0 && !fixed[index(n)]) groups[kind(n)];
  if (groups.empty()) return nodes;
  std::vector<bool> taken(fabric.node_count(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    taken[index(nodes[i])] = true;
    if (const auto at = groups.find(kind(nodes[i])); at != groups.end() && !fixed[index(nodes[i])]) {
      at->second.places.push_back(i);
      at->second.held.push_back(nodes[i]);
    }
  }
  for (const NodeId n : fabric.fabric_order())
    if (eligible.mask[index(n)] && !taken[index(n)])
      if (const auto at = groups.find(kind(n)); at != groups.end()) at->second.spare.push_back(n);
  const auto fewer = [&](NodeId a, NodeId b) { return slowed[index(a)] < slowed[index(b)]; };
  for (auto& [key, group] : groups) {
    std::stable_sort(group.spare.begin(), group.spare.end(), fewer);
    std::stable_sort(group.held.begin(), group.held.end(), fewer);
    auto worst = group.held.rbegin();
    for (auto spare = group.spare.begin(); spare != group.spare.end() && worst != group.held.rend(); ++spare, ++worst) {
      if (!fewer(*spare, *worst)) break;
      *worst = *spare;
    }
    sort_in_fabric_order(fabric, group.held);
    for (std::size_t i = 0; i < group.held.size(); ++i) nodes[group.places[i]] = group.held[i];
  }
  return nodes;
}

bool as_good(const Fabric& fabric, const Request& request, const std::vector<NodeId>& nodes,
             const std::vector<NodeId>& other) {
  const GraphOf graph_of(*request.traffic, request.digest);
  const NodeGraph& graph = *graph_of;
  std::vector<NodeId> both = nodes;
  both.insert(both.end(), other.begin(), other.end());
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  SpotTable spots(fabric, both, {}, graph, cross_rail_of(request));
  const auto cost = [&](const std::vector<NodeId>& of) {
    std::vector<std::uint32_t> spot_of;
    spot_of.reserve(of.size());
    for (const NodeId n : of) spot_of.push_back(spots.spot_of(n));
    return cost_of_map(graph, spots, spot_of);
  };
  if (cost(nodes) < cost(other)) return false;
  const FreeGangs gangs(fabric, request.free);
  return !better_gangs(gangs.without(nodes), gangs.without(other));
}

}  // namespace weft::placement
