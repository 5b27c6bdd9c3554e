// SPDX-License-Identifier: BSD-3-Clause
#include "fold_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "weft/config/hostlist.hpp"

namespace weft::topology::fold {
namespace {

using config::LinkPattern;
using config::LinkSpec;
using Ids = std::vector<std::uint32_t>;

template <typename Object>
std::string names_of(const std::vector<Object>& objects, const Ids& ids) {
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const std::uint32_t id : ids) names.push_back(objects[id].name);
  return config::compress_hostlist(names);
}

std::string from_text(const RawFabric& raw, const Entry& entry) {
  return entry.from_nodes ? names_of(raw.nodes, entry.from) : names_of(raw.switches, entry.from);
}

Ids part(const Ids& ids, std::size_t begin, std::size_t end) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The two halves of an entry, together of the same meaning; nothing to cut where both are empty.
std::pair<Entry, Entry> halves(const Entry& entry) {
  Entry low = entry;
  Entry high = entry;
  const bool paired = entry.pattern == LinkPattern::zip || entry.pattern == LinkPattern::split;
  const std::size_t runs = paired ? entry.to.size() : entry.from.size();
  const std::size_t run = paired ? entry.from.size() / entry.to.size() : 1;
  const std::size_t middle = runs / 2;
  low.from = part(entry.from, 0, middle * run);
  high.from = part(entry.from, middle * run, entry.from.size());
  if (paired) {
    low.to = part(entry.to, 0, middle);
    high.to = part(entry.to, middle, runs);
  }
  return {std::move(low), std::move(high)};
}

bool can_halve(const Entry& entry, bool long_from, bool long_to) {
  const bool paired = entry.pattern == LinkPattern::zip || entry.pattern == LinkPattern::split;
  return paired ? (long_from || long_to) && entry.to.size() > 1 : long_from && entry.from.size() > 1;
}

void put_into_words(const RawFabric& raw, const Entry& entry, std::vector<LinkSpec>& out) {
  LinkSpec link;
  const Position at = raw.cables[entry.cable].at;
  link.from = {from_text(raw, entry), at};
  link.to = {names_of(raw.switches, entry.to), at};
  if (can_halve(entry, link.from.value.size() > kLongText, link.to.value.size() > kLongText)) {
    const auto [low, high] = halves(entry);
    put_into_words(raw, low, out);
    put_into_words(raw, high, out);
    return;
  }
  // One pair needs no pattern.
  link.pattern = entry.to.size() == 1 && entry.pattern != LinkPattern::rail ? LinkPattern::all : entry.pattern;
  link.bandwidth = entry.kind.bandwidth;
  link.cables = entry.kind.cables;
  if (!entry.nics.empty()) link.nics = config::Text{index_list(entry.nics), at};
  if (!entry.kind.plane.empty()) link.plane = config::Text{std::string(entry.kind.plane), at};
  out.push_back(std::move(link));
}

bool is_run(const Ids& ids) { return !ids.empty() && std::size_t{ids.back()} - ids.front() + 1 == ids.size(); }

bool joinable(const Entry& entry) {
  return entry.pattern == LinkPattern::all && entry.to.size() == 1 && is_run(entry.from);
}

bool before(const Entry& a, const Entry& b) {
  const std::size_t run_a = a.from.size();
  const std::size_t run_b = b.from.size();
  return std::tie(a.from_nodes, a.kind, a.nics, run_a, a.from.front(), a.to) <
         std::tie(b.from_nodes, b.kind, b.nics, run_b, b.from.front(), b.to);
}

}  // namespace

std::string index_list(const std::vector<std::uint32_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += fmt::format("{}", numbers[i]);
    if (end - i > 1) out += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return out;
}

std::vector<Entry> join_runs(std::vector<Entry> entries) {
  const auto rest = std::stable_partition(entries.begin(), entries.end(), [](const Entry& e) { return joinable(e); });
  std::sort(entries.begin(), rest, before);
  std::vector<Entry> out;
  std::size_t run = 0;  // length of each run of out.back()
  for (auto it = entries.begin(); it != rest; ++it) {
    const bool follows = it != entries.begin() && run == it->from.size() && out.back().kind == it->kind &&
                         out.back().nics == it->nics && out.back().from_nodes == it->from_nodes &&
                         out.back().from.back() + 1 == it->from.front();
    if (!follows) {
      run = it->from.size();
      out.push_back(std::move(*it));
      continue;
    }
    Entry& chain = out.back();
    chain.pattern = run == 1 ? LinkPattern::zip : LinkPattern::split;
    chain.from.insert(chain.from.end(), it->from.begin(), it->from.end());
    chain.to.push_back(it->to.front());
    chain.cable = std::min(chain.cable, it->cable);
  }
  std::move(rest, entries.end(), std::back_inserter(out));
  return out;
}

std::vector<LinkSpec> to_links(const RawFabric& raw, const std::vector<Entry>& entries) {
  std::vector<LinkSpec> out;
  for (const Entry& entry : entries) put_into_words(raw, entry, out);
  return out;
}

}  // namespace weft::topology::fold
