// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of Slurm's node records that its text and its JSON write alike.
#pragma once

#include <string_view>

#include "weft/placement/slurm_state.hpp"

namespace weft::placement {

/// "MIXED+DRAIN", "IDLE*", "idle~".
void set_slurm_state(SlurmNode& node, std::string_view text);
/// "gpu:h100:8(S:0-1),shard:32". False where a number of GPUs is none.
[[nodiscard]] bool set_slurm_gpus(SlurmNode& node, std::string_view gres);
/// "gpu:h100:4(IDX:0-1,4-5)". False likewise.
[[nodiscard]] bool set_slurm_used(SlurmNode& node, std::string_view gres);
/// "cpu=64,gres/gpu=4": how many, not which. False likewise.
[[nodiscard]] bool set_slurm_tres(SlurmNode& node, std::string_view tres);

/// The output of --json.
[[nodiscard]] Result<SlurmState> parse_slurm_state_json(const Source& source);

}  // namespace weft::placement
