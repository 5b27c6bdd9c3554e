// SPDX-License-Identifier: BSD-3-Clause
#include "ib_dump.hpp"

#include <algorithm>
#include <set>

#include "ib_names.hpp"

namespace weft::topology::ib {

void Device::note_port_guid(std::uint32_t port, std::uint64_t guid_of_port) {
  if (guid_of_port == 0) return;
  if (this->guid_of_port(port) == 0) port_guids.emplace_back(port, guid_of_port);
  if (port_guid != 0 && port_of_guid <= port) return;
  port_guid = guid_of_port;
  port_of_guid = port;
}

std::uint64_t Device::guid_of_port(std::uint32_t port) const {
  for (const auto& [number, guid_there] : port_guids)
    if (number == port) return guid_there;
  return 0;
}

std::uint32_t Dump::device(DeviceKind kind, std::uint64_t guid, Position at) {
  auto& index = index_[static_cast<std::size_t>(kind)];
  const auto [entry, is_new] = index.try_emplace(guid, static_cast<std::uint32_t>(devices.size()));
  if (is_new) {
    Device made;
    made.kind = kind;
    made.guid = guid;
    made.at = at;
    devices.push_back(std::move(made));
  }
  return entry->second;
}

void join_adapter_ports(Dump& dump) {
  std::vector<std::set<std::uint32_t>> ports(dump.devices.size());
  for (const HalfLink& half : dump.halves) {
    ports[half.from.device].insert(half.from.port);
    ports[half.to.device].insert(half.to.port);
  }
  std::unordered_map<std::string, std::uint32_t> first_of;
  std::vector<std::uint32_t> joined(dump.devices.size());
  for (std::uint32_t d = 0; d < dump.devices.size(); ++d) {
    joined[d] = d;
    Device& device = dump.devices[d];
    if (device.kind != DeviceKind::adapter || ports[d].empty()) continue;
    const std::string& text = device.description.empty() ? device.peer_description : device.description;
    if (!parse_adapter_name(text).number) continue;
    const auto [entry, is_new] = first_of.try_emplace(text, d);
    if (is_new) continue;
    auto& taken = ports[entry->second];
    if (std::any_of(ports[d].begin(), ports[d].end(), [&](std::uint32_t p) { return taken.contains(p); })) continue;
    taken.insert(ports[d].begin(), ports[d].end());
    joined[d] = entry->second;
    Device& kept = dump.devices[entry->second];
    for (const auto& [port, guid] : device.port_guids) kept.note_port_guid(port, guid);
    kept.has_record = kept.has_record || device.has_record;
    device.absorbed = true;
  }
  for (HalfLink& half : dump.halves) {
    half.from.device = joined[half.from.device];
    half.to.device = joined[half.to.device];
  }
}

}  // namespace weft::topology::ib
