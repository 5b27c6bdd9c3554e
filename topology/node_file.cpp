// SPDX-License-Identifier: BSD-3-Clause
#include "node_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

using NodeGuids = std::pair<std::string, std::vector<NicGuids>>;
using Join = std::vector<std::uint32_t>;  // of each fabric NIC the file's

constexpr std::uint32_t kNone = ~0U;
constexpr std::string_view kGpusAssumed = "as many GPUs in each node as it has compute NICs";  // ib_assemble.cpp

// Of each adapter the file's NIC that has one of its GUIDs; kNone where none has. Node GUIDs before those of ports and
// cards: the ports of a card share the latter. A NIC is nobody's twice.
Join match(const std::vector<NicGuids>& adapters, const NodeAffinity& node) {
  Join out(adapters.size(), kNone);
  std::vector<bool> taken(node.nics.size(), false);
  for (const auto which : {&NicGuids::node, &NicGuids::port, &NicGuids::system}) {
    for (std::size_t a = 0; a < adapters.size(); ++a) {
      if (out[a] != kNone || adapters[a].*which == 0) continue;
      for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
        if (taken[n] || node.nics[n].guid != adapters[a].*which) continue;
        out[a] = n;
        taken[n] = true;
        break;
      }
    }
  }
  return out;
}

std::string names_of(const Join& join, const NodeAffinity& node) {
  std::string out;
  for (const std::uint32_t n : join) out += (out.empty() ? "" : ", ") + node.nics[n].name;
  return out;
}

class Joiner {
 public:
  Joiner(const std::string& path, const NodeAffinity& node, Imported& imported)
      : path_(path), node_(node), imported_(imported) {}

  Result<void> run() {
    const auto joined = by_guid();
    const std::string joined_type = joined ? type_of(imported_.nic_guids[joined->first].first) : std::string();
    std::size_t fitted = 0;
    for (config::NodeTypeSpec& type : imported_.spec.node_types) {
      if (type.hwloc) continue;
      const bool is_joined = joined && type.name.value == joined_type;
      if (!is_joined && !join_nics(node_, std::vector<std::optional<std::uint64_t>>(type.nics))) continue;
      give(type, is_joined ? &joined->second : nullptr);
      ++fitted;
    }
    if (fitted == imported_.spec.node_types.size()) {
      std::erase_if(imported_.notes, [](const Note& n) { return n.message.starts_with(kGpusAssumed); });
    }
    if (fitted > 0) return {};
    Error e = error(ErrorCode::conflict,
                    fmt::format("{} GPUs and {} NICs, {} of them near a GPU, fit no node type of the fabric",
                                node_.gpus.size(), node_.nics.size(), compute_nics(node_).size()),
                    "the inside of one of the fabric's nodes");
    e.file = node_.file;
    return fail(std::move(e));
  }

 private:
  void note(Note::Kind kind, std::string text) { imported_.notes.push_back({kind, node_.file, {}, std::move(text)}); }

  // The node that the file is of, by its adapters' GUIDs: place in nic_guids, and the join.
  std::optional<std::pair<std::size_t, Join>> by_guid() {
    const bool has_guids =
        std::any_of(node_.nics.begin(), node_.nics.end(), [](const AffinityNic& n) { return n.guid; });
    if (imported_.nic_guids.empty() || !has_guids) return std::nullopt;
    std::optional<std::pair<std::size_t, Join>> found;
    std::vector<std::string> others;
    for (std::size_t h = 0; h < imported_.nic_guids.size(); ++h) {
      Join join = match(imported_.nic_guids[h].second, node_);
      if (std::all_of(join.begin(), join.end(), [](std::uint32_t n) { return n == kNone; })) continue;
      if (found) {
        others.push_back(imported_.nic_guids[h].first);
      } else {
        found.emplace(h, std::move(join));
      }
    }
    if (!found) return strangers();
    const std::string& name = imported_.nic_guids[found->first].first;
    if (!others.empty()) {
      note(Note::Kind::warning, fmt::format("its NICs are adapters of {} and of {} in the fabric; NICs go by order",
                                            name, config::compress_hostlist(others)));
      return std::nullopt;
    }
    const auto missing = static_cast<std::size_t>(std::count(found->second.begin(), found->second.end(), kNone));
    if (missing > 0) {
      note(Note::Kind::warning,
           fmt::format("{} of the {} adapters that {} has in the fabric {} not in it; NICs go by order", missing,
                       found->second.size(), name, missing == 1 ? "is" : "are"));
      return std::nullopt;
    }
    say_joined(name, found->second);
    return found;
  }

  void say_joined(const std::string& name, const Join& join) {
    if (is_a_node(node_.host) && node_.host != name)
      note(Note::Kind::warning,
           fmt::format("it says that it is of {}; by the GUIDs of its NICs it is of {}", node_.host, name));
    const bool in_order = std::is_sorted(join.begin(), join.end());
    note(Note::Kind::assumption, fmt::format("NICs by the GUIDs of {}: {}{}", name, names_of(join, node_),
                                             in_order ? "" : ", another order than the file's"));
  }

  std::optional<std::pair<std::size_t, Join>> strangers() {
    if (is_a_node(node_.host)) {
      note(Note::Kind::warning,
           fmt::format("{} has adapters of other GUIDs in the fabric; NICs go by order", node_.host));
    } else {
      note(Note::Kind::assumption, "the fabric has none of its adapters; NICs go by order");
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_a_node(const std::string& name) const {
    return std::any_of(imported_.nic_guids.begin(), imported_.nic_guids.end(),
                       [&](const NodeGuids& each) { return each.first == name; });
  }

  [[nodiscard]] std::string type_of(const std::string& name) const {
    for (const config::NodeSpec& nodes : imported_.spec.nodes) {
      const auto names = config::expand_hostlist(nodes.names.value);
      if (names && std::find(names->begin(), names->end(), name) != names->end()) return nodes.type.value;
    }
    return {};
  }

  void give(config::NodeTypeSpec& type, const Join* join) const {
    type.hwloc.emplace();
    type.hwloc->value = relative_path();
    type.gpus = static_cast<std::uint32_t>(node_.gpus.size());
    type.nic_of_gpu.clear();
    if (join == nullptr) return;
    for (const std::uint32_t n : *join) type.hwloc_nics.push_back({node_.nics[n].name, {}});
  }

  // As node_file_path() will read it: from where the fabric file is.
  [[nodiscard]] std::string relative_path() const {
    const std::filesystem::path path(path_);
    const Source& source = imported_.spec.source;
    if (path.is_absolute() || !source || source->file() == "-" || source->file().starts_with('<')) return path_;
    std::error_code fault;
    const auto file = std::filesystem::weakly_canonical(path, fault);
    if (fault) return path_;
    const auto parent = std::filesystem::path(source->file()).parent_path();
    const auto from = std::filesystem::weakly_canonical(parent.empty() ? "." : parent, fault);
    if (fault) return file.string();
    auto out = std::filesystem::proximate(file, from, fault);
    return fault ? file.string() : out.string();
  }

  const std::string& path_;
  const NodeAffinity& node_;
  Imported& imported_;
};

}  // namespace

Result<NodeAffinity> read_node_file(const std::string& path) {
  const auto source = read_source(path, kMaxAffinityBytes);
  if (!source) return fail(source.error());
  auto node = read_affinity(*source);
  if (!node) return node;
  if (!node->gpus.empty()) return node;
  Error e = error(ErrorCode::missing, "no GPU in it", "the inside of a node with GPUs");
  e.file = node->file;
  return fail(std::move(e));
}

ImportOptions with_counts(ImportOptions options, const NodeAffinity& node) {
  if (!options.gpus_per_node) options.gpus_per_node = static_cast<std::uint32_t>(node.gpus.size());
  if (!options.nics_per_node && !node.nics.empty())
    options.nics_per_node = static_cast<std::uint32_t>(compute_nics(node).size());
  return options;
}

Result<void> use_node_file(const std::string& path, const NodeAffinity& node, Imported& imported) {
  return Joiner(path, node, imported).run();
}

}  // namespace weft::topology
