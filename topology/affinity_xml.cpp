// SPDX-License-Identifier: BSD-3-Clause
#include "affinity_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weft::topology::affinity {
namespace {

constexpr std::size_t kQuoted = 40;

std::string_view reason_of(const pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_out_of_memory: return "there is no memory for it";
    case pugi::status_bad_pi: return "a processing instruction does not end";
    case pugi::status_bad_comment: return "a comment does not end";
    case pugi::status_bad_doctype: return "the document type is malformed";
    case pugi::status_bad_attribute: return "an attribute is malformed";
    case pugi::status_bad_start_element: return "a tag does not end";
    case pugi::status_bad_end_element: return "an end tag is malformed";
    case pugi::status_end_element_mismatch:
      return "an end tag does not fit the element that is open, or one is missing";
    case pugi::status_no_document_element: return "there is no element";
    default: return "it is malformed";
  }
}

// Depth of the deepest element above the limit, found without recursion.
pugi::xml_node too_deep(const pugi::xml_document& doc) {
  std::uint32_t depth = 0;
  pugi::xml_node node = doc.first_child();
  while (node) {
    if (depth > kMaxXmlDepth) return node;
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node && !node.next_sibling()) {
      node = node.parent();
      if (depth == 0) return {};
      --depth;
    }
    node = node.next_sibling();
  }
  return {};
}

}  // namespace

XmlFile::XmlFile(Source source) : source_(std::move(source)) {
  const std::string_view text = source_->text();
  lines_.push_back(0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') lines_.push_back(i + 1);
  }
}

Result<XmlFile> XmlFile::parse(const Source& source) {
  XmlFile out(source);
  const std::string_view text = source->text();
  const pugi::xml_parse_result parsed =
      out.doc_.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    const auto offset = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)), text.size());
    return fail(error_at(ErrorCode::syntax, source, out.position(offset), 1,
                         fmt::format("not whole XML: {}", reason_of(parsed.status)), "a whole file; is it cut off?"));
  }
  if (const pugi::xml_node deep = too_deep(out.doc_)) {
    return fail(out.error(ErrorCode::limit, deep, "elements are nested too deeply",
                          fmt::format("at most {} levels", kMaxXmlDepth)));
  }
  return out;
}

Position XmlFile::position(std::size_t offset) const {
  const auto line = std::upper_bound(lines_.begin(), lines_.end(), offset) - lines_.begin();
  return {static_cast<std::uint32_t>(line),
          static_cast<std::uint32_t>(offset - lines_[static_cast<std::size_t>(line) - 1] + 1)};
}

Position XmlFile::at(const pugi::xml_node& node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  return offset < 0 ? Position{1, 1} : position(static_cast<std::size_t>(offset));
}

Position XmlFile::at(const pugi::xml_node& node, std::string_view attribute) const {
  const std::ptrdiff_t start = node.offset_debug();
  if (start < 0) return {1, 1};
  const std::string_view text = source_->text();
  const std::size_t end = std::min(text.find('>', static_cast<std::size_t>(start)), text.size());
  const std::string wanted = std::string(attribute) + '=';
  for (std::size_t from = static_cast<std::size_t>(start); from < end;) {
    const std::size_t found = text.find(wanted, from);
    if (found >= end) break;
    const char before = text[found - 1];
    if (before == ' ' || before == '\t' || before == '\n') return position(std::min(found + wanted.size() + 1, end));
    from = found + 1;
  }
  return position(static_cast<std::size_t>(start));
}

Error XmlFile::error(ErrorCode code, const pugi::xml_node& node, std::string message, std::string expected) const {
  const auto width = static_cast<std::uint32_t>(std::max<std::size_t>(std::string_view(node.name()).size(), 1));
  return error_at(code, source_, at(node), width, std::move(message), std::move(expected));
}

Error XmlFile::bad_attribute(const pugi::xml_node& node, std::string_view attribute, std::string expected) const {
  const std::string_view value = node.attribute(std::string(attribute).c_str()).value();
  return error_at(ErrorCode::bad_value, source_, at(node, attribute),
                  static_cast<std::uint32_t>(std::max<std::size_t>(value.size(), 1)),
                  fmt::format("{} of <{}> is {}", attribute, node.name(), quoted(value)), std::move(expected));
}

Result<std::optional<std::uint64_t>> XmlFile::number(const pugi::xml_node& node, const char* attribute,
                                                     std::uint64_t most) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found) return std::optional<std::uint64_t>();
  const std::string_view text = found.value();
  const bool hex = text.starts_with("0x");
  const auto value = parse_number(hex ? text.substr(2) : text, hex ? 16 : 10);
  if (!value || *value > most) return fail(bad_attribute(node, attribute, fmt::format("a number up to {}", most)));
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted(std::string_view text) {
  return text.size() > kQuoted ? fmt::format("\"{}...\"", text.substr(0, kQuoted)) : fmt::format("\"{}\"", text);
}

}  // namespace weft::topology::affinity
