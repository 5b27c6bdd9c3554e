// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm's hostlist syntax: "gpu[001-032]", "r[1-4]n[01-18]", "a1,b[2,5-7]".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::config {

/// More names than this in one list are refused (ErrorCode::limit).
inline constexpr std::size_t kMaxHostlistNames = 1U << 20;
/// Longer names are refused (ErrorCode::limit); DNS allows 253.
inline constexpr std::size_t kMaxNameBytes = 255;

/// A fault in a hostlist, with its byte offset and length inside the text; the caller adds file and line.
struct HostlistError {
  ErrorCode code = ErrorCode::bad_name;
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string expected;
};

/// Expands a hostlist in its natural order, duplicates kept. Brackets, several in a name and text after them included,
/// are taken as Slurm's own hostlist code does:
///  - items are parted by commas, spaces, tabs or newlines; empty items are skipped, and an empty text is an empty
///  list;
///  - zero padding follows the low end of each range: [8-10] is 8 9 10, [08-10] is 08 09 10;
///  - the last bracket of a name runs fastest, the others slower from right to left, so that with three brackets the
///    middle one is the slowest (`scontrol show hostnames` does the same).
/// Refused, though Slurm lets some of it pass in surprising ways: spaces, signs and empty items inside brackets, ranges
/// without an end, brackets that do not pair. O(size of the result); nothing is allocated before the count is known.
/// Errors: bad_name, limit (kMaxHostlistNames, kMaxNameBytes).
[[nodiscard]] tl::expected<std::vector<std::string>, HostlistError> expand_hostlist(std::string_view text);

/// How many names expand_hostlist gives, with the same errors, in time linear in the text.
[[nodiscard]] tl::expected<std::size_t, HostlistError> count_hostlist(std::string_view text);

/// Expands an index list such as "0-3,6" (what stands inside a hostlist's brackets), order kept. Errors: bad_name,
/// limit; duplicate for an index that stands twice.
[[nodiscard]] tl::expected<std::vector<std::uint32_t>, HostlistError> expand_indices(std::string_view text);

/// Short usual form, order kept: expand_hostlist(compress_hostlist(v)) == v for every v of valid names. Names that
/// differ in one run of digits fold into a bracket ("gpu[01-04,7]", "n[1-2]-ib"), and such brackets that differ in one
/// run before it fold again ("r[1-4]n[01-18]"). O(total bytes).
[[nodiscard]] std::string compress_hostlist(std::span<const std::string> names);

/// True where `name` can stand alone in a hostlist: 1 to kMaxNameBytes bytes above 0x20, save , [ ] quotes, ':' and
/// DEL.
[[nodiscard]] bool is_valid_name(std::string_view name);

}  // namespace weft::config
