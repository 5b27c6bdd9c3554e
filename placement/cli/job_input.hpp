// SPDX-License-Identifier: BSD-3-Clause
//
// From what the command line says about a job and the free nodes to what the engine takes.
#pragma once

#include "commands.hpp"
#include "link_input.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement.hpp"

namespace weft::cli {

/// Notes said beside a result; `weft check` and `weft show` say all.
inline constexpr std::size_t kNotesSaid = 10;

/// A job on a fabric, everything that the job leaves open resolved.
struct Prepared {
  LoadedFabric loaded;
  config::JobSpec job;
  placement::ResolvedJob resolved;
  placement::Traffic traffic;
  placement::NodeMask free;                  ///< as the user said it, less the running jobs' nodes; health comes on top
  std::vector<std::vector<bool>> free_gpus;  ///< of each node, from --state; empty = all
  LinkInput links;

  [[nodiscard]] placement::Request request() const;
};

/// Reads and resolves all. Says the fabric's notes.
[[nodiscard]] Result<Prepared> prepare(const JobArgs& common, const FreeArgs& nodes, const LinkArgs& links);

/// What a placement costs, with the job's own options, the nodes that were free before it, and the links. Errors: those
/// of score and check_apart.
[[nodiscard]] Result<placement::Score> score_of(const Prepared& prepared, const placement::Placement& placement);

/// One flag a node. Errors: bad_name and limit of the hostlist, dangling for a node that the fabric does not have.
[[nodiscard]] Result<placement::NodeMask> free_mask(const topology::Fabric& fabric, const FreeArgs& nodes);

}  // namespace weft::cli
