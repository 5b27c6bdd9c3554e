// SPDX-License-Identifier: BSD-3-Clause
#include "inside_score.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "weft/topology/affinity.hpp"

namespace weft::placement {
namespace {

using topology::index;
using topology::NodeType;
using topology::PathClass;

class InsideScorer {
 public:
  InsideScorer(const topology::Fabric& fabric, const Placement& placement) : fabric_(fabric), placement_(placement) {}

  void count_nics() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> users;
    for (const Slot& slot : placement_.ranks) {
      if (users[{index(slot.node), slot.nic}]++ > 0) ++out_.shared_nics;
      out_.paths_known = out_.paths_known || fabric_.type_of(slot.node).affinity != nullptr;
    }
  }

  void add(std::uint32_t from, std::uint32_t to, double bytes) {
    const Slot& a = placement_.ranks[from];
    const Slot& b = placement_.ranks[to];
    if (a.node == b.node ||
        fabric_.domain_of(topology::kNvlinkLevel, a.node) == fabric_.domain_of(topology::kNvlinkLevel, b.node))
      return;
    if (a.nic != b.nic) out_.cross_rail_bytes += bytes;
    for (const Slot* slot : {&a, &b}) {
      const auto path = path_of(*slot);
      if (!path) continue;
      if (*path == PathClass::sys) out_.numa_detour_bytes += bytes;
      if (*path == PathClass::phb || *path == PathClass::node) out_.pcie_detour_bytes += bytes;
    }
  }

  [[nodiscard]] const InsideScore& result() const { return out_; }

 private:
  [[nodiscard]] std::optional<PathClass> path_of(const Slot& slot) const {
    const NodeType& type = fabric_.type_of(slot.node);
    if (!type.affinity || slot.nic >= type.affinity_nic.size()) return std::nullopt;
    return type.affinity->path(slot.gpu, type.affinity_nic[slot.nic]);
  }

  const topology::Fabric& fabric_;
  const Placement& placement_;
  InsideScore out_;
};

}  // namespace

InsideScore inside_score(const topology::Fabric& fabric, const Placement& placement, const Traffic& traffic) {
  InsideScorer scorer(fabric, placement);
  scorer.count_nics();
  if (traffic.flow_count() > kMaxInsideFlows) return scorer.result();
  for (const TrafficTermFlows& term : traffic.terms) {
    const config::Dim dim = term.term.dim;
    std::vector<std::uint32_t> members;
    for (std::uint32_t group = 0; group < traffic.grid.group_count(dim); ++group) {
      traffic.grid.members(dim, group, members);
      const Shape& shape = term.shape(group);
      for (const ShapeEdge& edge : shape.edges) {
        scorer.add(members[edge.from], members[edge.to], edge_bytes(edge.units, term.term.bytes, shape.denominator));
      }
    }
  }
  for (const RankFlow& flow : traffic.direct) scorer.add(flow.from, flow.to, static_cast<double>(flow.bytes));
  return scorer.result();
}

bool has_inside(const InsideScore& inside) {
  return inside.paths_known || inside.shared_nics > 0 || inside.cross_rail_bytes > 0;
}

}  // namespace weft::placement
