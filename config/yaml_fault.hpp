// SPDX-License-Identifier: BSD-3-Clause
//
// Faults of a YAML text below its meaning, told so that a person finds the culprit: yaml-cpp reports an open quote at
// the end of the file and a tab as an "illegal map value".
#pragma once

#include <optional>
#include <string_view>

#include "weft/config/error.hpp"

namespace weft::config {

/// Bytes that no YAML text may hold (control bytes, UTF-16). yaml-cpp would take byte 4 for the end of the file.
[[nodiscard]] std::optional<Error> find_byte_fault(const Source& source);

/// The quote, or the innermost bracket of a flow list or map, that is still open at the end of the text.
[[nodiscard]] std::optional<Error> find_unclosed(const Source& source);

/// The quote at `begin` where nothing closes it: yaml-cpp takes the rest of the file for its text and says nothing.
[[nodiscard]] std::optional<Error> find_open_quote(const Source& source, Position begin);

/// The Error for yaml-cpp's `reason` at `at`.
[[nodiscard]] Error explain_yaml_fault(const Source& source, Position at, std::string_view reason);

}  // namespace weft::config
