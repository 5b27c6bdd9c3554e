// SPDX-License-Identifier: BSD-3-Clause
#include "yaml_fields.hpp"

#include <fmt/format.h>

namespace weft::config {

Fields::Fields(const Document& doc, const Node& node, std::string_view what,
               std::initializer_list<std::string_view> legal)
    : doc_(doc), node_(node), what_(what) {
  if (Result<void> checked = check_keys(doc, node, what, legal); !checked) fault_ = std::move(checked.error());
}

const Node* Fields::find(std::string_view key) const { return fault_ ? nullptr : node_.find(key); }

const Node* Fields::need(std::string_view key, std::string_view example) {
  if (fault_) return nullptr;
  Result<const Node*> found = require(doc_, node_, what_, key, example);
  if (found) return *found;
  fault_ = std::move(found.error());
  return nullptr;
}

void Fields::set_fault(Error error) {
  if (!fault_) fault_ = std::move(error);
}

Result<void> Fields::done() const {
  if (fault_) return fail(*fault_);
  return {};
}

void Fields::need_text(std::string_view key, Text& out, std::string_view example) {
  if (const Node* node = need(key, example)) {
    take(as_text(doc_, *node, key), out.value);
    out.at = Document::text_at(*node);
  }
}

void Fields::need_hostlist(std::string_view key, Text& out, std::string_view example) {
  if (const Node* node = need(key, example)) {
    take(as_hostlist(doc_, *node, key), out.value);
    out.at = Document::text_at(*node);
  }
}

void Fields::read_text(std::string_view key, std::optional<Text>& out) {
  if (find(key) == nullptr) return;
  Text text;
  need_text(key, text);
  if (ok()) out = std::move(text);
}

void Fields::read_hostlist(std::string_view key, std::optional<Text>& out) {
  if (find(key) == nullptr) return;
  Text text;
  need_hostlist(key, text);
  if (ok()) out = std::move(text);
}

void Fields::read_string(std::string_view key, std::string& out) {
  if (const Node* node = find(key)) take(as_text(doc_, *node, key), out);
}

void Fields::read_bandwidth(std::string_view key, std::optional<Bandwidth>& out) {
  if (const Node* node = find(key)) {
    Bandwidth value;
    take(as_bandwidth(doc_, *node, key), value);
    if (ok()) out = value;
  }
}

Text place_text(const Node& node, std::string value) { return {std::move(value), Document::text_at(node)}; }

Result<Document> parse_weft_yaml(const Source& source, std::string_view kind) {
  Result<Document> doc = parse_yaml(source);
  if (!doc) return doc;
  const Node& root = doc->root;
  const std::string first_line = "\"weft: 1\" on the first line";
  if (root.is_null()) return fail(doc->error(ErrorCode::missing, root, fmt::format("{} is empty", kind), first_line));
  if (!root.is_mapping()) {
    return fail(doc->error(ErrorCode::bad_value, root, fmt::format("{} is {}", kind, describe(root)), first_line));
  }
  const Node* version = root.find("weft");
  if (version == nullptr) {
    return fail(doc->error(ErrorCode::missing, root, fmt::format("{} does not say \"weft: 1\"", kind), first_line));
  }
  if (!version->is_scalar() || version->quoted || version->text != "1") {
    return fail(doc->error(ErrorCode::unsupported, *version, fmt::format("weft is {}", describe(*version)),
                           "1, the only version there is"));
  }
  return doc;
}

}  // namespace weft::config
