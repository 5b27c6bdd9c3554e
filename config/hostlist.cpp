// SPDX-License-Identifier: BSD-3-Clause
//
// A hostlist is parsed into items (literal pieces and range lists), counted, and only then expanded. What is accepted,
// and the order of several brackets, were checked against Slurm's src/common/hostlist.c and `scontrol show hostnames`.
#include "weft/config/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace weft::config {
namespace {

constexpr std::size_t kMaxDigits = 18;  // fits 64 bits with room to add one

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_separator(char c) { return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F && c != ',' && c != '[' && c != ']' && c != '"' && c != '\'' && c != ':';
}

struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::size_t width = 0;  // at least this many digits
};

// A literal, or, where `ranges` is not empty, a bracket.
struct Piece {
  std::string_view literal;
  std::vector<Range> ranges;
  std::size_t count = 1;    // of values
  std::size_t longest = 0;  // bytes of the longest value
};

struct Item {
  std::vector<Piece> pieces;
  std::size_t count = 1;
};

struct Parsed {
  std::vector<Item> items;
  std::size_t count = 0;
};

tl::unexpected<HostlistError> refuse(std::size_t offset, std::size_t length, std::string message, std::string expected,
                                     ErrorCode code = ErrorCode::bad_name) {
  return tl::unexpected<HostlistError>(
      {code, offset, std::max<std::size_t>(1, length), std::move(message), std::move(expected)});
}

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7F ? fmt::format("the byte 0x{:02x}", byte) : fmt::format("\"{}\"", c);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  tl::expected<Parsed, HostlistError> run() {
    Parsed out;
    while (true) {
      while (at_ < text_.size() && is_separator(text_[at_])) ++at_;
      if (at_ == text_.size()) return out;
      const std::size_t begin = at_;
      auto item = parse_item();
      if (!item) return tl::unexpected<HostlistError>(item.error());
      out.count += item->count;
      if (out.count > kMaxHostlistNames) return too_many(begin);
      out.items.push_back(*std::move(item));
    }
  }

 private:
  tl::unexpected<HostlistError> too_many(std::size_t begin) const {
    return refuse(begin, at_ - begin, fmt::format("more than {} names", kMaxHostlistNames), {}, ErrorCode::limit);
  }

  tl::expected<Item, HostlistError> parse_item() {
    Item item;
    const std::size_t begin = at_;
    std::size_t longest = 0;
    while (at_ < text_.size() && !is_separator(text_[at_])) {
      auto piece = text_[at_] == '[' ? parse_bracket() : parse_literal();
      if (!piece) return tl::unexpected<HostlistError>(piece.error());
      item.count *= piece->count;  // both at most kMaxHostlistNames: no overflow
      longest += piece->longest;
      if (item.count > kMaxHostlistNames) return too_many(begin);
      item.pieces.push_back(*std::move(piece));
    }
    if (longest > kMaxNameBytes) {
      return refuse(begin, at_ - begin, fmt::format("a name longer than {} bytes", kMaxNameBytes), {},
                    ErrorCode::limit);
    }
    return item;
  }

  tl::expected<Piece, HostlistError> parse_literal() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
    if (at_ == text_.size() || is_separator(text_[at_]) || (text_[at_] == '[' && at_ > begin)) {
      Piece piece;
      piece.literal = text_.substr(begin, at_ - begin);
      piece.longest = piece.literal.size();
      return piece;
    }
    if (text_[at_] == ']') return refuse(at_, 1, "\"]\" without its \"[\"", {});
    return refuse(at_, 1, fmt::format("{} in a name", shown(text_[at_])), "letters, digits, dots, dashes, underscores");
  }

  tl::expected<Piece, HostlistError> parse_bracket() {
    const std::size_t open = at_++;
    Piece piece;
    piece.count = 0;
    while (true) {
      auto range = parse_range(open);
      if (!range) return tl::unexpected<HostlistError>(range.error());
      const std::uint64_t values = range->high - range->low + 1;
      if (values > kMaxHostlistNames || piece.count + values > kMaxHostlistNames) return too_many(open);
      piece.count += static_cast<std::size_t>(values);
      piece.longest = std::max(piece.longest, std::max(range->width, std::to_string(range->high).size()));
      piece.ranges.push_back(*range);
      if (text_[at_++] == ']') return piece;  // else a comma: parse_range saw to it
    }
  }

  // One "5" or "1-8"; stops on the "," or "]" after it.
  tl::expected<Range, HostlistError> parse_range(std::size_t open) {
    constexpr std::string_view kExpected = "numbers and ranges, such as [1-4,7]";
    const std::size_t begin = at_;
    Range range;
    auto low = parse_number(open);
    if (!low) return tl::unexpected<HostlistError>(low.error());
    range.low = range.high = *low;
    range.width = at_ - begin;
    if (at_ < text_.size() && text_[at_] == '-') {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ']')) {
        return refuse(begin, at_ - begin, fmt::format("the range \"{}\" has no end", text_.substr(begin, at_ - begin)),
                      std::string(kExpected));
      }
      auto high = parse_number(open);
      if (!high) return tl::unexpected<HostlistError>(high.error());
      range.high = *high;
    }
    if (at_ == text_.size()) return refuse(open, 1, "\"[\" without its \"]\"", "\"]\"");
    if (text_[at_] != ',' && text_[at_] != ']') {
      return refuse(at_, 1, fmt::format("{} inside brackets", shown(text_[at_])), std::string(kExpected));
    }
    if (range.high < range.low) {
      const std::string_view text = text_.substr(begin, at_ - begin);
      const std::size_t dash = text.find('-');
      return refuse(begin, at_ - begin, fmt::format("the range {} runs backwards", text),
                    fmt::format("{}-{}", text.substr(dash + 1), text.substr(0, dash)));
    }
    return range;
  }

  tl::expected<std::uint64_t, HostlistError> parse_number(std::size_t open) {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      if (at_ - begin == kMaxDigits) {
        return refuse(begin, kMaxDigits + 1, fmt::format("a number of more than {} digits", kMaxDigits), {},
                      ErrorCode::limit);
      }
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
    }
    if (at_ > begin) return value;
    if (at_ == text_.size()) return refuse(open, 1, "\"[\" without its \"]\"", "\"]\"");
    const std::string expected = "numbers and ranges, such as [1-4,7]";
    if (text_[at_] == ',' || text_[at_] == ']')
      return refuse(at_, 1, "a number is missing before " + shown(text_[at_]), expected);
    return refuse(at_, 1, fmt::format("{} inside brackets", shown(text_[at_])), expected);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void append_padded(std::string& out, std::uint64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

// The k-th value of a bracket, counted over all its ranges.
struct Cursor {
  std::size_t piece = 0;
  std::size_t range = 0;
  std::uint64_t value = 0;
};

void expand_item(const Item& item, std::vector<std::string>& out) {
  // Slurm's nesting: the last bracket is the inner loop, the one before it the outermost, then leftwards inwards.
  std::vector<Cursor> cursors;  // fastest first
  for (std::size_t p = 0; p < item.pieces.size(); ++p) {
    if (!item.pieces[p].ranges.empty()) cursors.push_back({p, 0, item.pieces[p].ranges[0].low});
  }
  if (!cursors.empty()) std::rotate(cursors.begin(), cursors.end() - 1, cursors.end());
  std::vector<std::size_t> cursor_of(item.pieces.size());
  for (std::size_t c = 0; c < cursors.size(); ++c) cursor_of[cursors[c].piece] = c;

  for (std::size_t n = 0; n < item.count; ++n) {
    std::string& name = out.emplace_back();
    for (std::size_t p = 0; p < item.pieces.size(); ++p) {
      const Piece& piece = item.pieces[p];
      if (piece.ranges.empty()) {
        name += piece.literal;
      } else {
        const Cursor& cursor = cursors[cursor_of[p]];
        append_padded(name, cursor.value, piece.ranges[cursor.range].width);
      }
    }
    for (Cursor& cursor : cursors) {
      const std::vector<Range>& ranges = item.pieces[cursor.piece].ranges;
      if (cursor.value < ranges[cursor.range].high) {
        ++cursor.value;
        break;
      }
      cursor.range = cursor.range + 1 == ranges.size() ? 0 : cursor.range + 1;
      cursor.value = ranges[cursor.range].low;
      if (cursor.range != 0) break;
    }
  }
}

}  // namespace

tl::expected<std::vector<std::string>, HostlistError> expand_hostlist(std::string_view text) {
  const auto parsed = Parser(text).run();
  if (!parsed) return tl::unexpected<HostlistError>(parsed.error());
  std::vector<std::string> out;
  out.reserve(parsed->count);
  for (const Item& item : parsed->items) expand_item(item, out);
  return out;
}

tl::expected<std::size_t, HostlistError> count_hostlist(std::string_view text) {
  const auto parsed = Parser(text).run();
  if (!parsed) return tl::unexpected<HostlistError>(parsed.error());
  return parsed->count;
}

tl::expected<std::vector<std::uint32_t>, HostlistError> expand_indices(std::string_view text) {
  constexpr std::string_view kExpected = "indices from 0, such as 0-3,6";
  const auto in_text = [&](HostlistError e) {  // the bracket put before the text is not the caller's
    e.offset = std::min(e.offset == 0 ? 0 : e.offset - 1, text.size());
    e.expected = kExpected;
    return tl::unexpected<HostlistError>(std::move(e));
  };
  if (const std::size_t bad = text.find_first_not_of("0123456789-,"); bad != std::string_view::npos) {
    return refuse(bad, 1, fmt::format("{} in an index list", shown(text[bad])), std::string(kExpected));
  }
  auto names = expand_hostlist(fmt::format("[{}]", text));
  if (!names) return in_text(std::move(names.error()));
  std::vector<std::uint32_t> out;
  for (const std::string& name : *names) {
    const std::uint64_t value = std::stoull(name);  // digits only, at most 18
    if (value >= kMaxHostlistNames)
      return refuse(0, text.size(), fmt::format("the index {} is too large", value), {}, ErrorCode::limit);
    out.push_back(static_cast<std::uint32_t>(value));
  }
  std::vector<std::uint32_t> sorted = out;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return refuse(0, text.size(), fmt::format("the index {} stands twice", *twice), {}, ErrorCode::duplicate);
  return out;
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) return false;
  for (const char c : name) {
    if (!is_name_byte(c)) return false;
  }
  return true;
}

}  // namespace weft::config
