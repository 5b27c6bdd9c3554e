// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "weft/config/error.hpp"

namespace CLI {
class App;
}

namespace weft::cli {

/// The command that the line asked for, ready to run.
using Chosen = std::function<Result<int>()>;

/// Adds `generate` and one subcommand a kind of fabric to `app`; the one that is asked for is put into `chosen`.
void add_generate(CLI::App& app, Chosen& chosen);

}  // namespace weft::cli
