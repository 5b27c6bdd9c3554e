// SPDX-License-Identifier: BSD-3-Clause
//
// Any fabric file that a site already has, recognised by content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::topology {

enum class FileKind : std::uint8_t {
  fabric_yaml,
  ibnetdiscover,        ///< plain, -f, -g
  ibnetdiscover_ports,  ///< -p
  iblinkinfo,           ///< plain and -l
  slurm_topology_conf,  ///< tree or block
  slurm_topology_yaml,
  topograph_model,
  clos_csv,  ///< host, DSW, PSW, ASW columns
  job_yaml,  ///< known, but no fabric
  unknown,
};
[[nodiscard]] std::string_view to_string(FileKind kind);

/// What the text is, by its content alone. O(size), reads no further than it needs. `unknown` carries no reason; use
/// read_fabric for an error that says what was looked for.
[[nodiscard]] FileKind recognise(std::string_view text);

/// What the caller knows and the file does not say.
struct ImportOptions {
  std::optional<std::uint32_t> gpus_per_node;
  std::optional<std::uint32_t> nics_per_node;  ///< for files without NICs (Slurm, topograph, CSV)
  std::optional<std::string> type_name;        ///< name for the node type
  std::optional<bool> nvlink;                  ///< GPUs of a node joined by NVLink
  std::optional<Bandwidth> nvlink_bandwidth;
  std::optional<Bandwidth> bandwidth;   ///< per cable, for files without speeds
  Source names;                         ///< GUID to host name map; null = none
  std::optional<std::string> topology;  ///< which topology of a topology.yaml; default its cluster_default
  std::string node_file;                ///< the inside of a node, of any kind that read_affinity takes; empty = none
};

/// The GUIDs that a dump shows of an adapter; 0 = not said.
struct NicGuids {
  std::uint64_t node = 0;
  std::uint64_t port = 0;    ///< the first port's
  std::uint64_t system = 0;  ///< system image
};

/// A port of a switch and what its cable leads to; names are the spec's.
struct SwitchPort {
  std::uint64_t switch_guid = 0;
  std::string switch_name;
  std::uint32_t port = 0;
  bool to_switch = true;
  std::string peer;             ///< a switch, or a node
  std::uint64_t peer_guid = 0;  ///< a switch's own; an adapter's port GUID, 0 where the dump has none
  std::uint32_t peer_port = 0;
  std::uint32_t nic = 0;  ///< of a node
  Bandwidth bandwidth;    ///< that it runs at
  bool down = false;
  friend bool operator==(const SwitchPort&, const SwitchPort&) = default;
};

/// A spec and what was assumed or found odd on the way.
struct Imported {
  FileKind kind = FileKind::unknown;
  config::FabricSpec spec;
  Notes notes;
  /// InfiniBand dumps only: every cabled switch port, ascending by (GUID, port). What forwarding tables speak of.
  std::vector<SwitchPort> ports = {};
  /// InfiniBand dumps only: of each node, in the order of its NICs.
  std::vector<std::pair<std::string, std::vector<NicGuids>>> nic_guids = {};
};

/// With options.node_file, node types that have as many NICs as it tells take their inside from it (`hwloc`, unless
/// they name a file themselves). Where a dump and the file both have GUIDs, and all adapters of one node are NICs of
/// the file, NIC i of that node's type is the NIC of its GUID (`hwloc_nics`); else NICs go by order. Notes say which,
/// and what the two contradict each other in. Errors besides: those of read_affinity; conflict where it fits no node
/// type.
///
/// Reads a fabric of any kind. Errors: those of the format, with file, line, column, and `unsupported` for a file that
/// is recognised but holds no fabric.
[[nodiscard]] Result<Imported> read_fabric(const Source& source, const ImportOptions& options = {});

/// Where a file that a node type names (`hwloc`) lies: relative to the directory of the spec's own file.
[[nodiscard]] std::string node_file_path(const config::FabricSpec& spec, const std::string& name);
/// Makes relative names of such files right for a spec that will lie in `directory` (empty: the working directory).
void move_node_files(config::FabricSpec& spec, const std::string& directory);

// One importer a kind, for tests and fuzzers; read_fabric calls them.
[[nodiscard]] Result<Imported> import_ibnetdiscover(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_ibnetdiscover_ports(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_iblinkinfo(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_slurm_topology_conf(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_slurm_topology_yaml(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_topograph_model(const Source& source, const ImportOptions& options);
[[nodiscard]] Result<Imported> import_clos_csv(const Source& source, const ImportOptions& options);

/// "--node-type" as the command line takes it: a preset name (h100, h200, b200, gb200 …) or
/// "gpus=8,nics=8,nvlink=450GB/s". Fills the corresponding fields. Errors: usage, naming the presets and keys.
[[nodiscard]] Result<ImportOptions> parse_node_type(std::string_view text, ImportOptions base = {});

}  // namespace weft::topology
