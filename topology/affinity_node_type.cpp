// SPDX-License-Identifier: BSD-3-Clause
#include "affinity_node_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "fabric_names.hpp"
#include "weft/topology/affinity.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {
namespace {

Result<NodeAffinity> read_file(const config::FabricSpec& spec, const config::Text& name) {
  const std::string path = node_file_path(spec, name.value);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return fail(text_error(spec, ErrorCode::io, name, fmt::format("'{}' is no regular file", path),
                           "a file of the node's inside"));
  }
  const auto source = read_source(path, kMaxAffinityBytes);
  if (!source) {
    return fail(text_error(spec, source.error().code, name, fmt::format("'{}': {}", path, source.error().message),
                           "a file of the node's inside, named from where the fabric file is"));
  }
  return read_affinity(*source);
}

// NICs by name.
Result<std::vector<std::uint32_t>> named_nics(const config::FabricSpec& spec, const config::NodeTypeSpec& in,
                                              const NodeAffinity& node) {
  std::vector<std::uint32_t> out;
  std::string names;
  for (const AffinityNic& nic : node.nics) names += (names.empty() ? "" : ", ") + nic.name;
  for (const config::Text& name : in.hwloc_nics) {
    const auto nic =
        std::find_if(node.nics.begin(), node.nics.end(), [&](const AffinityNic& n) { return n.name == name.value; });
    if (nic == node.nics.end())
      return fail(text_error(spec, ErrorCode::dangling, name,
                             fmt::format("'{}' has no NIC '{}'", node.file, name.value),
                             names.empty() ? "a file that has NICs" : "one of " + names));
    out.push_back(static_cast<std::uint32_t>(nic - node.nics.begin()));
  }
  return out;
}

// Each GPU's NIC, by place in `nics`. Where some GPU's nearest NIC is none of them, all are dealt out anew.
std::vector<std::uint32_t> nic_of_gpu_among(const NodeAffinity& node, const std::vector<std::uint32_t>& nics) {
  std::vector<std::uint32_t> out;
  for (const auto& nic : node.nic_of_gpu) {
    const auto place = std::find(nics.begin(), nics.end(), *nic);
    if (place == nics.end()) break;
    out.push_back(static_cast<std::uint32_t>(place - nics.begin()));
  }
  if (out.size() == node.gpus.size()) return out;
  NodeAffinity part = node;
  part.nics.clear();
  part.gpu_nic.clear();
  part.gpu_nic_bridges.clear();
  for (const std::uint32_t n : nics) part.nics.push_back(node.nics[n]);
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    for (const std::uint32_t n : nics) {
      part.gpu_nic.push_back(node.gpu_nic[g * node.nics.size() + n]);
      if (!node.gpu_nic_bridges.empty()) part.gpu_nic_bridges.push_back(node.gpu_nic_bridges[g * node.nics.size() + n]);
    }
  }
  derive_nics(part);
  out.clear();
  for (const auto& nic : part.nic_of_gpu) out.push_back(*nic);
  return out;
}

// The type's NICs: those said, else those near a GPU.
Result<std::vector<std::uint32_t>> choose_nics(const config::FabricSpec& spec, const config::NodeTypeSpec& in,
                                               const NodeAffinity& node) {
  if (!in.hwloc_nics.empty()) return named_nics(spec, in, node);
  if (in.nics == 0) return compute_nics(node);
  auto joined = join_nics(node, std::vector<std::optional<std::uint64_t>>(in.nics));
  if (joined) return joined;
  return fail(text_error(spec, ErrorCode::conflict, *in.hwloc,
                         fmt::format("node type '{}' has {} NICs, '{}' has {}, {} of them near a GPU", in.name.value,
                                     in.nics, node.file, node.nics.size(), compute_nics(node).size()),
                         "no nics, or as many as there are"));
}

// A file without NICs tells the GPUs; the NICs go by number.
Result<NodeType> by_number(const config::FabricSpec& spec, const config::NodeTypeSpec& in, const NodeAffinity& node,
                           NodeType out, Notes& notes) {
  if (in.nics == 0) {
    return fail(text_error(spec, ErrorCode::missing, *in.hwloc, fmt::format("'{}' names no NIC", node.file),
                           "nics: N beside it, or a file that has NICs"));
  }
  out.nics = in.nics;
  for (std::uint32_t g = 0; g < out.gpus; ++g) out.nic_of_gpu.push_back(g * out.nics / out.gpus);
  notes.push_back(
      {Note::Kind::assumption,
       node.file,
       {},
       fmt::format("no NIC in it; the GPUs of node type '{}' use its {} NICs by number", in.name.value, in.nics)});
  return out;
}

}  // namespace

std::string node_file_path(const config::FabricSpec& spec, const std::string& name) {
  const std::filesystem::path path(name);
  if (path.is_absolute() || !spec.source || spec.source->file() == "-" || spec.source->file().starts_with('<'))
    return name;
  return (std::filesystem::path(spec.source->file()).parent_path() / path).string();
}

void move_node_files(config::FabricSpec& spec, const std::string& directory) {
  for (config::NodeTypeSpec& type : spec.node_types) {
    if (!type.hwloc || std::filesystem::path(type.hwloc->value).is_absolute()) continue;
    std::error_code fault;
    const auto file = std::filesystem::weakly_canonical(node_file_path(spec, type.hwloc->value), fault);
    if (fault) continue;
    const auto from = std::filesystem::weakly_canonical(directory.empty() ? "." : directory, fault);
    type.hwloc->value = fault ? file.string() : std::filesystem::proximate(file, from, fault).string();
    if (fault) type.hwloc->value = file.string();
  }
}

Result<NodeType> affinity_node_type(const config::FabricSpec& spec, const config::NodeTypeSpec& in, Notes& notes) {
  auto read = read_file(spec, *in.hwloc);
  if (!read) return fail(std::move(read.error()));
  const auto node = std::make_shared<const NodeAffinity>(std::move(*read));
  NodeType out;
  out.name = in.name.value;
  out.gpus = static_cast<std::uint32_t>(node->gpus.size());
  out.nvlink = in.nvlink == config::NvlinkScope::node;
  out.nvlink_bandwidth = in.nvlink_bandwidth;
  out.affinity = node;
  if (out.gpus == 0) {
    return fail(text_error(spec, ErrorCode::missing, *in.hwloc, fmt::format("'{}' has no GPU", node->file),
                           "a node with GPUs"));
  }
  if (in.gpus != 0 && in.gpus != out.gpus) {
    return fail(
        text_error(spec, ErrorCode::conflict, *in.hwloc,
                   fmt::format("node type '{}' has {} GPUs, '{}' has {}", in.name.value, in.gpus, node->file, out.gpus),
                   "no gpus, or as many as there are"));
  }
  for (const Note& note : affinity_warnings(*node)) notes.push_back(note);
  if (node->nics.empty() && in.hwloc_nics.empty()) return by_number(spec, in, *node, std::move(out), notes);
  auto nics = choose_nics(spec, in, *node);
  if (!nics) return fail(std::move(nics.error()));
  out.affinity_nic = std::move(*nics);
  out.nics = static_cast<std::uint32_t>(out.affinity_nic.size());
  out.nic_of_gpu = nic_of_gpu_among(*node, out.affinity_nic);
  if (node->nic_by_order) {
    notes.push_back(
        {Note::Kind::assumption,
         node->file,
         {},
         fmt::format("no path between GPUs and NICs in it; those of node type '{}' go by number", in.name.value)});
  }
  return out;
}

}  // namespace weft::topology
