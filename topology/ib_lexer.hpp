// SPDX-License-Identifier: BSD-3-Clause
//
// Lines and cursors for the InfiniBand tools' text. Every dump is read line by line; a cursor walks one line and knows
// its place, so that each refusal can show the line with a caret under the byte where reading stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/config/error.hpp"

namespace weft::topology::ib {

/// Yields the lines of a text, without their ends ("\n" or "\r\n"). Views into the text.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}
  /// The next line, or nothing at the end of the text.
  std::optional<std::string_view> next();
  /// Number of the line that next() gave last, from 1.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// True where the line that next() gave last is the last one and has no line end: the mark of a cut file.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  std::string_view text_;
  std::size_t next_ = 0;
  std::uint32_t number_ = 0;
  bool cut_ = false;
};

/// A reading place inside one line. The read functions skip blanks first, and leave the cursor where it was (after the
/// blanks) when what they look for is not there.
class Cursor {
 public:
  Cursor(std::string_view line, std::uint32_t number) : line_(line), number_(number) {}

  [[nodiscard]] Position at() const { return {number_, static_cast<std::uint32_t>(offset_ + 1)}; }
  [[nodiscard]] std::string_view rest() const { return line_.substr(offset_); }
  [[nodiscard]] std::string_view line() const { return line_; }
  void skip_blanks();
  bool at_end();
  /// Takes `word` if it stands here.
  bool accept(std::string_view word);
  /// True where `word` stands here; takes nothing.
  bool looking_at(std::string_view word);
  /// Decimal number up to 2^32-1.
  std::optional<std::uint32_t> number();
  /// Hexadecimal number of 1 to 16 digits, with or without "0x".
  std::optional<std::uint64_t> hex();
  /// Bytes up to the next blank; empty at the end of the line.
  std::string_view word();
  /// What stands between the quote here and the last `quote` of the line (descriptions may hold quotes themselves).
  std::optional<std::string_view> quoted_to_last(char quote = '"');
  /// Moves to just behind the first `text` from here; false, and no move, where there is none.
  bool skip_past(std::string_view text);
  void seek(std::size_t offset) { offset_ = offset; }
  [[nodiscard]] std::size_t offset() const { return offset_; }

 private:
  std::string_view line_;
  std::uint32_t number_;
  std::size_t offset_ = 0;
};

[[nodiscard]] std::string_view trim(std::string_view text);
[[nodiscard]] bool is_blank(char c);
[[nodiscard]] bool is_digit(char c);

/// True for what the tools print on stderr and what ends up in a dump made with 2>&1: "src/query_smp.c:195; umad …",
/// "ibwarn: [4711] …".
[[nodiscard]] bool is_tool_noise(std::string_view line);

/// "16 hex digits", as the tools print GUIDs.
[[nodiscard]] std::string guid_text(std::uint64_t guid);

/// A syntax error at the cursor, underlining the rest of the current word.
[[nodiscard]] Error syntax_at(const Source& source, Cursor cursor, std::string message, std::string expected);

}  // namespace weft::topology::ib
