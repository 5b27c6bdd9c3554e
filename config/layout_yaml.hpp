// SPDX-License-Identifier: BSD-3-Clause
//
// A rank layout as a mapping: `layout` of a job file, `default_layout` of weft.yaml.
#pragma once

#include <array>
#include <string_view>

#include "weft/config/document.hpp"
#include "weft/config/job_spec.hpp"

namespace weft::config {

/// In the order of Dim.
inline constexpr std::array<std::string_view, kDims> kDimWords{"tp", "cp", "ep", "pp", "dp"};

/// Sizes and order. `what` names the mapping in messages. Errors: those of its fields; limit above kMaxRanks.
[[nodiscard]] Result<Layout> read_layout(const Document& doc, const Node& node, std::string_view what);

}  // namespace weft::config
