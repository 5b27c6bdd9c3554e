// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::cli {

/// Two spaces a level and a line end. Bytes that are no UTF-8 (names of a dump may hold any) become U+FFFD, since JSON
/// has no way to say them.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace weft::cli
