// SPDX-License-Identifier: BSD-3-Clause
//
// Errors as values. Weft reads files that people write at night; every refusal says where, what is wrong and what would
// be right, and shows the line with a caret under the offending fragment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace weft {

/// What kind of fault an Error is. Stable: tests and the plugin switch on it.
enum class ErrorCode : std::uint8_t {
  io,           ///< a file cannot be opened, read or written
  syntax,       ///< the text is not of its format
  unknown_key,  ///< a key that the format does not have
  missing,      ///< something required is absent
  bad_value,    ///< a value of the wrong kind or out of range
  bad_unit,     ///< a number without its unit, or with an unknown one
  bad_name,     ///< a malformed name or hostlist
  duplicate,    ///< a name defined twice
  dangling,     ///< a reference to something that is not defined
  conflict,     ///< two statements that cannot both hold
  unsupported,  ///< understood, but not something Weft can use
  limit,        ///< larger than Weft accepts
  infeasible,   ///< no legal placement
  usage,        ///< wrong command line or API use
};

/// Lower-case word for a code, e.g. "unknown_key".
[[nodiscard]] std::string_view to_string(ErrorCode code);

/// A place in a text. Lines and columns count from 1; 0 means unknown. Columns count bytes.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Position&, const Position&) = default;
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// The name and the whole text of something that was read. Shared by every spec made from it, so that errors found
/// later (a dangling name, say) can still show the line.
class SourceText {
 public:
  SourceText(std::string file, std::string text) : file_(std::move(file)), text_(std::move(text)) {}
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Line number `line` (from 1) without its line end; empty where there is no such line. O(bytes before it).
  [[nodiscard]] std::string_view line(std::uint32_t line) const;

 private:
  std::string file_;
  std::string text_;
};
using Source = std::shared_ptr<const SourceText>;

/// One refusal. `fragment` is the source line shown above the caret (may be empty), `width` the caret's length.
struct Error {
  ErrorCode code = ErrorCode::bad_value;
  std::string file;         ///< as the user named it; empty where there is no file
  Position at;              ///< {0,0} where the place is unknown
  std::string message;      ///< one sentence: what is wrong
  std::string expected;     ///< what would be right; may be empty
  std::string fragment;     ///< the source line
  std::uint32_t width = 1;  ///< bytes to underline, at least 1

  /// "file:line:column: error: message; expected …" then, where the line is known, the line and a caret under it.
  /// Control bytes of the fragment are shown as '?', tabs as one space, and long lines are cut around the caret, so the
  /// output is always safe for a terminal or a log.
  [[nodiscard]] std::string to_string() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// An Error at `at` in `source` (which may be null), its fragment taken from the source.
[[nodiscard]] Error error_at(ErrorCode code, const Source& source, Position at, std::uint32_t width,
                             std::string message, std::string expected = {});
/// An Error without a place.
[[nodiscard]] Error error(ErrorCode code, std::string message, std::string expected = {});
/// tl::unexpected of the two above, for `return`.
[[nodiscard]] inline tl::unexpected<Error> fail(Error e) { return tl::unexpected<Error>(std::move(e)); }

/// Something the reader should know that is no refusal: an assumption made where the file is silent, or a warning where
/// the file is odd but usable.
struct Note {
  enum class Kind : std::uint8_t { assumption, warning };
  Kind kind = Kind::warning;
  std::string file;
  Position at;
  std::string message;
  /// "file:line: warning: message" or "file: assumed: message".
  [[nodiscard]] std::string to_string() const;
};
using Notes = std::vector<Note>;

/// Reads a whole file ("-" is standard input). Errors: io (with the system's reason), limit above `max_bytes`.
[[nodiscard]] Result<Source> read_source(const std::string& path, std::size_t max_bytes = 1ULL << 30);

}  // namespace weft
