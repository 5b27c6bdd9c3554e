// SPDX-License-Identifier: BSD-3-Clause
#include "region_map.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace weft::placement {
namespace {

constexpr std::uint32_t kOutside = ~0U;
constexpr std::uint32_t kOpen = ~0U - 1;  // in the set, in no region yet

class Grower {
 public:
  Grower(const NodeGraph& graph, std::span<const std::uint32_t> vertices)
      : graph_(graph),
        vertices_(vertices),
        region_(graph.nodes, kOutside),
        open_(graph.nodes, 0),
        inside_(graph.nodes, 0) {
    for (const std::uint32_t v : vertices) region_[v] = kOpen;
    for (const std::uint32_t v : vertices)
      for (const NodeGraph::Half& e : graph.edges(v))
        if (region_[e.to] == kOpen) open_[v] += e.bytes;
  }

  void grow(std::uint32_t number, std::size_t size) {
    using Entry = std::pair<std::int64_t, std::uint32_t>;  // bytes added to the border, vertex
    std::vector<Entry> room;
    room.reserve(std::size_t{4} * vertices_.size());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> border(std::greater<>{}, std::move(room));
    std::vector<std::uint32_t> taken;
    taken.reserve(size);
    for (const std::uint32_t v : vertices_) inside_[v] = 0;
    const auto added = [&](std::uint32_t v) { return open_[v] - 2 * inside_[v]; };
    while (taken.size() < size) {
      while (!border.empty() &&
             (region_[border.top().second] != kOpen || border.top().first != added(border.top().second)))
        border.pop();
      const std::uint32_t next = border.empty() ? corner() : border.top().second;
      region_[next] = number;
      taken.push_back(next);
      for (const NodeGraph::Half& e : graph_.edges(next)) {
        if (region_[e.to] != kOpen) continue;
        inside_[e.to] += e.bytes;
        border.emplace(added(e.to), e.to);
      }
    }
    for (const std::uint32_t v : taken)
      for (const NodeGraph::Half& e : graph_.edges(v))
        if (region_[e.to] == kOpen) open_[e.to] -= e.bytes;
  }

  [[nodiscard]] std::uint32_t region(std::uint32_t vertex) const { return region_[vertex]; }

 private:
  [[nodiscard]] std::uint32_t corner() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::uint32_t out = 0;
    for (const std::uint32_t v : vertices_) {
      if (region_[v] != kOpen || open_[v] >= least) continue;
      least = open_[v];
      out = v;
    }
    return out;
  }

  const NodeGraph& graph_;
  std::span<const std::uint32_t> vertices_;
  std::vector<std::uint32_t> region_;
  std::vector<std::int64_t> open_;    // bytes to vertices that are in no region yet, and to its own region's
  std::vector<std::int64_t> inside_;  // bytes to the region at hand
};

// Shares `vertices` among `places`, which are of one domain of the depth above.
void cut(const NodeGraph& graph, const SpotTable& spots, const std::vector<std::uint32_t>& vertices,
         std::span<const std::uint32_t> places, int depth, std::vector<std::uint32_t>& out) {
  if (depth == kSpotDepths) {
    for (const std::uint32_t v : vertices) out[v] = places.front();
    return;
  }
  std::vector<std::size_t> begin;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || spot_domain(spots, places[i], depth) != spot_domain(spots, places[i - 1], depth)) {
      begin.push_back(i);
      sizes.push_back(0);
    }
    ++sizes.back();
  }
  std::vector<std::vector<std::uint32_t>> inside(sizes.size());
  if (sizes.size() == 1) {
    inside.front() = vertices;
  } else {
    const std::vector<std::uint32_t> part = grow_parts(graph, vertices, sizes);
    for (std::size_t i = 0; i < vertices.size(); ++i) inside[part[i]].push_back(vertices[i]);
  }
  for (std::size_t p = 0; p < sizes.size(); ++p)
    cut(graph, spots, inside[p], places.subspan(begin[p], sizes[p]), depth + 1, out);
}

}  // namespace

std::uint32_t spot_domain(const SpotTable& spots, std::uint32_t spot, int depth) {
  const Spot& s = spots.spot(spot);
  switch (depth) {
    case 0: return s.pod;
    case 1: return s.leaf;
    case 2: return s.alone ? 0 : s.rack;
    default: return spot;
  }
}

std::vector<std::uint32_t> grow_parts(const NodeGraph& graph, std::span<const std::uint32_t> vertices,
                                      std::span<const std::size_t> sizes) {
  std::vector<std::uint32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
  Grower grower(graph, vertices);
  for (const std::uint32_t p : order) grower.grow(p, sizes[p]);
  std::vector<std::uint32_t> out;
  out.reserve(vertices.size());
  for (const std::uint32_t v : vertices) out.push_back(grower.region(v));
  return out;
}

std::vector<std::uint32_t> region_map(const NodeGraph& graph, const SpotTable& spots,
                                      std::vector<std::uint32_t> places) {
  const auto key = [&](std::uint32_t s) {
    return std::tuple(spot_domain(spots, s, 0), spot_domain(spots, s, 1), spot_domain(spots, s, 2), s);
  };
  std::sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> all(graph.nodes);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::uint32_t> out(graph.nodes);
  cut(graph, spots, all, places, 0, out);
  return out;
}

}  // namespace weft::placement
