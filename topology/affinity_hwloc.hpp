// SPDX-License-Identifier: BSD-3-Clause
//
// Link bandwidths in hwloc's files: the second half of the reader.
#pragma once

#include <cstdint>
#include <map>

#include "affinity_tree.hpp"
#include "affinity_xml.hpp"

namespace weft::topology::affinity {

/// hwloc's gp_index of PCI and OS devices to the PCI item that they are, or sit on.
using HwlocObjects = std::map<std::uint64_t, std::uint32_t>;

/// NVLinkBandwidth and XGMIBandwidth matrices, and the XGMIPeers of OS devices, into node.links. Errors: bad_value for
/// matrices whose size does not fit their objects.
[[nodiscard]] Result<void> read_hwloc_links(const XmlFile& xml, const DeviceTree& tree, const Assembled& made,
                                            const HwlocObjects& objects, NodeAffinity& node);

}  // namespace weft::topology::affinity
