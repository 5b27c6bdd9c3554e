// SPDX-License-Identifier: BSD-3-Clause
#include "greedy_map.hpp"

#include <algorithm>
#include <set>

namespace weft::placement {
namespace {

constexpr std::uint64_t kMostSteps = 1U << 22;
constexpr std::uint32_t kNowhere = ~0U;

}  // namespace

std::optional<std::vector<std::uint32_t>> greedy_map(const NodeGraph& graph, SpotTable& spots,
                                                     const std::vector<std::uint32_t>& places) {
  std::vector<std::uint32_t> room(spots.count(), 0);
  std::vector<std::uint32_t> open;  // spots in use, in the order of the places
  for (const std::uint32_t s : places)
    if (room[s]++ == 0) open.push_back(s);
  if (std::uint64_t{graph.halves.size()} * open.size() > kMostSteps) return std::nullopt;

  std::vector<std::int64_t> tie(graph.nodes, 0);  // bytes exchanged with placed vertices
  std::vector<std::int64_t> all(graph.nodes, 0);
  for (std::uint32_t v = 0; v < graph.nodes; ++v)
    for (const NodeGraph::Half& e : graph.edges(v)) all[v] += e.bytes;
  // Most bytes with placed ones, then most in all, then the lowest number.
  using Key = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;
  std::set<Key> waiting;
  const auto key = [&](std::uint32_t v) { return Key(-tie[v], -all[v], v); };
  for (std::uint32_t v = 0; v < graph.nodes; ++v) waiting.insert(key(v));

  std::vector<std::uint32_t> out(graph.nodes, kNowhere);
  while (!waiting.empty()) {
    const std::uint32_t v = std::get<2>(*waiting.begin());
    waiting.erase(waiting.begin());
    std::optional<Cost> least;
    std::uint32_t best = 0;
    for (const std::uint32_t s : open) {
      if (room[s] == 0) continue;
      Cost cost;
      for (const NodeGraph::Half& e : graph.edges(v)) {
        if (out[e.to] == kNowhere) continue;
        if (v < e.to)
          spots.add(cost, s, out[e.to], e);
        else
          spots.add(cost, out[e.to], s, e);
      }
      if (least && !(cost < *least)) continue;
      least = cost;
      best = s;
    }
    out[v] = best;
    --room[best];
    for (const NodeGraph::Half& e : graph.edges(v)) {
      if (out[e.to] != kNowhere) continue;
      waiting.erase(key(e.to));
      tie[e.to] += e.bytes;
      waiting.insert(key(e.to));
    }
  }
  return out;
}

}  // namespace weft::placement
