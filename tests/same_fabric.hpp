// SPDX-License-Identifier: BSD-3-Clause
//
// Whether two fabrics are the same to everyone who asks: names, types, links and their health, tiers, planes, domains
// of every level, paths between all leaves.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "weft/topology/fabric.hpp"

namespace weft::topology::test {

inline std::optional<std::string> node_difference(const Fabric& a, const Fabric& b) {
  if (a.node_count() != b.node_count()) return fmt::format("{} and {} nodes", a.node_count(), b.node_count());
  if (a.level_count() != b.level_count()) return fmt::format("{} and {} levels", a.level_count(), b.level_count());
  for (std::uint32_t i = 0; i < a.node_count(); ++i) {
    const NodeId node{i};
    const std::string& name = a.node_name(node);
    if (name != b.node_name(node)) return fmt::format("node {}: {} and {}", i, name, b.node_name(node));
    const NodeType& s = a.type_of(node);
    const NodeType& t = b.type_of(node);
    if (s.name != t.name || s.gpus != t.gpus || s.nics != t.nics || s.nic_of_gpu != t.nic_of_gpu ||
        s.nvlink != t.nvlink || s.nvlink_bandwidth != t.nvlink_bandwidth) {
      return fmt::format("types of {}: {} and {}", name, s.name, t.name);
    }
    if (a.weight(node) != b.weight(node) || a.usable(node) != b.usable(node)) return "weight or state of " + name;
    for (Level level = 0; level < a.level_count(); ++level) {
      if (a.domain_of(level, node) != b.domain_of(level, node)) return fmt::format("level {} of {}", level, name);
    }
  }
  for (Level level = 0; level < a.level_count(); ++level) {
    if (a.domain_count(level) != b.domain_count(level)) return fmt::format("domains of level {}", level);
    for (std::uint32_t d = 0; d < a.domain_count(level); ++d) {
      if (a.domain_name(level, DomainId{d}) != b.domain_name(level, DomainId{d})) return "a domain's name";
    }
  }
  return std::nullopt;
}

inline std::optional<std::string> link_difference(const Fabric& a, const Fabric& b) {
  if (a.switch_count() != b.switch_count()) {
    return fmt::format("{} and {} switches", a.switch_count(), b.switch_count());
  }
  for (std::uint32_t i = 0; i < a.switch_count(); ++i) {
    const SwitchId sw{i};
    if (a.switch_name(sw) != b.switch_name(sw)) return "name of switch " + a.switch_name(sw);
    if (a.tier(sw) != b.tier(sw) || a.switch_up(sw) != b.switch_up(sw) || a.plane(sw) != b.plane(sw)) {
      return "tier, state or plane of " + a.switch_name(sw);
    }
  }
  if (a.link_count() != b.link_count()) return fmt::format("{} and {} links", a.link_count(), b.link_count());
  for (std::uint32_t i = 0; i < a.link_count(); ++i) {
    const LinkId id{i};
    const Link& x = a.link(id);
    const Link& y = b.link(id);
    if (a.link_name(id) != b.link_name(id)) return fmt::format("{} and {}", a.link_name(id), b.link_name(id));
    if (x.bandwidth != y.bandwidth || x.cables != y.cables || x.up != y.up || x.slowed != y.slowed) {
      return "bandwidth, cables or state of " + a.link_name(id);
    }
  }
  if (a.faults().size() != b.faults().size()) return "number of faults";
  for (std::size_t i = 0; i < a.faults().size(); ++i) {
    if (a.faults()[i].kind != b.faults()[i].kind || a.faults()[i].what != b.faults()[i].what ||
        a.faults()[i].reason != b.faults()[i].reason) {
      return "fault " + a.faults()[i].what;
    }
  }
  return std::nullopt;
}

/// The first difference, as text; empty where there is none. O(leaves^2).
inline std::optional<std::string> difference(const Fabric& a, const Fabric& b) {
  if (a.name() != b.name()) return fmt::format("names {} and {}", a.name(), b.name());
  if (auto d = node_difference(a, b)) return d;
  if (auto d = link_difference(a, b)) return d;
  for (std::uint32_t i = 0; i < a.switch_count(); ++i) {
    for (std::uint32_t j = 0; j < a.switch_count(); ++j) {
      if (a.leaf_path(SwitchId{i}, SwitchId{j}) != b.leaf_path(SwitchId{i}, SwitchId{j})) {
        return "path " + a.switch_name(SwitchId{i}) + " - " + a.switch_name(SwitchId{j});
      }
    }
  }
  return std::nullopt;
}

}  // namespace weft::topology::test
