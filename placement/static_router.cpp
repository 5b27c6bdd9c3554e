// SPDX-License-Identifier: BSD-3-Clause
#include "static_router.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::NodeId;
using topology::SwitchId;

constexpr const char* kSameTime = "tables and dump of one time, and no health file that is newer than the tables";

std::string nic_text(const Fabric& fabric, NodeId node, std::uint32_t nic) {
  return fmt::format("{}:{}", fabric.node_name(node), nic);
}

}  // namespace

StaticRouter::StaticRouter(const StaticPaths& paths) : paths_(paths), pairs_(*paths.fabric_) {
  loads_.bytes.assign(std::size_t{2} * paths.cable_count(), 0);
}

void StaticRouter::blame(Error fault) {
  if (!fault_) fault_ = std::move(fault);
}

std::optional<std::uint32_t> StaticRouter::add(const NicFlow& flow) {
  if (fault_) return std::nullopt;
  const Fabric& fabric = *paths_.fabric_;
  const auto from = fabric.ports(flow.from, flow.from_nic);
  const auto to = fabric.ports(flow.to, flow.to_nic);
  const auto& out_plugs = paths_.plugs_[paths_.nic_base_[index(flow.from)] + flow.from_nic];
  const auto& in_plugs = paths_.plugs_[paths_.nic_base_[index(flow.to)] + flow.to_nic];
  std::uint32_t hops = 0;
  for (const PortPair& pair : pairs_.of(from, to)) {
    const LinkId out_link = from[pair.from].link;
    const LinkId in_link = to[pair.to].link;
    const double cables =
        static_cast<double>(fabric.link(out_link).cables) * static_cast<double>(fabric.link(in_link).cables);
    for (const Plug& a : out_plugs) {
      if (a.link != out_link) continue;
      for (const Plug& b : in_plugs)
        if (b.link == in_link) hops = std::max(hops, walk(flow, a, b, flow.bytes * pair.share / cables));
    }
  }
  if (fault_) return std::nullopt;
  return hops;
}

std::uint32_t StaticRouter::walk(const NicFlow& flow, const Plug& from, const Plug& to, double bytes) {
  using To = StaticPaths::Out::To;
  const Fabric& fabric = *paths_.fabric_;
  const auto load = [&](std::uint32_t number) {
    if (bytes > 0) loads_.add(number, bytes);
  };
  if (to.lid == 0) {
    const ForwardingTables* tables = paths_.stations_[index(to.leaf)].tables;
    Error e = error(
        ErrorCode::missing,
        fmt::format("the tables know no LID of {} (port 0x{:016x})", nic_text(fabric, flow.to, flow.to_nic), to.guid),
        "tables that name the ports, or the same subnet manager's guid2lid file after them");
    if (tables != nullptr && tables->source) e.file = tables->source->file();
    blame(std::move(e));
    return 0;
  }
  load(from.number);
  SwitchId sw = from.leaf;
  for (std::uint32_t hops = 1; !fault_; ++hops) {
    const StaticPaths::Station& here = paths_.stations_[index(sw)];
    if (here.table == nullptr) {
      blame(error(ErrorCode::missing, fmt::format("there is no forwarding table of {}", fabric.switch_name(sw)),
                  "the tables of every switch"));
      break;
    }
    const std::uint8_t port = here.table->port(to.lid);
    if (port == ForwardingTables::kNoPort || port == 0 || port >= here.out.size() || here.out[port].to == To::nowhere) {
      blame(entry_fault(sw, flow, to,
                        port == ForwardingTables::kNoPort ? "has no way to"
                        : port == 0                       ? "keeps for itself"
                                                          : fmt::format("sends to port {}, where no cable is,", port)));
      break;
    }
    const StaticPaths::Out& out = here.out[port];
    const LinkId link = paths_.link_of_cable_[out.number / 2];
    if (!fabric.link(link).up) {
      blame(entry_fault(sw, flow, to, fmt::format("sends over {}, which is down,", fabric.link_name(link))));
      break;
    }
    load(out.number);
    if (out.to == To::node) {
      if (out.id == index(flow.to) && out.nic == flow.to_nic) return hops;
      blame(entry_fault(sw, flow, to, fmt::format("sends to {}", nic_text(fabric, NodeId{out.id}, out.nic))));
      break;
    }
    sw = SwitchId{out.id};
    // Longer than any path without a circle.
    if (hops > fabric.switch_count()) blame(entry_fault(sw, flow, to, "sends round " + circle(sw, to.lid)));
  }
  return 0;
}

Error StaticRouter::entry_fault(SwitchId sw, const NicFlow& flow, const Plug& to, std::string what) const {
  const StaticPaths::Station& here = paths_.stations_[index(sw)];
  const ErrorCode code =
      here.table->port(to.lid) == ForwardingTables::kNoPort ? ErrorCode::missing : ErrorCode::conflict;
  return entry_error(*here.tables, *here.table, to.lid, code,
                     fmt::format("{} {} LID 0x{:04x} ({})", paths_.fabric_->switch_name(sw), what, to.lid,
                                 nic_text(*paths_.fabric_, flow.to, flow.to_nic)),
                     kSameTime);
}

// "leaf1 > spine2 > leaf1, with": `from` is on it.
std::string StaticRouter::circle(SwitchId from, std::uint32_t lid) const {
  const Fabric& fabric = *paths_.fabric_;
  std::string out = fabric.switch_name(from);
  SwitchId sw = from;
  do {
    const StaticPaths::Station& here = paths_.stations_[index(sw)];
    sw = SwitchId{here.out[here.table->port(lid)].id};
    out += " > " + fabric.switch_name(sw);
  } while (sw != from);
  return out + ", with";
}

Result<std::vector<double>> static_loads(const Fabric& fabric, std::span<const NicFlow> flows,
                                         const StaticTables& tables) {
  if (auto ok = check_flows(fabric, flows); !ok) return fail(ok.error());
  const auto paths = StaticPaths::make(fabric, tables);
  if (!paths) return fail(paths.error());
  StaticRouter router(*paths);
  for (const NicFlow& f : flows) {
    if (!fabric.nic_path(f.from, f.from_nic, f.to, f.to_nic)) return fail(no_path(fabric, f));
    if (!router.add(f)) return fail(*router.fault());
  }
  std::vector<double> out(std::size_t{2} * fabric.link_count(), 0);
  for (const std::uint32_t number : router.loads().touched)
    out[paths->use_of(number, 0).link.number()] += router.loads().bytes[number];
  return out;
}

}  // namespace weft::placement
