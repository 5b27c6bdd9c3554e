// SPDX-License-Identifier: BSD-3-Clause
//
// A YAML text as a value tree in which every word still knows its place, and the accessors that turn a wrong word into
// an Error ready to show. Readers of every YAML format of the house (fabric, job, Slurm's topology.yaml, topograph)
// stand on it, so that they all refuse bad input in the same words. The YAML library stays behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/units.hpp"

namespace weft::config {

/// Deeper nesting than this is refused (ErrorCode::limit).
inline constexpr std::size_t kMaxYamlDepth = 64;

/// One value of a YAML text, with what is below it. A plain value type; copying copies the subtree.
struct Node {
  enum class Kind : std::uint8_t { null, scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::null;
  bool quoted = false;         ///< scalar in quotes or a block scalar: text, whatever it looks like
  char quote = 0;              ///< the quote that stands at `at`, where one does
  Position at;                 ///< first byte, the quote included; {1,1} for an empty text
  std::string text;            ///< scalar: its value, quotes and escapes resolved
  std::vector<Node> items;     ///< sequence: in file order
  std::vector<Entry> entries;  ///< mapping: in file order, keys distinct

  [[nodiscard]] bool is_null() const { return kind == Kind::null; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  /// The value under `key`; null pointer where there is none or this is no mapping. O(entries).
  [[nodiscard]] const Node* find(std::string_view key) const;
};

/// `key: value` of a mapping.
struct Node::Entry {
  std::string key;
  Position at;  ///< of the key
  Node value;
};

/// A parsed text. Node::at refers to `source`.
struct Document {
  Source source;
  Node root;  ///< null for an empty text

  /// An Error under the whole of `node` (its first line).
  [[nodiscard]] Error error(ErrorCode code, const Node& node, std::string message, std::string expected = {}) const;
  /// An Error under `length` bytes of a scalar's text, from its byte `offset`; falls back to the whole scalar where
  /// escapes or line folds part the text from the source.
  [[nodiscard]] Error error_inside(ErrorCode code, const Node& scalar, std::size_t offset, std::size_t length,
                                   std::string message, std::string expected = {}) const;
  /// An Error under a key.
  [[nodiscard]] Error error_key(ErrorCode code, const Node::Entry& entry, std::string message,
                                std::string expected = {}) const;
  /// Where the first byte of a scalar's text stands: past the opening quote.
  [[nodiscard]] static Position text_at(const Node& scalar);
};

/// Parses one YAML document. Errors: syntax (with the place, tabs, open quotes and brackets pointed at), duplicate
/// (a key twice in one mapping, at the second), unsupported (several documents, anchors and aliases, tags other than
/// the core ones, keys that are no scalars), limit (nesting). Time and memory are linear in the text. Thread-safe.
[[nodiscard]] Result<Document> parse_yaml(const Source& source);

/// "a list", "a map", "empty", or the scalar in quotes, cut to a readable length: for "tier is …" messages.
[[nodiscard]] std::string describe(const Node& node);

// Accessors. `what` names the value in messages ("tier", "bandwidth of the link"). All errors are at the value.

/// A scalar's text. Errors: missing (empty), bad_value (a list or map).
[[nodiscard]] Result<std::string> as_text(const Document& doc, const Node& node, std::string_view what);
/// An unquoted whole number within [min, max], decimal digits only.
[[nodiscard]] Result<std::uint64_t> as_unsigned(const Document& doc, const Node& node, std::string_view what,
                                                std::uint64_t min = 0,
                                                std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
/// A number above or equal to `min`, with or without a fraction or exponent, finite.
[[nodiscard]] Result<double> as_number(const Document& doc, const Node& node, std::string_view what, double min = 0);
/// true or false.
[[nodiscard]] Result<bool> as_bool(const Document& doc, const Node& node, std::string_view what);
/// Index into `words` of the scalar's text. Errors: bad_value, listing the words and the nearest.
[[nodiscard]] Result<std::size_t> as_choice(const Document& doc, const Node& node, std::string_view what,
                                            std::span<const std::string_view> words);
/// Quantities with their units. Errors: bad_unit, bad_value, missing.
[[nodiscard]] Result<Bandwidth> as_bandwidth(const Document& doc, const Node& node, std::string_view what);
[[nodiscard]] Result<Bytes> as_bytes(const Document& doc, const Node& node, std::string_view what);
/// A hostlist, checked but not expanded, as text. Errors: bad_name, limit, at the offending bytes.
[[nodiscard]] Result<std::string> as_hostlist(const Document& doc, const Node& node, std::string_view what);
/// One name that can stand in a hostlist: no brackets, commas, spaces or quotes.
[[nodiscard]] Result<std::string> as_name(const Document& doc, const Node& node, std::string_view what);
/// nullptr-free views; an empty value counts as an empty list, never as a map.
[[nodiscard]] Result<std::span<const Node>> as_sequence(const Document& doc, const Node& node, std::string_view what);
[[nodiscard]] Result<std::span<const Node::Entry>> as_mapping(const Document& doc, const Node& node,
                                                              std::string_view what);

/// Success where `node` is a mapping all of whose keys are in `legal`. Errors: bad_value; unknown_key at the key, with
/// the nearest legal key ("did you mean") and the list of all.
[[nodiscard]] Result<void> check_keys(const Document& doc, const Node& node, std::string_view what,
                                      std::span<const std::string_view> legal);
[[nodiscard]] inline Result<void> check_keys(const Document& doc, const Node& node, std::string_view what,
                                             std::initializer_list<std::string_view> legal) {
  return check_keys(doc, node, what, std::span(legal.begin(), legal.size()));
}
/// The value under `key`. Errors: missing, at the mapping, naming the key and, where given, an example of its value.
[[nodiscard]] Result<const Node*> require(const Document& doc, const Node& mapping, std::string_view what,
                                          std::string_view key, std::string_view example = {});

/// The word of `words` within a small edit distance of `word`, the first of the nearest; empty where none is close.
[[nodiscard]] std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);
/// "a, b or c".
[[nodiscard]] std::string one_of(std::span<const std::string_view> words);

}  // namespace weft::config
