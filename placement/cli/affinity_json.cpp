// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "affinity.hpp"
#include "json_text.hpp"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;
using topology::NodeAffinity;

template <typename T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json address(const std::optional<topology::PciAddress>& pci) { return pci ? Json(to_string(*pci)) : Json(nullptr); }

Json path(const std::optional<topology::PathClass>& path) { return path ? Json(to_string(*path)) : Json(nullptr); }

Json gpus_json(const NodeAffinity& node) {
  Json out = Json::array();
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    const topology::AffinityGpu& gpu = node.gpus[g];
    out.push_back({{"index", g},
                   {"pci", address(gpu.pci)},
                   {"numa", maybe(gpu.numa)},
                   {"nic", maybe(node.nic_of_gpu[g])},
                   {"vendor", to_string(gpu.vendor)},
                   {"socket", maybe(gpu.socket)},
                   {"cpus", gpu.cpus.empty() ? Json(nullptr) : Json(gpu.cpus.list())}});
  }
  return out;
}

Json nics_json(const NodeAffinity& node) {
  const std::vector<std::uint32_t> compute = topology::compute_nics(node);
  Json out = Json::array();
  for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
    const topology::AffinityNic& nic = node.nics[n];
    out.push_back({{"index", n},
                   {"name", nic.name.empty() ? Json(nullptr) : Json(nic.name)},
                   {"pci", address(nic.pci)},
                   {"guid", nic.guid ? Json(fmt::format("0x{:016x}", *nic.guid)) : Json(nullptr)},
                   {"netdev", nic.netdev.empty() ? Json(nullptr) : Json(nic.netdev)},
                   {"numa", maybe(nic.numa)},
                   {"near_gpu", std::find(compute.begin(), compute.end(), n) != compute.end()}});
  }
  return out;
}

Json places_json(const NodeAffinity& node) {
  Json out = Json::array();
  for (const topology::AffinityNuma& numa : node.numa) {
    out.push_back({{"index", numa.os_index},
                   {"socket", maybe(numa.socket)},
                   {"cpus", numa.cpus.empty() ? Json(nullptr) : Json(numa.cpus.list())}});
  }
  return out;
}

Json links_json(const NodeAffinity& node) {
  Json out = Json::array();
  for (const topology::GpuLink& link : node.links) {
    out.push_back({{"gpus", {link.a, link.b}},
                   {"kind", to_string(link.kind)},
                   {"width", link.width == 0 ? Json(nullptr) : Json(link.width)}});
  }
  return out;
}

Json groups_json(const NodeAffinity& node) {
  Json out = Json::array();
  for (const topology::LinkGroup& group : topology::link_groups(node)) {
    out.push_back({{"kind", to_string(group.kind)},
                   {"gpus", group.gpus},
                   {"all_to_all", group.all_to_all},
                   {"width", {{"min", group.min_width}, {"max", group.max_width}}}});
  }
  return out;
}

}  // namespace

std::string affinity_json(const NodeAffinity& node, const Notes& notes) {
  Json paths = Json::array();
  Json gpu_paths = Json::array();
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    Json row = Json::array();
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) row.push_back(path(node.path(g, n)));
    paths.push_back(std::move(row));
    Json gpu_row = Json::array();
    for (std::uint32_t h = 0; h < node.gpus.size(); ++h) gpu_row.push_back(path(node.path_between(g, h)));
    gpu_paths.push_back(std::move(gpu_row));
  }
  Json warnings = Json::array();
  for (const Note& note : notes) warnings.push_back(note.to_string());
  const Json out = {{"weft", 1},
                    {"kind", to_string(node.kind)},
                    {"host", node.host.empty() ? Json(nullptr) : Json(node.host)},
                    {"gpus", gpus_json(node)},
                    {"nics", nics_json(node)},
                    {"paths", std::move(paths)},
                    {"gpu_paths", std::move(gpu_paths)},
                    {"links", node.links_said ? links_json(node) : Json(nullptr)},
                    {"link_groups", groups_json(node)},
                    {"sockets", node.sockets == 0 ? Json(nullptr) : Json(node.sockets)},
                    {"numa", places_json(node)},
                    {"notes", std::move(warnings)}};
  return json_text(out);
}

}  // namespace weft::cli
