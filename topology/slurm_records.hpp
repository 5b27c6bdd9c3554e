// SPDX-License-Identifier: BSD-3-Clause
//
// What a Slurm topology says, whichever file it stood in: topology.conf and topology.yaml differ in syntax alone. The
// checks here are those of Slurm's own topology plugins (read at 24.11, 25.05, 25.11 and 26.05): what makes slurmctld
// stop is an Error, what it logs as a warning is a Note. Where versions differ, the newest decides and the note names
// the older one's refusal.
//
// HOW EACH KIND BECOMES A FABRIC
//   tree     a switch of the file is a switch of the fabric, tier 1 for a leaf, else one above its highest child.
//            LinkSpeed has no unit ("arbitrary" in Slurm's manual, and unused there) and is left out with a note.
//   block    a block is a leaf switch of its name (tier 1) and, unless the options deny NVLink, an NVLink domain. Each
//            larger block size is a tier of switches over consecutive blocks, named FIRST-to-LAST; a last group that
//            the smaller size covers too is not repeated, as in Slurm. Slurm puts a job that no block size holds on
//            "the whole of the topology", so where several top groups remain one more switch, all-blocks, joins them.
//   ring     one switch a position, NAME-p0 on, the node at it, neighbours joined, the last to the first. Rings are
//            apart from each other: Slurm never lets a job span two.
//   torus3d  one switch a cell, NAME-z0y0x0 on (x fastest, as Slurm numbers them), joined to its neighbours in each
//            direction around the torus. Cells that no region fills are switches without a node. Placement shapes are
//            checked, then left out: they are rules for jobs, not wires.
//   flat     names no nodes: not a fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tree_fabric.hpp"
#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {

/// A hostlist of the file and its place.
struct SlurmList {
  std::string text;
  Position at;
  bool exact = true;  ///< stands in the file byte for byte
};

/// A named thing with nodes: a block or a ring.
struct SlurmGroup {
  std::string name;
  Position at;
  std::optional<SlurmList> nodes;
};

struct SlurmSwitch {
  std::string name;
  Position at;
  std::optional<SlurmList> nodes;
  std::optional<SlurmList> children;
};

struct SlurmBlockSize {
  std::uint64_t nodes = 0;
  Position at;
  std::uint32_t width = 1;
};

struct Torus3dDims {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  Position at;
};

struct SlurmTorus {
  struct Region {
    Torus3dDims anchor;
    Torus3dDims dims;
    std::optional<SlurmList> nodes;
    Position at;
  };
  struct Placement {
    Torus3dDims dims;
    Torus3dDims seed;
    Torus3dDims spacing;  ///< 0 = dims
  };
  std::string name;
  Position at;
  Torus3dDims dims;
  std::optional<SlurmList> nodes;
  std::vector<Region> regions;
  std::vector<Placement> placements;
};

/// Where the records come from and where remarks go.
struct SlurmContext {
  const Source& source;
  const ImportOptions& options;
  Notes& notes;
  std::string name;             ///< of the fabric
  Position at{1, 1};            ///< of the topology, for what is missing in it
  bool conf = true;             ///< topology.conf, where Slurm is stricter on switches than in topology.yaml
  const char* switch_key = "";  ///< how the file writes a switch: "SwitchName", "switch"
  const char* block_key = "";
  const char* ring_key = "";
};

[[nodiscard]] Result<config::FabricSpec> slurm_tree(const std::vector<SlurmSwitch>& switches, const SlurmContext& at);
/// `sizes` empty: Slurm's default, base blocks and groups of 2, 4, 8 and 16 of them.
[[nodiscard]] Result<config::FabricSpec> slurm_block(const std::vector<SlurmGroup>& blocks,
                                                     const std::vector<SlurmBlockSize>& sizes, const SlurmContext& at);
[[nodiscard]] Result<config::FabricSpec> slurm_ring(const std::vector<SlurmGroup>& rings, const SlurmContext& at);
[[nodiscard]] Result<config::FabricSpec> slurm_torus3d(const std::vector<SlurmTorus>& toruses, const SlurmContext& at);

/// Refuses a name that cannot stand in a hostlist or is longer than `limit` bytes (0 = any).
[[nodiscard]] Result<void> check_slurm_name(const std::string& name, Position at, std::string_view what,
                                            std::size_t limit, const Source& source);

}  // namespace weft::topology
