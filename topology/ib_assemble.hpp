// SPDX-License-Identifier: BSD-3-Clause
//
// From what an InfiniBand tool said to a fabric: which adapters make a host, what everything is called, which cables
// there are. Shared by ibnetdiscover, its ports report and iblinkinfo, so that the same fabric seen through any of them
// gives the same spec.
#pragma once

#include <vector>

#include "ib_dump.hpp"
#include "raw_fabric.hpp"
#include "weft/config/error.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology::ib {

struct Assembled {
  RawFabric raw;
  Notes notes;
  std::vector<SwitchPort> ports;                                         ///< as Imported::ports
  std::vector<std::pair<std::string, std::vector<NicGuids>>> nic_guids;  ///< as Imported::nic_guids
};

/// Hosts are the adapters of one host name (from the GUID map, else from the description), and adapters of one
/// sysimgguid where only some have a name. An adapter without any name is a node of its own, "H-<port GUID>". Switches
/// go by their description's name, else "S-<GUID>". NICs count in the order of their device numbers (mlx5_0 or HCA-1
/// first) where a host's numbers differ, else in GUID order; adapters slower by design come after the fast ones. Nodes
/// and switches come in natural order of their names. Errors: of pair_links, of the name map, and `missing` for a dump
/// without switches or hosts.
[[nodiscard]] Result<Assembled> assemble(const Dump& dump, const Source& source, const ImportOptions& options);

/// assemble, then to_spec.
[[nodiscard]] Result<Imported> import_dump(FileKind kind, const Dump& dump, const Source& source,
                                           const ImportOptions& options);

}  // namespace weft::topology::ib
