// SPDX-License-Identifier: BSD-3-Clause
//
// Scores side by side.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/placement/score.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::cli {

/// The terms of several scores, one a row, a column each under its title.
[[nodiscard]] std::string score_table(const topology::Fabric& fabric,
                                      const std::vector<std::pair<std::string, placement::Score>>& columns);

}  // namespace weft::cli
