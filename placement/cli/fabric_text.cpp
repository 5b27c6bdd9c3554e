// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "fabric_report.hpp"
#include "weft/config/hostlist.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

using topology::Fabric;

constexpr std::size_t kListed = 16;  // faults, notes and domains in words; JSON has them all

std::string speeds(const std::map<std::uint64_t, std::uint64_t>& by_rate) {
  std::string out;
  for (auto it = by_rate.rbegin(); it != by_rate.rend(); ++it) {
    if (!out.empty()) out += " + ";
    out += by_rate.size() == 1 ? to_string(Bandwidth{it->first})
                               : fmt::format("{} x {}", it->second, to_string(Bandwidth{it->first}));
  }
  return out;
}

void add_types(const FabricReport& report, std::string& out) {
  out += "\nnodes\n";
  for (const TypeReport& entry : report.types) {
    const topology::NodeType& type = *entry.type;
    out += fmt::format("  {} x {}: {}, {}, ", entry.nodes, type.name, counted(type.gpus, "GPU"),
                       counted(type.nics, "NIC"));
    if (!type.nvlink) {
      out += "no NVLink";
    } else {
      out += "NVLink";
      if (type.nvlink_bandwidth) out += fmt::format(" of {} a GPU each way", byte_rate(*type.nvlink_bandwidth));
    }
    out += '\n';
  }
}

void add_tier(const TierReport& tier, std::string& out) {
  out += fmt::format("  tier {} ({}): {}", tier.tier, tier_word(tier.tier), counted(tier.switches, "switch"));
  if (tier.switches_down > 0) out += fmt::format(", {} down", tier.switches_down);
  std::string down;
  if (tier.node_cables > 0) down = fmt::format("{} to nodes", tier.node_cables);
  if (tier.lower_cables > 0) {
    down += fmt::format("{}{} to lower tiers", down.empty() ? "" : " and ", tier.lower_cables);
  }
  if (!down.empty()) out += fmt::format("; links down: {}, {}", down, speeds(tier.down_speeds));
  if (tier.upper_cables + tier.peer_cables > 0) {
    std::string up;
    if (tier.upper_cables > 0) up = fmt::format("up: {}", tier.upper_cables);
    if (tier.peer_cables > 0) {
      up += fmt::format("{}within the tier: {}", up.empty() ? "" : ", ", tier.peer_cables);
    }
    out += fmt::format("; {}, {}", up, speeds(tier.up_speeds));
  }
  if (const auto whole = tier.oversubscription()) {
    out += fmt::format("; oversubscription {}", ratio(*whole));
    if (tier.worst) out += fmt::format(", worst {} at {}", ratio(*tier.worst), tier.worst_switch);
  }
  out += '\n';
}

void add_planes(const Fabric& fabric, const FabricReport& report, std::string& out) {
  if (report.rails > 1) {
    out += fmt::format("rails: {}; the NICs of a node spread over that many leaves\n", report.rails);
  } else {
    out += "rails: none; all NICs of a node share a leaf\n";
  }
  out += fmt::format("planes: {}", fabric.plane_count());
  if (fabric.plane_count() > 1) {
    std::vector<std::string> names;
    for (std::uint32_t p = 0; p < fabric.plane_count() && p < kListed; ++p) {
      names.push_back(fabric.plane_name(topology::PlaneId{p}));
    }
    out += fmt::format(" ({}{})", fmt::join(names, ", "), fabric.plane_count() > kListed ? ", ..." : "");
  }
  out += fmt::format("\nlongest path: {}\n", counted(fabric.max_hops(), "hop"));
}

void add_levels(const Fabric& fabric, const FabricReport& report, std::string& out) {
  out += fmt::format("\nlocality{}\n",
                     fabric.hierarchical() ? "" : " (no clean hierarchy: distances decide, not domains)");
  for (const LevelReport& level : report.levels) {
    const std::string size = level.smallest == level.largest
                                 ? counted(level.largest, "node")
                                 : fmt::format("{} to {}", level.smallest, counted(level.largest, "node"));
    out += fmt::format("  {}: {} of {}\n", level.name, counted(level.domains, "domain"), size);
  }
  out += fmt::format("  {} (nodes attached alike)\n", fabric.class_count() == 1
                                                          ? "1 attachment class"
                                                          : fmt::format("{} attachment classes", fabric.class_count()));
}

void add_domains(const Fabric& fabric, topology::Level level, std::string& out) {
  const std::uint32_t count = fabric.domain_count(level);
  if (count < 2) return;
  out += fmt::format("\n{} domains\n", fabric.level_name(level));
  for (std::uint32_t d = 0; d < count && d < kListed; ++d) {
    const topology::DomainId domain{d};
    std::vector<std::string> names;
    for (const topology::NodeId node : fabric.domain_nodes(level, domain)) names.push_back(fabric.node_name(node));
    out += fmt::format("  {}: {}\n", fabric.domain_name(level, domain), config::compress_hostlist(names));
  }
  if (count > kListed) out += fmt::format("  and {} more (--format json lists all)\n", count - kListed);
}

void add_faults(const Fabric& fabric, std::string& out) {
  const auto faults = fabric.faults();
  out += fmt::format("\nfaults: {}\n", faults.empty() ? "none" : fmt::format("{}", faults.size()));
  for (std::size_t i = 0; i < faults.size() && i < kListed; ++i) {
    out += fmt::format("  {} {}", fault_word(faults[i].kind), faults[i].what);
    if (faults[i].bandwidth) out += fmt::format(" at {}", to_string(*faults[i].bandwidth));
    if (!faults[i].reason.empty()) out += fmt::format(": {}", faults[i].reason);
    out += '\n';
  }
  if (faults.size() > kListed) out += fmt::format("  and {} more (--format json lists all)\n", faults.size() - kListed);
}

void add_notes(const Notes& notes, Note::Kind kind, std::string_view title, std::string& out) {
  std::size_t count = 0;
  for (const Note& note : notes) {
    if (note.kind != kind) continue;
    if (count == 0) out += fmt::format("\n{}\n", title);
    if (count++ < kListed) out += fmt::format("  {}\n", note_words(note));
  }
  if (count > kListed) out += fmt::format("  and {} more (--format json lists all)\n", count - kListed);
}

}  // namespace

std::string fabric_text(const LoadedFabric& loaded, const FabricReport& report) {
  const Fabric& fabric = loaded.fabric;
  std::string out = fmt::format("{}: {}, {}, {}, {} ({})\n", fabric.name().empty() ? "fabric" : fabric.name(),
                                counted(fabric.node_count(), "node"), counted(fabric.gpu_count(), "GPU"),
                                counted(fabric.switch_count(), "switch"), counted(report.cables, "link"),
                                topology::to_string(loaded.kind));
  if (report.usable_nodes < fabric.node_count()) {
    out += fmt::format("{} cannot be used: down or without a link that is up\n",
                       counted(fabric.node_count() - report.usable_nodes, "node"));
  }
  add_types(report, out);
  out += "\nswitches\n";
  for (const TierReport& tier : report.tiers) add_tier(tier, out);
  if (report.tiers.empty()) out += "  none\n";
  out += '\n';
  add_planes(fabric, report, out);
  add_levels(fabric, report, out);
  if (report.levels.front().largest > 1) add_domains(fabric, topology::kNvlinkLevel, out);
  add_domains(fabric, topology::kLeafLevel, out);
  add_faults(fabric, out);
  add_notes(loaded.notes, Note::Kind::assumption, "assumed, since the file does not say", out);
  add_notes(loaded.notes, Note::Kind::warning, "warnings", out);
  return out;
}

}  // namespace weft::cli
