// SPDX-License-Identifier: BSD-3-Clause
//
// The `weft` program: arguments in, one engine call, the answer out. Nothing is decided here.
#pragma once

#include "weft/config/error.hpp"

namespace weft::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitInfeasible = 1;  ///< no legal placement
inline constexpr int kExitUsage = 2;       ///< bad input or usage, or a file that cannot be read or written
inline constexpr int kExitInternal = 3;    ///< a bug

/// The exit code that an error stands for.
[[nodiscard]] int exit_code(const Error& error);

/// Parses the command line, runs the command, prints its error if it fails; returns the exit code. Throws only on bugs.
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace weft::cli
