// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "commands.hpp"
#include "weft/placement/link_score.hpp"
#include "weft/placement/placement.hpp"

namespace weft::cli {

/// Every policy, in the order in which they are shown.
[[nodiscard]] std::span<const placement::Policy> all_policies();

/// Options from words that the command line has already checked. `links` outlives them.
[[nodiscard]] placement::PlaceOptions place_options(std::string_view policy, const ChoiceArgs& choice,
                                                    const placement::LinkOptions& links);

}  // namespace weft::cli
