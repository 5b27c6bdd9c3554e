// SPDX-License-Identifier: BSD-3-Clause
//
// What an importer finds in a dump, flat: one entry an object. to_spec() folds it into the compact, readable spec that
// a person would have written, so that `weft import` gives a fabric.yaml that can be read and edited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::topology {

struct RawNode {
  std::string name;
  std::uint32_t nics = 0;
  std::uint32_t gpus = 0;
  std::uint32_t weight = 1;
  Position at;
};

struct RawSwitch {
  std::string name;
  std::optional<std::uint32_t> tier;
  Position at;
};

/// One end of a cable: index into nodes (with its NIC) or into switches.
struct RawEnd {
  bool is_switch = true;
  std::uint32_t index = 0;
  std::uint32_t nic = 0;
};

/// One cable, each listed once.
struct RawCable {
  RawEnd a;
  RawEnd b;
  Bandwidth nominal;                ///< what the link should run at
  std::optional<Bandwidth> actual;  ///< where it runs slower than nominal
  bool down = false;
  std::string reason;  ///< for a slow or down cable
  std::string plane;   ///< name; empty = found
  Position at;
};

struct RawDomain {
  std::string name;
  std::vector<std::uint32_t> nodes;
  Position at;
};

struct RawFabric {
  std::string name;
  std::vector<RawNode> nodes;
  std::vector<RawSwitch> switches;
  std::vector<RawCable> cables;
  std::vector<RawDomain> nvlink_domains;
  std::string type_prefix = "node";  ///< node types are named <prefix> or <prefix>-<gpus>g<nics>n where several
  bool nvlink = true;
  std::optional<Bandwidth> nvlink_bandwidth;
};

/// Folds: nodes of one shape into one type and hostlist, equal parallel cables into `cables`, complete bipartite groups
/// into `all`, rails into `rail`, equal runs of nodes over a switch each into `split`, regular graphs into `zip`. Slow
/// and down cables become health entries (`cables: n` where only some of a bundle ail; a cable both down and slow is
/// down). Order of nodes and switches is kept; positions are those of each entry's first object. The spec says exactly
/// the cables of `raw`, with one exception that it has no words for: which of a bundle's cables of unequal nominal
/// bandwidth is the ailing one. O(n log n).
///
/// Precondition: names are valid and unique, indices in range, every cable has two different ends of which at least one
/// is a switch, and a cable's NIC is below its node's `nics`.
[[nodiscard]] config::FabricSpec to_spec(const RawFabric& raw, const Source& source);

}  // namespace weft::topology
