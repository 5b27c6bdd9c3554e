// SPDX-License-Identifier: BSD-3-Clause
#include "ib_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "ib_lexer.hpp"

namespace weft::topology::ib {
namespace {

constexpr std::uint32_t kNoHost = ~std::uint32_t{0};

// What a GUID order sorts by: the one GUID that every tool shows.
std::uint64_t shown_guid(const Device& device) { return device.port_guid != 0 ? device.port_guid : device.guid; }

// The map may name an adapter by any of its GUIDs.
const std::string* mapped_name(const Device& device, NameMap& names) {
  if (const std::string* name = names.find(device.guid)) return name;
  if (const std::string* name = names.find(shown_guid(device))) return name;
  return device.system_guid ? names.find(*device.system_guid) : nullptr;
}

AdapterName name_of(const Device& device, NameMap& names) {
  AdapterName by_peer = parse_adapter_name(device.peer_description);
  AdapterName own = parse_adapter_name(device.description);
  // What peers say went through --node-name-map; what the adapter's own record says did not.
  AdapterName name = by_peer.host.empty() ? std::move(own) : std::move(by_peer);
  if (const std::string* mapped = mapped_name(device, names)) {
    AdapterName better = parse_adapter_name(*mapped);
    name.host = better.host.empty() ? clean_name(*mapped) : better.host;
    if (!better.device.empty()) {
      name.device = better.device;
      name.number = better.number;
    } else if (name.device.empty()) {
      // "localhost HCA-2": no host, but a number.
      const AdapterName label = parse_adapter_name("x " + device.description.substr(device.description.rfind(' ') + 1));
      if (label.number) {
        name.device = label.device;
        name.number = label.number;
      }
    }
  }
  return name;
}

class HostFinder {
 public:
  HostFinder(const Dump& dump, const std::vector<bool>& keep, NameMap& names, const Source& source, Notes& notes)
      : dump_(dump), keep_(keep), names_(names), source_(source), notes_(notes) {
    labels_.resize(dump.devices.size());
    host_of_.assign(dump.devices.size(), kNoHost);
  }

  Hosts run() {
    join_by_name();
    join_by_system();
    name_the_nameless();
    for (Host& host : hosts_) order_adapters(host);
    std::stable_sort(hosts_.begin(), hosts_.end(),
                     [](const Host& a, const Host& b) { return natural_less(a.name, b.name); });
    report();
    Hosts out{std::move(hosts_), std::vector<Seat>(dump_.devices.size())};
    for (std::uint32_t h = 0; h < out.hosts.size(); ++h) {
      for (std::uint32_t n = 0; n < out.hosts[h].adapters.size(); ++n) out.seats[out.hosts[h].adapters[n]] = {h, n};
    }
    return out;
  }

 private:
  [[nodiscard]] bool is_adapter(std::uint32_t d) const {
    return keep_[d] && dump_.devices[d].kind == DeviceKind::adapter;
  }

  void seat(std::uint32_t device, std::uint32_t host) {
    host_of_[device] = host;
    hosts_[host].adapters.push_back(device);
  }

  std::uint32_t new_host(std::string name, Position at) {
    hosts_.push_back({std::move(name), {}, at});
    return static_cast<std::uint32_t>(hosts_.size() - 1);
  }

  void join_by_name() {
    std::unordered_map<std::string, std::uint32_t> by_name;
    for (std::uint32_t d = 0; d < dump_.devices.size(); ++d) {
      if (!is_adapter(d)) continue;
      labels_[d] = name_of(dump_.devices[d], names_);
      if (labels_[d].host.empty()) continue;
      const auto [entry, is_new] = by_name.try_emplace(labels_[d].host, static_cast<std::uint32_t>(hosts_.size()));
      if (is_new) (void)new_host(labels_[d].host, dump_.devices[d].at);
      seat(d, entry->second);
    }
  }

  // One sysimgguid is one card: an adapter without a name belongs to the host that another of the card has. Cards that
  // several hosts share tell nothing.
  void join_by_system() {
    std::unordered_map<std::uint64_t, std::uint32_t> by_system;
    std::set<std::uint64_t> shared;
    for (std::uint32_t d = 0; d < dump_.devices.size(); ++d) {
      if (host_of_[d] == kNoHost || !dump_.devices[d].system_guid) continue;
      const auto [entry, is_new] = by_system.try_emplace(*dump_.devices[d].system_guid, host_of_[d]);
      if (!is_new && entry->second != host_of_[d]) shared.insert(entry->first);
    }
    for (std::uint32_t d = 0; d < dump_.devices.size(); ++d) {
      if (!is_adapter(d) || host_of_[d] != kNoHost) continue;
      const auto system = dump_.devices[d].system_guid;
      if (!system || shared.contains(*system)) {
        nameless_.push_back(new_host({}, dump_.devices[d].at));
        seat(d, nameless_.back());
        continue;
      }
      const auto [entry, is_new] = by_system.try_emplace(*system, static_cast<std::uint32_t>(hosts_.size()));
      if (is_new) nameless_.push_back(new_host({}, dump_.devices[d].at));
      seat(d, entry->second);
    }
  }

  void name_the_nameless() {
    for (const std::uint32_t h : nameless_) {
      std::uint64_t lowest = ~std::uint64_t{0};
      for (const std::uint32_t d : hosts_[h].adapters) lowest = std::min(lowest, shown_guid(dump_.devices[d]));
      hosts_[h].name = "H-" + guid_text(lowest);
    }
  }

  void order_adapters(Host& host) {
    std::set<std::uint32_t> numbers;
    std::set<std::string> labels;
    for (const std::uint32_t d : host.adapters) {
      if (labels_[d].number) numbers.insert(*labels_[d].number);
      if (!labels_[d].device.empty()) labels.insert(labels_[d].device);
    }
    const bool by_number = numbers.size() == host.adapters.size();
    const bool by_label = !by_number && numbers.empty() && labels.size() == host.adapters.size();
    std::sort(host.adapters.begin(), host.adapters.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (by_number) return *labels_[a].number < *labels_[b].number;
      if (by_label) return natural_less(labels_[a].device, labels_[b].device);
      return std::tuple(shown_guid(dump_.devices[a]), a) < std::tuple(shown_guid(dump_.devices[b]), b);
    });
    if (!by_number && !by_label && host.adapters.size() > 1) {
      if (unordered_++ == 0) first_unordered_ = {host.name, host.at};
    }
  }

  void report() {
    const std::string file = source_ ? source_->file() : std::string();
    if (!nameless_.empty()) {
      Host const* first = nullptr;  // hosts_ is sorted by now, and their names begin with H- and the GUID
      for (const Host& host : hosts_) {
        const bool is_nameless = labels_[host.adapters.front()].host.empty() && host.name.starts_with("H-");
        if (is_nameless && first == nullptr) first = &host;
      }
      notes_.push_back(
          {Note::Kind::assumption, file, first == nullptr ? Position{} : first->at,
           fmt::format("{} without a host name, each a node of its own named by port GUID (first: {}); "
                       "a map of GUIDs to names (--names) tells better",
                       nameless_.size() == 1 ? std::string("1 adapter") : fmt::format("{} adapters", nameless_.size()),
                       first == nullptr ? std::string() : first->name)});
    }
    if (unordered_ != 0) {
      notes_.push_back({Note::Kind::assumption, file, first_unordered_.second,
                        fmt::format("NICs in GUID order in {} host{} whose adapters have no distinct numbers "
                                    "(first: {})",
                                    unordered_, unordered_ == 1 ? "" : "s", first_unordered_.first)});
    }
  }

  const Dump& dump_;
  const std::vector<bool>& keep_;
  NameMap& names_;
  const Source& source_;
  Notes& notes_;
  std::vector<AdapterName> labels_;
  std::vector<std::uint32_t> host_of_;
  std::vector<Host> hosts_;
  std::vector<std::uint32_t> nameless_;
  std::size_t unordered_ = 0;
  std::pair<std::string, Position> first_unordered_;
};

}  // namespace

Hosts find_hosts(const Dump& dump, const std::vector<bool>& keep, NameMap& names, const Source& source, Notes& notes) {
  return HostFinder(dump, keep, names, source, notes).run();
}

std::vector<std::string> name_switches(const Dump& dump, const std::vector<bool>& keep, NameMap& names,
                                       const Hosts& hosts, const Source& source, Notes& notes) {
  std::vector<std::string> out(dump.devices.size());
  std::vector<SwitchName> wanted(dump.devices.size());
  std::map<std::string, std::uint32_t> uses;
  for (const Host& host : hosts.hosts) ++uses[host.name];
  const auto each_switch = [&](auto&& visit) {
    for (std::uint32_t d = 0; d < dump.devices.size(); ++d) {
      if (keep[d] && dump.devices[d].kind == DeviceKind::switch_) visit(d);
    }
  };
  each_switch([&](std::uint32_t d) {
    const Device& device = dump.devices[d];
    const std::string* mapped = names.find(device.guid);
    wanted[d] = parse_switch_name(device.description.empty() ? device.peer_description : device.description);
    if (mapped != nullptr) wanted[d] = {clean_name(*mapped), {}};
    out[d] = wanted[d].name;
    if (!out[d].empty()) ++uses[out[d]];
  });
  // The chips of a director share its name; the place in the chassis tells them apart.
  std::map<std::string, std::uint32_t> longer;
  each_switch([&](std::uint32_t d) {
    if (out[d].empty() || uses[out[d]] == 1 || wanted[d].chip.empty()) return;
    out[d] += "-" + wanted[d].chip;
    ++longer[out[d]];
  });
  std::size_t repeated = 0;
  Position first;
  each_switch([&](std::uint32_t d) {
    const bool is_long = !out[d].empty() && out[d] != wanted[d].name;
    const bool is_unique = is_long ? longer[out[d]] == 1 && !uses.contains(out[d]) : uses[out[d]] == 1;
    if (!out[d].empty() && is_unique) return;
    if (!out[d].empty() && repeated++ == 0) first = dump.devices[d].at;
    out[d] = "S-" + guid_text(dump.devices[d].guid);
  });
  if (repeated != 0) {
    notes.push_back(
        {Note::Kind::warning, source ? source->file() : std::string(), first,
         fmt::format("{} switch{} share a name with another and go by GUID", repeated, repeated == 1 ? "" : "es")});
  }
  return out;
}

}  // namespace weft::topology::ib
