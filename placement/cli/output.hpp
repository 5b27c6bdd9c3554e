// SPDX-License-Identifier: BSD-3-Clause
//
// Writing results. A result is whole or not there: standard output is written by checked writes, a file under a
// temporary name that is renamed once everything is on the disk.
#pragma once

#include <string>
#include <string_view>

#include "weft/config/error.hpp"

namespace weft::cli {

/// Writes `text` to `path`, or to standard output where `path` is empty or "-". An existing file keeps its mode and is
/// replaced atomically; devices and pipes are written in place. Errors: io, with the system's reason; what stood at
/// `path` before is then untouched.
[[nodiscard]] Result<void> deliver(std::string_view text, const std::string& path = {});

/// One message on standard error, with a line end. A message that cannot be written is dropped.
void say(std::string_view text);

/// Says every note, or the first `limit` of them and how many more there are. limit 0 = all.
void say_notes(const Notes& notes, bool quiet, std::size_t limit = 0);

}  // namespace weft::cli
