// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm's hostlist syntax: "gpu[001-032]", "r[1-4]n[01-18]", "a1,b[2,5-7]".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::config {

/// More names than this in one list are refused (ErrorCode::limit).
inline constexpr std::size_t kMaxHostlistNames = 1U << 20;

/// A fault in a hostlist, with its byte offset and length inside the text; the caller adds file and line.
struct HostlistError {
  ErrorCode code = ErrorCode::bad_name;
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string expected;
};

/// Expands a hostlist in its natural order, duplicates kept. Several brackets multiply, the last one running fastest,
/// as in Slurm. Zero padding follows the low end of a range. Errors: bad_name, limit.
[[nodiscard]] tl::expected<std::vector<std::string>, HostlistError> expand_hostlist(std::string_view text);

/// Shortest usual form, order kept: expand_hostlist(compress_hostlist(v)) == v for every v of valid names. Runs of
/// consecutive numbers of one prefix and width fold into a bracket.
[[nodiscard]] std::string compress_hostlist(std::span<const std::string> names);

/// True where `name` can stand alone in a hostlist: one or more of [A-Za-z0-9._-] and other bytes above 0x20 save , [ ]
/// quotes and ':'.
[[nodiscard]] bool is_valid_name(std::string_view name);

}  // namespace weft::config
