// SPDX-License-Identifier: BSD-3-Clause
#include "raw_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "fold_links.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

using config::FabricSpec;
using config::HealthSpec;
using config::Text;

// Adds the hostlist of names[begin, end) to `out` by `make(text)`, cut in halves while it is too long to read.
template <typename Make>
void add_names(std::span<const std::string> names, const Make& make, std::size_t offset = 0) {
  std::string text = config::compress_hostlist(names);
  if (text.size() > fold::kLongText && names.size() > 1) {
    const std::size_t middle = names.size() / 2;
    add_names(names.first(middle), make, offset);
    add_names(names.subspan(middle), make, offset + middle);
    return;
  }
  make(std::move(text), offset);
}

// Calls `make(text, index of its first object)` for each run of neighbours that `same` holds together.
template <typename Object, typename Same, typename Make>
void add_runs(const std::vector<Object>& objects, const Same& same, const Make& make) {
  for (std::size_t begin = 0; begin < objects.size();) {
    std::vector<std::string> names;
    std::size_t end = begin;
    for (; end < objects.size() && same(objects[begin], objects[end]); ++end) names.push_back(objects[end].name);
    add_names(names, make, begin);
    begin = end;
  }
}

using Shape = std::pair<std::uint32_t, std::uint32_t>;  // GPUs, NICs
Shape shape_of(const RawNode& node) { return {node.gpus, node.nics}; }

// A type a shape, in the order they appear.
std::map<Shape, std::string> add_types(const RawFabric& raw, FabricSpec& spec) {
  std::map<Shape, std::string> names;
  std::vector<const RawNode*> firsts;
  for (const RawNode& node : raw.nodes) {
    if (names.try_emplace(shape_of(node)).second) firsts.push_back(&node);
  }
  for (const RawNode* node : firsts) {
    config::NodeTypeSpec type;
    type.name = {
        firsts.size() == 1 ? raw.type_prefix : fmt::format("{}-{}g{}n", raw.type_prefix, node->gpus, node->nics),
        node->at};
    type.gpus = node->gpus;
    type.nics = node->nics;
    type.nvlink = raw.nvlink ? config::NvlinkScope::node : config::NvlinkScope::none;
    type.nvlink_bandwidth = raw.nvlink ? raw.nvlink_bandwidth : std::nullopt;
    names[shape_of(*node)] = type.name.value;
    spec.node_types.push_back(std::move(type));
  }
  return names;
}

void add_objects(const RawFabric& raw, FabricSpec& spec) {
  const std::map<Shape, std::string> types = add_types(raw, spec);
  add_runs(
      raw.switches, [](const RawSwitch& a, const RawSwitch& b) { return a.tier == b.tier; },
      [&](std::string text, std::size_t first) {
        spec.switches.push_back({{std::move(text), raw.switches[first].at}, raw.switches[first].tier});
      });
  add_runs(
      raw.nodes, [](const RawNode& a, const RawNode& b) { return shape_of(a) == shape_of(b) && a.weight == b.weight; },
      [&](std::string text, std::size_t first) {
        const RawNode& node = raw.nodes[first];
        spec.nodes.push_back({{std::move(text), node.at}, {types.at(shape_of(node)), node.at}, node.weight});
      });
  for (const RawDomain& domain : raw.nvlink_domains) {
    std::vector<std::string> names;
    for (const std::uint32_t node : domain.nodes) names.push_back(raw.nodes[node].name);
    spec.nvlink_domains.push_back({{domain.name, domain.at}, {config::compress_hostlist(names), domain.at}});
  }
}

// Both ends of a cable, the node or the lower switch first, so that a bundle's cables compare equal.
struct Ends {
  RawEnd a;
  RawEnd b;
  [[nodiscard]] auto key() const { return std::tie(a.is_switch, a.index, a.nic, b.is_switch, b.index, b.nic); }
  friend bool operator<(const Ends& x, const Ends& y) { return x.key() < y.key(); }
};

Ends ends_of(const RawCable& cable) {
  Ends ends{cable.a, cable.b};
  if (ends.a.is_switch) ends.a.nic = 0;
  if (ends.b.is_switch) ends.b.nic = 0;
  const Ends turned{ends.b, ends.a};
  return turned < ends ? turned : ends;
}

std::string end_name(const RawFabric& raw, const RawEnd& end) {
  return end.is_switch ? raw.switches[end.index].name : fmt::format("{}:{}", raw.nodes[end.index].name, end.nic);
}

bool ails(const RawCable& cable) { return cable.down || cable.actual.has_value(); }

// One entry for all cables of a bundle that ail alike, in the order of their first.
void add_health(const RawFabric& raw, FabricSpec& spec) {
  std::map<Ends, std::uint32_t> bundle;  // cables of each bundle that has an ailing one
  for (const RawCable& cable : raw.cables) {
    if (ails(cable)) bundle.try_emplace(ends_of(cable), 0);
  }
  if (bundle.empty()) return;
  for (const RawCable& cable : raw.cables) {
    if (const auto it = bundle.find(ends_of(cable)); it != bundle.end()) ++it->second;
  }
  std::map<std::tuple<Ends, bool, std::optional<Bandwidth>, std::string>, std::size_t> entry_of;
  for (const RawCable& cable : raw.cables) {
    if (!ails(cable)) continue;
    const Ends ends = ends_of(cable);
    const std::optional<Bandwidth> slow = cable.down ? std::nullopt : cable.actual;
    const auto [it, fresh] = entry_of.try_emplace({ends, cable.down, slow, cable.reason}, spec.health.size());
    if (!fresh) {
      ++*spec.health[it->second].cables;
      continue;
    }
    HealthSpec health;
    health.target = HealthSpec::Target::link;
    health.a = {end_name(raw, ends.a), cable.at};
    health.b = {end_name(raw, ends.b), cable.at};
    health.down = cable.down;
    health.bandwidth = slow;
    health.cables = 1;
    health.reason = cable.reason;
    spec.health.push_back(std::move(health));
  }
  for (const auto& [key, entry] : entry_of) {
    if (spec.health[entry].cables == bundle.at(std::get<0>(key))) spec.health[entry].cables.reset();
  }
}

}  // namespace

FabricSpec to_spec(const RawFabric& raw, const Source& source) {
  FabricSpec spec;
  spec.name = raw.name;
  spec.source = source;
  add_objects(raw, spec);
  spec.links = fold::to_links(raw, fold::fold_node_cables(raw));
  std::vector<config::LinkSpec> between = fold::to_links(raw, fold::fold_switch_cables(raw));
  std::move(between.begin(), between.end(), std::back_inserter(spec.links));
  add_health(raw, spec);
  return spec;
}

}  // namespace weft::topology
