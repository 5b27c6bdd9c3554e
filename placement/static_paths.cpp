// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "static_router.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkEnd;
using topology::LinkId;
using topology::NodeId;
using topology::SwitchId;
using topology::SwitchPort;

// A switch, and the other end: a switch of a lower number, or a node and its NIC.
using Ends = std::tuple<std::uint32_t, bool, std::uint32_t, std::uint32_t>;

}  // namespace

StaticPaths::StaticPaths(const Fabric& fabric) : fabric_(&fabric), stations_(fabric.switch_count()) {
  std::uint32_t nics = 0;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
    nic_base_.push_back(nics);
    nics += fabric.type_of(NodeId{n}).nics;
  }
  plugs_.resize(nics);
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    cable_base_.push_back(static_cast<std::uint32_t>(link_of_cable_.size()));
    link_of_cable_.insert(link_of_cable_.end(), fabric.link(LinkId{l}).cables, LinkId{l});
  }
}

LinkUse StaticPaths::use_of(std::uint32_t number, double bytes) const {
  const LinkId link = link_of_cable_[number / 2];
  return {{link, number % 2 == 0}, bytes, bytes / fabric_->link(link).bandwidth.bytes_per_second()};
}

// Gives every cable of the port map a cable of the fabric.
class StaticPaths::Builder {
 public:
  Builder(const Fabric& fabric, const StaticTables& tables) : fabric_(fabric), tables_(tables), out_(fabric) {}

  Result<StaticPaths> run() {
    if (tables_.ports.empty())
      return fail(error(ErrorCode::unsupported, "the fabric's file does not say which cable is on which switch port",
                        "an ibnetdiscover or iblinkinfo dump for static routing"));
    find_links();
    sort_ports();
    // The best match first: what is down in the dump is down in the fabric, what is slow there is slow here.
    for (const bool exact : {true, false})
      for (const auto& [ends, ports] : ports_of_)
        for (const SwitchPort* port : ports) take_cable(ends, *port, exact);
    if (auto e = seat_tables()) return fail(std::move(*e));
    find_lids();
    return std::move(out_);
  }

 private:
  struct Free {
    LinkId link{};
    std::uint32_t used = 0;
  };

  void find_links() {
    for (std::uint32_t l = 0; l < fabric_.link_count(); ++l) {
      const topology::Link& link = fabric_.link(LinkId{l});
      const LinkEnd& a = link.a;
      const Ends ends = a.is_switch ? Ends(std::max(a.id, link.b.id), true, std::min(a.id, link.b.id), 0)
                                    : Ends(link.b.id, false, a.id, a.nic);
      links_of_[ends].push_back({LinkId{l}, 0});
    }
  }

  // nullopt for what the fabric does not have, and for a switch's port that the other switch speaks for.
  [[nodiscard]] std::optional<Ends> ends_of(const SwitchPort& port) const {
    const auto own = fabric_.find_switch(port.switch_name);
    if (!own) return std::nullopt;
    if (!port.to_switch) {
      const auto node = fabric_.find_node(port.peer);
      if (!node) return std::nullopt;
      return Ends(index(*own), false, index(*node), port.nic);
    }
    const auto peer = fabric_.find_switch(port.peer);
    if (!peer || *own <= *peer) return std::nullopt;
    return Ends(index(*own), true, index(*peer), 0);
  }

  // Each cable once.
  void sort_ports() {
    for (const SwitchPort& port : tables_.ports) {
      const auto ends = ends_of(port);
      if (ends && links_of_.contains(*ends)) ports_of_[*ends].push_back(&port);
    }
  }

  void take_cable(const Ends& ends, const SwitchPort& port, bool exact) {
    if (taken_.contains(&port)) return;
    for (Free& free : links_of_.at(ends)) {
      const topology::Link& link = fabric_.link(free.link);
      if (free.used == link.cables) continue;
      if (exact && (link.up == port.down || (link.up && link.bandwidth != port.bandwidth))) continue;
      taken_.insert(&port);
      const std::uint32_t cable = 2 * (out_.cable_base_[index(free.link)] + free.used++);
      return port.to_switch ? join_switches(ends, port, free.link, cable) : plug_in(ends, port, free.link, cable);
    }
  }

  void set_out(SwitchId sw, std::uint32_t port, Out out) {
    auto& outs = out_.stations_[index(sw)].out;
    if (outs.size() <= port) outs.resize(port + std::size_t{1});
    outs[port] = out;
  }

  void join_switches(const Ends& ends, const SwitchPort& port, LinkId link, std::uint32_t cable) {
    const std::uint32_t own = std::get<0>(ends);
    const std::uint32_t peer = std::get<2>(ends);
    const std::uint32_t backwards = fabric_.link(link).a.id == own ? 0 : 1;
    set_out(SwitchId{own}, port.port, {Out::To::switch_, cable + backwards, peer, 0});
    set_out(SwitchId{peer}, port.peer_port, {Out::To::switch_, cable + 1 - backwards, own, 0});
  }

  void plug_in(const Ends& ends, const SwitchPort& port, LinkId link, std::uint32_t cable) {
    const auto [own, is_switch, node, nic] = ends;
    set_out(SwitchId{own}, port.port, {Out::To::node, cable + 1, node, nic});
    out_.plugs_[out_.nic_base_[node] + nic].push_back({SwitchId{own}, link, cable, port.peer_guid, 0});
  }

  std::optional<Error> seat_tables() {
    std::map<std::uint64_t, SwitchId> switches;
    for (const SwitchPort& port : tables_.ports)
      if (const auto sw = fabric_.find_switch(port.switch_name)) switches.emplace(port.switch_guid, *sw);
    bool any = false;
    for (const ForwardingTables& subnet : tables_.subnets) {
      for (const ForwardingTables::Switch& table : subnet.switches) {
        const auto found = switches.find(table.guid);
        if (found == switches.end()) continue;
        Station& station = out_.stations_[index(found->second)];
        if (station.table != nullptr)
          return error_at(ErrorCode::duplicate, subnet.source, table.at, 1,
                          fmt::format("{} (0x{:016x}) has a table in {} already", fabric_.switch_name(found->second),
                                      table.guid, station.tables->source ? station.tables->source->file() : "another"),
                          "one file of tables for each subnet");
        station.tables = &subnet;
        station.table = &table;
        any = true;
      }
    }
    if (any) return std::nullopt;
    Error e = error(ErrorCode::dangling, "none of the tables' switches is in the fabric",
                    "the dump and the tables of one fabric");
    if (!tables_.subnets.empty() && tables_.subnets.front().source) e.file = tables_.subnets.front().source->file();
    return e;
  }

  void find_lids() {
    for (std::vector<Plug>& plugs : out_.plugs_)
      for (Plug& plug : plugs) {
        const ForwardingTables* tables = out_.stations_[index(plug.leaf)].tables;
        if (tables == nullptr) continue;
        const auto lid = tables->lid_of_port_guid.find(plug.guid);
        if (lid != tables->lid_of_port_guid.end()) plug.lid = lid->second;
      }
  }

  const Fabric& fabric_;
  const StaticTables& tables_;
  StaticPaths out_;
  std::map<Ends, std::vector<Free>> links_of_;
  std::map<Ends, std::vector<const SwitchPort*>> ports_of_;
  std::set<const SwitchPort*> taken_;  // asked, never iterated
};

Result<StaticPaths> StaticPaths::make(const Fabric& fabric, const StaticTables& tables) {
  return Builder(fabric, tables).run();
}

}  // namespace weft::placement
