// SPDX-License-Identifier: BSD-3-Clause
//
// Health entries applied to the links. Statements on different things add up (a slow link of a switch that is down is
// down); statements on the same thing must agree.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "fabric_links.hpp"

namespace weft::topology {
namespace {

using config::HealthSpec;

// What a health entry is about.
struct Target {
  LinkEnd a;
  LinkEnd b;
  bool any_nic = false;  // a is a node, all its NICs are meant
  std::vector<std::uint32_t> links;
};

class Health {
 public:
  Health(const config::FabricSpec& spec, NameIndex& names, FabricData& data)
      : spec_(spec), names_(names), data_(data), by_end_(data) {}

  Done run() {
    for (const HealthSpec& entry : spec_.health) {
      if (auto done = apply(entry); !done) return done;
    }
    for (Link& link : data_.links) {
      const bool near_up = link.a.is_switch ? data_.switch_up[link.a.id] != 0 : data_.node_up[link.a.id] != 0;
      link.up = link.up && near_up && data_.switch_up[link.b.id] != 0;
    }
    return {};
  }

 private:
  Done apply(const HealthSpec& entry);
  Result<Target> find_target(const HealthSpec& entry);
  Result<LinkEnd> find_end(const config::Text& text, bool& any_nic);
  Done check_repeat(const HealthSpec& entry, const Target& target, bool& again);
  Done take_cables(const HealthSpec& entry, const Target& target, std::string& what);
  void slow(const HealthSpec& entry, const std::vector<std::uint32_t>& links);
  [[nodiscard]] std::string name_of(const Target& target, const HealthSpec& entry) const;

  // Kind of target, then its ends.
  using Key = std::tuple<HealthSpec::Target, bool, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Said {
    const HealthSpec* entry = nullptr;  // first statement on the whole target
    std::uint32_t cables = 0;           // taken by statements on some of its cables
  };

  const config::FabricSpec& spec_;
  NameIndex& names_;
  FabricData& data_;
  LinksByEnd by_end_;
  std::map<Key, Said> said_;
  std::map<std::uint32_t, std::uint32_t> taken_;  // link: cables already split off

  static Key key_of(const HealthSpec& entry, const Target& t) {
    return {entry.target, t.a.is_switch, t.a.id, t.any_nic ? FabricData::kNone : t.a.nic, t.b.id};
  }
};

Result<LinkEnd> Health::find_end(const config::Text& text, bool& any_nic) {
  const std::string_view whole = text.value;
  any_nic = false;
  if (const NameRef* ref = names_.find(whole)) {
    any_nic = !ref->is_switch;
    return LinkEnd{ref->is_switch, ref->id, 0};
  }
  const std::size_t colon = whole.rfind(':');
  if (colon == std::string_view::npos) return fail(names_.dangling(text, 0, whole, "node or switch"));
  const NameRef* ref = names_.find(whole.substr(0, colon));
  if (ref == nullptr || ref->is_switch) return fail(names_.dangling(text, 0, whole.substr(0, colon), "node"));
  std::uint32_t nic = 0;
  const char* const end = whole.data() + whole.size();
  const auto got = std::from_chars(whole.data() + colon + 1, end, nic);
  const std::uint32_t nics = data_.types[data_.node_type[ref->id]].nics;
  if (got.ec != std::errc{} || got.ptr != end || nic >= nics) {
    return fail(text_error(spec_, ErrorCode::dangling, text,
                           fmt::format("node '{}' has no NIC '{}'", data_.node_names[ref->id], whole.substr(colon + 1)),
                           fmt::format("0 to {}", nics - 1)));
  }
  return LinkEnd{false, ref->id, nic};
}

Result<Target> Health::find_target(const HealthSpec& entry) {
  Target out;
  auto a = find_end(entry.a, out.any_nic);
  if (!a) return fail(a.error());
  out.a = *a;
  const bool wants_switch = entry.target == HealthSpec::Target::switch_;
  const bool wants_node = entry.target == HealthSpec::Target::node;
  if ((wants_switch && !a->is_switch) || (wants_node && !out.any_nic) ||
      (entry.target == HealthSpec::Target::port && (a->is_switch || out.any_nic))) {
    return fail(text_error(spec_, ErrorCode::bad_value, entry.a,
                           fmt::format("'{}' is a {}", entry.a.value,
                                       a->is_switch  ? "switch"
                                       : out.any_nic ? "node"
                                                     : "NIC of a node"),
                           wants_switch ? "a switch"
                           : wants_node ? "a node"
                                        : "node:nic"));
  }
  if (entry.target != HealthSpec::Target::link) {
    const auto links = a->is_switch ? by_end_.of_switch[a->id] : by_end_.of_node[a->id];
    for (const std::uint32_t id : links) {
      if (a->is_switch || out.any_nic || data_.links[id].a.nic == a->nic) out.links.push_back(id);
    }
    return out;
  }
  bool b_any = false;
  auto b = find_end(entry.b, b_any);
  if (!b) return fail(b.error());
  out.b = *b;
  if (!b->is_switch || (a->is_switch && b->id < a->id)) {
    std::swap(out.a, out.b);
    out.any_nic = b_any;
  }
  if (out.b.is_switch) {
    for (const std::uint32_t id : by_end_.of_switch[out.b.id]) {
      const Link& link = data_.links[id];
      const LinkEnd& other = link.a.is_switch && link.a.id == out.b.id ? link.b : link.a;
      const bool same = other.is_switch == out.a.is_switch && other.id == out.a.id;
      if (same && (other.is_switch || out.any_nic || other.nic == out.a.nic)) out.links.push_back(id);
    }
  }
  if (out.links.empty()) {
    return fail(text_error(spec_, ErrorCode::dangling, entry.a,
                           fmt::format("there is no link between '{}' and '{}'", entry.a.value, entry.b.value),
                           "two ends that a link joins"));
  }
  return out;
}

// Two statements on the same whole thing: the same is said once (again = true), anything else is a conflict.
Done Health::check_repeat(const HealthSpec& entry, const Target& target, bool& again) {
  Said& said = said_[key_of(entry, target)];
  again = false;
  if (entry.cables) {
    if (said.entry == nullptr) return {};
  } else if (said.entry == nullptr && said.cables == 0) {
    said.entry = &entry;
    return {};
  }
  if (said.entry != nullptr && said.entry->down == entry.down && said.entry->bandwidth == entry.bandwidth) {
    again = true;
    return {};
  }
  return fail(text_error(
      spec_, ErrorCode::conflict, entry.a,
      said.entry != nullptr
          ? fmt::format("the health of '{}' is given differently {}", name_of(target, entry), where(said.entry->a.at))
          : fmt::format("the health of some cables of '{}' is given already", name_of(target, entry)),
      "one statement on each thing"));
}

std::string Health::name_of(const Target& target, const HealthSpec& entry) const {
  if (entry.target != HealthSpec::Target::link) return entry.a.value;
  const std::string a = target.any_nic ? data_.node_names[target.a.id] : data_.end_name(target.a);
  return a + " - " + data_.end_name(target.b);
}

void Health::slow(const HealthSpec& entry, const std::vector<std::uint32_t>& links) {
  for (const std::uint32_t id : links) {
    Link& link = data_.links[id];
    if (entry.down) {
      link.up = false;
    } else if (*entry.bandwidth < link.bandwidth) {
      link.bandwidth = *entry.bandwidth;
      link.slowed = true;
    }
  }
}

// Splits `cables` off the links of the target, in order, and applies the entry to them.
Done Health::take_cables(const HealthSpec& entry, const Target& target, std::string& what) {
  if (target.any_nic && target.links.size() > 1) {
    return fail(text_error(spec_, ErrorCode::bad_value, entry.a,
                           fmt::format("cables of which NIC of '{}'?", data_.node_names[target.a.id]),
                           "node:nic where cables are counted"));
  }
  std::uint32_t total = 0;
  std::uint32_t left = 0;
  for (const std::uint32_t id : target.links) {
    total += data_.links[id].cables + taken_[id];
    left += data_.links[id].up && !data_.links[id].slowed ? data_.links[id].cables : 0;
  }
  std::uint32_t want = *entry.cables;
  if (want == 0 || want > left) {
    return fail(text_error(spec_, ErrorCode::bad_value, entry.a,
                           fmt::format("{} cables of '{}', which has {}{}", want, name_of(target, entry), total,
                                       left < total ? fmt::format(" ({} with no health given yet)", left) : ""),
                           left == 0 ? "no more than there are" : fmt::format("1 to {}", left)));
  }
  what += fmt::format(" ({} of {} cables)", want, total);
  said_[key_of(entry, target)].cables += want;
  std::vector<std::uint32_t> changed;
  for (const std::uint32_t id : target.links) {
    if (!data_.links[id].up || data_.links[id].slowed) continue;
    const std::uint32_t take = std::min(want, data_.links[id].cables);
    if (take == 0) break;
    want -= take;
    if (take == data_.links[id].cables) {
      changed.push_back(id);
      continue;
    }
    taken_[id] += take;
    Link part = data_.links[id];
    part.cables = take;
    data_.links[id].cables -= take;
    changed.push_back(static_cast<std::uint32_t>(data_.links.size()));
    data_.links.push_back(part);
  }
  slow(entry, changed);
  return {};
}

Done Health::apply(const HealthSpec& entry) {
  auto target = find_target(entry);
  if (!target) return fail(target.error());
  if (entry.down == entry.bandwidth.has_value() || (entry.bandwidth && entry.bandwidth->bits_per_second == 0)) {
    return fail(text_error(spec_, ErrorCode::bad_value, entry.a,
                           fmt::format("the health of '{}' is not clear", name_of(*target, entry)),
                           "either state: down or a bandwidth above 0"));
  }
  if (entry.cables && entry.target != HealthSpec::Target::link) {
    return fail(text_error(spec_, ErrorCode::bad_value, entry.a, "cables counts those of a link",
                           "cables only with link: [a, b]"));
  }
  bool again = false;
  if (auto done = check_repeat(entry, *target, again); !done || again) return done;
  std::string what = name_of(*target, entry);
  if (entry.cables) {
    if (auto done = take_cables(entry, *target, what); !done) return done;
  } else {
    slow(entry, target->links);
  }
  Fault::Kind kind = entry.down ? Fault::Kind::link_down : Fault::Kind::link_slow;
  if (entry.down && entry.target == HealthSpec::Target::switch_) {
    kind = Fault::Kind::switch_down;
    data_.switch_up[target->a.id] = 0;
  } else if (entry.down && entry.target == HealthSpec::Target::node) {
    kind = Fault::Kind::node_down;
    data_.node_up[target->a.id] = 0;
  }
  data_.faults.push_back({kind, std::move(what), entry.reason, entry.bandwidth});
  return {};
}

}  // namespace

Done apply_health(const config::FabricSpec& spec, NameIndex& names, FabricData& data) {
  if (spec.health.empty()) return {};
  return Health(spec, names, data).run();
}

}  // namespace weft::topology
