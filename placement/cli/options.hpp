// SPDX-License-Identifier: BSD-3-Clause
//
// Options that several commands share, so that each reads the same everywhere.
#pragma once

#include <string>
#include <vector>

#include "fabric_input.hpp"
#include "generate.hpp"

namespace weft::cli {

/// --node-type, --bandwidth, --names, --topology, --health.
void add_fabric_options(CLI::App& app, FabricArgs& args);
/// --format, one of `formats`, the first by default.
void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& formats);
/// -o, --output.
void add_output(CLI::App& app, std::string& output);
/// --quiet.
void add_quiet(CLI::App& app, bool& quiet);

void add_place(CLI::App& app, Chosen& chosen);
void add_score(CLI::App& app, Chosen& chosen);
void add_compare(CLI::App& app, Chosen& chosen);
void add_affinity(CLI::App& app, Chosen& chosen);
void add_traffic(CLI::App& app, Chosen& chosen);

}  // namespace weft::cli
