// SPDX-License-Identifier: BSD-3-Clause
#include "yaml_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace weft::config {
namespace {

// What is still open at the end of a text, by a scan that knows quotes, comments and brackets but not indentation. Good
// enough to point a person at the culprit; never used to accept anything.
struct Unclosed {
  std::optional<Position> quote;
  std::optional<Position> bracket;
};

class OpenScan {
 public:
  Unclosed run(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        end_line();
        continue;
      }
      ++column_;
      if (!comment_) step(text, i);
    }
    Unclosed out;
    if (quote_ != 0) out.quote = quote_at_;
    if (folded_quote_) out.quote = folded_quote_;
    if (!brackets_.empty()) out.bracket = brackets_.back();
    return out;
  }

 private:
  void end_line() {
    if (quote_ != 0 && !folded_quote_) folded_quote_ = quote_at_;
    ++line_;
    column_ = 0;
    comment_ = false;
    token_start_ = true;
  }
  void step(std::string_view text, std::size_t i) {
    const char c = text[i];
    if (quote_ != 0) {
      if (escaped_) {
        escaped_ = false;
      } else if (quote_ == '"' && c == '\\') {
        escaped_ = true;
      } else if (c == quote_) {
        quote_ = 0;  // '' inside single quotes closes and opens again: the same in the end
        token_start_ = c == '\'' && i + 1 < text.size() && text[i + 1] == '\'';
      }
      return;
    }
    if ((c == '"' || c == '\'') && token_start_) {
      quote_ = c;
      quote_at_ = {line_, column_};
    } else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t' || text[i - 1] == '\n')) {
      comment_ = true;
    } else if ((c == '[' || c == '{') && token_start_) {
      brackets_.push_back({line_, column_});
    } else if ((c == ']' || c == '}') && !brackets_.empty()) {
      brackets_.pop_back();
    }
    const bool flow_mark = !brackets_.empty() && (c == ',' || c == '[' || c == '{');
    const bool indicator = c == ':' || c == '-' || c == '[' || c == '{' || c == '?';
    token_start_ = flow_mark || (token_start_ && indicator) ||
                   (c == ' ' && (token_start_ || (i > 0 && (text[i - 1] == ':' || text[i - 1] == ','))));
  }

  std::uint32_t line_ = 1;
  std::uint32_t column_ = 0;
  char quote_ = 0;
  bool escaped_ = false;
  bool comment_ = false;
  bool token_start_ = true;
  Position quote_at_;
  // The first quote that goes on past its line: in a broken text, nearly always the one that lacks its end.
  std::optional<Position> folded_quote_;
  std::vector<Position> brackets_;
};

struct Saying {
  std::string_view yaml;  // yaml-cpp's words, or how they begin
  std::string_view message;
  std::string_view expected;
  ErrorCode code = ErrorCode::syntax;
};

constexpr std::array kSayings = {
    Saying{"illegal map value", "a colon where no value can begin", "\"key: value\", or quotes around text with ': '"},
    Saying{"illegal map key", "a key where none can begin", "one \"key: value\" a line"},
    Saying{"illegal block entry", "a \"- \" item where none can begin", "items on lines of their own, indented alike"},
    Saying{"illegal flow end", "a closing bracket without its opening one", ""},
    Saying{"end of map not found", "the indentation does not fit the lines above",
           "keys of one map indented alike, or quotes around the text"},
    Saying{"end of sequence not found", "the indentation does not fit the lines above", "items indented alike"},
    Saying{"end of map flow not found", "this { is not closed", "\"}\""},
    Saying{"end of sequence flow not found", "this [ is not closed", "\"]\""},
    Saying{"illegal EOF in scalar", "this quote is not closed", "a closing quote"},
    Saying{"unknown token", "a byte that cannot begin a value", "quotes around the text"},
    Saying{"the referenced anchor is not defined", "a YAML alias is not taken here", "the value written out",
           ErrorCode::unsupported},
    Saying{"alias not found after *", "\"*\" begins a YAML alias", "quotes around the text"},
    Saying{"anchor not found after &", "\"&\" begins a YAML anchor", "quotes around the text"},
};

// Column of a tab in the indentation of `line`, 0 where there is none.
std::uint32_t indenting_tab(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') return static_cast<std::uint32_t>(i + 1);
    if (line[i] != ' ') return 0;
  }
  return 0;
}

bool is_word_byte(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != '{' && c != '[' && c != ',' && c != '"';
}

// A hostlist without quotes inside a flow list or map, where its bracket or comma means something else: the slip that
// people make most.
std::optional<Error> find_bare_brackets(const Source& source, Position at) {
  const std::string_view line = source->line(at.line);
  if (at.column < 2 || at.column > line.size()) return std::nullopt;
  const std::size_t i = at.column - 1;
  const bool before = line[i] == '[' && is_word_byte(line[i - 1]) && line[i - 1] != ':';               // gpu[1-2]
  const bool after = is_word_byte(line[i]) && line[i] != ']' && line[i] != '}' && line[i - 1] == ']';  // [1-2]x
  if (!before && !after) return std::nullopt;
  std::size_t begin = i;
  if (after) begin = line.rfind('[', i);
  if (begin == std::string_view::npos) begin = i;
  while (begin > 0 && is_word_byte(line[begin - 1])) --begin;
  std::size_t end = std::min(line.find(']', begin), line.size());
  while (end < line.size() && (line[end] == ']' || is_word_byte(line[end])) && line[end] != '}') ++end;
  const std::string_view word = line.substr(begin, end - begin);
  return error_at(ErrorCode::syntax, source, {at.line, static_cast<std::uint32_t>(begin + 1)},
                  static_cast<std::uint32_t>(word.size()), "brackets in text without quotes",
                  fmt::format("\"{}\" in quotes", word));
}

}  // namespace

std::optional<Error> find_byte_fault(const Source& source) {
  const std::string_view text = source->text();
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return error_at(ErrorCode::syntax, source, {1, 1}, 2, "the file is UTF-16", "UTF-8");
  }
  Position at{1, 1};
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      ++at.line;
      at.column = 1;
      continue;
    }
    if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7F) {
      return error_at(ErrorCode::syntax, source, at, 1, fmt::format("the control byte 0x{:02x}", byte), "UTF-8 text");
    }
    ++at.column;
  }
  return std::nullopt;
}

std::optional<Error> find_unclosed(const Source& source) {
  const Unclosed open = OpenScan().run(source->text());
  if (open.quote) {
    return error_at(ErrorCode::syntax, source, *open.quote, 1, "this quote is not closed", "a closing quote");
  }
  if (!open.bracket) return std::nullopt;
  const bool map = source->line(open.bracket->line)[open.bracket->column - 1] == '{';
  return error_at(ErrorCode::syntax, source, *open.bracket, 1, map ? "this { is not closed" : "this [ is not closed",
                  map ? "\"}\"" : "\"]\"");
}

std::optional<Error> find_open_quote(const Source& source, Position begin) {
  const std::string_view line = source->line(begin.line);
  if (begin.column == 0 || begin.column > line.size()) return std::nullopt;
  const char quote = line[begin.column - 1];
  if (quote != '"' && quote != '\'') return std::nullopt;
  const std::string_view text = source->text();
  for (auto i = static_cast<std::size_t>(line.data() - text.data()) + begin.column; i < text.size(); ++i) {
    if (text[i] == quote) return std::nullopt;
    if (quote == '"' && text[i] == '\\') ++i;
  }
  return error_at(ErrorCode::syntax, source, begin, 1, "this quote is not closed", "a closing quote");
}

Error explain_yaml_fault(const Source& source, Position at, std::string_view reason) {
  if (const std::uint32_t tab = at.line == 0 ? 0 : indenting_tab(source->line(at.line)); tab != 0) {
    return error_at(ErrorCode::syntax, source, {at.line, tab}, 1, "a tab in the indentation", "spaces");
  }
  if (std::optional<Error> bare = find_bare_brackets(source, at)) return *std::move(bare);
  if (std::optional<Error> open = find_unclosed(source)) return *std::move(open);
  if (reason.starts_with("unknown escape") && at.column > 2) {
    return error_at(ErrorCode::syntax, source, {at.line, at.column - 2}, 2, "an unknown escape in double quotes",
                    "\\\\ for a backslash, or single quotes");
  }
  for (const Saying& saying : kSayings) {
    if (!reason.starts_with(saying.yaml)) continue;
    return error_at(saying.code, source, at, 1, std::string(saying.message), std::string(saying.expected));
  }
  return error_at(ErrorCode::syntax, source, at, 1, std::string(reason), "YAML");
}

}  // namespace weft::config
