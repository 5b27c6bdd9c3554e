// SPDX-License-Identifier: BSD-3-Clause
#include "weft/topology/import.hpp"

namespace weft::topology {

std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::fabric_yaml: return "fabric.yaml";
    case FileKind::ibnetdiscover: return "ibnetdiscover";
    case FileKind::ibnetdiscover_ports: return "ibnetdiscover -p";
    case FileKind::iblinkinfo: return "iblinkinfo";
    case FileKind::slurm_topology_conf: return "Slurm topology.conf";
    case FileKind::slurm_topology_yaml: return "Slurm topology.yaml";
    case FileKind::topograph_model: return "topograph model";
    case FileKind::clos_csv: return "Clos CSV";
    case FileKind::job_yaml: return "job.yaml";
    case FileKind::unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace weft::topology
