// SPDX-License-Identifier: BSD-3-Clause
//
// The text form of Slurm's configuration files, as far as topology.conf uses it: one record a line, `Key=value` words,
// keys without regard to case, '#' comments (escaped as "\#"), continuation by a trailing backslash, values in double
// quotes where they hold spaces. What Slurm's own reader (read at versions 22.05 to 26.05) takes is taken here, what it
// calls a parse error is refused, and every word keeps its place in the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::topology {

/// `key=value`.
struct ConfWord {
  std::string key;  ///< as written
  std::string value;
  Position key_at;
  Position value_at;  ///< past the opening quote
  bool exact = true;  ///< the value stands in the file byte for byte: no escape or line end inside it
};

/// One record: the words of a line and its continuations.
struct ConfLine {
  std::vector<ConfWord> words;
  Position at;
};

/// Splits the text into records; lines without words are left out. O(size). Errors: syntax (text that is no
/// `Key=value`, NUL bytes), unsupported (Include, since what it names is not in the text).
[[nodiscard]] Result<std::vector<ConfLine>> read_conf(const Source& source);

/// Equal but for the case of ASCII letters.
[[nodiscard]] bool same_key(std::string_view a, std::string_view b);

}  // namespace weft::topology
