// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "fold_links.hpp"

namespace weft::topology::fold {
namespace {

using config::LinkPattern;
using Ids = std::vector<std::uint32_t>;

// All equal cables between one NIC and one switch.
struct Attachment {
  std::uint32_t node = 0;
  Kind kind;
  std::uint32_t nic = 0;
  std::uint32_t sw = 0;
  std::uint32_t cable = 0;  // the first of them
};

std::vector<Attachment> attachments(const RawFabric& raw) {
  std::vector<Attachment> all;
  for (std::uint32_t i = 0; i < raw.cables.size(); ++i) {
    const RawCable& cable = raw.cables[i];
    if (cable.a.is_switch == cable.b.is_switch) continue;
    const RawEnd& node = cable.a.is_switch ? cable.b : cable.a;
    const RawEnd& sw = cable.a.is_switch ? cable.a : cable.b;
    all.push_back({node.index, {cable.nominal, cable.plane, 1}, node.nic, sw.index, i});
  }
  const auto ends = [](const Attachment& a) { return std::tuple(a.node, a.nic, a.sw, a.kind); };
  std::vector<Attachment> merged = merge_parallel(std::move(all), ends);
  std::sort(merged.begin(), merged.end(), [](const Attachment& a, const Attachment& b) {
    return std::tuple(a.node, a.kind, a.nic, a.sw) < std::tuple(b.node, b.kind, b.nic, b.sw);
  });
  return merged;
}

// One node's attachments of one kind, NIC by NIC.
struct Port {
  std::uint32_t nic = 0;
  Ids switches;  // ascending
};
struct Ports {
  std::uint32_t node = 0;
  Kind kind;
  std::uint32_t cable = 0;
  std::vector<Port> nics;
};

std::vector<Ports> by_node_and_kind(const std::vector<Attachment>& all) {
  std::vector<Ports> out;
  for (const Attachment& a : all) {
    if (out.empty() || out.back().node != a.node || out.back().kind != a.kind) {
      out.push_back({a.node, a.kind, a.cable, {}});
    }
    Ports& ports = out.back();
    ports.cable = std::min(ports.cable, a.cable);
    if (ports.nics.empty() || ports.nics.back().nic != a.nic) ports.nics.push_back({a.nic, {}});
    ports.nics.back().switches.push_back(a.sw);
  }
  return out;
}

bool every_nic(const RawFabric& raw, const Ports& ports) {
  return ports.nics.size() == raw.nodes[ports.node].nics && ports.nics.back().nic + 1 == ports.nics.size();
}

// The node's rails: the k-th holds the k-th switch of every NIC in turn. Empty unless every NIC has equally many
// switches and no rail meets a switch twice.
std::vector<Ids> rails_of(const RawFabric& raw, const Ports& ports) {
  if (!every_nic(raw, ports) || ports.nics.size() < 2) return {};
  std::vector<Ids> rails(ports.nics.front().switches.size());
  for (const Port& port : ports.nics) {
    if (port.switches.size() != rails.size()) return {};
    for (std::size_t k = 0; k < rails.size(); ++k) rails[k].push_back(port.switches[k]);
  }
  for (const Ids& rail : rails) {
    Ids sorted = rail;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return {};
  }
  return rails;
}

bool uniform(const RawFabric& raw, const Ports& ports) {
  return every_nic(raw, ports) && std::all_of(ports.nics.begin(), ports.nics.end(), [&](const Port& port) {
           return port.switches == ports.nics.front().switches;
         });
}

// The kinds for which `rail` entries are no more than the entries a NIC and switch that would say the same.
std::set<Kind> rail_kinds(const RawFabric& raw, const std::vector<Ports>& all) {
  std::map<Kind, std::set<Ids>> rails;
  std::map<Kind, std::set<std::pair<std::uint32_t, std::uint32_t>>> ends;
  for (const Ports& ports : all) {
    if (uniform(raw, ports)) continue;
    for (Ids& rail : rails_of(raw, ports)) {
      for (std::uint32_t nic = 0; nic < rail.size(); ++nic) ends[ports.kind].emplace(nic, rail[nic]);
      rails[ports.kind].insert(std::move(rail));
    }
  }
  std::set<Kind> out;
  for (const auto& [kind, distinct] : rails) {
    if (distinct.size() <= ends[kind].size()) out.insert(kind);
  }
  return out;
}

// Entries of the same pattern, kind, NICs and switches, their nodes collected.
class Collector {
 public:
  void add(const Ports& ports, LinkPattern pattern, Ids nics, Ids switches) {
    const auto [it, fresh] = entries_.try_emplace({pattern, ports.kind, std::move(nics), std::move(switches)});
    Entry& entry = it->second;
    entry.from.push_back(ports.node);
    entry.cable = fresh ? ports.cable : std::min(entry.cable, ports.cable);
  }
  [[nodiscard]] std::vector<Entry> take() {
    std::vector<Entry> out;
    for (auto& [key, entry] : entries_) {
      const auto& [pattern, kind, nics, switches] = key;
      out.push_back({true, pattern, kind, nics, std::move(entry.from), switches, entry.cable});
    }
    return out;
  }

 private:
  std::map<std::tuple<LinkPattern, Kind, Ids, Ids>, Entry> entries_;
};

}  // namespace

std::vector<Entry> fold_node_cables(const RawFabric& raw) {
  const std::vector<Ports> all = by_node_and_kind(attachments(raw));
  const std::set<Kind> railed = rail_kinds(raw, all);
  Collector entries;
  for (const Ports& ports : all) {
    if (uniform(raw, ports)) {
      entries.add(ports, LinkPattern::all, {}, ports.nics.front().switches);
      continue;
    }
    std::vector<Ids> rails = railed.contains(ports.kind) ? rails_of(raw, ports) : std::vector<Ids>{};
    for (Ids& rail : rails) entries.add(ports, LinkPattern::rail, {}, std::move(rail));
    if (!rails.empty()) continue;
    std::map<Ids, Ids> nics_of;  // switches -> the NICs that go to all of them
    for (const Port& port : ports.nics) nics_of[port.switches].push_back(port.nic);
    for (auto& [switches, nics] : nics_of) entries.add(ports, LinkPattern::all, std::move(nics), switches);
  }
  std::vector<Entry> out = join_runs(entries.take());
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.from.front(), a.nics, a.to, a.kind) < std::tie(b.from.front(), b.nics, b.to, b.kind);
  });
  return out;
}

}  // namespace weft::topology::fold
