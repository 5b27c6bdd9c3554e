// SPDX-License-Identifier: BSD-3-Clause
//
// A placement (which GPU each rank sits on) and the choice of one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/traffic.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// Where a rank sits.
struct Slot {
  topology::NodeId node{};
  std::uint32_t gpu = 0;
  std::uint32_t nic = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

/// Nodes in rank order (each once) and the slot of every rank.
struct Placement {
  std::vector<topology::NodeId> nodes;
  std::vector<Slot> ranks;
};

/// Ranks on the GPUs of `nodes` in order: rank r on GPU r mod ranks_per_node of node r / ranks_per_node.
/// Errors: bad_value where a node has fewer GPUs than ranks_per_node.
[[nodiscard]] Result<Placement> ranks_in_order(const topology::Fabric& fabric, std::vector<topology::NodeId> nodes,
                                               std::uint32_t ranks_per_node);

/// Nodes that may be used: one flag a node.
using NodeMask = std::vector<bool>;

/// Who chooses.
enum class Policy : std::uint8_t { weft, tree, block, first_fit, random };
[[nodiscard]] std::string_view to_string(Policy policy);

/// What to minimise first: bytes over the highest tier (then lower ones, then hop-bytes); the modelled communication
/// time of a step; or the weighted sum over the dimensions of the most pods that a group touches.
enum class Objective : std::uint8_t { traffic, time, spread };

struct LinkOptions;

/// How node weights count: a node of higher weight only where those of lower weight do not suffice (Slurm), only where
/// nothing else tells nodes apart, or not at all.
enum class NodeWeight : std::uint8_t { strict, tie, ignore };

struct PlaceOptions {
  Policy policy = Policy::weft;
  Objective objective = Objective::traffic;
  NodeWeight node_weight = NodeWeight::tie;
  /// Time model and running jobs for objective time, spread evenly over the shortest paths; null = the default model on
  /// an empty fabric.
  const LinkOptions* links = nullptr;
  std::uint64_t seed = 1;
  /// Steps of the search for a rank map (edges looked at); 0 = by the job's size.
  std::uint64_t budget_steps = 0;
  /// Asked now and then; true ends the search with the best found so far. A safety net: what comes of it depends on
  /// when it says so.
  std::function<bool()> stop;
};

/// How place() came to its choice.
struct PlaceStats {
  std::uint64_t steps = 0;  ///< of the search for a rank map
  bool exact = false;       ///< every map was considered: no better one exists
  bool stopped = false;     ///< PlaceOptions::stop ended it
};

/// What to place and where it may go.
struct Request {
  const config::JobSpec* job = nullptr;     ///< not null
  config::Layout layout;                    ///< resolved
  std::uint32_t ranks_per_node = 0;         ///< resolved
  const Traffic* traffic = nullptr;         ///< not null
  NodeMask free;                            ///< size node_count(); health is applied on top
  std::vector<std::uint32_t> weights = {};  ///< of nodes; empty = those of the fabric
  /// Of each node: which GPUs are free. Empty = all of every free node. A job that needs fewer GPUs than a node has
  /// gets them on the same rails on all nodes where that can be (gpu_choice.hpp); other policies take the lowest, as
  /// Slurm.
  std::vector<std::vector<bool>> free_gpus = {};
  /// The job takes its nodes whole, however few ranks it has on each: nobody asks for GPUs.
  bool whole_nodes = false;
  const TrafficDigest* digest = nullptr;  ///< of `traffic`; null = made anew
};

/// What a job leaves to the fabric.
struct ResolvedJob {
  std::uint32_t ranks_per_node = 0;
  config::Layout layout;
};

/// Resolves ranks per node and layout, and checks the names in the constraints. A job that does not say its ranks per
/// node takes the GPUs of the node type; where the fabric has several types, the largest number of GPUs that enough
/// usable nodes have. Errors: bad_value with the arithmetic, bad_name and dangling for node names, limit.
[[nodiscard]] Result<ResolvedJob> resolve_job(const topology::Fabric& fabric, const config::JobSpec& job);

/// The same without a fabric: ranks per node are the job's own, or follow from a layout that names dp. Errors: missing
/// where neither says them; bad_value and limit as above.
[[nodiscard]] Result<ResolvedJob> resolve_job(const config::JobSpec& job);

/// Chooses nodes and ranks. Deterministic: the same input gives the same placement everywhere.
///
/// Policy weft: node lists by best fit on the hierarchy (select_nodes.hpp), also with domain counts aligned to the runs
/// of nodes that the inner dimensions' groups fill, and on fabrics without a hierarchy also grown as a ball; over them
/// the search for a rank map (rank_map.hpp), which may change both. The map that the objective prefers wins; of maps of
/// equal traffic, the one that leaves larger gangs of free nodes. Policies tree and block choose as Slurm's plugins do
/// (slurm_policies.hpp), first_fit and random know nothing of the fabric but what qualifies; where their choice breaks
/// a constraint, that is an error.
///
/// Errors: infeasible, with what is missing ("needs 8 free nodes under one leaf; the fullest, leaf12, has 6 free");
/// bad_name and dangling (constraints); unsupported (what policy block has no notion of); usage where the request does
/// not fit together.
[[nodiscard]] Result<Placement> place(const topology::Fabric& fabric, const Request& request,
                                      const PlaceOptions& options = {}, PlaceStats* stats = nullptr);

/// Whether a placement is legal for a request: every node qualifies and stands once, each rank has a GPU of its own on
/// one of the nodes, ranks_per_node of them on each, and the constraints hold. Errors: infeasible,
/// naming the rule, the node or rank and the numbers; those of the constraints' node lists.
[[nodiscard]] Result<void> check_placement(const topology::Fabric& fabric, const Request& request,
                                           const Placement& placement);

}  // namespace weft::placement
