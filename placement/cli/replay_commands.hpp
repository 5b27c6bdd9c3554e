// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"
#include "weft/config/error.hpp"

namespace weft::cli {

struct ReplayArgs {
  std::string log;
  std::string config;
  std::uint64_t decision = 0;  ///< 0: all
  std::string output;
};
[[nodiscard]] Result<int> run_replay(const ReplayArgs& args);

struct StatsArgs {
  std::vector<std::string> logs;
  std::string output;
};
[[nodiscard]] Result<int> run_stats(const StatsArgs& args);

/// The two commands.
void add_replay(CLI::App& app, Chosen& chosen);
void add_stats(CLI::App& app, Chosen& chosen);

}  // namespace weft::cli
