// SPDX-License-Identifier: BSD-3-Clause
//
// What the InfiniBand tools say, in one form for all of them: adapters and switches by GUID, and one entry for each
// line that tells where a port leads. ib_assemble.hpp makes a fabric of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ib_rate.hpp"
#include "weft/config/error.hpp"

namespace weft::topology::ib {

enum class DeviceKind : std::uint8_t { adapter, switch_, router };

/// An adapter (CA), a switch or a router.
struct Device {
  DeviceKind kind = DeviceKind::switch_;
  std::uint64_t guid = 0;          ///< the node's; where the dump has none, lowest port GUID - port number
  std::uint64_t port_guid = 0;     ///< of its lowest port seen; 0 where the dump has none
  std::uint32_t port_of_guid = 0;  ///< which port that is
  std::vector<std::pair<std::uint32_t, std::uint64_t>> port_guids;  ///< of every port seen, as they came
  std::string description;                                          ///< as its own record says
  std::string peer_description;              ///< as its peers say (they show names from --node-name-map)
  std::optional<std::uint64_t> system_guid;  ///< sysimgguid
  std::optional<std::uint32_t> ports;        ///< how many it has
  bool has_record = false;                   ///< false: only ever named as a peer
  bool absorbed = false;                     ///< its ports went to another device (join_adapter_ports)
  Position at;

  void note_port_guid(std::uint32_t port, std::uint64_t guid_of_port);
  /// 0 where the dump does not say.
  [[nodiscard]] std::uint64_t guid_of_port(std::uint32_t port) const;
};

struct PortRef {
  std::uint32_t device = 0;
  std::uint32_t port = 0;
  friend auto operator<=>(const PortRef&, const PortRef&) = default;
};

/// One line of the dump: what one end says of a link.
struct HalfLink {
  PortRef from;
  PortRef to;
  Speed speed;
  bool active = true;  ///< false: the physical link is up, its logical state is not Active
  Position at;
};

struct Dump {
  std::vector<Device> devices;
  std::vector<HalfLink> halves;
  std::uint32_t noise_lines = 0;  ///< of the tool's own diagnostics, and the first of them
  Position first_noise;

  /// The device of that kind and GUID, made if it is new. O(1).
  std::uint32_t device(DeviceKind kind, std::uint64_t guid, Position at);

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> index_[3];
};

/// For dumps that show port GUIDs only: adapters with one description ("storage01 mlx5_0") that share no port number
/// are the ports of one adapter.
void join_adapter_ports(Dump& dump);

}  // namespace weft::topology::ib
