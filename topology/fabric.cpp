// SPDX-License-Identifier: BSD-3-Clause
#include "weft/topology/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric_impl.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

// A warning about all of `names`, if any.
void warn(const config::FabricSpec& spec, FabricData& data, const std::vector<std::string>& names, std::string_view one,
          std::string_view many) {
  if (names.empty()) return;
  constexpr std::size_t kShown = 400;  // bytes of names; the rest is counted
  std::string list = config::compress_hostlist(names);
  if (list.size() > kShown) list = names.front() + " ... " + names.back();
  data.notes.push_back({Note::Kind::warning,
                        spec.source ? spec.source->file() : std::string(),
                        {},
                        fmt::format("{} {}: {}", names.size(), names.size() == 1 ? one : many, list)});
}

void add_notes(const config::FabricSpec& spec, FabricData& data) {
  std::vector<std::uint8_t> cabled(data.node_count(), 0);
  std::vector<std::uint8_t> linked(data.switch_count(), 0);
  for (const Link& link : data.links) {
    (link.a.is_switch ? linked : cabled)[link.a.id] = 1;
    linked[link.b.id] = 1;
  }
  std::vector<std::string> bare_nodes;
  std::vector<std::string> broken_nodes;
  for (std::uint32_t n = 0; n < data.node_count(); ++n) {
    if (data.node_usable[n] != 0) continue;
    (cabled[n] != 0 || data.node_up[n] == 0 ? broken_nodes : bare_nodes).push_back(data.node_names[n]);
  }
  std::vector<std::string> bare_switches;
  std::vector<std::string> odd_tiers;
  for (std::uint32_t s = 0; s < data.switch_count(); ++s) {
    if (linked[s] == 0) bare_switches.push_back(data.switch_names[s]);
    if (data.is_leaf(s) && data.tier[s] > 1) odd_tiers.push_back(data.switch_names[s]);
  }
  warn(spec, data, bare_nodes, "node has no link and cannot be used", "nodes have no link and cannot be used");
  warn(spec, data, broken_nodes, "node cannot be used because of its health",
       "nodes cannot be used because of their health");
  warn(spec, data, bare_switches, "switch has no link", "switches have no link");
  warn(spec, data, odd_tiers, "switch above tier 1 has nodes of its own",
       "switches above tier 1 have nodes of their own");
}

std::optional<std::uint32_t> find_name(const std::vector<std::string>& names, const std::vector<std::uint32_t>& sorted,
                                       std::string_view name) {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), name,
                                   [&](std::uint32_t i, std::string_view wanted) { return names[i] < wanted; });
  if (it == sorted.end() || names[*it] != name) return std::nullopt;
  return *it;
}

}  // namespace

std::string FabricData::end_name(const LinkEnd& end) const {
  if (end.is_switch) return switch_names[end.id];
  return types[node_type[end.id]].nics == 1 ? node_names[end.id] : fmt::format("{}:{}", node_names[end.id], end.nic);
}

Result<Fabric> Fabric::build(const config::FabricSpec& spec) {
  auto impl = std::make_unique<Impl>();
  FabricData& data = impl->data;
  std::vector<PlaneClaim> claims;
  if (auto done = resolve(spec, data, claims); !done) return fail(std::move(done.error()));
  if (auto done = build_graph(spec, claims, data); !done) return fail(std::move(done.error()));
  build_levels(data);
  add_notes(spec, data);
  return Fabric(std::move(impl));
}

Fabric::Fabric(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::Fabric(const Fabric& other) : impl_(std::make_unique<const Impl>(*other.impl_)) {}
Fabric& Fabric::operator=(const Fabric& other) {
  if (this != &other) impl_ = std::make_unique<const Impl>(*other.impl_);
  return *this;
}
Fabric::~Fabric() = default;

const std::string& Fabric::name() const { return impl_->data.name; }
const Notes& Fabric::notes() const { return impl_->data.notes; }

std::uint32_t Fabric::node_count() const { return impl_->data.node_count(); }
std::uint64_t Fabric::gpu_count() const {
  std::uint64_t sum = 0;
  for (const std::uint32_t type : impl_->data.node_type) sum += impl_->data.types[type].gpus;
  return sum;
}
const std::string& Fabric::node_name(NodeId node) const { return impl_->data.node_names[index(node)]; }
std::optional<NodeId> Fabric::find_node(std::string_view name) const {
  const auto id = find_name(impl_->data.node_names, impl_->data.nodes_by_name, name);
  return id ? std::optional(NodeId{*id}) : std::nullopt;
}
const NodeType& Fabric::type_of(NodeId node) const { return impl_->data.types[impl_->data.node_type[index(node)]]; }
TypeId Fabric::type_id(NodeId node) const { return TypeId{impl_->data.node_type[index(node)]}; }
std::span<const NodeType> Fabric::node_types() const { return impl_->data.types; }
std::uint32_t Fabric::weight(NodeId node) const { return impl_->data.node_weight[index(node)]; }
bool Fabric::usable(NodeId node) const { return impl_->data.node_usable[index(node)] != 0; }
std::span<const Port> Fabric::ports(NodeId node, std::uint32_t nic) const {
  if (nic >= type_of(node).nics) return {};
  return impl_->data.ports[impl_->data.slot(index(node), nic)];
}
std::span<const NodeId> Fabric::fabric_order() const { return impl_->data.order; }
std::uint32_t Fabric::fabric_rank(NodeId node) const { return impl_->data.rank[index(node)]; }

std::uint32_t Fabric::switch_count() const { return impl_->data.switch_count(); }
const std::string& Fabric::switch_name(SwitchId sw) const { return impl_->data.switch_names[index(sw)]; }
std::optional<SwitchId> Fabric::find_switch(std::string_view name) const {
  const auto id = find_name(impl_->data.switch_names, impl_->data.switches_by_name, name);
  return id ? std::optional(SwitchId{*id}) : std::nullopt;
}
std::uint8_t Fabric::tier(SwitchId sw) const { return impl_->data.tier[index(sw)]; }
std::uint8_t Fabric::max_tier() const { return impl_->data.max_tier; }
bool Fabric::switch_up(SwitchId sw) const { return impl_->data.switch_up[index(sw)] != 0; }
PlaneId Fabric::plane(SwitchId sw) const { return PlaneId{impl_->data.plane[index(sw)]}; }
std::uint32_t Fabric::plane_count() const { return static_cast<std::uint32_t>(impl_->data.plane_names.size()); }
const std::string& Fabric::plane_name(PlaneId plane) const { return impl_->data.plane_names[index(plane)]; }
std::uint32_t Fabric::link_count() const { return static_cast<std::uint32_t>(impl_->data.links.size()); }
const Link& Fabric::link(LinkId id) const { return impl_->data.links[index(id)]; }
std::span<const Link> Fabric::links() const { return impl_->data.links; }
std::span<const Fabric::Neighbour> Fabric::neighbours(SwitchId sw) const { return impl_->data.neighbours[index(sw)]; }
std::string Fabric::link_name(LinkId id) const {
  const Link& entry = link(id);
  return end_name(entry.a) + " - " + end_name(entry.b);
}
std::string Fabric::end_name(const LinkEnd& end) const { return impl_->data.end_name(end); }
std::span<const Fault> Fabric::faults() const { return impl_->data.faults; }

std::optional<Path> Fabric::leaf_path(SwitchId a, SwitchId b) const {
  const Path path = impl_->data.leaf_path(index(a), index(b));
  return path.hops > 0 ? std::optional(path) : std::nullopt;
}
std::optional<Path> Fabric::nic_path(NodeId a, std::uint32_t nic_a, NodeId b, std::uint32_t nic_b) const {
  const Path path = impl_->data.port_path(ports(a, nic_a), ports(b, nic_b));
  return path.hops > 0 ? std::optional(path) : std::nullopt;
}
std::uint32_t Fabric::max_hops() const { return impl_->data.max_hops; }
bool Fabric::tiers_contiguous() const { return impl_->data.tiers_contiguous; }

std::uint32_t Fabric::class_count() const { return impl_->data.classes.count(); }
ClassId Fabric::class_of(NodeId node) const { return ClassId{impl_->data.class_of[index(node)]}; }
std::span<const NodeId> Fabric::class_nodes(ClassId id) const { return impl_->data.classes[index(id)]; }
Level Fabric::level_count() const { return static_cast<Level>(impl_->data.levels.size()); }
std::string_view Fabric::level_name(Level level) const {
  static constexpr std::string_view kNames[] = {"nvlink", "leaf",   "pod",    "core",   "tier4",  "tier5",
                                                "tier6",  "tier7",  "tier8",  "tier9",  "tier10", "tier11",
                                                "tier12", "tier13", "tier14", "tier15", "tier16"};
  static_assert(std::size(kNames) == kMaxTier + 1);
  return kNames[level];
}
std::uint32_t Fabric::domain_count(Level level) const { return impl_->data.levels[level].domains.count(); }
std::span<const std::uint32_t> Fabric::domain_numbers(Level level) const { return impl_->data.levels[level].domain_of; }
DomainId Fabric::domain_of(Level level, NodeId node) const {
  return DomainId{impl_->data.levels[level].domain_of[index(node)]};
}
std::span<const NodeId> Fabric::domain_nodes(Level level, DomainId domain) const {
  return impl_->data.levels[level].domains[index(domain)];
}
std::string Fabric::domain_name(Level level, DomainId domain) const {
  return impl_->data.levels[level].names[index(domain)];
}
bool Fabric::hierarchical() const { return impl_->data.hierarchical; }
std::optional<std::string> Fabric::check_invariants() const { return broken_invariant(impl_->data); }

}  // namespace weft::topology
