// SPDX-License-Identifier: BSD-3-Clause
#include "tree_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "node_shape.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/config/units.hpp"

namespace weft::topology {
namespace {

using config::FabricSpec;
using config::Text;

constexpr std::uint32_t kMaxTier = 16;       // of a Fabric
constexpr std::size_t kMaxListBytes = 4000;  // a longer line of node names is cut up by leaf

// Switches with every child before its parents.
std::vector<std::uint32_t> children_first(const TreeFabric& tree) {
  const auto count = static_cast<std::uint32_t>(tree.switches.size());
  std::vector<std::uint32_t> open(count);
  std::vector<std::vector<std::uint32_t>> parents(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    open[i] = static_cast<std::uint32_t>(tree.switches[i].children.size());
    for (const std::uint32_t child : tree.switches[i].children) parents[child].push_back(i);
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (open[i] == 0) order.push_back(i);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (const std::uint32_t parent : parents[order[next]]) {
      if (--open[parent] == 0) order.push_back(parent);
    }
  }
  return order;
}

std::vector<std::uint32_t> tiers_of(const TreeFabric& tree, const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> tier(tree.switches.size(), 1);
  for (const std::uint32_t i : order) {
    for (const std::uint32_t child : tree.switches[i].children) tier[i] = std::max(tier[i], tier[child] + 1);
  }
  return tier;
}

// Cables from each switch to each of its parents.
std::vector<std::uint32_t> cables_up(const TreeFabric& tree, const std::vector<std::uint32_t>& order,
                                     std::uint32_t nics) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint64_t> parents(tree.switches.size(), 0);
  for (const TreeSwitch& sw : tree.switches) {
    for (const std::uint32_t child : sw.children) ++parents[child];
  }
  std::vector<std::uint32_t> up(tree.switches.size(), 1);
  for (const std::uint32_t i : order) {
    std::uint64_t below = tree.switches[i].nodes.size() * std::uint64_t{nics};
    for (const std::uint32_t child : tree.switches[i].children) below += up[child];
    const std::uint64_t share = parents[i] == 0 ? below : (below + parents[i] - 1) / parents[i];
    up[i] = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, kMost));
  }
  return up;
}

// A node and a switch may share a name in these files; in a fabric they may not.
void part_names(TreeFabric& tree, const Source& source, Notes& notes) {
  std::unordered_set<std::string_view> taken;
  for (const TreeSwitch& sw : tree.switches) {
    taken.insert(sw.nodes.begin(), sw.nodes.end());
  }
  std::unordered_set<std::string> switches;
  for (const TreeSwitch& sw : tree.switches) switches.insert(sw.name);
  for (TreeSwitch& sw : tree.switches) {
    if (!taken.contains(sw.name)) continue;
    std::string name = sw.name + "-switch";
    while (taken.contains(name) || !switches.insert(name).second) name += "-switch";
    note_warning(notes, source, sw.at, fmt::format("switch {} has the name of a node; called {} here", sw.name, name));
    sw.name = std::move(name);
  }
}

void add_switches(FabricSpec& spec, const TreeFabric& tree, const std::vector<std::uint32_t>& tier) {
  const std::uint32_t top = tier.empty() ? 0 : *std::max_element(tier.begin(), tier.end());
  std::vector<std::vector<std::string>> names(top + 1);
  std::vector<Position> at(top + 1);
  for (std::size_t i = 0; i < tree.switches.size(); ++i) {
    if (names[tier[i]].empty()) at[tier[i]] = tree.switches[i].at;
    names[tier[i]].push_back(tree.switches[i].name);
  }
  for (std::uint32_t t = 1; t <= top; ++t) {
    if (names[t].empty()) continue;
    spec.switches.push_back({.names = {config::compress_hostlist(names[t]), at[t]}, .tier = t});
  }
}

void add_nodes(FabricSpec& spec, const TreeFabric& tree, const Text& type) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> all;
  std::vector<config::NodeSpec> by_leaf;
  for (const TreeSwitch& sw : tree.switches) {
    std::vector<std::string> fresh;
    for (const std::string& node : sw.nodes) {
      if (seen.insert(node).second) fresh.push_back(node);
    }
    if (fresh.empty()) continue;
    by_leaf.push_back({.names = {config::compress_hostlist(fresh), sw.nodes_at}, .type = type});
    all.insert(all.end(), fresh.begin(), fresh.end());
  }
  if (by_leaf.empty()) return;
  std::string joined = config::compress_hostlist(all);
  if (joined.size() <= kMaxListBytes) {
    const Position at = by_leaf.front().names.at;
    by_leaf.clear();
    by_leaf.push_back({.names = {std::move(joined), at}, .type = type});
  }
  spec.nodes = std::move(by_leaf);
}

void add_links(FabricSpec& spec, const TreeFabric& tree, const std::vector<std::uint32_t>& up, Bandwidth bandwidth) {
  for (const TreeSwitch& sw : tree.switches) {
    if (!sw.nodes.empty()) {
      spec.links.push_back(link_of({config::compress_hostlist(sw.nodes), sw.nodes_at}, {sw.name, sw.at}, bandwidth));
    }
  }
  for (const TreeSwitch& sw : tree.switches) {
    std::map<std::uint32_t, std::vector<std::string>> by_cables;
    for (const std::uint32_t child : sw.children) by_cables[up[child]].push_back(tree.switches[child].name);
    for (const auto& [cables, names] : by_cables) {
      spec.links.push_back(link_of({config::compress_hostlist(names), sw.at}, {sw.name, sw.at}, bandwidth,
                                   config::LinkPattern::all, cables));
    }
  }
}

void note_uplinks(const TreeFabric& tree, const Source& source, Notes& notes) {
  const bool has_uplinks = std::any_of(tree.switches.begin(), tree.switches.end(),
                                       [](const TreeSwitch& sw) { return !sw.children.empty(); });
  note_assumed(notes, source,
               has_uplinks ? "every NIC of a node has one cable to each leaf that lists the node, and a switch has as "
                             "many cables up as come in from below (no oversubscription)"
                           : "every NIC of a node has one cable to each leaf that lists the node");
}

}  // namespace

AssumedShape assume_shape(const ImportOptions& options, const Source& source, Notes& notes) {
  AssumedShape shape;
  const bool counts_given = options.gpus_per_node || options.nics_per_node;
  shape.gpus = options.gpus_per_node.value_or(shape.gpus);
  shape.nics = options.nics_per_node.value_or(options.gpus_per_node.value_or(shape.nics));
  if (!options.gpus_per_node && options.nics_per_node) shape.gpus = *options.nics_per_node;
  shape.nvlink = options.nvlink.value_or(true);
  shape.nvlink_bandwidth = options.nvlink_bandwidth;
  shape.type_name = options.type_name.value_or(shape.type_name);
  shape.bandwidth = options.bandwidth.value_or(shape.bandwidth);
  if (!counts_given || !options.nvlink) {
    note_assumed(notes, source,
                 fmt::format("{} GPUs and {} NICs a node{}", shape.gpus, shape.nics,
                             shape.nvlink ? ", joined by NVLink inside the node" : ", no NVLink"));
  }
  if (!options.bandwidth) note_assumed(notes, source, fmt::format("{} a cable", to_string(shape.bandwidth)));
  return shape;
}

Result<FabricSpec> tree_spec(TreeFabric tree, const ImportOptions& options, const Source& source, Notes& notes) {
  part_names(tree, source, notes);
  const AssumedShape shape = assume_shape(options, source, notes);
  const std::vector<std::uint32_t> order = children_first(tree);
  const std::vector<std::uint32_t> tier = tiers_of(tree, order);
  const auto top = std::max_element(tier.begin(), tier.end());
  if (top != tier.end() && *top > kMaxTier) {
    const TreeSwitch& sw = tree.switches[static_cast<std::size_t>(top - tier.begin())];
    return fail(error_at(ErrorCode::limit, source, sw.at, static_cast<std::uint32_t>(sw.name.size()),
                         fmt::format("switch {} has {} tiers of switches below it", sw.name, *top - 1),
                         fmt::format("at most {} tiers", kMaxTier)));
  }
  note_uplinks(tree, source, notes);

  FabricSpec spec;
  spec.name = tree.name;
  spec.source = source;
  spec.node_types.push_back(node_type_of(shape));
  add_switches(spec, tree, tier);
  add_nodes(spec, tree, spec.node_types.front().name);
  add_links(spec, tree, cables_up(tree, order, shape.nics), shape.bandwidth);
  if (!shape.nvlink) return spec;
  for (const TreeDomain& domain : tree.nvlink_domains) {
    spec.nvlink_domains.push_back(
        {.name = {domain.name, domain.at}, .nodes = {config::compress_hostlist(domain.nodes), domain.at}});
  }
  return spec;
}

std::optional<TreeCycle> find_cycle(const TreeFabric& tree) {
  const auto count = static_cast<std::uint32_t>(tree.switches.size());
  enum class State : std::uint8_t { fresh, open, done };
  std::vector<State> state(count, State::fresh);
  struct Frame {
    std::uint32_t sw;
    std::size_t next;
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (state[root] != State::fresh) continue;
    std::vector<Frame> stack{{root, 0}};
    state[root] = State::open;
    while (!stack.empty()) {
      Frame& top = stack.back();
      const std::vector<std::uint32_t>& children = tree.switches[top.sw].children;
      if (top.next == children.size()) {
        state[top.sw] = State::done;
        stack.pop_back();
        continue;
      }
      const std::uint32_t child = children[top.next++];
      if (state[child] == State::fresh) {
        state[child] = State::open;
        stack.push_back({child, 0});
      } else if (state[child] == State::open) {
        const auto from =
            std::find_if(stack.begin(), stack.end(), [child](const Frame& frame) { return frame.sw == child; });
        TreeCycle cycle{.first = child, .path = {}};
        for (auto it = from; it != stack.end() && cycle.path.size() < 200; ++it) {
          cycle.path += tree.switches[it->sw].name + " -> ";
        }
        cycle.path += tree.switches[child].name;
        return cycle;
      }
    }
  }
  return std::nullopt;
}

void note_odd_tree(const TreeFabric& tree, const Source& source, Notes& notes) {
  std::map<std::string_view, std::uint32_t> first_leaf;
  std::vector<std::uint32_t> root(tree.switches.size());
  for (std::uint32_t i = 0; i < root.size(); ++i) root[i] = i;
  const auto find = [&root](std::uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  std::vector<std::string> shared;
  Position shared_at;
  for (std::uint32_t i = 0; i < root.size(); ++i) {
    const TreeSwitch& sw = tree.switches[i];
    for (const std::uint32_t child : sw.children) root[find(child)] = find(i);
    for (const std::string& node : sw.nodes) {
      const auto [it, fresh] = first_leaf.emplace(node, i);
      if (fresh) continue;
      if (shared.empty()) shared_at = sw.nodes_at;
      shared.push_back(node);
      root[find(it->second)] = find(i);
    }
  }
  if (!shared.empty()) {
    const std::set<std::string> once(shared.begin(), shared.end());
    const std::vector<std::string> names(once.begin(), once.end());
    note_warning(notes, source, shared_at,
                 fmt::format("{} {} on several leaves: {}; read as attached to each of them", names.size(),
                             names.size() == 1 ? "node is" : "nodes are", shown_names(names)));
  }
  std::set<std::uint32_t> parts;
  for (std::uint32_t i = 0; i < root.size(); ++i) parts.insert(find(i));
  if (parts.size() > 1) {
    note_warning(notes, source, tree.switches[*parts.begin()].at,
                 fmt::format("no switch reaches every node: the fabric is in {} parts, and a job fits into one of them "
                             "at most",
                             parts.size()));
  }
}

std::string stem_of(const Source& source) {
  std::string name = source ? source->file() : std::string();
  const std::size_t slash = name.find_last_of('/');
  if (slash != std::string::npos) name.erase(0, slash + 1);
  const std::size_t dot = name.find('.', 1);
  if (dot != std::string::npos) name.erase(dot);
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return plain && name != "-" ? name : "fabric";
}

void note_assumed(Notes& notes, const Source& source, std::string message) {
  notes.push_back({.kind = Note::Kind::assumption,
                   .file = source ? source->file() : std::string(),
                   .at = {},
                   .message = std::move(message)});
}

void note_warning(Notes& notes, const Source& source, Position at, std::string message) {
  notes.push_back({.kind = Note::Kind::warning,
                   .file = source ? source->file() : std::string(),
                   .at = at,
                   .message = std::move(message)});
}

std::string shown_names(std::span<const std::string> names) {
  constexpr std::size_t kShown = 60;
  std::string text = config::compress_hostlist(names);
  if (text.size() > kShown) {
    text.resize(kShown);
    text += "...";
  }
  return text;
}

config::LinkSpec link_of(Text from, Text to, Bandwidth bandwidth, config::LinkPattern pattern, std::uint32_t cables) {
  config::LinkSpec link;
  link.from = std::move(from);
  link.to = std::move(to);
  link.pattern = pattern;
  link.bandwidth = bandwidth;
  link.cables = cables;
  return link;
}

Result<std::vector<std::string>> expand_at(std::string_view text, Position at, bool offset_ok, const Source& source,
                                           Notes& notes) {
  auto names = config::expand_hostlist(text);
  if (!names) {
    const config::HostlistError& e = names.error();
    const auto offset = static_cast<std::uint32_t>(offset_ok ? e.offset : 0);
    const auto width = static_cast<std::uint32_t>(offset_ok ? std::max<std::size_t>(e.length, 1) : 1);
    return fail(error_at(e.code, source, {at.line, at.column + offset}, width, e.message, e.expected));
  }
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> once;
  std::vector<std::string> repeated;
  for (const std::string& name : *names) {
    if (seen.insert(name).second) {
      once.push_back(name);
    } else {
      repeated.push_back(name);
    }
  }
  if (!repeated.empty()) {
    note_warning(notes, source, at, fmt::format("named more than once in one list: {}", shown_names(repeated)));
  }
  return once;
}

}  // namespace weft::topology
