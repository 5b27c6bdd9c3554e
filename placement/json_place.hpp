// SPDX-License-Identifier: BSD-3-Clause
//
// Where a value stands in a JSON text, which nlohmann::json does not remember.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::placement {

/// A step down: a key of an object or an index of an array.
using JsonStep = std::variant<std::string_view, std::size_t>;

/// Byte offset of the value at `path` in `text`, which must be valid JSON that has the path. Of equal keys the last.
/// Keys with escapes are not found. The nearest value around it where the path is not found. O(text).
[[nodiscard]] std::size_t json_offset(std::string_view text, const std::vector<JsonStep>& path);

/// Offsets of every element of the array at `path`. One pass.
[[nodiscard]] std::vector<std::size_t> json_element_offsets(std::string_view text, const std::vector<JsonStep>& path);

/// Line and column of a byte offset, both from 1.
[[nodiscard]] Position position_of(std::string_view text, std::size_t offset);

}  // namespace weft::placement
