// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "weft/config/error.hpp"

namespace weft::bridge {

/// Calls `each(line, number)` for every whole line that is not empty, until it returns an error.
template <typename Each>
Result<void> for_each_line(const Source& log, Each each) {
  std::string_view rest = log->text();
  for (std::uint32_t number = 1;; ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line.empty()) continue;
    if (Result<void> done = each(line, number); !done) return done;
  }
}

/// An error of a line, at its place.
inline tl::unexpected<Error> at_line(const Source& log, std::uint32_t number, const Error& e) {
  return fail(error_at(e.code, log, {number, 1}, 1, e.message, e.expected));
}

}  // namespace weft::bridge
