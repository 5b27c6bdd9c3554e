// SPDX-License-Identifier: BSD-3-Clause
#include "ib_lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace weft::topology::ib {

std::optional<std::string_view> LineReader::next() {
  if (next_ >= text_.size()) return std::nullopt;
  const std::size_t end = text_.find('\n', next_);
  cut_ = end == std::string_view::npos;
  std::string_view line = text_.substr(next_, cut_ ? std::string_view::npos : end - next_);
  next_ = cut_ ? text_.size() : end + 1;
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return line;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void Cursor::skip_blanks() {
  while (offset_ < line_.size() && is_blank(line_[offset_])) ++offset_;
}

bool Cursor::at_end() {
  skip_blanks();
  return offset_ == line_.size();
}

bool Cursor::looking_at(std::string_view word) {
  skip_blanks();
  return rest().starts_with(word);
}

bool Cursor::accept(std::string_view word) {
  if (!looking_at(word)) return false;
  offset_ += word.size();
  return true;
}

std::optional<std::uint32_t> Cursor::number() {
  skip_blanks();
  std::size_t end = offset_;
  std::uint64_t value = 0;
  while (end < line_.size() && is_digit(line_[end])) {
    value = value * 10 + static_cast<std::uint64_t>(line_[end] - '0');
    if (value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    ++end;
  }
  if (end == offset_) return std::nullopt;
  offset_ = end;
  return static_cast<std::uint32_t>(value);
}

std::optional<std::uint64_t> Cursor::hex() {
  skip_blanks();
  std::size_t end = offset_;
  if (rest().starts_with("0x") || rest().starts_with("0X")) end += 2;
  const std::size_t first = end;
  std::uint64_t value = 0;
  for (; end < line_.size(); ++end) {
    const char c = line_[end];
    std::uint64_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint64_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint64_t>(c - 'A') + 10;
    } else {
      break;
    }
    if (end - first == 16) return std::nullopt;
    value = value * 16 + digit;
  }
  if (end == first) return std::nullopt;
  offset_ = end;
  return value;
}

std::string_view Cursor::word() {
  skip_blanks();
  const std::size_t begin = offset_;
  while (offset_ < line_.size() && !is_blank(line_[offset_])) ++offset_;
  return line_.substr(begin, offset_ - begin);
}

std::optional<std::string_view> Cursor::quoted_to_last(char quote) {
  skip_blanks();
  if (offset_ >= line_.size() || line_[offset_] != quote) return std::nullopt;
  const std::size_t last = line_.rfind(quote);
  if (last == offset_) return std::nullopt;
  const std::string_view inside = line_.substr(offset_ + 1, last - offset_ - 1);
  offset_ = last + 1;
  return inside;
}

bool Cursor::skip_past(std::string_view text) {
  const std::size_t found = line_.find(text, offset_);
  if (found == std::string_view::npos) return false;
  offset_ = found + text.size();
  return true;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_tool_noise(std::string_view line) {
  static constexpr std::array<std::string_view, 5> kPrefixes{"ibwarn:", "ibpanic:", "iberror:", "WARN", "ERR"};
  for (const std::string_view prefix : kPrefixes) {
    if (line.starts_with(prefix)) return true;
  }
  // "path/file.c:195; text": the debug macros of infiniband-diags.
  const std::size_t dot = line.find(".c:");
  if (dot == std::string_view::npos || dot == 0) return false;
  for (const char c : line.substr(0, dot)) {
    if (is_blank(c) || c == '"' || c == '[') return false;
  }
  std::size_t end = dot + 3;
  while (end < line.size() && is_digit(line[end])) ++end;
  return end > dot + 3 && end < line.size() && line[end] == ';';
}

std::string guid_text(std::uint64_t guid) { return fmt::format("{:016x}", guid); }

Error syntax_at(const Source& source, Cursor cursor, std::string message, std::string expected) {
  cursor.skip_blanks();
  const std::string_view rest = cursor.rest();
  const std::size_t width = static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), is_blank) - rest.begin());
  return error_at(ErrorCode::syntax, source, cursor.at(), std::max<std::uint32_t>(1, static_cast<std::uint32_t>(width)),
                  std::move(message), std::move(expected));
}

}  // namespace weft::topology::ib
