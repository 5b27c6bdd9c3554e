// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::NodeId;

tl::unexpected<Error> at(const PlacementDoc& doc, Position where, std::size_t width, ErrorCode code,
                         std::string message, std::string expected = {}) {
  return fail(error_at(code, doc.source, where, static_cast<std::uint32_t>(std::max<std::size_t>(width, 1)),
                       std::move(message), std::move(expected)));
}

Result<Slot> resolve_rank(const Fabric& fabric, const PlacementDoc& doc, const RankDoc& rank, std::size_t number,
                          NodeId node) {
  const topology::NodeType& type = fabric.type_of(node);
  const std::string& name = fabric.node_name(node);
  if (rank.gpu >= type.gpus)
    return at(doc, rank.at, 1, ErrorCode::bad_value, fmt::format("rank {}: {} has no GPU {}", number, name, rank.gpu),
              fmt::format("GPU 0 to {}", type.gpus == 0 ? 0 : type.gpus - 1));
  const std::uint32_t nic = rank.nic.value_or(type.nic_of_gpu[rank.gpu]);
  if (nic >= type.nics)
    return at(doc, rank.at, 1, ErrorCode::bad_value, fmt::format("rank {}: {} has no NIC {}", number, name, nic),
              fmt::format("NIC 0 to {}", type.nics == 0 ? 0 : type.nics - 1));
  return Slot{node, rank.gpu, nic};
}

}  // namespace

Result<Placement> resolve_placement(const Fabric& fabric, const PlacementDoc& doc, std::uint32_t ranks_per_node) {
  std::vector<NodeId> nodes;
  nodes.reserve(doc.nodes.size());
  for (const config::Text& name : doc.nodes) {
    const auto node = fabric.find_node(name.value);
    if (!node)
      return at(doc, name.at, name.value.size(), ErrorCode::dangling,
                fmt::format("the fabric has no node \"{}\"", name.value), "names of the fabric's nodes");
    if (doc.ranks.empty() && fabric.type_of(*node).gpus < ranks_per_node)
      return at(doc, name.at, name.value.size(), ErrorCode::bad_value,
                fmt::format("node {} has {} GPUs, the job needs {} a node", name.value, fabric.type_of(*node).gpus,
                            ranks_per_node));
    nodes.push_back(*node);
  }
  if (doc.ranks.empty()) return ranks_in_order(fabric, std::move(nodes), ranks_per_node);

  Placement out;
  out.ranks.reserve(doc.ranks.size());
  std::set<std::pair<NodeId, std::uint32_t>> taken;
  std::vector<std::uint32_t> on_node(nodes.size(), 0);
  for (std::size_t r = 0; r < doc.ranks.size(); ++r) {
    const RankDoc& rank = doc.ranks[r];
    auto slot = resolve_rank(fabric, doc, rank, r, nodes[rank.node]);
    if (!slot) return fail(slot.error());
    if (!taken.emplace(slot->node, slot->gpu).second)
      return at(doc, rank.at, 1, ErrorCode::duplicate,
                fmt::format("rank {}: GPU {} of {} is taken already", r, slot->gpu, fabric.node_name(slot->node)));
    ++on_node[rank.node];
    out.ranks.push_back(*slot);
  }
  for (std::size_t n = 0; n < nodes.size(); ++n)
    if (on_node[n] != ranks_per_node)
      return at(doc, doc.nodes[n].at, doc.nodes[n].value.size(), ErrorCode::bad_value,
                fmt::format("node {} has {} ranks", doc.nodes[n].value, on_node[n]),
                fmt::format("{} on each node", ranks_per_node));
  out.nodes = std::move(nodes);
  return out;
}

PlacementDoc to_doc(const Fabric& fabric, const Placement& placement, std::string job_name, const Traffic* traffic) {
  PlacementDoc out;
  out.job = std::move(job_name);
  out.fabric = fabric.name();
  std::vector<std::uint32_t> place(fabric.node_count(), 0);
  for (std::uint32_t i = 0; i < placement.nodes.size(); ++i) {
    out.nodes.push_back({fabric.node_name(placement.nodes[i]), {}});
    place[topology::index(placement.nodes[i])] = i;
  }
  out.ranks.reserve(placement.ranks.size());
  for (const Slot& s : placement.ranks) out.ranks.push_back({place[topology::index(s.node)], s.gpu, s.nic, {}});
  if (traffic != nullptr) out.traffic = to_doc(*traffic);
  return out;
}

}  // namespace weft::placement
