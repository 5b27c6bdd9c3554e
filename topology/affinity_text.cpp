// SPDX-License-Identifier: BSD-3-Clause
#include "affinity_text.hpp"

#include <algorithm>

#include "affinity_xml.hpp"

namespace weft::topology::affinity {

TextLine::TextLine(std::string_view raw, std::uint32_t number) : number_(number) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\x1b' && i + 1 < raw.size() && raw[i + 1] == '[') {
      i += 2;
      while (i < raw.size() && (raw[i] < '@' || raw[i] > '~')) ++i;
      continue;
    }
    if (raw[i] == '\r') continue;
    text_ += raw[i];
    columns_.push_back(static_cast<std::uint32_t>(i + 1));
  }
  columns_.push_back(static_cast<std::uint32_t>(raw.size() + 1));
}

Position TextLine::at(std::size_t offset) const { return {number_, columns_[std::min(offset, columns_.size() - 1)]}; }

std::vector<Word> TextLine::words() const {
  std::vector<Word> out;
  const std::string_view text = text_;
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(" \t", begin)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    out.push_back({text.substr(begin, end - begin), columns_[begin]});
    begin = end;
  }
  return out;
}

std::vector<Word> TextLine::fields() const {
  std::vector<Word> out;
  const std::string_view text = text_;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\t', begin), text.size());
    const std::string_view field = text.substr(begin, end - begin);
    const std::size_t first = std::min(field.find_first_not_of(' '), field.size());
    const std::size_t last = field.find_last_not_of(' ');
    out.push_back(
        {first == field.size() ? std::string_view() : field.substr(first, last - first + 1), columns_[begin + first]});
    begin = end + 1;
  }
  return out;
}

std::vector<TextLine> text_lines(std::string_view text) {
  std::vector<TextLine> out;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.emplace_back(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::optional<std::uint32_t> numbered(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() > prefix.size() + 5) return std::nullopt;
  const auto number = parse_number(word.substr(prefix.size()), 10);
  return number && *number < 65536 ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

Error word_error(ErrorCode code, const Source& source, const TextLine& line, const Word& word, std::string message,
                 std::string expected) {
  return error_at(code, source, line.at(word), static_cast<std::uint32_t>(std::max<std::size_t>(word.text.size(), 1)),
                  std::move(message), std::move(expected));
}

}  // namespace weft::topology::affinity
