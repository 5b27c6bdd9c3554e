// SPDX-License-Identifier: BSD-3-Clause
#include "json_place.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) { blanks(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() {
    ++at_;
    blanks();
  }
  void blanks() {
    while (at_ < text_.size() && (here() == ' ' || here() == '\t' || here() == '\n' || here() == '\r')) ++at_;
  }
  // The string under the cursor without its quotes, escapes as written.
  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && here() != '"') at_ += here() == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view out = text_.substr(begin, at_ - begin);
    step();
    return out;
  }
  // Past the value under the cursor.
  void skip() {
    std::size_t depth = 0;
    do {
      const char c = here();
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && depth > 0) --depth;
      if (c != '{' && c != '[' && c != '}' && c != ']' && c != ',' && c != ':') {
        while (at_ < text_.size() && std::string_view(",:{}[] \t\r\n").find(here()) == std::string_view::npos) ++at_;
        blanks();
      } else {
        step();
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

// Calls visit(key, index, offset) for every member of the object or array at `at`.
template <typename Visit>
void each_member(std::string_view text, std::size_t at, Visit visit) {
  Cursor c(text, at);
  const char open = c.here();
  if (open != '{' && open != '[') return;
  c.step();
  for (std::size_t i = 0; c.here() != '}' && c.here() != ']' && c.here() != '\0'; ++i) {
    std::string_view key;
    if (open == '{') {
      if (c.here() != '"') return;
      key = c.string();
      c.step();  // the colon
    }
    visit(key, i, c.at());
    c.skip();
    if (c.here() == ',') c.step();
  }
}

}  // namespace

std::size_t json_offset(std::string_view text, const std::vector<JsonStep>& path) {
  std::size_t at = Cursor(text, 0).at();
  for (const JsonStep& step : path) {
    bool found = false;
    std::size_t next = 0;
    each_member(text, at, [&](std::string_view key, std::size_t i, std::size_t offset) {
      const bool hit = std::holds_alternative<std::size_t>(step) ? std::get<std::size_t>(step) == i
                                                                 : std::get<std::string_view>(step) == key;
      if (!hit) return;
      found = true;
      next = offset;
    });
    if (!found) return at;
    at = next;
  }
  return at;
}

std::vector<std::size_t> json_element_offsets(std::string_view text, const std::vector<JsonStep>& path) {
  std::vector<std::size_t> out;
  each_member(text, json_offset(text, path),
              [&](std::string_view, std::size_t, std::size_t offset) { out.push_back(offset); });
  return out;
}

Position position_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n');
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
  return {static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column)};
}

}  // namespace weft::placement
