// SPDX-License-Identifier: BSD-3-Clause
//
// One decision: what slurmctld asks about a job, in the fabric's terms, and the answer. Pure but for the clock that the
// options bring, so that a logged decision can be made again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"
#include "traffic_cache.hpp"
#include "weft/placement/placement.hpp"
#include "weft_bridge.h"

namespace weft::bridge {

/// weft_request with node ids of the fabric for table indices. Zero = not said; empty vectors = not said.
struct Ask {
  std::uint32_t mode = 0, flags = 0;
  std::uint32_t job_id = 0, array_job_id = 0, array_task_id = 0, het_job_id = 0, het_offset = 0;
  std::optional<std::string> spec;  ///< raw bytes

  std::vector<topology::NodeId> usable;            ///< in the node table's order; those that the fabric knows
  std::vector<std::uint32_t> cpus, gpus, weights;  ///< parallel to usable
  std::vector<std::uint64_t> free_gpus;            ///< parallel to usable: bit g = GPU g; 0 = not known
  std::vector<std::uint32_t> table;                ///< index in the node table, parallel to usable; where contiguous
  std::vector<topology::NodeId> required;
  std::optional<std::vector<topology::NodeId>> possible;   ///< nullopt: every node
  std::uint32_t foreign_usable = 0, foreign_required = 0;  ///< nodes that the fabric does not know

  std::uint32_t min_nodes = 0, req_nodes = 0, max_nodes = 0;
  std::uint64_t tasks = 0, total_gpus = 0;
  std::uint32_t tasks_per_node = 0, gpus_per_node = 0, gpus_per_task = 0;
  std::uint64_t need_cpus = 0, need_gpus = 0;
  std::uint32_t max_switches = 0, segment = 0;
  friend bool operator==(const Ask&, const Ask&) = default;
};

struct Decision {
  weft_verdict verdict = WEFT_DELEGATE;
  weft_cause cause = WEFT_CAUSE_NONE;
  std::vector<topology::NodeId> nodes;  ///< rank order
  std::vector<std::uint64_t> gpus;      ///< of each node, as Ask::free_gpus; empty where those did not count
  std::uint32_t ranks_per_node = 0;
  std::uint32_t leaves = 0, pods = 0;
  bool switches_exceeded = false;
  /// Modelled, of the layout that the user or weft.yaml gave; nullopt: no layout, or too large to score under the lock.
  std::optional<double> cross_spine_bytes;
  std::optional<double> hop_bytes;
  std::optional<double> bound;  ///< on cross-spine bytes where there are some, else on leaves
  std::optional<double> gap;    ///< (value - bound) / bound
  std::string reason;
  std::string summary;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// What decide() calls and is bounded by; tests put faults here.
struct DecideOptions {
  using Place = std::function<Result<placement::Placement>(const topology::Fabric&, const placement::Request&,
                                                           const placement::PlaceOptions&)>;
  Place place = [](const topology::Fabric& fabric, const placement::Request& request,
                   const placement::PlaceOptions& options) { return placement::place(fabric, request, options); };
  /// True once the wall clock says enough: asked before each attempt, which then is not begun, and now and then in the
  /// engine's search, which then ends with the best found so far. Asked at the same places in every run.
  std::function<bool()> overran = [] { return false; };
  std::uint64_t budget_steps = 0;   ///< 0: the settings'
  TrafficCache* traffic = nullptr;  ///< may be null
};

/// Chooses. Throws only what its callees throw (std::bad_alloc, bugs).
///
/// - A malformed SPEC, or one that does not fit the job, is NEVER with the arithmetic.
/// - The number of nodes is the most of req_nodes .. min_nodes that can be placed, or the fewest that hold the job
/// where
///   nothing more is asked; only numbers that the layout and the segment divide.
/// - Node weights, --switches, --contiguous, --exclusive=topo as weft_bridge.h says.
/// - Nothing found: with a SPEC or a constraint NOT_NOW, or NEVER where all possible nodes of the sound fabric, free,
/// would
///   not do either; without, DELEGATE.
[[nodiscard]] Decision decide(const topology::Fabric& fabric, const topology::Fabric& sound, const Settings& settings,
                              const Ask& ask, const DecideOptions& options);

/// A DELEGATE or, where weft.yaml says on_error: refuse, a NOT_NOW.
[[nodiscard]] Decision engine_failed(const Settings& settings, weft_cause cause, std::string reason);

}  // namespace weft::bridge
