// SPDX-License-Identifier: BSD-3-Clause
//
// Which GPUs of a node a job gets that does not need all of them.
//
// WHY
//   Ranks of one local index on different nodes talk to each other (data and pipeline parallelism do little else), and
//   do so over one rail where their GPUs use the NIC of one number. On nodes where other jobs hold some GPUs, the
//   lowest free ones are rarely on the same rails, and two of them may share a NIC while another NIC idles.
//
// DEFINITIONS
//   The rail of a GPU is its NIC's number (NodeType::nic_of_gpu). A rail set gives each local index a rail. A rank is
//   off its rail where its GPU's rail is not that of its local index; what it sends then crosses to another rail. A NIC
//   is shared by each GPU of the job beyond the first on it.
//
// METHOD
//   For a rail set R, a node can serve sum over rails of min(R's count, free GPUs there) ranks on their rails, whatever
//   else is chosen, so the fewest ranks off their rails on N nodes are the N smallest deficits, and the least over all
//   R is the optimum over all choices of nodes and GPUs (a choice's own majority rails are one of the R). All R are
//   tried where they are at most kMaxRailSets, else those that are grown greedily from each rail. Ties: fewer shared
//   NICs, shorter paths to NICs, fewer free GPUs left over (so that whole nodes stay whole), the order given.
//
// COMPLEXITY
//   O(rail sets * (kinds of nodes * GPUs + N)), where nodes of one type with the same free GPUs are one kind.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weft/topology/fabric.hpp"

namespace weft::placement {

inline constexpr std::size_t kMaxRailSets = 20000;
inline constexpr std::size_t kMaxOtherAligned = 3;

/// What is free where.
struct GpuRequest {
  std::uint32_t gpus_per_node = 0;
  std::uint32_t nodes = 0;                       ///< how many of `candidates` to take
  std::span<const topology::NodeId> candidates;  ///< in order of preference
  std::span<const std::vector<bool>> free;       ///< by NodeId: of each GPU; true = free
};

/// GPUs of the chosen nodes, by local index.
struct GpuChoice {
  std::vector<topology::NodeId> nodes;           ///< as ordered in candidates
  std::vector<std::vector<std::uint32_t>> gpus;  ///< of each node: gpus_per_node of them; entry i is local index i
  std::vector<std::uint32_t> rails;              ///< of each local index, ascending
  std::uint64_t off_rail = 0;                    ///< ranks off their rail; no choice has fewer where `exact`
  std::uint64_t shared_nics = 0;
  bool exact = true;                      ///< every rail set was tried
  std::vector<topology::NodeId> aligned;  ///< of all candidates: those that serve every rank on its rail
  /// The same for other rail sets that enough candidates serve whole: distinct, most nodes first, at most
  /// kMaxOtherAligned.
  std::vector<std::vector<topology::NodeId>> other_aligned;
};

/// Empty `nodes` where fewer than request.nodes candidates have gpus_per_node free GPUs.
[[nodiscard]] GpuChoice choose_gpus(const topology::Fabric& fabric, const GpuRequest& request);

/// The `count` free GPUs of lowest number, as Slurm hands them out; fewer where fewer are free.
[[nodiscard]] std::vector<std::uint32_t> lowest_gpus(const std::vector<bool>& free, std::uint32_t count);

/// Ranks off their rail under the best rail set for these GPUs (each local index's most frequent rail), and NICs
/// shared.
struct GpuCost {
  std::uint64_t off_rail = 0;
  std::uint64_t shared_nics = 0;
};
[[nodiscard]] GpuCost gpu_cost(const topology::Fabric& fabric, std::span<const topology::NodeId> nodes,
                               std::span<const std::vector<std::uint32_t>> gpus);

}  // namespace weft::placement
