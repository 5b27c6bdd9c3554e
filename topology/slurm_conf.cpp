// SPDX-License-Identifier: BSD-3-Clause
#include "slurm_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::topology {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
bool is_operator(char c) { return c == '+' || c == '-' || c == '*' || c == '/'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A line with its continuations joined, comments and escapes gone, and for each byte its offset in the text.
struct Joined {
  std::string text;
  std::vector<std::size_t> offset;
  std::size_t first_line = 0;  // from 0
};

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source), text_(source->text()) {
    starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') starts_.push_back(i + 1);
    }
  }

  Result<std::vector<ConfLine>> read() {
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      return fail(error_at(ErrorCode::syntax, source_, place(nul), 1, "a NUL byte", "a text file"));
    }
    std::vector<ConfLine> lines;
    std::size_t next = 0;
    while (next < text_.size()) {
      const Joined joined = join(next);
      if (std::all_of(joined.text.begin(), joined.text.end(), is_space)) continue;
      auto line = split(joined);
      if (!line) return fail(std::move(line.error()));
      lines.push_back(std::move(*line));
    }
    return lines;
  }

 private:
  [[nodiscard]] Position place(std::size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto line = static_cast<std::size_t>(after - starts_.begin());
    return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(offset - starts_[line - 1] + 1)};
  }

  // Reads from `next` to the end of the record and moves `next` behind it. A comment starts at a '#' behind an even
  // number of backslashes; a record goes on where an odd number of them ends the line, blanks aside.
  Joined join(std::size_t& next) const {
    Joined raw;
    while (next < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', next), text_.size());
      const std::string_view line = comment_cut(text_.substr(next, end - next));
      const std::optional<std::size_t> cut = continuation(line);
      const std::size_t length = cut.value_or(line.size());
      for (std::size_t i = 0; i < length; ++i) {
        raw.text += line[i];
        raw.offset.push_back(next + i);
      }
      next = end + 1;
      if (!cut) break;
    }
    Joined joined;
    for (std::size_t i = 0; i < raw.text.size(); ++i) {
      if (raw.text[i] == '\\' && ++i == raw.text.size()) break;
      joined.text += raw.text[i];
      joined.offset.push_back(raw.offset[i]);
    }
    return joined;
  }

  static std::string_view comment_cut(std::string_view line) {
    std::size_t backslashes = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '#' && backslashes % 2 == 0) return line.substr(0, i);
      backslashes = line[i] == '\\' ? backslashes + 1 : 0;
    }
    return line;
  }

  // Bytes of the line before the backslash that continues it.
  static std::optional<std::size_t> continuation(std::string_view line) {
    std::size_t end = line.size();
    while (end > 0 && is_space(line[end - 1])) --end;
    std::size_t first = end;
    while (first > 0 && line[first - 1] == '\\') --first;
    if ((end - first) % 2 == 0) return std::nullopt;
    return end - 1;
  }

  Result<ConfLine> split(const Joined& joined) const {
    const std::string& text = joined.text;
    ConfLine line;
    std::size_t at = skip_space(text, 0);
    line.at = place(joined.offset[at]);
    if (at == 0 && is_include(text)) {
      return fail(error_at(ErrorCode::unsupported, source_, line.at, 7,
                           "Include names another file, which Weft does not follow",
                           "the included lines in place of it"));
    }
    while (at < text.size()) {
      const std::size_t begin = at;
      std::optional<ConfWord> word = next_word(joined, at);
      if (!word) {
        std::size_t end = begin;
        while (end < text.size() && !is_space(text[end])) ++end;
        const std::string_view odd = std::string_view(text).substr(begin, std::min<std::size_t>(end - begin, 40));
        return fail(
            error_at(ErrorCode::syntax, source_, place(joined.offset[begin]), static_cast<std::uint32_t>(end - begin),
                     fmt::format("'{}' is no Key=value", printable(odd)), "such as SwitchName=s1 Nodes=n[1-4]"));
      }
      line.words.push_back(std::move(*word));
      at = skip_space(text, at);
    }
    return line;
  }

  static bool is_include(std::string_view text) {
    return text.size() > 7 && same_key(text.substr(0, 7), "include") && is_space(text[7]);
  }

  static std::size_t skip_space(std::string_view text, std::size_t at) {
    while (at < text.size() && is_space(text[at])) ++at;
    return at;
  }

  // A word at `at`, which is moved behind it. Spaces may stand around '='; the operators += and the like are taken as
  // =.
  std::optional<ConfWord> next_word(const Joined& joined, std::size_t& at) const {
    const std::string_view text = joined.text;
    std::size_t i = at;
    while (i < text.size() && is_key(text[i])) ++i;
    if (i == at) return std::nullopt;
    ConfWord word;
    word.key = std::string(text.substr(at, i - at));
    word.key_at = place(joined.offset[at]);
    i = skip_space(text, i);
    if (i < text.size() && is_operator(text[i])) ++i;
    if (i >= text.size() || text[i] != '=') return std::nullopt;
    i = skip_space(text, i + 1);
    if (i >= text.size()) return std::nullopt;
    std::size_t begin = i;
    std::size_t end = i;
    if (text[i] == '"') {
      const std::size_t close = text.find('"', i + 1);
      if (close != std::string_view::npos && (close + 1 == text.size() || is_space(text[close + 1]))) {
        begin = i + 1;
        end = close;
        i = close + 1;
      }
    }
    if (i == begin) {
      while (i < text.size() && !is_space(text[i])) ++i;
      end = i;
    }
    word.value = std::string(text.substr(begin, end - begin));
    word.value_at = place(joined.offset[std::min(begin, text.size() - 1)]);
    word.exact = end == begin || joined.offset[end - 1] - joined.offset[begin] == end - 1 - begin;
    at = i;
    return word;
  }

  static std::string printable(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    }
    return out;
  }

  const Source& source_;
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

}  // namespace

Result<std::vector<ConfLine>> read_conf(const Source& source) { return Reader(source).read(); }

bool same_key(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace weft::topology
