// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "slurm_records.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kLongestName = 64;   // Slurm's HOST_NAME_MAX
constexpr std::size_t kMostPrefixes = 16;  // among more of them none is an odd one out
constexpr int kMostPasses = 20;            // slurmctld gives up on a tree after this many passes over it

std::uint32_t width_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(text.size(), 1));
}

using Index = std::unordered_map<std::string, std::uint32_t>;

Result<void> check_switches(const std::vector<SlurmSwitch>& switches, const SlurmContext& at, Index& index) {
  for (std::uint32_t i = 0; i < switches.size(); ++i) {
    const SlurmSwitch& sw = switches[i];
    if (auto ok = check_slurm_name(sw.name, sw.at, "switch", at.conf ? kLongestName : 0, at.source); !ok) return ok;
    const auto [it, fresh] = index.emplace(sw.name, i);
    if (!fresh) {
      return fail(
          error_at(ErrorCode::duplicate, at.source, sw.at, width_of(sw.name),
                   fmt::format("switch {} is defined twice, first in line {}", sw.name, switches[it->second].at.line),
                   "each switch once"));
    }
    if (!sw.nodes || !sw.children) continue;
    if (at.conf) {
      return fail(error_at(ErrorCode::conflict, at.source, sw.at, width_of(sw.name),
                           fmt::format("switch {} has both nodes and switches below it", sw.name),
                           "Nodes on leaf switches, Switches on the others"));
    }
    note_warning(
        at.notes, at.source, sw.at,
        fmt::format("switch {} has both nodes and children; its children are left out, as Slurm does", sw.name));
  }
  return {};
}

Result<void> attach_children(const SlurmSwitch& sw, const Index& index, const SlurmContext& at, TreeSwitch& out) {
  auto names = expand_at(sw.children->text, sw.children->at, sw.children->exact, at.source, at.notes);
  if (!names) return fail(std::move(names.error()));
  for (const std::string& name : *names) {
    const auto it = index.find(name);
    if (it != index.end() && name != sw.name) {
      out.children.push_back(it->second);
      continue;
    }
    const std::size_t offset = sw.children->exact ? sw.children->text.find(name) : std::string::npos;
    const bool literal = offset != std::string::npos;
    const Position where{sw.children->at.line,
                         sw.children->at.column + static_cast<std::uint32_t>(literal ? offset : 0)};
    const std::uint32_t width =
        literal ? width_of(name) : (sw.children->exact ? width_of(sw.children->text) : std::uint32_t{1});
    if (name == sw.name) {
      return fail(error_at(ErrorCode::conflict, at.source, where, width,
                           fmt::format("switch {} has itself below it", sw.name), "another switch"));
    }
    return fail(error_at(ErrorCode::dangling, at.source, where, width,
                         fmt::format("switch {} has {} below it, which is not defined", sw.name, name),
                         fmt::format("a {} line or entry for {}", at.switch_key, name)));
  }
  return {};
}

// Slurm settles levels by passing over the switches in file order until none is open, twenty-one times at most; a tree
// listed from the root down may be too deep for that although it has no cycle. Refused here as there.
Result<void> check_passes(const TreeFabric& tree, const SlurmContext& at) {
  std::vector<bool> settled(tree.switches.size());
  for (std::size_t i = 0; i < settled.size(); ++i) settled[i] = tree.switches[i].children.empty();
  for (int pass = 1;; ++pass) {
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < settled.size(); ++i) {
      if (settled[i]) continue;
      const std::vector<std::uint32_t>& children = tree.switches[i].children;
      settled[i] = std::all_of(children.begin(), children.end(), [&](std::uint32_t c) { return settled[c]; });
      if (!settled[i] && !open) open = i;
    }
    if (!open) return {};
    if (pass > kMostPasses) {
      const TreeSwitch& sw = tree.switches[*open];
      return fail(error_at(ErrorCode::limit, at.source, sw.at, width_of(sw.name),
                           fmt::format("too many levels of switches below {}; Slurm takes it for no tree", sw.name),
                           "at most 21 levels, or the lower switches listed first"));
    }
  }
}

std::string_view prefix_of(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name;
}

// "circe-n[001-016],n[019-020]": the comma ends a name, so the second prefix is seldom what was meant. Slurm would call
// the nodes unknown; here nothing is known of slurm.conf, so only this pattern can be pointed at.
void note_cut_prefixes(const TreeSwitch& sw, const SlurmContext& at) {
  std::set<std::string_view> prefixes;
  for (const std::string& node : sw.nodes) prefixes.insert(prefix_of(node));
  if (prefixes.size() > kMostPrefixes) return;
  for (const std::string_view prefix : prefixes) {
    for (const std::string_view longer : prefixes) {
      if (prefix.empty() || longer.size() <= prefix.size() || !longer.ends_with(prefix)) continue;
      std::vector<std::string> names;
      for (const std::string& node : sw.nodes) {
        if (node.size() > prefix.size() && prefix_of(node) == prefix) names.push_back(node);
      }
      if (names.empty()) continue;
      note_warning(at.notes, at.source, sw.nodes_at,
                   fmt::format("{} under {}: other nodes there begin with '{}'; is '{}' missing?", shown_names(names),
                               sw.name, longer, longer.substr(0, longer.size() - prefix.size())));
      break;
    }
  }
}

void note_empty_leaves(const TreeFabric& tree, const SlurmContext& at) {
  std::vector<std::string> empty;
  Position where;
  for (const TreeSwitch& sw : tree.switches) {
    if (!sw.nodes.empty() || !sw.children.empty()) continue;
    if (empty.empty()) where = sw.at;
    empty.push_back(sw.name);
  }
  if (empty.empty()) return;
  note_warning(at.notes, at.source, where,
               fmt::format("neither nodes nor switches below {}: {} (Slurm before 25.05 refuses that)",
                           empty.size() == 1 ? "a switch" : "some switches", shown_names(empty)));
}

}  // namespace

Result<void> check_slurm_name(const std::string& name, Position at, std::string_view what, std::size_t limit,
                              const Source& source) {
  if (name.empty()) {
    return fail(error_at(ErrorCode::missing, source, at, 1, fmt::format("a {} without a name", what), "a name"));
  }
  if (name.find('[') != std::string::npos || name.find(',') != std::string::npos) {
    return fail(error_at(ErrorCode::bad_name, source, at, width_of(name),
                         fmt::format("a list in a {} name, which Slurm would take literally", what),
                         fmt::format("an entry for each {}", what)));
  }
  if (!config::is_valid_name(name)) {
    return fail(error_at(ErrorCode::bad_name, source, at, width_of(name), fmt::format("not a {} name", what),
                         "letters, digits, '.', '_' and '-'"));
  }
  if (limit != 0 && name.size() > limit) {
    return fail(error_at(ErrorCode::limit, source, at, width_of(name),
                         fmt::format("the {} name has {} characters", what, name.size()),
                         fmt::format("at most {}, as in Slurm", limit)));
  }
  return {};
}

Result<config::FabricSpec> slurm_tree(const std::vector<SlurmSwitch>& switches, const SlurmContext& at) {
  if (switches.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no switch in the topology",
                         fmt::format("at least one {}", at.switch_key)));
  }
  Index index;
  if (auto ok = check_switches(switches, at, index); !ok) return fail(std::move(ok.error()));

  TreeFabric tree;
  tree.name = at.name;
  tree.switches.reserve(switches.size());
  std::size_t nodes = 0;
  for (const SlurmSwitch& sw : switches) {
    TreeSwitch out{.name = sw.name, .at = sw.at, .children = {}, .nodes = {}, .nodes_at = {}};
    if (sw.nodes) {
      auto names = expand_at(sw.nodes->text, sw.nodes->at, sw.nodes->exact, at.source, at.notes);
      if (!names) return fail(std::move(names.error()));
      out.nodes = std::move(*names);
      out.nodes_at = sw.nodes->at;
      nodes += out.nodes.size();
      if (nodes > config::kMaxHostlistNames) {
        return fail(error_at(ErrorCode::limit, at.source, out.nodes_at, 1, "too many nodes in all",
                             fmt::format("at most {}", config::kMaxHostlistNames)));
      }
      note_cut_prefixes(out, at);
    } else if (sw.children) {
      if (auto ok = attach_children(sw, index, at, out); !ok) return fail(std::move(ok.error()));
    }
    tree.switches.push_back(std::move(out));
  }
  if (const auto cycle = find_cycle(tree)) {
    const TreeSwitch& sw = tree.switches[cycle->first];
    return fail(error_at(ErrorCode::conflict, at.source, sw.at, width_of(sw.name),
                         fmt::format("the switches are not a tree: {}", cycle->path), "no switch below itself"));
  }
  if (auto ok = check_passes(tree, at); !ok) return fail(std::move(ok.error()));
  if (nodes == 0) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no switch has a node below it",
                         "nodes under the leaf switches"));
  }
  note_empty_leaves(tree, at);
  note_odd_tree(tree, at.source, at.notes);
  return tree_spec(std::move(tree), at.options, at.source, at.notes);
}

}  // namespace weft::topology
