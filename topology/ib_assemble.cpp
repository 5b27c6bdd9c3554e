// SPDX-License-Identifier: BSD-3-Clause
#include "ib_assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ib_hosts.hpp"
#include "ib_lexer.hpp"
#include "ib_links.hpp"
#include "ib_names.hpp"

namespace weft::topology::ib {
namespace {

class Assembler {
 public:
  Assembler(const Dump& dump, const Source& source, const ImportOptions& options)
      : dump_(dump), source_(source), options_(options), keep_(dump.devices.size(), true) {}

  Result<Assembled> run() {
    auto names = NameMap::parse(options_.names);
    if (!names) return fail(names.error());
    leave_out_pseudo_nodes();
    auto links = pair_links(dump_, keep_, source_, options_.bandwidth, out_.notes);
    if (!links) return fail(links.error());
    links_ = std::move(*links);
    if (auto e = leave_out_unlinked()) return fail(std::move(*e));
    hosts_ = find_hosts(dump_, keep_, *names, source_, out_.notes);
    judge_speeds(links_, dump_, hosts_.seats);
    put_fast_adapters_first();
    add_nodes();
    add_switches(*names);
    add_cables();
    add_ports();
    if (names->unused() != 0) {
      note(Note::Kind::warning, {}, fmt::format("{} of the name map's GUIDs are not in this dump", names->unused()));
    }
    report_noise_and_missing();
    return std::move(out_);
  }

 private:
  void note(Note::Kind kind, Position at, std::string text) {
    out_.notes.push_back({kind, source_ ? source_->file() : std::string(), at, std::move(text)});
  }

  void leave_out_pseudo_nodes() {
    std::size_t aggregation = 0;
    std::size_t routers = 0;
    Position first;
    for (std::size_t d = 0; d < dump_.devices.size(); ++d) {
      const Device& device = dump_.devices[d];
      if (device.absorbed) {
        keep_[d] = false;
      } else if (device.kind == DeviceKind::router) {
        keep_[d] = false;
        if (routers++ == 0) first = device.at;
      } else if (device.kind == DeviceKind::adapter &&
                 (is_aggregation_node(device.description) || is_aggregation_node(device.peer_description))) {
        keep_[d] = false;
        ++aggregation;
      }
    }
    if (aggregation != 0) {
      note(Note::Kind::assumption, {},
           fmt::format("{} SHARP aggregation node{} no host{}", aggregation, aggregation == 1 ? " is" : "s are",
                       aggregation == 1 ? "" : "s"));
    }
    if (routers != 0) {
      note(Note::Kind::warning, first,
           fmt::format("{} router{} left out: what lies behind is another subnet", routers, routers == 1 ? "" : "s"));
    }
  }

  std::optional<Error> leave_out_unlinked() {
    std::vector<bool> linked(dump_.devices.size(), false);
    for (const Link& link : links_) linked[link.a.device] = linked[link.b.device] = true;
    std::size_t hosts = 0;
    std::size_t switches = 0;
    for (std::size_t d = 0; d < dump_.devices.size(); ++d) {
      if (!keep_[d]) continue;
      if (linked[d]) {
        ++(dump_.devices[d].kind == DeviceKind::switch_ ? switches : hosts);
        continue;
      }
      keep_[d] = false;
      const Device& device = dump_.devices[d];
      const bool is_switch = device.kind == DeviceKind::switch_;
      note(Note::Kind::warning, device.at,
           fmt::format("{} {} ({}) has no link and is left out", is_switch ? "switch" : "adapter",
                       guid_text(device.guid), device.description));
    }
    if (switches != 0 && hosts != 0) return std::nullopt;
    Position at{1, 1};
    if (!dump_.devices.empty()) at = dump_.devices.back().at;
    return error_at(ErrorCode::missing, source_, at, 1,
                    switches == 0 ? "the dump holds no link between an adapter and a switch"
                                  : "the dump holds no host, only switches",
                    "a whole dump, with switches, adapters and the links between them (this one may be truncated)");
  }

  // An adapter that is slower by design (storage beside compute) takes its place behind the fast ones, so that the
  // compute NICs are 0, 1, 2, …
  void put_fast_adapters_first() {
    std::vector<Bandwidth> fastest(dump_.devices.size());
    for (const Link& link : links_) fastest[link.a.device] = std::max(fastest[link.a.device], link.nominal);
    compute_nics_.resize(hosts_.hosts.size());
    for (std::uint32_t h = 0; h < hosts_.hosts.size(); ++h) {
      auto& adapters = hosts_.hosts[h].adapters;
      Bandwidth best;
      for (const std::uint32_t d : adapters) best = std::max(best, fastest[d]);
      const auto slow =
          std::stable_partition(adapters.begin(), adapters.end(), [&](std::uint32_t d) { return fastest[d] == best; });
      compute_nics_[h] = static_cast<std::uint32_t>(slow - adapters.begin());
      for (std::uint32_t n = 0; n < adapters.size(); ++n) hosts_.seats[adapters[n]] = {h, n};
    }
  }

  void add_nodes() {
    for (std::uint32_t h = 0; h < hosts_.hosts.size(); ++h) {
      const Host& host = hosts_.hosts[h];
      RawNode node;
      node.name = host.name;
      node.nics = static_cast<std::uint32_t>(host.adapters.size());
      node.gpus = options_.gpus_per_node.value_or(compute_nics_[h]);
      node.at = host.at;
      out_.nic_guids.emplace_back(host.name, guids_of(host));
      out_.raw.nodes.push_back(std::move(node));
    }
    if (!options_.gpus_per_node) {
      note(Note::Kind::assumption, {}, "as many GPUs in each node as it has compute NICs (--node-type says otherwise)");
    }
    out_.raw.nvlink = options_.nvlink.value_or(true);
    out_.raw.nvlink_bandwidth = options_.nvlink_bandwidth;
    if (!options_.nvlink) {
      note(Note::Kind::assumption, {}, "the GPUs of a node are joined by NVLink (--node-type says otherwise)");
    }
    if (options_.type_name) out_.raw.type_prefix = *options_.type_name;
  }

  [[nodiscard]] std::vector<NicGuids> guids_of(const Host& host) const {
    std::vector<NicGuids> out;
    for (const std::uint32_t d : host.adapters) {
      const Device& device = dump_.devices[d];
      out.push_back({device.guid, device.port_guid, device.system_guid.value_or(0)});
    }
    return out;
  }

  void add_switches(NameMap& names) {
    switch_names_ = name_switches(dump_, keep_, names, hosts_, source_, out_.notes);
    std::vector<std::uint32_t> order;
    for (std::uint32_t d = 0; d < dump_.devices.size(); ++d) {
      if (keep_[d] && dump_.devices[d].kind == DeviceKind::switch_) order.push_back(d);
    }
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return natural_less(switch_names_[a], switch_names_[b]); });
    place_.resize(dump_.devices.size());
    for (const std::uint32_t d : order) {
      place_[d] = static_cast<std::uint32_t>(out_.raw.switches.size());
      out_.raw.switches.push_back({switch_names_[d], std::nullopt, dump_.devices[d].at});
    }
  }

  [[nodiscard]] RawEnd end_of(PortRef port) const {
    if (dump_.devices[port.device].kind == DeviceKind::switch_) return {true, place_[port.device], 0};
    const Seat seat = hosts_.seats[port.device];
    return {false, seat.host, seat.nic};
  }

  void add_cables() {
    struct Placed {
      RawCable cable;
      std::uint32_t port_a, port_b;
      [[nodiscard]] auto key() const {
        return std::tuple(cable.a.is_switch, cable.a.index, cable.a.nic, cable.b.index, port_a, port_b);
      }
    };
    std::vector<Placed> placed;
    placed.reserve(links_.size());
    for (const Link& link : links_) {
      Placed p{{}, link.a.port, link.b.port};
      p.cable.a = end_of(link.a);
      p.cable.b = end_of(link.b);
      if (p.cable.a.is_switch && p.cable.b.index < p.cable.a.index) {
        std::swap(p.cable.a, p.cable.b);
        std::swap(p.port_a, p.port_b);
      }
      p.cable.nominal = link.nominal;
      p.cable.down = link.down;
      if (!link.down && link.bandwidth < link.nominal) p.cable.actual = link.bandwidth;
      p.cable.reason = link.reason;
      p.cable.at = link.at;
      placed.push_back(std::move(p));
    }
    std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.key() < b.key(); });
    for (Placed& p : placed) out_.raw.cables.push_back(std::move(p.cable));
  }

  void add_ports() {
    for (const Link& link : links_) {
      add_port(link, link.a, link.b);
      add_port(link, link.b, link.a);
    }
    std::sort(out_.ports.begin(), out_.ports.end(), [](const SwitchPort& a, const SwitchPort& b) {
      return std::tuple(a.switch_guid, a.port) < std::tuple(b.switch_guid, b.port);
    });
  }

  void add_port(const Link& link, PortRef own, PortRef peer) {
    const Device& device = dump_.devices[own.device];
    if (device.kind != DeviceKind::switch_) return;
    const Device& other = dump_.devices[peer.device];
    const RawEnd end = end_of(peer);
    SwitchPort out;
    out.switch_guid = device.guid;
    out.switch_name = switch_names_[own.device];
    out.port = own.port;
    out.to_switch = end.is_switch;
    out.peer = end.is_switch ? switch_names_[peer.device] : hosts_.hosts[end.index].name;
    out.peer_guid = end.is_switch ? other.guid : other.guid_of_port(peer.port);
    out.peer_port = peer.port;
    out.nic = end.nic;
    out.bandwidth = link.bandwidth;
    out.down = link.down;
    out_.ports.push_back(std::move(out));
  }

  void report_noise_and_missing() {
    if (dump_.noise_lines != 0) {
      note(Note::Kind::warning, dump_.first_noise,
           fmt::format("{} line{} of the tool's own complaints: discovery may have missed something", dump_.noise_lines,
                       dump_.noise_lines == 1 ? "" : "s"));
    }
    std::size_t missing = 0;
    const Device* first = nullptr;
    for (std::size_t d = 0; d < dump_.devices.size(); ++d) {
      if (!keep_[d] || dump_.devices[d].has_record) continue;
      if (missing++ == 0) first = &dump_.devices[d];
    }
    if (missing == 0) return;
    note(Note::Kind::warning, first->at,
         fmt::format("{} device{} named as a peer but without a record of {} own (first: {}): the dump may be "
                     "truncated",
                     missing, missing == 1 ? "" : "s", missing == 1 ? "its" : "their", guid_text(first->guid)));
  }

  const Dump& dump_;
  const Source& source_;
  const ImportOptions& options_;
  std::vector<bool> keep_;
  std::vector<Link> links_;
  Hosts hosts_;
  std::vector<std::uint32_t> compute_nics_;
  std::vector<std::string> switch_names_;
  std::vector<std::uint32_t> place_;  // of a switch among raw.switches, by device
  Assembled out_;
};

// "dumps/site-a.txt" → "site-a".
std::string fabric_name(const Source& source) {
  std::string_view file = source ? std::string_view(source->file()) : std::string_view();
  file = file.substr(file.rfind('/') + 1);
  if (const std::size_t dot = file.rfind('.'); dot != std::string_view::npos && dot > 0) file = file.substr(0, dot);
  std::string name = clean_name(file);
  return name.empty() || name == "-" ? "fabric" : name;
}

}  // namespace

Result<Assembled> assemble(const Dump& dump, const Source& source, const ImportOptions& options) {
  auto out = Assembler(dump, source, options).run();
  if (out) out->raw.name = fabric_name(source);
  return out;
}

Result<Imported> import_dump(FileKind kind, const Dump& dump, const Source& source, const ImportOptions& options) {
  auto assembled = assemble(dump, source, options);
  if (!assembled) return fail(assembled.error());
  Imported imported{kind, to_spec(assembled->raw, source), std::move(assembled->notes), std::move(assembled->ports),
                    std::move(assembled->nic_guids)};
  if (options.gpus_per_node) return imported;
  // The slower NICs behind the compute NICs serve no GPU.
  for (config::NodeTypeSpec& type : imported.spec.node_types) {
    if (type.nics <= type.gpus || !type.nic_of_gpu.empty()) continue;
    type.nic_of_gpu.resize(type.gpus);
    std::iota(type.nic_of_gpu.begin(), type.nic_of_gpu.end(), 0U);
  }
  return imported;
}

}  // namespace weft::topology::ib
