// SPDX-License-Identifier: BSD-3-Clause
//
// Which adapters make a host, and what hosts and switches are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ib_dump.hpp"
#include "ib_links.hpp"
#include "ib_names.hpp"
#include "weft/config/error.hpp"

namespace weft::topology::ib {

struct Host {
  std::string name;
  std::vector<std::uint32_t> adapters;  ///< device indices, in NIC order
  Position at;
};

struct Hosts {
  std::vector<Host> hosts;  ///< in natural order of names
  std::vector<Seat> seats;  ///< by device; only those of adapters in `hosts` mean anything
};

/// Groups the adapters that `keep` marks into hosts.
[[nodiscard]] Hosts find_hosts(const Dump& dump, const std::vector<bool>& keep, NameMap& names, const Source& source,
                               Notes& notes);

/// A unique name for each device that `keep` marks and that is a switch, none of them a host's.
[[nodiscard]] std::vector<std::string> name_switches(const Dump& dump, const std::vector<bool>& keep, NameMap& names,
                                                     const Hosts& hosts, const Source& source, Notes& notes);

}  // namespace weft::topology::ib
