// SPDX-License-Identifier: BSD-3-Clause
//
// Tables that tools print for people: lines and words with their places, escape codes cut out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::topology::affinity {

/// A word and the column of its first byte in the source line.
struct Word {
  std::string_view text;
  std::uint32_t column = 1;
};

/// A line without its escape codes (ESC [ … letter) and '\r'.
class TextLine {
 public:
  TextLine(std::string_view raw, std::uint32_t number);
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] Position at(std::size_t offset) const;
  [[nodiscard]] Position at(const Word& word) const { return {number_, word.column}; }
  /// Words between blanks and tabs. They stay valid as long as the line.
  [[nodiscard]] std::vector<Word> words() const;
  /// What lies between tabs, blanks cut off; empty ones too.
  [[nodiscard]] std::vector<Word> fields() const;
  [[nodiscard]] bool has_tabs() const { return text_.find('\t') != std::string::npos; }

 private:
  std::string text_;
  std::vector<std::uint32_t> columns_;  // of each byte of text_
  std::uint32_t number_;
};

/// All lines. O(size).
[[nodiscard]] std::vector<TextLine> text_lines(std::string_view text);

/// "GPU7" with prefix "GPU" is 7; nullopt for anything else, and above 65535.
[[nodiscard]] std::optional<std::uint32_t> numbered(std::string_view word, std::string_view prefix);

/// An error under a word.
[[nodiscard]] Error word_error(ErrorCode code, const Source& source, const TextLine& line, const Word& word,
                               std::string message, std::string expected = {});

}  // namespace weft::topology::affinity
