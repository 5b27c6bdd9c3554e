// SPDX-License-Identifier: BSD-3-Clause
//
// What slurmctld asks about a job, in the fabric's terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/topology/fabric.hpp"

namespace weft::bridge {

/// Who asks, and what for: no matter for the answer.
struct Asker {
  std::uint32_t mode = 0;
  std::uint32_t job_id = 0, array_job_id = 0, array_task_id = 0, het_job_id = 0, het_offset = 0;
  friend bool operator==(const Asker&, const Asker&) = default;
};

/// weft_request with node ids of the fabric for table indices. Zero = not said; empty vectors = not said.
struct Ask {
  Asker by;
  std::uint32_t flags = 0;
  std::optional<std::string> spec;  ///< raw bytes

  std::vector<topology::NodeId> usable;            ///< in the node table's order; those that the fabric knows
  std::vector<std::uint32_t> cpus, gpus, weights;  ///< parallel to usable
  std::vector<std::uint64_t> free_gpus;            ///< parallel to usable: bit g = GPU g; 0 = not known
  std::vector<std::uint32_t> table;                ///< index in the node table, parallel to usable; where contiguous
  std::vector<topology::NodeId> required;
  std::optional<std::vector<topology::NodeId>> possible;   ///< nullopt: every node
  std::optional<std::vector<topology::NodeId>> reach;      ///< as weft_request's; nullopt where patience is no matter
  std::uint32_t foreign_usable = 0, foreign_required = 0;  ///< nodes that the fabric does not know

  std::uint32_t min_nodes = 0, req_nodes = 0, max_nodes = 0;
  std::uint64_t tasks = 0, total_gpus = 0;
  std::uint32_t tasks_per_node = 0, gpus_per_node = 0, gpus_per_task = 0;
  std::uint64_t need_cpus = 0, need_gpus = 0;
  std::uint32_t max_switches = 0, segment = 0;
  friend bool operator==(const Ask&, const Ask&) = default;
};

}  // namespace weft::bridge
