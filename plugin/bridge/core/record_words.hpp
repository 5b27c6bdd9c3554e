// SPDX-License-Identifier: BSD-3-Clause
//
// The words of the decision log, in the order of their numbers.
#pragma once

#include <array>
#include <string_view>

namespace weft::bridge {

inline constexpr std::array<std::string_view, 4> kVerdicts{"placed", "delegate", "not_now", "never"};
inline constexpr std::array<std::string_view, 11> kCauses{"none",       "unbound",  "foreign", "mixed",
                                                          "deadline",   "internal", "request", "spec",
                                                          "constraint", "capacity", "spread"};
inline constexpr std::array<std::string_view, 4> kModes{"unknown", "run_now", "will_run", "submit"};
inline constexpr std::array<std::string_view, 4> kFlags{"contiguous", "spread", "exclusive_topo", "spec_from_extra"};
inline constexpr std::array<std::string_view, 3> kObjectives{"traffic", "time", "spread"};
inline constexpr std::array<std::string_view, 3> kNodeWeights{"strict", "tie", "ignore"};
inline constexpr std::array<std::string_view, 2> kOnError{"stock", "refuse"};

}  // namespace weft::bridge
