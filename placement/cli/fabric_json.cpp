// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fabric_report.hpp"
#include "json_text.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;
using topology::Fabric;

Json types_json(const FabricReport& report) {
  Json out = Json::array();
  for (const TypeReport& entry : report.types) {
    const topology::NodeType& type = *entry.type;
    Json one = {
        {"name", type.name}, {"nodes", entry.nodes}, {"gpus", type.gpus}, {"nics", type.nics}, {"nvlink", type.nvlink}};
    one["nvlink_bits_per_second"] =
        type.nvlink_bandwidth ? Json(type.nvlink_bandwidth->bits_per_second) : Json(nullptr);
    out.push_back(std::move(one));
  }
  return out;
}

Json speeds_json(const std::map<std::uint64_t, std::uint64_t>& by_rate) {
  Json out = Json::array();
  for (const auto& [rate, cables] : by_rate) out.push_back({{"bits_per_second", rate}, {"links", cables}});
  return out;
}

Json tiers_json(const FabricReport& report) {
  Json out = Json::array();
  for (const TierReport& tier : report.tiers) {
    Json one = {{"tier", tier.tier},
                {"switches", tier.switches},
                {"switches_down", tier.switches_down},
                {"links_to_nodes", tier.node_cables},
                {"links_to_lower", tier.lower_cables},
                {"links_within", tier.peer_cables},
                {"links_to_upper", tier.upper_cables},
                {"down_speeds", speeds_json(tier.down_speeds)},
                {"up_speeds", speeds_json(tier.up_speeds)},
                {"down_bits_per_second", static_cast<std::uint64_t>(tier.down_bits)},
                {"up_bits_per_second", static_cast<std::uint64_t>(tier.up_bits)}};
    if (tier.worst) one["worst_oversubscription"] = {{"switch", tier.worst_switch}, {"ratio", *tier.worst}};
    out.push_back(std::move(one));
  }
  return out;
}

Json domains_json(const Fabric& fabric, topology::Level level) {
  Json out = Json::array();
  for (std::uint32_t d = 0; d < fabric.domain_count(level); ++d) {
    const topology::DomainId domain{d};
    std::vector<std::string> names;
    for (const topology::NodeId node : fabric.domain_nodes(level, domain)) names.push_back(fabric.node_name(node));
    out.push_back({{"name", fabric.domain_name(level, domain)},
                   {"count", names.size()},
                   {"nodes", config::compress_hostlist(names)}});
  }
  return out;
}

Json levels_json(const Fabric& fabric, const FabricReport& report) {
  Json out = Json::array();
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const LevelReport& level = report.levels[i];
    Json one = {{"level", level.name},
                {"domains", level.domains},
                {"nodes", {{"min", level.smallest}, {"max", level.largest}}}};
    // NVLink domains of one node each would only repeat the node list.
    if (level.largest > 1) one["members"] = domains_json(fabric, static_cast<topology::Level>(i));
    out.push_back(std::move(one));
  }
  return out;
}

Json notes_json(const Notes& notes, Note::Kind kind) {
  Json out = Json::array();
  for (const Note& note : notes) {
    if (note.kind == kind) out.push_back(note_words(note));
  }
  return out;
}

}  // namespace

std::string fabric_json(const LoadedFabric& loaded, const FabricReport& report) {
  const Fabric& fabric = loaded.fabric;
  Json switches = Json::object();
  Json oversubscription = Json::object();
  for (const TierReport& tier : report.tiers) {
    switches[std::to_string(tier.tier)] = tier.switches;
    if (const auto whole = tier.oversubscription()) oversubscription[std::to_string(tier.tier)] = *whole;
  }
  Json planes = Json::array();
  for (std::uint32_t p = 0; p < fabric.plane_count(); ++p) planes.push_back(fabric.plane_name(topology::PlaneId{p}));
  Json faults = Json::array();
  for (const topology::Fault& fault : fabric.faults()) {
    Json one = {{"kind", fault_word(fault.kind)}, {"what", fault.what}, {"reason", fault.reason}};
    if (fault.bandwidth) one["bits_per_second"] = fault.bandwidth->bits_per_second;
    faults.push_back(std::move(one));
  }
  const Json out = {{"weft", 1},
                    {"name", fabric.name()},
                    {"format", topology::to_string(loaded.kind)},
                    {"nodes", fabric.node_count()},
                    {"usable_nodes", report.usable_nodes},
                    {"gpus", fabric.gpu_count()},
                    {"switches", switches},
                    {"links", report.cables},
                    {"planes", fabric.plane_count()},
                    {"plane_names", planes},
                    {"rails", report.rails},
                    {"max_hops", fabric.max_hops()},
                    {"oversubscription", oversubscription},
                    {"node_types", types_json(report)},
                    {"tiers", tiers_json(report)},
                    {"attachment_classes", fabric.class_count()},
                    {"hierarchical", fabric.hierarchical()},
                    {"levels", levels_json(fabric, report)},
                    {"faults", faults},
                    {"assumptions", notes_json(loaded.notes, Note::Kind::assumption)},
                    {"warnings", notes_json(loaded.notes, Note::Kind::warning)}};
  return json_text(out);
}

}  // namespace weft::cli
