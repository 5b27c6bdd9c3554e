// SPDX-License-Identifier: BSD-3-Clause
#include "listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "queries.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::bridge {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::NodeId;
using topology::SwitchId;

// What each switch's cables come to.
struct Cables {
  std::vector<SwitchId> lower;  // neighbours of a lower tier, each once
  std::uint32_t links = 0, up = 0;
  std::uint64_t bits = 0;
  std::string faults;
};

void add_fault(std::string& to, const std::string& fault) { to += (to.empty() ? "" : "; ") + fault; }

std::vector<Cables> cables_of(const Fabric& fabric) {
  std::vector<Cables> out(fabric.switch_count());
  const auto add = [&](SwitchId at, const topology::Link& link) {
    Cables& c = out[index(at)];
    c.links += link.cables;
    if (!link.up) return;
    c.up += link.cables;
    c.bits += link.bandwidth.bits_per_second * link.cables;
  };
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    const topology::Link& link = fabric.link(LinkId{l});
    const SwitchId b{link.b.id};
    add(b, link);
    const bool both_up = fabric.switch_up(b) && (!link.a.is_switch || fabric.switch_up(SwitchId{link.a.id}));
    const std::string fault =
        !link.up && both_up      ? fmt::format("{} down", fabric.link_name(LinkId{l}))
        : link.up && link.slowed ? fmt::format("{} at {}", fabric.link_name(LinkId{l}), weft::to_string(link.bandwidth))
                                 : "";
    if (!fault.empty()) add_fault(out[index(b)].faults, fault);
    if (!link.a.is_switch) continue;
    const SwitchId a{link.a.id};
    add(a, link);
    if (!fault.empty()) add_fault(out[index(a)].faults, fault);
    if (fabric.tier(a) < fabric.tier(b)) out[index(b)].lower.push_back(a);
    if (fabric.tier(b) < fabric.tier(a)) out[index(a)].lower.push_back(b);
  }
  for (Cables& c : out) {
    std::sort(c.lower.begin(), c.lower.end());
    c.lower.erase(std::unique(c.lower.begin(), c.lower.end()), c.lower.end());
  }
  return out;
}

std::string switch_fault(const Fabric& fabric, SwitchId sw) {
  if (fabric.switch_up(sw)) return {};
  for (const topology::Fault& fault : fabric.faults())
    if (fault.kind == topology::Fault::Kind::switch_down && fault.what == fabric.switch_name(sw))
      return fault.reason.empty() ? "down" : "down: " + fault.reason;
  return "down";
}

// By tier, then in the fabric's order.
std::vector<SwitchId> by_tier(const Fabric& fabric) {
  std::vector<SwitchId> out;
  for (std::uint32_t s = 0; s < fabric.switch_count(); ++s) out.push_back(SwitchId{s});
  std::stable_sort(out.begin(), out.end(), [&](SwitchId a, SwitchId b) { return fabric.tier(a) < fabric.tier(b); });
  return out;
}

std::string hostlist(const Fabric& fabric, const Binding& binding, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> bound;
  for (const NodeId n : nodes)
    if (binding.table[index(n)] != WEFT_NO_NODE) bound.push_back(n);
  std::vector<std::string> names;
  names.reserve(bound.size());
  for (const NodeId n : bound) names.push_back(fabric.node_name(n));
  return config::compress_hostlist(names);
}

std::string headline_of(const Bridge& bridge, const Binding& binding) {
  const Fabric& fabric = bridge.model().fabric;
  const auto bound =
      std::count_if(binding.table.begin(), binding.table.end(), [](std::uint32_t i) { return i != WEFT_NO_NODE; });
  const weft_counters c = bridge.counters();
  return fmt::format(
      "Fabric={} Digest={} Nodes={} Bound={} Switches={} Faults={} Placed={} Delegated={} NotNow={} Never={} "
      "DeadlineOverruns={} InternalFaults={} LogDropped={}",
      escape(fabric.name()), bridge.model().digest, fabric.node_count(), bound, fabric.switch_count(),
      fabric.faults().size(), c.placed, c.delegated, c.not_now, c.never, c.deadline_overruns, c.internal_faults,
      c.log_dropped);
}

}  // namespace

std::unique_ptr<Listing> Listing::make(const Bridge& bridge, const Binding& binding,
                                       std::optional<std::string_view> node, std::optional<std::string_view> sw) {
  const Fabric& fabric = bridge.model().fabric;
  const auto wanted_node = node ? fabric.find_node(*node) : std::nullopt;
  const auto wanted_switch = sw ? fabric.find_switch(*sw) : std::nullopt;
  if ((node && !wanted_node) || (sw && !wanted_switch)) return nullptr;
  // Told apart by hand: g++ 12 sees an empty optional's value used below.
  const NodeId at_node = wanted_node.value_or(NodeId{});
  auto out = std::unique_ptr<Listing>(new Listing());
  out->headline_ = headline_of(bridge, binding);
  const std::vector<Cables> cables = cables_of(fabric);
  const Below below_of(fabric);
  for (const SwitchId s : by_tier(fabric)) {
    if (wanted_switch && s != *wanted_switch) continue;
    const std::vector<NodeId> below = below_of.nodes(s);
    if (node && !std::binary_search(below.begin(), below.end(), at_node)) continue;
    const Cables& c = cables[index(s)];
    Texts texts;
    texts.name = fabric.switch_name(s);
    if (fabric.plane_count() > 1) texts.plane = fabric.plane_name(fabric.plane(s));
    texts.nodes = hostlist(fabric, binding, below);
    std::vector<std::string> lower;
    for (const SwitchId l : c.lower) lower.push_back(fabric.switch_name(l));
    texts.switches = config::compress_hostlist(lower);
    texts.faults = switch_fault(fabric, s);
    if (!c.faults.empty()) add_fault(texts.faults, c.faults);
    weft_topology_record record{};
    record.tier = fabric.tier(s);
    record.up = fabric.switch_up(s) ? 1 : 0;
    record.node_count = static_cast<std::uint32_t>(
        std::count_if(below.begin(), below.end(), [&](NodeId n) { return binding.table[index(n)] != WEFT_NO_NODE; }));
    record.links = c.links;
    record.links_up = c.up;
    record.bandwidth_mbps = c.bits / 1'000'000;
    out->texts_.push_back(std::move(texts));
    out->records_.push_back(record);
  }
  for (std::size_t i = 0; i < out->records_.size(); ++i) {
    const Texts& t = out->texts_[i];
    weft_topology_record& r = out->records_[i];
    r.name = t.name.c_str();
    r.plane = t.plane.c_str();
    r.nodes = t.nodes.c_str();
    r.switches = t.switches.c_str();
    r.faults = t.faults.c_str();
  }
  return out;
}

}  // namespace weft::bridge
