// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "fold_links.hpp"

namespace weft::topology::fold {
namespace {

using config::LinkPattern;
using Ids = std::vector<std::uint32_t>;

// All equal cables between two switches, `low` nearer to the nodes.
struct Edge {
  Kind kind;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t cable = 0;
};

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

// Height of every switch: its tier where the dump gives one, else its distance from the nearest node.
std::vector<std::uint32_t> heights(const RawFabric& raw) {
  std::vector<Ids> neighbours(raw.switches.size());
  std::vector<std::uint32_t> height(raw.switches.size(), kFar);
  Ids queue;
  for (const RawCable& cable : raw.cables) {
    if (cable.a.is_switch && cable.b.is_switch) {
      neighbours[cable.a.index].push_back(cable.b.index);
      neighbours[cable.b.index].push_back(cable.a.index);
    } else if (cable.a.is_switch != cable.b.is_switch) {
      const std::uint32_t sw = cable.a.is_switch ? cable.a.index : cable.b.index;
      if (height[sw] == kFar) queue.push_back(sw);
      height[sw] = 1;
    }
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t next : neighbours[queue[i]]) {
      if (height[next] != kFar) continue;
      height[next] = height[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  for (std::size_t i = 0; i < height.size(); ++i) height[i] = raw.switches[i].tier.value_or(height[i]);
  return height;
}

std::vector<Edge> edges(const RawFabric& raw, const std::vector<std::uint32_t>& height) {
  std::vector<Edge> all;
  for (std::uint32_t i = 0; i < raw.cables.size(); ++i) {
    const RawCable& cable = raw.cables[i];
    if (!cable.a.is_switch || !cable.b.is_switch) continue;
    std::uint32_t low = cable.a.index;
    std::uint32_t high = cable.b.index;
    if (std::tuple(height[high], high) < std::tuple(height[low], low)) std::swap(low, high);
    all.push_back({{cable.nominal, cable.plane, 1}, low, high, i});
  }
  const auto ends = [](const Edge& e) { return std::tuple(e.kind, e.low, e.high); };
  std::vector<Edge> merged = merge_parallel(std::move(all), ends);
  std::sort(merged.begin(), merged.end(), [&](const Edge& a, const Edge& b) { return ends(a) < ends(b); });
  return merged;
}

// Switches with the same neighbours above are one complete bipartite group.
std::vector<Entry> bipartite_groups(const std::vector<Edge>& all) {
  std::map<std::pair<Kind, Ids>, Entry> groups;
  for (std::size_t i = 0; i < all.size();) {
    Ids above;
    std::uint32_t cable = all[i].cable;
    std::size_t end = i;
    for (; end < all.size() && all[end].kind == all[i].kind && all[end].low == all[i].low; ++end) {
      above.push_back(all[end].high);
      cable = std::min(cable, all[end].cable);
    }
    const auto [it, fresh] = groups.try_emplace({all[i].kind, std::move(above)});
    it->second.from.push_back(all[i].low);
    it->second.cable = fresh ? cable : std::min(it->second.cable, cable);
    i = end;
  }
  std::vector<Entry> out;
  out.reserve(groups.size());
  for (auto& [key, entry] : groups) {
    out.push_back({false, LinkPattern::all, key.first, {}, std::move(entry.from), key.second, entry.cable});
  }
  return out;
}

// Entries of a lone switch say little apart. A regular graph (ring, torus, dragonfly) joins switches at few index
// distances; where those are fewer than the lone entries, one `zip` a distance says it shorter.
std::vector<Entry> zip_lone(std::vector<Entry> entries) {
  std::map<Kind, std::size_t> lone;
  std::map<Kind, std::map<std::int64_t, Entry>> by_distance;
  for (const Entry& entry : entries) {
    if (entry.from.size() > 1) continue;
    ++lone[entry.kind];
    for (const std::uint32_t high : entry.to) {
      const std::int64_t distance = std::int64_t{high} - entry.from.front();
      const auto [it, fresh] = by_distance[entry.kind].try_emplace(distance);
      Entry& zip = it->second;
      if (fresh) zip = {false, LinkPattern::zip, entry.kind, {}, {}, {}, entry.cable};
      zip.from.push_back(entry.from.front());
      zip.to.push_back(high);
      zip.cable = std::min(zip.cable, entry.cable);
    }
  }
  std::vector<Entry> out;
  for (Entry& entry : entries) {
    if (entry.from.size() > 1 || by_distance[entry.kind].size() >= lone[entry.kind]) out.push_back(std::move(entry));
  }
  for (auto& [kind, zips] : by_distance) {
    if (zips.size() >= lone[kind]) continue;
    for (auto& [distance, zip] : zips) {
      std::sort(zip.from.begin(), zip.from.end());  // one distance: both ends sort alike
      std::sort(zip.to.begin(), zip.to.end());
      out.push_back(std::move(zip));
    }
  }
  return out;
}

}  // namespace

std::vector<Entry> fold_switch_cables(const RawFabric& raw) {
  const std::vector<std::uint32_t> height = heights(raw);
  std::vector<Entry> out = join_runs(zip_lone(bipartite_groups(edges(raw, height))));
  std::sort(out.begin(), out.end(), [&](const Entry& a, const Entry& b) {
    return std::tie(height[a.from.front()], a.from, a.to, a.kind) <
           std::tie(height[b.from.front()], b.from, b.to, b.kind);
  });
  return out;
}

}  // namespace weft::topology::fold
