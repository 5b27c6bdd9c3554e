// SPDX-License-Identifier: BSD-3-Clause
//
// The `health` section, in a fabric file or on its own.
#include <fmt/format.h>

#include <array>

#include "weft/config/hostlist.hpp"
#include "yaml_fields.hpp"

namespace weft::config {
namespace {

constexpr std::uint64_t kMaxCables = 65535;
constexpr std::size_t kMaxEntries = 65536;  // with lists of names written out
constexpr std::string_view kPortExpected = "\"node:nic\", such as \"gpu17:3\"";

// "gpu17:3", or, where `bare` allows, "gpu17". `what` names it in messages.
Result<Text> read_end(const Document& doc, const Node& node, std::string_view what, bool bare) {
  const std::string expected = bare ? fmt::format("a name or {}", kPortExpected) : std::string(kPortExpected);
  if (!node.is_scalar()) {
    const ErrorCode code = node.is_null() ? ErrorCode::missing : ErrorCode::bad_value;
    return fail(doc.error(code, node, fmt::format("{} is {}", what, describe(node)), expected));
  }
  const std::size_t colon = node.text.find(':');
  if (colon == std::string::npos && !bare) {
    return fail(
        doc.error(ErrorCode::bad_name, node, fmt::format("{} is {}, without a NIC", what, describe(node)), expected));
  }
  if (!is_valid_name(std::string_view(node.text).substr(0, colon))) {
    return fail(doc.error(ErrorCode::bad_name, node, fmt::format("{} is {}", what, describe(node)), expected));
  }
  if (colon != std::string::npos) {
    const std::string_view nic = std::string_view(node.text).substr(colon + 1);
    if (nic.empty() || nic.size() > 4 || nic.find_first_not_of("0123456789") != std::string_view::npos) {
      return fail(doc.error_inside(ErrorCode::bad_name, node, colon + 1, nic.size(),
                                   fmt::format("{}: \"{}\" is no NIC index", what, nic), expected));
    }
  }
  return place_text(node, node.text);
}

void read_link(Fields& fields, const Node& node, HealthSpec& out) {
  const Document& doc = fields.doc();
  out.target = HealthSpec::Target::link;
  if (!node.is_sequence() || node.items.size() != 2) {
    const std::string message =
        node.is_sequence() ? fmt::format("link has {} end{}", node.items.size(), node.items.size() == 1 ? "" : "s")
                           : fmt::format("link is {}", describe(node));
    fields.set_fault(doc.error(ErrorCode::bad_value, node, message, "its two ends, such as [leaf3, spine2]"));
    return;
  }
  fields.take(read_end(doc, node.items[0], "an end of the link", true), out.a);
  fields.take(read_end(doc, node.items[1], "an end of the link", true), out.b);
}

void read_target(Fields& fields, HealthSpec& out) {
  constexpr std::array<std::string_view, 4> kTargets{"switch", "node", "port", "link"};
  const Node::Entry* target = nullptr;
  for (const Node::Entry& entry : fields.node().entries) {
    const bool names_target =
        entry.key == "switch" || entry.key == "node" || entry.key == "port" || entry.key == "link";
    if (!names_target) continue;
    if (target != nullptr) {
      fields.set_fault(fields.doc().error_key(ErrorCode::conflict, entry,
                                              fmt::format("a health entry names a {} and a {}", target->key, entry.key),
                                              "one of them"));
      return;
    }
    target = &entry;
  }
  if (target == nullptr) {
    fields.set_fault(
        fields.doc().error(ErrorCode::missing, fields.node(), "a health entry names no target", one_of(kTargets)));
  } else if (target->key == "link") {
    read_link(fields, target->value, out);
  } else if (target->key == "port") {
    out.target = HealthSpec::Target::port;
    fields.take(read_end(fields.doc(), target->value, "port", false), out.a);
  } else {
    out.target = target->key == "switch" ? HealthSpec::Target::switch_ : HealthSpec::Target::node;
    fields.need_hostlist(target->key, out.a);
  }
}

Result<HealthSpec> read_entry(const Document& doc, const Node& node) {
  HealthSpec out;
  Fields fields(doc, node, "a health entry",
                {"switch", "node", "port", "link", "state", "bandwidth", "cables", "reason"});
  if (fields.ok()) read_target(fields, out);
  const Node* state = fields.find("state");
  if (state != nullptr) {
    constexpr std::array<std::string_view, 2> kStates{"up", "down"};
    std::size_t word = 0;
    fields.take(as_choice(doc, *state, "state", kStates), word);
    out.down = word == 1;
  }
  fields.read_bandwidth("bandwidth", out.bandwidth);
  fields.read_unsigned("cables", out.cables, 1, kMaxCables);
  fields.read_string("reason", out.reason);
  if (!fields.ok()) return fail(fields.done().error());
  if (state == nullptr && !out.bandwidth) {
    return fail(doc.error(ErrorCode::missing, node, "a health entry says neither state nor bandwidth",
                          "\"state: down\" or \"bandwidth: 100Gb/s\""));
  }
  if (out.down && out.bandwidth) {
    return fail(
        doc.error(ErrorCode::conflict, *node.find("bandwidth"), "what is down has no bandwidth", "state or bandwidth"));
  }
  if (out.cables && out.target != HealthSpec::Target::link) {
    return fail(doc.error(ErrorCode::conflict, *node.find("cables"), "cables can only be said of a link", {}));
  }
  return out;
}

}  // namespace

Result<std::vector<HealthSpec>> read_health(const Document& doc, const Node& list) {
  const auto items = as_sequence(doc, list, "health");
  if (!items) return fail(items.error());
  std::vector<HealthSpec> out;
  out.reserve(items->size());
  for (const Node& item : *items) {
    Result<HealthSpec> entry = read_entry(doc, item);
    if (!entry) return fail(std::move(entry.error()));
    if (entry->target != HealthSpec::Target::switch_ && entry->target != HealthSpec::Target::node) {
      out.push_back(*std::move(entry));
      continue;
    }
    // A list of names is that many entries; read_entry has seen that it is sound.
    if (out.size() + count_hostlist(entry->a.value).value_or(0) > kMaxEntries) {
      return fail(doc.error(ErrorCode::limit, item, fmt::format("more than {} health entries", kMaxEntries)));
    }
    for (std::string& name : expand_hostlist(entry->a.value).value_or(std::vector<std::string>())) {
      out.push_back(*entry);
      out.back().a.value = std::move(name);
    }
  }
  return out;
}

Result<std::vector<HealthSpec>> parse_health_yaml(const Source& source) {
  const Result<Document> doc = parse_weft_yaml(source, "a health file");
  if (!doc) return fail(doc.error());
  Fields fields(*doc, doc->root, "a health file", {"weft", "health"});
  const Node* list = fields.need("health", "[...]");
  if (list == nullptr) return fail(fields.done().error());
  return read_health(*doc, *list);
}

}  // namespace weft::config
