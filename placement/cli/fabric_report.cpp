// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::cli {
namespace {

using topology::Fabric;
using topology::index;
using topology::Link;
using topology::LinkEnd;
using topology::NodeId;
using topology::SwitchId;

struct Capacity {
  double down = 0;
  double up = 0;
};

// Adds the link as seen from its end `own`.
void add_end(const Fabric& fabric, const Link& link, SwitchId own, const LinkEnd& other, TierReport& tier,
             Capacity& capacity) {
  const double bits = link.up ? static_cast<double>(link.bandwidth.bits_per_second) * link.cables : 0;
  const std::uint32_t own_tier = fabric.tier(own);
  const std::uint32_t other_tier = other.is_switch ? fabric.tier(SwitchId{other.id}) : 0;
  const bool down = other_tier < own_tier;
  if (!other.is_switch) {
    tier.node_cables += link.cables;
  } else if (down) {
    tier.lower_cables += link.cables;
  } else if (other_tier > own_tier) {
    tier.upper_cables += link.cables;
  } else {
    tier.peer_cables += link.cables;
  }
  (down ? tier.down_speeds : tier.up_speeds)[link.bandwidth.bits_per_second] += link.cables;
  if (down) capacity.down += bits;
  if (other_tier > own_tier) capacity.up += bits;
}

std::vector<TierReport> report_tiers(const Fabric& fabric) {
  std::vector<TierReport> tiers(fabric.max_tier() + std::size_t{1});
  std::vector<Capacity> capacity(fabric.switch_count());
  for (const Link& link : fabric.links()) {
    const SwitchId b{link.b.id};
    add_end(fabric, link, b, link.a, tiers[fabric.tier(b)], capacity[link.b.id]);
    if (!link.a.is_switch) continue;
    const SwitchId a{link.a.id};
    // A peer link belongs to its tier once.
    TierReport other_side;
    const bool peer = fabric.tier(a) == fabric.tier(b);
    add_end(fabric, link, a, link.b, peer ? other_side : tiers[fabric.tier(a)], capacity[link.a.id]);
  }
  for (std::uint32_t i = 0; i < fabric.switch_count(); ++i) {
    TierReport& tier = tiers[fabric.tier(SwitchId{i})];
    ++tier.switches;
    if (!fabric.switch_up(SwitchId{i})) ++tier.switches_down;
    tier.down_bits += capacity[i].down;
    tier.up_bits += capacity[i].up;
  }
  for (std::uint32_t i = 0; i < fabric.switch_count(); ++i) {
    TierReport& tier = tiers[fabric.tier(SwitchId{i})];
    const auto whole = tier.oversubscription();
    if (!whole || capacity[i].up <= 0) continue;
    const double own = capacity[i].down / capacity[i].up;
    // Rounding must not make equal switches look unequal.
    if (own > std::max(*whole, tier.worst.value_or(0)) * (1 + 1e-9)) {
      tier.worst = own;
      tier.worst_switch = fabric.switch_name(SwitchId{i});
    }
  }
  for (std::uint32_t t = 0; t < tiers.size(); ++t) tiers[t].tier = t;
  std::erase_if(tiers, [](const TierReport& tier) { return tier.switches == 0; });
  return tiers;
}

// Rails show in the attachment: within one plane, how many different leaves do the node's NICs use as their first port?
std::uint32_t rails_of(const Fabric& fabric, NodeId node) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> plane_and_leaf;
  for (std::uint32_t nic = 0; nic < fabric.type_of(node).nics; ++nic) {
    std::vector<std::uint32_t> seen;  // planes that this NIC has shown a leaf for
    for (const topology::Port& port : fabric.ports(node, nic)) {
      const std::uint32_t plane = index(fabric.plane(port.leaf));
      if (std::find(seen.begin(), seen.end(), plane) != seen.end()) continue;
      seen.push_back(plane);
      plane_and_leaf.emplace_back(plane, index(port.leaf));
    }
  }
  std::sort(plane_and_leaf.begin(), plane_and_leaf.end());
  plane_and_leaf.erase(std::unique(plane_and_leaf.begin(), plane_and_leaf.end()), plane_and_leaf.end());
  std::uint32_t most = 1;
  std::uint32_t run = 0;
  for (std::size_t i = 0; i < plane_and_leaf.size(); ++i) {
    run = i > 0 && plane_and_leaf[i].first == plane_and_leaf[i - 1].first ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace

std::optional<double> TierReport::oversubscription() const {
  if (up_bits <= 0) return std::nullopt;
  return down_bits / up_bits;
}

std::string tier_word(std::uint32_t tier) {
  switch (tier) {
    case 1: return "leaf";
    case 2: return "spine";
    case 3: return "core";
    default: return fmt::format("tier {}", tier);
  }
}

std::string_view fault_word(topology::Fault::Kind kind) {
  switch (kind) {
    case topology::Fault::Kind::switch_down: return "switch down";
    case topology::Fault::Kind::node_down: return "node down";
    case topology::Fault::Kind::link_down: return "link down";
    case topology::Fault::Kind::link_slow: return "link slow";
  }
  return "fault";
}

std::string note_words(const Note& note) {
  std::string out = note.to_string();
  const std::string_view kind = note.kind == Note::Kind::assumption ? "assumed: " : "warning: ";
  // Note::to_string puts the kind between place and message, or first.
  const std::size_t at = out.size() - note.message.size() - kind.size();
  return out.erase(at, kind.size());
}

FabricReport report_fabric(const Fabric& fabric) {
  FabricReport out;
  for (const Link& link : fabric.links()) out.cables += link.cables;
  for (const topology::NodeType& type : fabric.node_types()) out.types.push_back({&type, 0});
  for (std::uint32_t i = 0; i < fabric.node_count(); ++i) {
    ++out.types[index(fabric.type_id(NodeId{i}))].nodes;
    if (fabric.usable(NodeId{i})) ++out.usable_nodes;
  }
  for (std::uint32_t c = 0; c < fabric.class_count(); ++c) {
    const auto nodes = fabric.class_nodes(topology::ClassId{c});
    if (!nodes.empty()) out.rails = std::max(out.rails, rails_of(fabric, nodes.front()));
  }
  out.tiers = report_tiers(fabric);
  for (topology::Level level = 0; level < fabric.level_count(); ++level) {
    LevelReport report{fabric.level_name(level), fabric.domain_count(level), 0, 0};
    for (std::uint32_t d = 0; d < report.domains; ++d) {
      const auto size = static_cast<std::uint32_t>(fabric.domain_nodes(level, topology::DomainId{d}).size());
      report.smallest = d == 0 ? size : std::min(report.smallest, size);
      report.largest = std::max(report.largest, size);
    }
    out.levels.push_back(report);
  }
  return out;
}

}  // namespace weft::cli
