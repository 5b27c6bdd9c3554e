// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the fields of one mapping into a spec. The first fault sticks and the calls after it do nothing, so that a
// reader is a plain list of fields with one check at its end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weft/config/document.hpp"
#include "weft/config/fabric_spec.hpp"

namespace weft::config {

class Fields {
 public:
  /// `what` names the mapping in messages ("a switch"). Unknown keys are the first fault.
  Fields(const Document& doc, const Node& node, std::string_view what, std::initializer_list<std::string_view> legal);

  /// The value under `key`; null where it is absent or a fault has been met.
  [[nodiscard]] const Node* find(std::string_view key) const;
  /// The same, its absence being a fault; `example` shows a right value.
  [[nodiscard]] const Node* need(std::string_view key, std::string_view example = {});

  [[nodiscard]] bool ok() const { return !fault_; }
  void set_fault(Error error);
  /// Success, or the first fault.
  [[nodiscard]] Result<void> done() const;

  /// Keeps the value or the fault.
  template <typename T, typename To>
  void take(Result<T> value, To& out) {
    if (!value) {
      set_fault(std::move(value.error()));
    } else {
      out = static_cast<To>(*std::move(value));
    }
  }

  // need_*: must be there. read_*: left as it is where absent.
  void need_text(std::string_view key, Text& out, std::string_view example = {});
  void need_hostlist(std::string_view key, Text& out, std::string_view example = {});
  void read_text(std::string_view key, std::optional<Text>& out);
  void read_hostlist(std::string_view key, std::optional<Text>& out);
  void read_string(std::string_view key, std::string& out);
  void read_bandwidth(std::string_view key, std::optional<Bandwidth>& out);
  /// Whole numbers into any unsigned type that holds `max`, or an optional of one.
  template <typename T>
  void read_unsigned(std::string_view key, T& out, std::uint64_t min, std::uint64_t max) {
    if (const Node* node = find(key)) take(as_unsigned(doc_, *node, key, min, max), out);
  }
  template <typename T>
  void read_unsigned(std::string_view key, std::optional<T>& out, std::uint64_t min, std::uint64_t max) {
    if (const Node* node = find(key)) {
      T value{};
      take(as_unsigned(doc_, *node, key, min, max), value);
      if (ok()) out = value;
    }
  }

  [[nodiscard]] const Document& doc() const { return doc_; }
  [[nodiscard]] const Node& node() const { return node_; }

 private:
  const Document& doc_;
  const Node& node_;
  std::string what_;
  std::optional<Error> fault_;
};

/// A scalar's checked text with its place.
[[nodiscard]] Text place_text(const Node& node, std::string value);

/// Parses a file of ours: one mapping that says `weft: 1`. `kind` names the file ("a fabric file") in messages.
[[nodiscard]] Result<Document> parse_weft_yaml(const Source& source, std::string_view kind);

/// `health: [...]` of a fabric or health file.
[[nodiscard]] Result<std::vector<HealthSpec>> read_health(const Document& doc, const Node& list);

}  // namespace weft::config
