// SPDX-License-Identifier: BSD-3-Clause
//
// What Slurm says of its nodes: which may take a job now, and which of their GPUs are free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/placement/placement.hpp"

namespace weft::placement {

/// One node of `scontrol show nodes`.
struct SlurmNode {
  std::string name;
  std::string state;                  ///< as Slurm writes it, "MIXED+DRAIN"
  bool open = false;                  ///< idle or mixed, and nothing keeps jobs off it
  bool idle = false;                  ///< nothing runs on it
  std::optional<std::uint32_t> gpus;  ///< configured; nullopt where Slurm knows of none
  std::uint32_t used_gpus = 0;
  std::vector<std::uint32_t> used;  ///< which, where Slurm says it (`scontrol -d`, JSON's gres_used)
  bool used_known = true;           ///< `used` has used_gpus entries
  Position at;
};

struct SlurmState {
  std::vector<SlurmNode> nodes;
  Notes notes;
};

/// Reads `scontrol show nodes` (also -d, -o) or its --json (and that of `sinfo`), told apart by content. Errors:
/// syntax, bad_value with the place; missing where no node is in it.
[[nodiscard]] Result<SlurmState> parse_slurm_state(const Source& source);

/// Which nodes of a fabric are free by a state, and which GPUs.
struct FreeState {
  NodeMask nodes;
  std::vector<std::vector<bool>> gpus;  ///< of each node, by GPU; true = free
  Notes notes;
};
/// A node that Slurm does not name is not free. Where Slurm counts used GPUs but does not name them, they are taken to
/// be the lowest, which is what Slurm hands out by default (noted). A node whose GPUs Slurm does not know is free where
/// it is idle. Nodes that the fabric does not have are left out (noted).
[[nodiscard]] FreeState free_state(const topology::Fabric& fabric, const SlurmState& state, const std::string& file);

}  // namespace weft::placement
