// SPDX-License-Identifier: BSD-3-Clause
//
// XML with places. pugixml stays in the affinity_*.cpp group; it knows no entities but the five of XML, reads nothing
// from disk or net, and does not recurse while it parses.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::topology::affinity {

/// Elements deeper than this are refused: real machines have some 20 levels.
inline constexpr std::uint32_t kMaxXmlDepth = 128;

class XmlFile {
 public:
  /// Errors: syntax, with the place; limit for nesting.
  [[nodiscard]] static Result<XmlFile> parse(const Source& source);

  [[nodiscard]] pugi::xml_node root() const { return doc_.document_element(); }
  [[nodiscard]] const Source& source() const { return source_; }
  [[nodiscard]] Position at(const pugi::xml_node& node) const;
  /// The place of an attribute's value, that of the element where it has none.
  [[nodiscard]] Position at(const pugi::xml_node& node, std::string_view attribute) const;
  [[nodiscard]] Error error(ErrorCode code, const pugi::xml_node& node, std::string message,
                            std::string expected = {}) const;
  /// "numaid is \"x\"" under the value.
  [[nodiscard]] Error bad_attribute(const pugi::xml_node& node, std::string_view attribute, std::string expected) const;

  /// An attribute as a number (decimal, or hexadecimal with 0x) up to `most`; nullopt where it is absent. Errors:
  /// bad_value.
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(const pugi::xml_node& node, const char* attribute,
                                                            std::uint64_t most) const;

 private:
  explicit XmlFile(Source source);
  [[nodiscard]] Position position(std::size_t offset) const;

  Source source_;
  pugi::xml_document doc_;
  std::vector<std::size_t> lines_;  // offset of each line's first byte
};

/// Numbers of any base that from_chars takes, whole text; nullopt otherwise.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, int base);
/// "a" as "\"a\"", cut where it is long.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace weft::topology::affinity
