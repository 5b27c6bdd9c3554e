// SPDX-License-Identifier: BSD-3-Clause
#include "affinity_node_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "fabric_names.hpp"
#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

std::string path_of(const config::FabricSpec& spec, const std::string& name) {
  const std::filesystem::path path(name);
  if (path.is_absolute() || !spec.source || spec.source->file() == "-" || spec.source->file().starts_with('<'))
    return name;
  return (std::filesystem::path(spec.source->file()).parent_path() / path).string();
}

Result<NodeAffinity> read_file(const config::FabricSpec& spec, const config::Text& name) {
  const std::string path = path_of(spec, name.value);
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

// The type's NICs: those said, else those near a GPU.
Result<std::vector<std::uint32_t>> choose_nics(const config::FabricSpec& spec, const config::NodeTypeSpec& in,
                                               const NodeAffinity& node) {
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
  if (node->nics.empty()) return by_number(spec, in, *node, std::move(out), notes);
  auto nics = choose_nics(spec, in, *node);
  if (!nics) return fail(std::move(nics.error()));
  out.affinity_nic = std::move(*nics);
  out.nics = static_cast<std::uint32_t>(out.affinity_nic.size());
  for (std::uint32_t g = 0; g < out.gpus; ++g) {
    const auto place = std::find(out.affinity_nic.begin(), out.affinity_nic.end(), *node->nic_of_gpu[g]);
    out.nic_of_gpu.push_back(static_cast<std::uint32_t>(place - out.affinity_nic.begin()));
  }
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
