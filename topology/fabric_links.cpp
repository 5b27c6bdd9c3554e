// SPDX-License-Identifier: BSD-3-Clause
//
// Link entries of the spec: patterns to single links, and parallel cables of equal kind merged into one link.
#include "fabric_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::topology {
namespace {

// A "0-3,6" list of NIC indices in the order given.
Result<std::vector<std::uint32_t>> parse_nics(const config::FabricSpec& spec, const config::Text& text) {
  const auto bad = [&](std::string_view item) {
    return fail(text_error(spec, ErrorCode::bad_value, text, fmt::format("'{}' is not a NIC index or range", item),
                           "indices such as \"0-3,6\""));
  };
  std::vector<std::uint32_t> out;
  std::string_view rest = text.value;
  while (true) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    std::uint32_t low = 0;
    const char* const end = item.data() + item.size();
    auto got = std::from_chars(item.data(), end, low);
    if (got.ec != std::errc{}) return bad(item);
    std::uint32_t high = low;
    if (got.ptr != end && *got.ptr == '-') {
      got = std::from_chars(got.ptr + 1, end, high);
      if (got.ec != std::errc{}) return bad(item);
    }
    if (got.ptr != end || high < low || high >= kMaxPerNode) return bad(item);
    for (std::uint32_t nic = low; nic <= high; ++nic) {
      if (std::find(out.begin(), out.end(), nic) != out.end()) {
        return fail(
            text_error(spec, ErrorCode::duplicate, text, fmt::format("NIC {} is listed twice", nic), "each NIC once"));
      }
      out.push_back(nic);
    }
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

// One entry being expanded.
struct Entry {
  const config::FabricSpec& spec;
  const config::LinkSpec& link;
  const ResolvedList& from;
  const ResolvedList& to;
  std::optional<std::vector<std::uint32_t>> nics;
  FabricData& data;

  [[nodiscard]] std::uint32_t nics_of(std::uint32_t node) const { return data.types[data.node_type[node]].nics; }

  Done add(std::size_t f, std::size_t t, std::optional<std::uint32_t> only_nic = std::nullopt) const {
    const std::uint32_t a = from.ids[f];
    const std::uint32_t b = to.ids[t];
    Link out{.a = {from.is_switch, a, 0}, .b = {true, b, 0}, .bandwidth = link.bandwidth, .cables = link.cables};
    if (from.is_switch) {
      if (a == b) {
        return fail(item_error(spec, ErrorCode::bad_value, link.to, t,
                               fmt::format("switch '{}' would be linked to itself", data.switch_names[a]),
                               "two different switches"));
      }
      data.links.push_back(out);
      return {};
    }
    const std::uint32_t count = only_nic ? 1 : nics ? static_cast<std::uint32_t>(nics->size()) : nics_of(a);
    for (std::uint32_t k = 0; k < count; ++k) {
      out.a.nic = only_nic ? *only_nic : nics ? (*nics)[k] : k;
      data.links.push_back(out);
    }
    return {};
  }

  [[nodiscard]] Done check() const;
  [[nodiscard]] Done check_rail() const;
  [[nodiscard]] Done check_size() const;
  [[nodiscard]] Done expand_pairs() const;
};

Done Entry::check_rail() const {
  if (from.is_switch) {
    return fail(text_error(spec, ErrorCode::bad_value, link.from,
                           "rail joins the NICs of nodes, but these are switches", "nodes, or another pattern"));
  }
  for (std::size_t f = 0; f < from.ids.size(); ++f) {
    const std::size_t count = nics ? nics->size() : nics_of(from.ids[f]);
    if (count == to.ids.size()) continue;
    return fail(item_error(
        spec, ErrorCode::bad_value, link.from, f,
        fmt::format("rail of {} NICs of node '{}' to {} switches", count, data.node_names[from.ids[f]], to.ids.size()),
        "exactly as many switches as NICs (choose NICs with nics)"));
  }
  return {};
}

Done Entry::check() const {
  if (to.is_switch == false) {
    return fail(item_error(spec, ErrorCode::bad_value, link.to, 0,
                           fmt::format("'{}' is a node", data.node_names[to.ids[0]]),
                           "switches under to (put nodes under from)"));
  }
  if (link.bandwidth.bits_per_second == 0) {
    return fail(text_error(spec, ErrorCode::missing, link.from, "the links have no bandwidth", "bandwidth above 0"));
  }
  if (link.cables < 1 || link.cables > kMaxCables) {
    return fail(text_error(spec, link.cables < 1 ? ErrorCode::bad_value : ErrorCode::limit, link.from,
                           fmt::format("{} cables a link", link.cables), fmt::format("1 to {}", kMaxCables)));
  }
  if (nics && from.is_switch) {
    return fail(text_error(spec, ErrorCode::bad_value, *link.nics, "nics picks NICs of nodes, but from lists switches",
                           "no nics on links between switches"));
  }
  for (std::size_t f = 0; nics && f < from.ids.size(); ++f) {
    for (const std::uint32_t nic : *nics) {
      if (nic < nics_of(from.ids[f])) continue;
      return fail(text_error(spec, ErrorCode::bad_value, *link.nics,
                             fmt::format("node '{}' has no NIC {}", data.node_names[from.ids[f]], nic),
                             fmt::format("0 to {} (node type '{}')", nics_of(from.ids[f]) - 1,
                                         data.types[data.node_type[from.ids[f]]].name)));
    }
  }
  return link.pattern == config::LinkPattern::rail ? check_rail() : Done{};
}

Done Entry::check_size() const {
  const std::uint64_t pairs = link.pattern == config::LinkPattern::all
                                  ? static_cast<std::uint64_t>(from.ids.size()) * to.ids.size()
                                  : from.ids.size();
  std::uint64_t most = 1;
  if (!from.is_switch) {
    most = nics ? nics->size() : 0;
    for (std::size_t f = 0; !nics && f < from.ids.size(); ++f)
      most = std::max<std::uint64_t>(most, nics_of(from.ids[f]));
  }
  if (data.links.size() + pairs * most <= kMaxLinks) return {};
  return fail(text_error(spec, ErrorCode::limit, link.from, "too many links", fmt::format("at most {}", kMaxLinks)));
}

Done Entry::expand_pairs() const {
  const std::size_t n = from.ids.size();
  const std::size_t m = to.ids.size();
  switch (link.pattern) {
    case config::LinkPattern::all:
      for (std::size_t f = 0; f < n; ++f) {
        for (std::size_t t = 0; t < m; ++t) {
          if (auto done = add(f, t); !done) return done;
        }
      }
      return {};
    case config::LinkPattern::zip:
      if (n != m) {
        return fail(text_error(spec, ErrorCode::bad_value, link.to, fmt::format("zip of {} names to {}", n, m),
                               "lists of equal length"));
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (auto done = add(i, i); !done) return done;
      }
      return {};
    case config::LinkPattern::split:
      if (n % m != 0) {
        return fail(text_error(spec, ErrorCode::bad_value, link.from,
                               fmt::format("{} names do not split into {} equal runs", n, m),
                               fmt::format("a multiple of {} names", m)));
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (auto done = add(i, i / (n / m)); !done) return done;
      }
      return {};
    case config::LinkPattern::rail:
      for (std::size_t f = 0; f < n; ++f) {
        for (std::size_t t = 0; t < m; ++t) {
          const auto nic = static_cast<std::uint32_t>(t);
          if (auto done = add(f, t, nics ? (*nics)[t] : nic); !done) return done;
        }
      }
      return {};
  }
  return {};
}

// A cable already seen between two ends: folded into the earlier link of its bandwidth.
class Merger {
 public:
  Merger(const config::FabricSpec& spec, FabricData& data, const std::vector<std::uint32_t>& entry_begin)
      : spec_(spec), data_(data), entry_begin_(entry_begin) {}
  Done run();

 private:
  Done bucket(std::span<const std::uint32_t> links);
  Done fold(std::uint32_t into, std::uint32_t from);
  [[nodiscard]] const config::LinkSpec& entry_of(std::uint32_t link) const {
    const auto it = std::upper_bound(entry_begin_.begin(), entry_begin_.end(), link);
    return spec_.links[static_cast<std::size_t>(it - entry_begin_.begin()) - 1];
  }

  const config::FabricSpec& spec_;
  FabricData& data_;
  const std::vector<std::uint32_t>& entry_begin_;
  std::vector<std::uint8_t> gone_;
  std::vector<std::uint32_t> last_;   // by switch: newest link of the bucket that ends there
  std::vector<std::uint32_t> older_;  // by link: the one before it between the same ends, where bandwidths differ
  bool any_gone_ = false;
};

std::uint32_t far_end(const Link& link) { return link.a.is_switch ? std::max(link.a.id, link.b.id) : link.b.id; }

Done Merger::fold(std::uint32_t into, std::uint32_t from) {
  Link& link = data_.links[into];
  if (link.cables + data_.links[from].cables > kMaxCables) {
    return fail(text_error(
        spec_, ErrorCode::limit, entry_of(from).from,
        fmt::format("{} has more than {} cables", data_.end_name(link.a) + " - " + data_.end_name(link.b), kMaxCables),
        fmt::format("at most {}", kMaxCables)));
  }
  link.cables += data_.links[from].cables;
  gone_[from] = 1;
  any_gone_ = true;
  return {};
}

// Links of one NIC, or of one switch as its lower end.
Done Merger::bucket(std::span<const std::uint32_t> links) {
  for (const std::uint32_t id : links) {
    const Link& link = data_.links[id];
    std::uint32_t& last = last_[far_end(link)];
    std::uint32_t match = last;
    while (match != FabricData::kNone && data_.links[match].bandwidth != link.bandwidth) match = older_[match];
    if (match != FabricData::kNone) {
      if (auto done = fold(match, id); !done) return done;
      continue;
    }
    if (last != FabricData::kNone && !link.a.is_switch) {
      return fail(text_error(spec_, ErrorCode::conflict, entry_of(id).from,
                             fmt::format("{} - {} has another bandwidth {}", data_.end_name(link.a),
                                         data_.end_name(link.b), where(entry_of(last).from.at)),
                             "one bandwidth for the links of one NIC to one switch"));
    }
    older_[id] = last;
    last = id;
  }
  for (const std::uint32_t id : links) last_[far_end(data_.links[id])] = FabricData::kNone;
  return {};
}

Done Merger::run() {
  // Counting sort by near end: NIC slots first, then switches.
  const std::uint32_t slots = data_.nic_base.back();
  const auto key = [&](const Link& link) {
    return link.a.is_switch ? slots + std::min(link.a.id, link.b.id) : data_.slot(link.a.id, link.a.nic);
  };
  std::vector<std::uint32_t> begin(slots + data_.switch_count() + 1, 0);
  for (const Link& link : data_.links) ++begin[key(link) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> sorted(data_.links.size());
  {
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[next[key(data_.links[i])]++] = i;
  }
  gone_.assign(data_.links.size(), 0);
  older_.assign(data_.links.size(), FabricData::kNone);
  last_.assign(data_.switch_count(), FabricData::kNone);
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const auto links = std::span<const std::uint32_t>(sorted).subspan(begin[i], begin[i + 1] - begin[i]);
    if (links.size() < 2) continue;
    if (auto done = bucket(links); !done) return done;
  }
  if (!any_gone_) return {};
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < data_.links.size(); ++i) {
    if (gone_[i] == 0) data_.links[kept++] = data_.links[i];
  }
  data_.links.resize(kept);
  return {};
}

}  // namespace

Done resolve_links(const config::FabricSpec& spec, NameIndex& names, FabricData& data,
                   std::vector<PlaneClaim>& claims) {
  std::vector<std::uint32_t> entry_begin;
  for (std::uint32_t i = 0; i < spec.links.size(); ++i) {
    const config::LinkSpec& link = spec.links[i];
    const auto from = names.list(link.from);
    if (!from) return fail(from.error());
    const auto to = names.list(link.to);
    if (!to) return fail(to.error());
    Entry entry{spec, link, **from, **to, std::nullopt, data};
    if (link.nics) {
      auto nics = parse_nics(spec, *link.nics);
      if (!nics) return fail(nics.error());
      entry.nics = std::move(*nics);
    }
    if (auto done = entry.check(); !done) return done;
    if (link.pattern == config::LinkPattern::all || link.pattern == config::LinkPattern::rail) {
      if (auto done = names.check_distinct(link.from, **from); !done) return done;
      if (auto done = names.check_distinct(link.to, **to); !done) return done;
    }
    if (auto done = entry.check_size(); !done) return done;
    entry_begin.push_back(static_cast<std::uint32_t>(data.links.size()));
    if (auto done = entry.expand_pairs(); !done) return done;
    if (link.plane) claims.push_back({i, (*to)->ids});
  }
  return Merger(spec, data, entry_begin).run();
}

LinksByEnd::LinksByEnd(const FabricData& data) {
  of_node.begin.assign(data.node_count() + 1, 0);
  of_switch.begin.assign(data.switch_count() + 1, 0);
  for (const Link& link : data.links) {
    ++(link.a.is_switch ? of_switch : of_node).begin[link.a.id + 1];
    ++of_switch.begin[link.b.id + 1];
  }
  for (auto* groups : {&of_node, &of_switch}) {
    for (std::size_t i = 1; i < groups->begin.size(); ++i) groups->begin[i] += groups->begin[i - 1];
    groups->items.resize(groups->begin.back());
  }
  std::vector<std::uint32_t> next_node(of_node.begin);
  std::vector<std::uint32_t> next_switch(of_switch.begin);
  for (std::uint32_t i = 0; i < data.links.size(); ++i) {
    const Link& link = data.links[i];
    if (link.a.is_switch) {
      of_switch.items[next_switch[link.a.id]++] = i;
    } else {
      of_node.items[next_node[link.a.id]++] = i;
    }
    of_switch.items[next_switch[link.b.id]++] = i;
  }
}

}  // namespace weft::topology
