// SPDX-License-Identifier: BSD-3-Clause
//
// What a text is, with the reason where it is nothing that a fabric can be read from.
#pragma once

#include <string>
#include <string_view>

#include "weft/config/error.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {

/// `reason` and `expected` are set where `kind` is unknown, `at` is the line that decided.
struct Recognised {
  FileKind kind = FileKind::unknown;
  std::string reason;
  std::string expected;
  Position at{1, 1};
};

/// Looks for marks of each format in the first lines (2000, or a megabyte), never at a name. O(bytes looked at), but
/// for texts in flow style (JSON), which are walked through to the end.
[[nodiscard]] Recognised classify(std::string_view text);

// One step of it each, in yaml_kinds.cpp and text_kinds.cpp; false where the text is not of that family.
[[nodiscard]] bool classify_yaml(std::string_view text, Recognised& out);
[[nodiscard]] bool classify_lines(std::string_view text, Recognised& out);

/// Walks over lines, '\r' cut, up to the limits above.
class LineWalk {
 public:
  explicit LineWalk(std::string_view text) : rest_(text) {}
  /// False at the end.
  bool next(std::string_view& line);
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::uint32_t number_ = 0;
  std::size_t bytes_ = 0;
};

inline constexpr std::string_view kKnownFabrics =
    "fabric.yaml, ibnetdiscover or iblinkinfo output, Slurm topology.conf or topology.yaml, a topograph model, or a "
    "CSV "
    "of host, ASW, PSW, DSW";

}  // namespace weft::topology
