// SPDX-License-Identifier: BSD-3-Clause
//
// Models of NVIDIA's topograph (its docs/modeling.md): a map of switches with their children, and a list of blocks,
// that is of nodes under one switch with annotations. Leaf switches may go without an entry of their own. Labels
// (region, zone) say nothing of wires and are left out. The annotation accelerator.topology.test/domain, set on a block
// or inherited from a switch above it, is the NVLink domain: real providers fill it with the GPU memory fabric, NVLink
// domain and clique, or the like. A sub-domain (the racks within such a domain) is left out with a note.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "slurm_records.hpp"
#include "tree_fabric.hpp"
#include "weft/config/document.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

using config::Document;
using config::Node;

constexpr std::string_view kDomain = "accelerator.topology.test/domain";
constexpr std::string_view kSubDomain = "accelerator.topology.test/sub-domain";

class ModelImporter {
 public:
  ModelImporter(const Document& doc, const ImportOptions& options, Notes& notes)
      : doc_(doc), options_(options), notes_(notes) {
    tree_.name = stem_of(doc.source);
  }

  Result<config::FabricSpec> import() {
    if (!doc_.root.is_mapping()) {
      return fail(doc_.error(ErrorCode::bad_value, doc_.root,
                             fmt::format("a topograph model is {}", config::describe(doc_.root)),
                             "a map with switches and blocks"));
    }
    note_unknown(doc_.root, {"switches", "blocks"});
    if (auto ok = read_switches(); !ok) return fail(std::move(ok.error()));
    if (const auto cycle = find_cycle(tree_)) {
      const TreeSwitch& sw = tree_.switches[cycle->first];
      return fail(error_at(ErrorCode::conflict, doc_.source, sw.at, static_cast<std::uint32_t>(sw.name.size()),
                           fmt::format("the switches are not a tree: {}", cycle->path), "no switch below itself"));
    }
    if (auto ok = read_blocks(); !ok) return fail(std::move(ok.error()));
    join_loose();
    if (sub_domains_) {
      note_warning(notes_, doc_.source, *sub_domains_,
                   "sub-domains of accelerator domains are left out; the whole domain is one NVLink domain");
    }
    note_empty();
    note_odd_tree(tree_, doc_.source, notes_);
    return tree_spec(std::move(tree_), options_, doc_.source, notes_);
  }

 private:
  void note_unknown(const Node& map, std::initializer_list<std::string_view> legal) {
    for (const Node::Entry& entry : map.entries) {
      if (std::find(legal.begin(), legal.end(), entry.key) != legal.end()) continue;
      note_warning(notes_, doc_.source, entry.at,
                   fmt::format("unknown key {}, left out as topograph does; known are {}", entry.key,
                               config::one_of(std::span(legal.begin(), legal.size()))));
    }
  }

  Result<std::uint32_t> add_switch(const std::string& name, Position at) {
    if (auto ok = check_slurm_name(name, at, "switch", 0, doc_.source); !ok) return fail(std::move(ok.error()));
    index_.emplace(name, static_cast<std::uint32_t>(tree_.switches.size()));
    tree_.switches.push_back({.name = name, .at = at, .children = {}, .nodes = {}, .nodes_at = {}});
    parent_.emplace_back();
    domain_.emplace_back();
    return static_cast<std::uint32_t>(tree_.switches.size() - 1);
  }

  // The accelerator domain among a switch's or a block's annotations.
  Result<std::optional<std::string>> domain_in(const Node& map) {
    const Node* annotations = map.find("annotations");
    if (annotations == nullptr || annotations->is_null()) return std::optional<std::string>();
    auto entries = config::as_mapping(doc_, *annotations, "annotations");
    if (!entries) return fail(std::move(entries.error()));
    if (const Node* sub = annotations->find(kSubDomain); sub != nullptr && !sub_domains_) sub_domains_ = sub->at;
    const Node* domain = annotations->find(kDomain);
    if (domain == nullptr) return std::optional<std::string>();
    auto text = config::as_name(doc_, *domain, "accelerator domain");
    if (!text) return fail(std::move(text.error()));
    domain_at_.emplace(*text, domain->at);
    return std::optional<std::string>(std::move(*text));
  }

  Result<void> read_switches() {
    const Node* switches = doc_.root.find("switches");
    if (switches == nullptr || switches->is_null()) return {};
    auto entries = config::as_mapping(doc_, *switches, "switches");
    if (!entries) return fail(std::move(entries.error()));
    for (const Node::Entry& entry : *entries) {
      if (!entry.value.is_mapping()) {
        return fail(doc_.error_key(ErrorCode::bad_value, entry,
                                   fmt::format("switch {} is {}", entry.key, config::describe(entry.value)),
                                   "a map with labels, annotations and switches"));
      }
      if (auto added = add_switch(entry.key, entry.at); !added) return fail(std::move(added.error()));
    }
    for (const Node::Entry& entry : *entries) {
      if (auto ok = read_switch(entry); !ok) return ok;
    }
    return {};
  }

  Result<void> read_switch(const Node::Entry& entry) {
    const std::uint32_t self = index_.at(entry.key);
    note_unknown(entry.value, {"name", "labels", "annotations", "switches"});
    if (const Node* name = entry.value.find("name"); name != nullptr && name->text != entry.key) {
      return fail(doc_.error(ErrorCode::conflict, *name,
                             fmt::format("switch {} is named {}", entry.key, config::describe(*name)),
                             "the name of its key, or none"));
    }
    auto domain = domain_in(entry.value);
    if (!domain) return fail(std::move(domain.error()));
    domain_[self] = std::move(*domain);
    const Node* children = entry.value.find("switches");
    if (children == nullptr) return {};
    auto items = config::as_sequence(doc_, *children, fmt::format("switches of {}", entry.key));
    if (!items) return fail(std::move(items.error()));
    for (const Node& item : *items) {
      auto name = config::as_text(doc_, item, "a switch");
      if (!name) return fail(std::move(name.error()));
      auto child = index_.find(*name);
      if (child == index_.end()) {
        if (auto added = add_switch(*name, item.at); !added) return fail(std::move(added.error()));
        child = index_.find(*name);
      }
      if (parent_[child->second]) {
        return fail(doc_.error(ErrorCode::conflict, item,
                               fmt::format("switch {} has two parents, {} and {}", *name,
                                           tree_.switches[*parent_[child->second]].name, entry.key),
                               "one parent at most"));
      }
      parent_[child->second] = self;
      tree_.switches[self].children.push_back(child->second);
    }
    return {};
  }

  Result<void> read_blocks() {
    const Node* blocks = doc_.root.find("blocks");
    if (blocks == nullptr || blocks->is_null()) {
      return fail(doc_.error(ErrorCode::missing, doc_.root, "no blocks, and so no nodes, in the model",
                             "blocks: a list of maps with switch and nodes"));
    }
    auto items = config::as_sequence(doc_, *blocks, "blocks");
    if (!items) return fail(std::move(items.error()));
    if (items->empty()) {
      return fail(doc_.error(ErrorCode::missing, *blocks, "blocks is an empty list", "at least one block"));
    }
    for (const Node& item : *items) {
      if (auto ok = read_block(item); !ok) return ok;
    }
    for (const std::string& name : domain_order_) {
      tree_.nvlink_domains.push_back({.name = name, .at = domain_at_.at(name), .nodes = domain_nodes_.at(name)});
    }
    return {};
  }

  Result<void> read_block(const Node& item) {
    if (!item.is_mapping()) {
      return fail(doc_.error(ErrorCode::bad_value, item, fmt::format("a block is {}", config::describe(item)),
                             "a map with switch, nodes and annotations"));
    }
    note_unknown(item, {"switch", "nodes", "labels", "annotations"});
    auto domain = domain_in(item);
    if (!domain) return fail(std::move(domain.error()));
    auto leaf = leaf_of(item, *domain);
    if (!leaf) return fail(std::move(leaf.error()));
    auto names = nodes_in(item);
    if (!names) return fail(std::move(names.error()));
    std::optional<std::uint32_t> up = *leaf;
    while (!*domain && up) {
      *domain = domain_[*up];
      up = parent_[*up];
    }
    TreeSwitch& sw = tree_.switches[*leaf];
    if (sw.nodes.empty()) sw.nodes_at = item.find("nodes")->at;
    for (const std::string& name : *names) {
      sw.nodes.push_back(name);
      if (*domain) {
        if (!domain_nodes_.contains(**domain)) domain_order_.push_back(**domain);
        domain_nodes_[**domain].push_back(name);
      }
    }
    return {};
  }

  // The block's switch; for a block without one a leaf of its own, shared by the blocks of one domain.
  Result<std::uint32_t> leaf_of(const Node& item, const std::optional<std::string>& domain) {
    const Node* node = item.find("switch");
    if (node != nullptr && !node->is_null()) {
      auto name = config::as_text(doc_, *node, "switch");
      if (!name) return fail(std::move(name.error()));
      const auto it = index_.find(*name);
      if (it != index_.end()) return it->second;
      return fail(doc_.error(ErrorCode::dangling, *node, fmt::format("switch {} is not in switches", *name),
                             "a switch of the map, or a child of one"));
    }
    std::string name = domain ? *domain : fmt::format("block{}", loose_.size() + 1);
    if (const auto it = loose_by_name_.find(name); domain && it != loose_by_name_.end()) return it->second;
    const std::string key = name;
    while (index_.contains(name)) name += "-leaf";
    auto added = add_switch(name, item.at);
    if (!added) return added;
    loose_.push_back(*added);
    loose_by_name_.emplace(key, *added);
    return added;
  }

  Result<std::vector<std::string>> nodes_in(const Node& item) {
    const Node* nodes = item.find("nodes");
    if (nodes == nullptr || nodes->is_null() || (nodes->is_sequence() && nodes->items.empty())) {
      return fail(doc_.error(ErrorCode::missing, item, "a block without nodes", "nodes: a list of names or ranges"));
    }
    auto items = config::as_sequence(doc_, *nodes, "nodes");
    if (!items) return fail(std::move(items.error()));
    std::vector<std::string> out;
    for (const Node& entry : *items) {
      auto text = config::as_hostlist(doc_, entry, "nodes");
      if (!text) return fail(std::move(text.error()));
      auto names = config::expand_hostlist(*text);
      if (!names) {
        const config::HostlistError& e = names.error();
        return fail(doc_.error_inside(e.code, entry, e.offset, e.length, e.message, e.expected));
      }
      for (std::string& name : *names) {
        if (!seen_.insert(name).second) {
          return fail(doc_.error(ErrorCode::duplicate, entry, fmt::format("node {} is in more than one block", name),
                                 "each node once"));
        }
        out.push_back(std::move(name));
      }
      if (seen_.size() > config::kMaxHostlistNames) {
        return fail(doc_.error(ErrorCode::limit, entry, "too many nodes in all",
                               fmt::format("at most {}", config::kMaxHostlistNames)));
      }
    }
    return out;
  }

  // Blocks that name no switch hang under nothing; the model's makers treat them as parts of one cluster.
  void join_loose() {
    if (loose_.empty()) return;
    note_assumed(
        notes_, doc_.source,
        "blocks that name no switch have a leaf of their own, and all parts of the model are joined at the top");
    std::vector<std::uint32_t> roots;
    for (std::uint32_t i = 0; i < tree_.switches.size(); ++i) {
      if (!parent_[i]) roots.push_back(i);
    }
    if (roots.size() < 2) return;
    std::string name = "all-blocks";
    while (index_.contains(name)) name += "-top";
    tree_.switches.push_back({.name = std::move(name),
                              .at = tree_.switches[loose_.front()].at,
                              .children = std::move(roots),
                              .nodes = {},
                              .nodes_at = {}});
  }

  void note_empty() {
    std::vector<std::string> names;
    Position at;
    for (const TreeSwitch& sw : tree_.switches) {
      if (!sw.nodes.empty() || !sw.children.empty()) continue;
      if (names.empty()) at = sw.at;
      names.push_back(sw.name);
    }
    if (names.empty()) return;
    note_warning(notes_, doc_.source, at, fmt::format("no nodes under {}", shown_names(names)));
  }

  const Document& doc_;
  const ImportOptions& options_;
  Notes& notes_;
  TreeFabric tree_;
  std::vector<std::optional<std::uint32_t>> parent_;
  std::vector<std::optional<std::string>> domain_;  // annotated on the switch itself
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::uint32_t> loose_;
  std::map<std::string, std::uint32_t> loose_by_name_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> domain_order_;
  std::map<std::string, std::vector<std::string>> domain_nodes_;
  std::map<std::string, Position> domain_at_;
  std::optional<Position> sub_domains_;
};

}  // namespace

Result<Imported> import_topograph_model(const Source& source, const ImportOptions& options) {
  const auto doc = config::parse_yaml(source);
  if (!doc) return fail(doc.error());
  Imported imported;
  imported.kind = FileKind::topograph_model;
  auto spec = ModelImporter(*doc, options, imported.notes).import();
  if (!spec) return fail(std::move(spec.error()));
  imported.spec = std::move(*spec);
  return imported;
}

}  // namespace weft::topology
