// SPDX-License-Identifier: BSD-3-Clause
//
// Are two fabrics the same but for their names? Nodes are matched by their place in the file, switches by tier and
// place.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/topology/fabric.hpp"

namespace weft::topology::test {

/// Names by place: "node3", "tier2.1"; what both fabrics are then described in.
class PlaceNames {
 public:
  explicit PlaceNames(const Fabric& fabric) : fabric_(fabric) {
    std::map<std::uint32_t, std::uint32_t> next;
    for (std::uint32_t s = 0; s < fabric.switch_count(); ++s) {
      const std::uint32_t tier = fabric.tier(SwitchId{s});
      switches_.push_back(fmt::format("tier{}.{}", tier, next[tier]++));
    }
  }
  [[nodiscard]] std::string end(const LinkEnd& end) const {
    return end.is_switch ? switches_[end.id] : fmt::format("node{}:{}", end.id, end.nic);
  }

 private:
  const Fabric& fabric_;
  std::vector<std::string> switches_;
};

/// Every cable by the places of its ends, sorted: the multiset of links.
inline std::vector<std::string> cable_list(const Fabric& fabric) {
  const PlaceNames names(fabric);
  std::vector<std::string> out;
  for (const Link& link : fabric.links()) {
    std::string a = names.end(link.a);
    std::string b = names.end(link.b);
    if (link.a.is_switch && b < a) std::swap(a, b);
    const std::string text = fmt::format("{} - {} {}{}", a, b, to_string(link.bandwidth), link.up ? "" : " down");
    out.insert(out.end(), link.cables, text);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// The first difference in words, nothing where there is none: counts, classes, cables, hops between all NICs.
inline std::optional<std::string> shape_difference(const Fabric& a, const Fabric& b) {
  if (a.node_count() != b.node_count()) return fmt::format("{} nodes, {} nodes", a.node_count(), b.node_count());
  if (a.gpu_count() != b.gpu_count()) return fmt::format("{} GPUs, {} GPUs", a.gpu_count(), b.gpu_count());
  if (a.switch_count() != b.switch_count()) {
    return fmt::format("{} switches, {} switches", a.switch_count(), b.switch_count());
  }
  if (a.class_count() != b.class_count())
    return fmt::format("{} classes, {} classes", a.class_count(), b.class_count());
  if (a.max_hops() != b.max_hops()) return fmt::format("{} hops at most, {} hops", a.max_hops(), b.max_hops());
  const auto cables_a = cable_list(a);
  const auto cables_b = cable_list(b);
  if (cables_a.size() != cables_b.size()) return fmt::format("{} cables, {} cables", cables_a.size(), cables_b.size());
  for (std::size_t i = 0; i < cables_a.size(); ++i) {
    if (cables_a[i] != cables_b[i]) return fmt::format("cable '{}' is '{}'", cables_a[i], cables_b[i]);
  }
  for (std::uint32_t m = 0; m < a.node_count(); ++m) {
    for (std::uint32_t n = 0; n < a.node_count(); ++n) {
      const std::uint32_t nics = a.type_of(NodeId{m}).nics;
      if (nics != b.type_of(NodeId{m}).nics) return fmt::format("node {} has another number of NICs", m);
      for (std::uint32_t i = 0; i < nics; ++i) {
        if (a.nic_path(NodeId{m}, i, NodeId{n}, i) != b.nic_path(NodeId{m}, i, NodeId{n}, i)) {
          return fmt::format("the path from node {} to node {} by NIC {} differs", m, n, i);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace weft::topology::test
