// SPDX-License-Identifier: BSD-3-Clause
//
// The accessors of Document: from a node to a value, or to an Error in words that every format shares.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "weft/config/document.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::config {
namespace {

constexpr std::size_t kShownText = 40;  // of a value quoted in a message

std::uint32_t width_of(std::size_t bytes) { return static_cast<std::uint32_t>(std::max<std::size_t>(1, bytes)); }

// Bytes that the node takes on its first line.
std::uint32_t source_width(const Document& doc, const Node& node) {
  if (!node.is_scalar()) return 1;
  const std::string_view line = doc.source->line(node.at.line);
  const std::size_t begin = node.at.column == 0 ? 0 : node.at.column - 1;
  if (begin >= line.size()) return 1;
  if (node.quote == 0) return width_of(std::min(node.text.size(), line.size() - begin));
  std::size_t end = begin + 1;
  while (end < line.size() && line[end] != node.quote) end += line[end] == '\\' && node.quote == '"' ? 2 : 1;
  return width_of(std::min(end + 1, line.size()) - begin);
}

tl::unexpected<Error> wrong(const Document& doc, const Node& node, std::string_view what, std::string_view expected) {
  const ErrorCode code = node.is_null() ? ErrorCode::missing : ErrorCode::bad_value;
  return fail(doc.error(code, node, fmt::format("{} is {}", what, describe(node)), std::string(expected)));
}

template <typename T, typename Parse>
Result<T> as_quantity(const Document& doc, const Node& node, std::string_view what, std::string_view example,
                      Parse parse) {
  if (!node.is_scalar()) return wrong(doc, node, what, example);
  auto value = parse(node.text);
  if (value) return *value;
  return fail(doc.error(ErrorCode::bad_unit, node, fmt::format("{}: {}", what, value.error().message),
                        std::move(value.error().expected)));
}

// Insertions, deletions, substitutions and swaps of neighbours from a to b; the words are short.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> before_row(row.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    const std::vector<std::size_t> previous = row;
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before_row[j - 1] + 1);
    }
    before_row = previous;
  }
  return row.back();
}

}  // namespace

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null: return "empty";
    case Node::Kind::sequence: return "a list";
    case Node::Kind::mapping: return "a map";
    case Node::Kind::scalar: break;
  }
  if (node.text.size() <= kShownText) return fmt::format("\"{}\"", node.text);
  return fmt::format("\"{}...\"", std::string_view(node.text).substr(0, kShownText));
}

Error Document::error(ErrorCode code, const Node& node, std::string message, std::string expected) const {
  return error_at(code, source, node.at, source_width(*this, node), std::move(message), std::move(expected));
}

Position Document::text_at(const Node& scalar) {
  return scalar.quote == 0 ? scalar.at : Position{scalar.at.line, scalar.at.column + 1};
}

Error Document::error_inside(ErrorCode code, const Node& scalar, std::size_t offset, std::size_t length,
                             std::string message, std::string expected) const {
  const Position begin = text_at(scalar);
  const std::string_view line = source->line(begin.line);
  const std::string_view shown =
      begin.column == 0 ? line : line.substr(std::min<std::size_t>(begin.column - 1, line.size()));
  const std::string_view leading =
      std::string_view(scalar.text).substr(0, std::min(offset + length, scalar.text.size()));
  if (!shown.starts_with(leading)) return error(code, scalar, std::move(message), std::move(expected));
  return error_at(code, source, {begin.line, begin.column + static_cast<std::uint32_t>(offset)}, width_of(length),
                  std::move(message), std::move(expected));
}

Error Document::error_key(ErrorCode code, const Node::Entry& entry, std::string message, std::string expected) const {
  return error_at(code, source, entry.at, width_of(entry.key.size()), std::move(message), std::move(expected));
}

Result<std::string> as_text(const Document& doc, const Node& node, std::string_view what) {
  if (node.is_scalar() && !node.text.empty()) return node.text;
  if (node.is_scalar()) return fail(doc.error(ErrorCode::missing, node, fmt::format("{} is empty", what), "text"));
  return wrong(doc, node, what, "text");
}

Result<std::uint64_t> as_unsigned(const Document& doc, const Node& node, std::string_view what, std::uint64_t min,
                                  std::uint64_t max) {
  std::string expected = max == std::numeric_limits<std::uint64_t>::max()
                             ? fmt::format("a whole number, {} or more", min)
                             : fmt::format("a whole number from {} to {}", min, max);
  if (!node.is_scalar()) return wrong(doc, node, what, expected);
  const std::string& text = node.text;
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = fault == std::errc() && end == text.data() + text.size() && (text[0] != '0' || text.size() == 1);
  if (whole && node.quoted) return wrong(doc, node, what, expected + ", without quotes");
  if (!whole || value < min || value > max) return wrong(doc, node, what, expected);
  return value;
}

Result<double> as_number(const Document& doc, const Node& node, std::string_view what, double min) {
  const std::string expected = fmt::format("a number, {} or more", min);
  if (!node.is_scalar()) return wrong(doc, node, what, expected);
  double value = 0;
  const auto [end, fault] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
  const bool whole = fault == std::errc() && end == node.text.data() + node.text.size() && std::isfinite(value);
  if (whole && node.quoted) return wrong(doc, node, what, expected + ", without quotes");
  if (!whole || value < min) return wrong(doc, node, what, expected);
  return value;
}

Result<bool> as_bool(const Document& doc, const Node& node, std::string_view what) {
  if (node.is_scalar() && !node.quoted && node.text == "true") return true;
  if (node.is_scalar() && !node.quoted && node.text == "false") return false;
  return wrong(doc, node, what, "true or false");
}

Result<std::size_t> as_choice(const Document& doc, const Node& node, std::string_view what,
                              std::span<const std::string_view> words) {
  if (!node.is_scalar()) return wrong(doc, node, what, one_of(words));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == node.text) return i;
  }
  std::string message = fmt::format("{} is {}", what, describe(node));
  if (const std::string_view near = nearest_word(node.text, words); !near.empty()) {
    message += fmt::format(" (did you mean \"{}\"?)", near);
  }
  return fail(doc.error(ErrorCode::bad_value, node, std::move(message), one_of(words)));
}

Result<Bandwidth> as_bandwidth(const Document& doc, const Node& node, std::string_view what) {
  return as_quantity<Bandwidth>(doc, node, what, "a rate with its unit, such as 400Gb/s",
                                [](std::string_view text) { return parse_bandwidth(text); });
}

Result<Bytes> as_bytes(const Document& doc, const Node& node, std::string_view what) {
  return as_quantity<Bytes>(doc, node, what, "an amount with its unit, such as 512MiB",
                            [](std::string_view text) { return parse_bytes(text); });
}

Result<std::string> as_hostlist(const Document& doc, const Node& node, std::string_view what) {
  constexpr std::string_view kExpected = "names such as \"gpu[01-32]\"";
  if (node.is_sequence()) return wrong(doc, node, what, "names in one text, such as \"gpu[01-32]\" or \"a1,a2\"");
  if (!node.is_scalar()) return wrong(doc, node, what, kExpected);
  auto count = count_hostlist(node.text);
  if (count && *count > 0) return node.text;
  if (count)
    return fail(doc.error(ErrorCode::missing, node, fmt::format("{} names nothing", what), std::string(kExpected)));
  HostlistError& e = count.error();
  return fail(doc.error_inside(e.code, node, e.offset, e.length, fmt::format("{}: {}", what, e.message),
                               std::move(e.expected)));
}

Result<std::string> as_name(const Document& doc, const Node& node, std::string_view what) {
  if (!node.is_scalar()) return wrong(doc, node, what, "a name");
  if (is_valid_name(node.text)) return node.text;
  return fail(doc.error(ErrorCode::bad_name, node, fmt::format("{} is {}", what, describe(node)),
                        "one name without spaces, commas, brackets, quotes or colons"));
}

Result<std::span<const Node>> as_sequence(const Document& doc, const Node& node, std::string_view what) {
  if (node.is_sequence()) return std::span(node.items);
  if (node.is_null()) return std::span<const Node>();
  return wrong(doc, node, what, "a list");
}

Result<std::span<const Node::Entry>> as_mapping(const Document& doc, const Node& node, std::string_view what) {
  if (node.is_mapping()) return std::span(node.entries);
  return wrong(doc, node, what, "a map");
}

Result<void> check_keys(const Document& doc, const Node& node, std::string_view what,
                        std::span<const std::string_view> legal) {
  if (!node.is_mapping()) return wrong(doc, node, what, fmt::format("a map with {}", one_of(legal)));
  for (const Node::Entry& entry : node.entries) {
    if (std::find(legal.begin(), legal.end(), entry.key) != legal.end()) continue;
    std::string message = fmt::format("{} has no key \"{}\"", what, entry.key);
    if (const std::string_view near = nearest_word(entry.key, legal); !near.empty()) {
      message += fmt::format(" (did you mean \"{}\"?)", near);
    }
    return fail(doc.error_key(ErrorCode::unknown_key, entry, std::move(message), one_of(legal)));
  }
  return {};
}

Result<const Node*> require(const Document& doc, const Node& mapping, std::string_view what, std::string_view key,
                            std::string_view example) {
  if (const Node* found = mapping.find(key)) return found;
  return fail(doc.error(ErrorCode::missing, mapping, fmt::format("{} has no \"{}\"", what, key),
                        example.empty() ? std::string() : fmt::format("\"{}: {}\"", key, example)));
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  constexpr std::size_t kLongest = 64;  // longer words are no typing slip, and the distance is quadratic
  if (word.size() < 3 || word.size() > kLongest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance || distance >= candidate.size()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string one_of(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace weft::config
