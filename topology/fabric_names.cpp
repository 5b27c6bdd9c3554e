// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kHintCandidates = 1U << 17;  // names looked at for a hint; errors must come at once

// A piece of a hostlist between commas outside brackets.
struct Item {
  std::size_t offset = 0;
  std::size_t length = 0;
};

std::vector<Item> items_of(std::string_view text) {
  std::vector<Item> out;
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') inside = true;
    if (i < text.size() && text[i] == ']') inside = false;
    if (i == text.size() || (text[i] == ',' && !inside)) {
      out.push_back({begin, i - begin});
      begin = i + 1;
    }
  }
  return out;
}

// The item that the index-th name of the expansion comes from; the whole text where that cannot be told.
Item item_of(std::string_view text, std::size_t index) {
  for (Item item : items_of(text)) {
    while (item.length > 0 && text[item.offset] == ' ') ++item.offset, --item.length;
    while (item.length > 0 && text[item.offset + item.length - 1] == ' ') --item.length;
    const auto names = config::expand_hostlist(text.substr(item.offset, item.length));
    if (!names) break;
    if (index < names->size()) return item;
    index -= names->size();
  }
  return {0, text.size()};
}

// Error under `length` bytes from `offset` of the text, if the source shows the text as it is (a quoted or folded
// scalar may not); else under its beginning.
Error error_inside(const config::FabricSpec& spec, ErrorCode code, const config::Text& text, std::size_t offset,
                   std::size_t length, std::string message, std::string expected) {
  Position at = text.at;
  std::size_t width = 1;
  if (spec.source && at.line > 0 && at.column > 0) {
    const std::string_view line = spec.source->line(at.line);
    std::size_t begin = at.column - 1;
    if (begin < line.size() && (line[begin] == '"' || line[begin] == '\'')) ++begin;
    if (begin < line.size() && line.substr(begin, text.value.size()) == text.value) {
      at.column = static_cast<std::uint32_t>(begin + offset + 1);
      width = length;
    }
  }
  return error_at(code, spec.source, at, static_cast<std::uint32_t>(width), std::move(message), std::move(expected));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

Error text_error(const config::FabricSpec& spec, ErrorCode code, const config::Text& text, std::string message,
                 std::string expected) {
  return error_inside(spec, code, text, 0, text.value.size(), std::move(message), std::move(expected));
}

Error item_error(const config::FabricSpec& spec, ErrorCode code, const config::Text& text, std::size_t index,
                 std::string message, std::string expected) {
  const Item item = item_of(text.value, index);
  return error_inside(spec, code, text, item.offset, item.length, std::move(message), std::move(expected));
}

std::string where(Position at) { return at.line > 0 ? fmt::format("on line {}", at.line) : "earlier"; }

Result<std::vector<std::string>> expand(const config::FabricSpec& spec, const config::Text& text) {
  auto names = config::expand_hostlist(text.value);
  if (names) return std::move(*names);
  config::HostlistError& e = names.error();
  return fail(error_inside(spec, e.code, text, e.offset, e.length, std::move(e.message), std::move(e.expected)));
}

const NameRef* NameIndex::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &it->second;
}

Done NameIndex::fill() {
  by_name_.reserve(data_.node_names.size() + data_.switch_names.size());
  // The place of an id: its entry and its index there, found by walking the entries; only errors need it.
  const auto place = [&](NameRef ref) -> std::pair<const config::Text*, std::size_t> {
    std::size_t left = ref.id;
    const auto walk = [&](const auto& entries) -> std::pair<const config::Text*, std::size_t> {
      for (const auto& entry : entries) {
        const auto names = config::expand_hostlist(entry.names.value);
        if (left < names->size()) return {&entry.names, left};
        left -= names->size();
      }
      return {nullptr, 0};
    };
    return ref.is_switch ? walk(spec_.switches) : walk(spec_.nodes);
  };
  const auto add = [&](std::string_view name, NameRef ref) -> Done {
    const auto [it, fresh] = by_name_.emplace(name, ref);
    if (fresh) return {};
    const auto [text, index] = place(ref);
    const NameRef old = it->second;
    const std::string first = where(place(old).first->at);
    return fail(item_error(
        spec_, ErrorCode::duplicate, *text, index,
        fmt::format("'{}' is defined twice: first as a {} {}", name, old.is_switch ? "switch" : "node", first),
        "names that are each defined once"));
  };
  for (std::uint32_t i = 0; i < data_.node_count(); ++i) {
    if (auto done = add(data_.node_names[i], {false, i}); !done) return done;
  }
  for (std::uint32_t i = 0; i < data_.switch_count(); ++i) {
    if (auto done = add(data_.switch_names[i], {true, i}); !done) return done;
  }
  return {};
}

std::string NameIndex::nearest(std::string_view name) const {
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;  // further off is no help
  std::string_view found;
  std::size_t seen = 0;
  for (const auto* names : {&data_.switch_names, &data_.node_names}) {
    for (const std::string& candidate : *names) {
      if (++seen > kHintCandidates) break;
      const std::size_t gap =
          candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
      if (gap >= best) continue;
      if (const std::size_t d = edit_distance(name, candidate); d < best) best = d, found = candidate;
    }
  }
  return std::string(found);
}

Error NameIndex::dangling(const config::Text& text, std::size_t index, std::string_view name,
                          std::string_view kind) const {
  const std::string hint = nearest(name);
  return item_error(spec_, ErrorCode::dangling, text, index, fmt::format("no {} is named '{}'", kind, name),
                    hint.empty() ? std::string("a name that is defined under nodes or switches")
                                 : fmt::format("a defined name, such as '{}'", hint));
}

Done NameIndex::check_distinct(const config::Text& text, const ResolvedList& list) const {
  if (!list.repeat) return {};
  const std::uint32_t id = list.ids[*list.repeat];
  return fail(
      item_error(spec_, ErrorCode::duplicate, text, *list.repeat,
                 fmt::format("'{}' is listed twice", list.is_switch ? data_.switch_names[id] : data_.node_names[id]),
                 "each name once"));
}

std::optional<std::size_t> NameIndex::first_repeat(const ResolvedList& list) const {
  std::vector<std::uint8_t> seen(list.is_switch ? data_.switch_count() : data_.node_count(), 0);
  for (std::size_t i = 0; i < list.ids.size(); ++i) {
    if (std::exchange(seen[list.ids[i]], std::uint8_t{1}) != 0) return i;
  }
  return std::nullopt;
}

Result<const ResolvedList*> NameIndex::list(const config::Text& text) {
  if (const auto it = lists_.find(text.value); it != lists_.end()) return &it->second;
  auto names = expand(spec_, text);
  if (!names) return fail(std::move(names.error()));
  if (names->empty()) return fail(text_error(spec_, ErrorCode::bad_value, text, "the list is empty", "a name"));
  ResolvedList out;
  out.ids.reserve(names->size());
  for (std::size_t i = 0; i < names->size(); ++i) {
    const NameRef* ref = find((*names)[i]);
    if (ref == nullptr) return fail(dangling(text, i, (*names)[i], "node or switch"));
    if (i == 0) out.is_switch = ref->is_switch;
    if (ref->is_switch != out.is_switch) {
      return fail(
          item_error(spec_, ErrorCode::bad_value, text, i,
                     fmt::format("'{}' is a {}, but '{}' is a {}", (*names)[i], ref->is_switch ? "switch" : "node",
                                 names->front(), out.is_switch ? "switch" : "node"),
                     "nodes only or switches only"));
    }
    out.ids.push_back(ref->id);
  }
  out.repeat = first_repeat(out);
  return &lists_.emplace(text.value, std::move(out)).first->second;
}

}  // namespace weft::topology
