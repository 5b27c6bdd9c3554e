// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm's topology.yaml: a list of named topologies, or one alone. All of them are checked, as slurmctld does; one is
// taken: the caller's choice, else the first with cluster_default, else the first.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <span>
#include <utility>

#include "slurm_records.hpp"
#include "weft/config/document.hpp"

namespace weft::topology {
namespace {

using config::Document;
using config::Node;

// In the order in which Slurm reads them.
constexpr std::array<std::string_view, 5> kTypes{"block", "flat", "ring", "torus3d", "tree"};

std::string quoted(std::string_view name) { return fmt::format("'{}'", name); }

class YamlImporter {
 public:
  YamlImporter(const Document& doc, const ImportOptions& options) : doc_(doc), options_(options) {}

  Result<Imported> import() {
    auto topologies = list_of(doc_.root, "topology.yaml",
                              "a list of topologies, each with a name and one of block, flat, ring, torus3d or tree");
    if (!topologies) return fail(std::move(topologies.error()));
    if (topologies->empty()) {
      return fail(doc_.error(ErrorCode::missing, doc_.root, "no topology in the file", "a list of topologies"));
    }
    for (const Node* node : *topologies) {
      auto topology = read(*node);
      if (!topology) return fail(std::move(topology.error()));
      topologies_.push_back(std::move(*topology));
    }
    return choose();
  }

 private:
  struct Topology {
    const Node* node = nullptr;
    std::string name;
    bool cluster_default = false;
    std::string_view type;
    config::FabricSpec spec;
    Notes notes;
  };

  // A list, or one entry alone where Slurm takes that for a list of one.
  [[nodiscard]] Result<std::vector<const Node*>> list_of(const Node& node, std::string_view what,
                                                         std::string_view expected) const {
    std::vector<const Node*> out;
    if (node.is_mapping()) {
      out.push_back(&node);
    } else if (node.is_sequence()) {
      for (const Node& item : node.items) out.push_back(&item);
    } else {
      return fail(doc_.error(ErrorCode::bad_value, node, fmt::format("{} is {}", what, config::describe(node)),
                             std::string(expected)));
    }
    return out;
  }

  [[nodiscard]] Result<void> need_map(const Node& node, std::string_view what, std::string_view expected) const {
    if (node.is_mapping()) return {};
    return fail(doc_.error(ErrorCode::bad_value, node, fmt::format("{} is {}", what, config::describe(node)),
                           std::string(expected)));
  }

  // Slurm passes over keys that it does not know with a warning.
  void note_unknown(const Node& map, std::span<const std::string_view> legal, Notes& notes) const {
    for (const Node::Entry& entry : map.entries) {
      bool known = false;
      for (const std::string_view key : legal) known = known || key == entry.key;
      if (!known) {
        note_warning(
            notes, doc_.source, entry.at,
            fmt::format("unknown key {}, left out as Slurm does; known are {}", entry.key, config::one_of(legal)));
      }
    }
  }
  void note_unknown(const Node& map, std::initializer_list<std::string_view> legal, Notes& notes) const {
    note_unknown(map, std::span(legal.begin(), legal.size()), notes);
  }

  [[nodiscard]] Result<Topology> read(const Node& node) {
    if (auto ok =
            need_map(node, "a topology", "a map with a topology name and one of block, flat, ring, torus3d or tree");
        !ok) {
      return fail(std::move(ok.error()));
    }
    Topology t;
    t.node = &node;
    note_unknown(node, {"topology", "cluster_default", "block", "flat", "ring", "torus3d", "tree"}, t.notes);
    if (const Node* name = node.find("topology")) {
      auto text = config::as_text(doc_, *name, "topology");
      if (!text) return fail(std::move(text.error()));
      t.name = std::move(*text);
    } else {
      note_warning(t.notes, doc_.source, node.at, "a topology without a name");
    }
    if (const Node* flag = node.find("cluster_default")) {
      auto value = config::as_bool(doc_, *flag, "cluster_default");
      if (!value) return fail(std::move(value.error()));
      t.cluster_default = *value;
    }
    auto type = type_of(node, t);
    if (!type) return fail(std::move(type.error()));
    auto spec = build(*node.find(t.type), t);
    if (!spec) return fail(std::move(spec.error()));
    t.spec = std::move(*spec);
    return t;
  }

  // Which of the plugins the topology names, exactly one. `flat: false` and an empty map name none.
  [[nodiscard]] Result<void> type_of(const Node& node, Topology& t) const {
    for (const std::string_view type : kTypes) {
      const Node* value = node.find(type);
      if (value == nullptr) continue;
      if (type == "flat" && !value->is_mapping()) {
        auto on = config::as_bool(doc_, *value, "flat");
        if (!on) return fail(std::move(on.error()));
        if (!*on) continue;
      } else {
        if (auto ok = need_map(*value, type, expected_of(type)); !ok) return ok;
        if (value->entries.empty() && type != "flat") continue;
      }
      if (!t.type.empty()) {
        const Node::Entry& second = entry_of(node, type);
        return fail(doc_.error_key(ErrorCode::conflict, second,
                                   fmt::format("topology {} is both {} and {}", quoted(t.name), t.type, type),
                                   "exactly one of block, flat, ring, torus3d or tree"));
      }
      t.type = type;
    }
    if (!t.type.empty()) return {};
    return fail(doc_.error(ErrorCode::missing, node, fmt::format("topology {} has no type", quoted(t.name)),
                           "one of block, flat (true), ring, torus3d or tree"));
  }

  static const Node::Entry& entry_of(const Node& map, std::string_view key) {
    for (const Node::Entry& entry : map.entries) {
      if (entry.key == key) return entry;
    }
    return map.entries.front();
  }

  static std::string_view expected_of(std::string_view type) {
    if (type == "block") return "a map with block_sizes and blocks";
    if (type == "ring") return "a map with rings";
    if (type == "torus3d") return "a map with toruses";
    if (type == "tree") return "a map with switches";
    return "true, false or a map";
  }

  [[nodiscard]] Result<config::FabricSpec> build(const Node& body, Topology& t) const {
    const SlurmContext at{.source = doc_.source,
                          .options = options_,
                          .notes = t.notes,
                          .name = t.name.empty() ? stem_of(doc_.source) : t.name,
                          .at = body.at,
                          .conf = false,
                          .switch_key = "switch",
                          .block_key = "block",
                          .ring_key = "ring"};
    if (t.type == "tree") return tree(body, at);
    if (t.type == "block") return block(body, at);
    if (t.type == "ring") return ring(body, at);
    if (t.type == "torus3d") return torus3d(body, at);
    if (body.is_mapping()) note_unknown(body, {"alpha_step_rank"}, t.notes);
    return config::FabricSpec{};
  }

  [[nodiscard]] Result<std::optional<SlurmList>> hostlist(const Node& map, std::string_view key,
                                                          std::string_view what) const {
    const Node* node = map.find(key);
    if (node == nullptr || node->is_null()) return std::optional<SlurmList>();
    if (!node->is_scalar()) {
      return fail(doc_.error(ErrorCode::bad_value, *node, fmt::format("{} is {}", what, config::describe(*node)),
                             "a hostlist, as in n[1-4]"));
    }
    return std::optional<SlurmList>(SlurmList{node->text, doc_.text_at(*node), is_exact(*node)});
  }

  // Whether the scalar's bytes stand in the source as they are.
  [[nodiscard]] bool is_exact(const Node& scalar) const {
    const Position at = doc_.text_at(scalar);
    const std::string_view line = doc_.source->line(at.line);
    return at.column >= 1 && at.column - 1 <= line.size() && line.substr(at.column - 1).starts_with(scalar.text);
  }

  // The name of a map's thing and where it stands.
  [[nodiscard]] Result<std::pair<std::string, Position>> name_in(const Node& map, std::string_view key) const {
    const Node* node = map.find(key);
    if (node == nullptr) {
      return fail(doc_.error(ErrorCode::missing, map, fmt::format("a {} without a name", key == "name" ? "torus" : key),
                             fmt::format("{}: NAME", key)));
    }
    auto text = config::as_text(doc_, *node, key);
    if (!text) return fail(std::move(text.error()));
    return std::pair{std::move(*text), doc_.text_at(*node)};
  }

  [[nodiscard]] Result<config::FabricSpec> tree(const Node& body, const SlurmContext& at) const {
    note_unknown(body, {"switches"}, at.notes);
    auto entries = entries_of(body, "switches", "a list of switches, each a map with switch and children or nodes");
    if (!entries) return fail(std::move(entries.error()));
    std::vector<SlurmSwitch> switches;
    for (const Node* entry : *entries) {
      if (auto ok = need_map(*entry, "a switch", "a map with switch and children or nodes"); !ok) {
        return fail(std::move(ok.error()));
      }
      note_unknown(*entry, {"switch", "children", "nodes"}, at.notes);
      auto name = name_in(*entry, "switch");
      if (!name) return fail(std::move(name.error()));
      auto nodes = hostlist(*entry, "nodes", "nodes");
      if (!nodes) return fail(std::move(nodes.error()));
      auto children = hostlist(*entry, "children", "children");
      if (!children) return fail(std::move(children.error()));
      switches.push_back({std::move(name->first), name->second, std::move(*nodes), std::move(*children)});
    }
    return slurm_tree(switches, at);
  }

  [[nodiscard]] Result<std::vector<const Node*>> entries_of(const Node& body, std::string_view key,
                                                            std::string_view expected) const {
    const Node* node = body.find(key);
    if (node == nullptr) return std::vector<const Node*>{};
    return list_of(*node, key, expected);
  }

  [[nodiscard]] Result<std::vector<SlurmGroup>> groups(const Node& body, std::string_view list, std::string_view key,
                                                       Notes& notes) const {
    auto entries = entries_of(body, list, fmt::format("a list of {}, each a map with {} and nodes", list, key));
    if (!entries) return fail(std::move(entries.error()));
    std::vector<SlurmGroup> out;
    for (const Node* entry : *entries) {
      if (auto ok = need_map(*entry, fmt::format("a {}", key), fmt::format("a map with {} and nodes", key)); !ok) {
        return fail(std::move(ok.error()));
      }
      note_unknown(*entry, {key, "nodes"}, notes);
      auto name = name_in(*entry, key);
      if (!name) return fail(std::move(name.error()));
      auto nodes = hostlist(*entry, "nodes", "nodes");
      if (!nodes) return fail(std::move(nodes.error()));
      out.push_back({std::move(name->first), name->second, std::move(*nodes)});
    }
    return out;
  }

  [[nodiscard]] Result<config::FabricSpec> block(const Node& body, const SlurmContext& at) const {
    note_unknown(body, {"block_sizes", "blocks"}, at.notes);
    std::vector<SlurmBlockSize> sizes;
    if (const Node* list = body.find("block_sizes")) {
      std::vector<const Node*> items;
      if (list->is_scalar()) items.push_back(list);  // Slurm takes one number for a list of one
      for (const Node& item : list->items) items.push_back(&item);
      if (list->is_mapping()) {
        return fail(doc_.error(ErrorCode::bad_value, *list, "block_sizes is a map", "a list of numbers of nodes"));
      }
      for (const Node* item : items) {
        auto nodes = config::as_unsigned(doc_, *item, "a block size", 1, std::numeric_limits<std::int32_t>::max());
        if (!nodes) return fail(std::move(nodes.error()));
        sizes.push_back({*nodes, item->at, static_cast<std::uint32_t>(item->text.size())});
      }
    }
    auto blocks = groups(body, "blocks", "block", at.notes);
    if (!blocks) return fail(std::move(blocks.error()));
    return slurm_block(*blocks, sizes, at);
  }

  [[nodiscard]] Result<config::FabricSpec> ring(const Node& body, const SlurmContext& at) const {
    note_unknown(body, {"rings"}, at.notes);
    auto rings = groups(body, "rings", "ring", at.notes);
    if (!rings) return fail(std::move(rings.error()));
    return slurm_ring(*rings, at);
  }

  [[nodiscard]] Result<Torus3dDims> dims(const Node& map, std::string_view key, Notes& notes) const {
    Torus3dDims out;
    out.at = map.at;
    const Node* node = map.find(key);
    if (node == nullptr) return out;
    if (auto ok = need_map(*node, key, "a map of x, y and z"); !ok) return fail(std::move(ok.error()));
    note_unknown(*node, {"x", "y", "z"}, notes);
    out.at = node->at;
    for (const auto& [axis, slot] : {std::pair{"x", &out.x}, std::pair{"y", &out.y}, std::pair{"z", &out.z}}) {
      const Node* value = node->find(axis);
      if (value == nullptr) continue;
      auto number = config::as_unsigned(doc_, *value, axis, 0, std::numeric_limits<std::uint16_t>::max());
      if (!number) return fail(std::move(number.error()));
      *slot = static_cast<std::uint32_t>(*number);
    }
    return out;
  }

  [[nodiscard]] Result<SlurmTorus::Placement> placement(const Node& node, Notes& notes) const {
    if (auto ok = need_map(node, "a placement", "a map with dims"); !ok) return fail(std::move(ok.error()));
    note_unknown(node, {"dims", "anchor_seed", "anchor_spacing"}, notes);
    SlurmTorus::Placement out;
    for (const auto& [key, slot] : {std::pair{"dims", &out.dims}, std::pair{"anchor_seed", &out.seed},
                                    std::pair{"anchor_spacing", &out.spacing}}) {
      auto value = dims(node, key, notes);
      if (!value) return fail(std::move(value.error()));
      *slot = *value;
    }
    return out;
  }

  [[nodiscard]] Result<SlurmTorus::Region> region(const Node& node, Notes& notes) const {
    if (auto ok = need_map(node, "a region", "a map with anchor, dims and nodes"); !ok) {
      return fail(std::move(ok.error()));
    }
    note_unknown(node, {"anchor", "dims", "nodes"}, notes);
    SlurmTorus::Region out;
    out.at = node.at;
    auto anchor = dims(node, "anchor", notes);
    if (!anchor) return fail(std::move(anchor.error()));
    auto size = dims(node, "dims", notes);
    if (!size) return fail(std::move(size.error()));
    auto nodes = hostlist(node, "nodes", "nodes");
    if (!nodes) return fail(std::move(nodes.error()));
    out.anchor = *anchor;
    out.dims = *size;
    out.nodes = std::move(*nodes);
    return out;
  }

  [[nodiscard]] Result<SlurmTorus> torus(const Node& node, Notes& notes) const {
    if (auto ok = need_map(node, "a torus", "a map with name, dims and nodes or regions"); !ok) {
      return fail(std::move(ok.error()));
    }
    note_unknown(node, {"name", "dims", "nodes", "regions", "placements"}, notes);
    SlurmTorus out;
    auto name = name_in(node, "name");
    if (!name) return fail(std::move(name.error()));
    out.name = std::move(name->first);
    out.at = name->second;
    auto nodes = hostlist(node, "nodes", "nodes");
    if (!nodes) return fail(std::move(nodes.error()));
    out.nodes = std::move(*nodes);
    auto size = dims(node, "dims", notes);
    if (!size) return fail(std::move(size.error()));
    out.dims = *size;
    auto placements = entries_of(node, "placements", "a list of placements, each a map with dims");
    if (!placements) return fail(std::move(placements.error()));
    for (const Node* entry : *placements) {
      auto value = placement(*entry, notes);
      if (!value) return fail(std::move(value.error()));
      out.placements.push_back(*value);
    }
    auto regions = entries_of(node, "regions", "a list of regions, each a map with anchor, dims and nodes");
    if (!regions) return fail(std::move(regions.error()));
    for (const Node* entry : *regions) {
      auto value = region(*entry, notes);
      if (!value) return fail(std::move(value.error()));
      out.regions.push_back(std::move(*value));
    }
    return out;
  }

  [[nodiscard]] Result<config::FabricSpec> torus3d(const Node& body, const SlurmContext& at) const {
    note_unknown(body, {"toruses"}, at.notes);
    auto entries = entries_of(body, "toruses", "a list of toruses, each a map with name, dims and nodes or regions");
    if (!entries) return fail(std::move(entries.error()));
    std::vector<SlurmTorus> toruses;
    for (const Node* entry : *entries) {
      auto value = torus(*entry, at.notes);
      if (!value) return fail(std::move(value.error()));
      toruses.push_back(std::move(*value));
    }
    return slurm_torus3d(toruses, at);
  }

  [[nodiscard]] std::string others(const Topology& but) const {
    std::string names;
    for (const Topology& t : topologies_) {
      if (&t == &but || t.type == "flat") continue;
      names += (names.empty() ? "" : ", ") + t.name;
    }
    return names;
  }

  [[nodiscard]] Result<Imported> choose() {
    Topology* chosen = nullptr;
    for (Topology& t : topologies_) {
      if (chosen == nullptr && (options_.topology ? t.name == *options_.topology : t.cluster_default)) chosen = &t;
    }
    if (chosen == nullptr && options_.topology) {
      return fail(doc_.error(ErrorCode::dangling, doc_.root, fmt::format("no topology {}", quoted(*options_.topology)),
                             fmt::format("one of: {}", others(Topology{}))));
    }
    const bool by_default = chosen != nullptr && !options_.topology;
    if (chosen == nullptr) chosen = &topologies_.front();
    if (chosen->type == "flat") {
      const std::string names = others(*chosen);
      return fail(doc_.error(ErrorCode::unsupported, *chosen->node,
                             fmt::format("topology {} is flat, which names no nodes", quoted(chosen->name)),
                             names.empty() ? std::string("a tree, block, ring or torus3d topology")
                                           : fmt::format("another of the file's topologies: {}", names)));
    }
    Imported imported;
    imported.kind = FileKind::slurm_topology_yaml;
    imported.spec = std::move(chosen->spec);
    imported.notes = std::move(chosen->notes);
    if (topologies_.size() > 1 && !options_.topology) {
      imported.notes.insert(imported.notes.begin(), {.kind = Note::Kind::assumption,
                                                     .file = doc_.source->file(),
                                                     .at = {},
                                                     .message = fmt::format("topology {} of the {} in the file, {}",
                                                                            chosen->name, topologies_.size(),
                                                                            by_default ? "its cluster_default"
                                                                                       : "the first (none is the "
                                                                                         "cluster_default)")});
    }
    return imported;
  }

  const Document& doc_;
  const ImportOptions& options_;
  std::vector<Topology> topologies_;
};

}  // namespace

Result<Imported> import_slurm_topology_yaml(const Source& source, const ImportOptions& options) {
  const auto doc = config::parse_yaml(source);
  if (!doc) return fail(doc.error());
  return YamlImporter(*doc, options).import();
}

}  // namespace weft::topology
