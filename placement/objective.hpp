// SPDX-License-Identifier: BSD-3-Clause
//
// Which of two placements is better (FORMATS.md, `--objective traffic`).
#pragma once

#include "weft/placement/score.hpp"

namespace weft::placement {

/// True where `a` is strictly better: fewer bytes across the highest tier, then each lower tier down to 2, then fewer
/// hop-bytes, then larger gangs of free nodes left, coarsest level first.
[[nodiscard]] bool better_traffic(const Score& a, const Score& b);

}  // namespace weft::placement
