// SPDX-License-Identifier: BSD-3-Clause
#include "shapes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weft::placement {
namespace {

using config::Collective;

// Ascending by (from, to), equal pairs joined.
void normalise(std::vector<ShapeEdge>& edges) {
  std::sort(edges.begin(), edges.end(),
            [](const ShapeEdge& a, const ShapeEdge& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  std::size_t kept = 0;
  for (const ShapeEdge& e : edges) {
    if (kept > 0 && edges[kept - 1].from == e.from && edges[kept - 1].to == e.to) {
      edges[kept - 1].units += e.units;
    } else {
      edges[kept++] = e;
    }
  }
  edges.resize(kept);
}

// Ring over the members first, first + step, ... (count of them).
void add_ring(std::vector<ShapeEdge>& edges, std::uint32_t first, std::uint32_t step, std::uint32_t count,
              std::uint64_t units) {
  if (count < 2) return;
  for (std::uint32_t i = 0; i < count; ++i) edges.push_back({first + i * step, first + (i + 1) % count * step, units});
}

std::optional<std::uint32_t> tree_parent(std::uint32_t place, std::uint32_t n) {
  if (place == 0) return std::nullopt;
  const std::uint32_t bit = place & (~place + 1);  // lowest set bit: the height above the bottom row
  const std::uint32_t up = (place ^ bit) | (bit << 1);
  return up < n ? up : place ^ bit;
}

}  // namespace

std::uint64_t flat_edge_count(Collective collective, std::uint32_t group_size) {
  const std::uint64_t g = group_size;
  if (g < 2) return 0;
  switch (collective) {
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::allgather: return g;
    case Collective::broadcast: return g - 1;
    case Collective::alltoall: return g * (g - 1);
    case Collective::neighbour: return 2 * (g - 1);
  }
  return 0;
}

Shape flat_shape(Collective collective, std::uint32_t g) {
  Shape out;
  if (g < 2) return out;
  out.edges.reserve(flat_edge_count(collective, g));
  switch (collective) {
    case Collective::allreduce:
      out.denominator = g;
      add_ring(out.edges, 0, 1, g, 2ULL * (g - 1));
      break;
    case Collective::reduce_scatter:
    case Collective::allgather:
      out.denominator = g;
      add_ring(out.edges, 0, 1, g, g - 1);
      break;
    case Collective::broadcast:
      for (std::uint32_t i = 0; i + 1 < g; ++i) out.edges.push_back({i, i + 1, 1});
      break;
    case Collective::alltoall:
      out.denominator = g;
      for (std::uint32_t i = 0; i < g; ++i)
        for (std::uint32_t j = 0; j < g; ++j)
          if (i != j) out.edges.push_back({i, j, 1});
      break;
    case Collective::neighbour:
      for (std::uint32_t i = 0; i + 1 < g; ++i) {
        out.edges.push_back({i, i + 1, 1});
        out.edges.push_back({i + 1, i, 1});
      }
      break;
  }
  normalise(out.edges);
  return out;
}

config::Algorithm algorithm_or_ring(config::Algorithm wanted, Collective collective) {
  const bool reduces = collective == Collective::allreduce;
  const bool rings = reduces || collective == Collective::reduce_scatter || collective == Collective::allgather;
  if (wanted == config::Algorithm::tree && !reduces) return config::Algorithm::ring;
  if (wanted == config::Algorithm::hierarchical && !rings) return config::Algorithm::ring;
  return wanted;
}

std::optional<std::uint32_t> even_run(std::span<const std::uint32_t> runs) {
  if (runs.empty() || !std::all_of(runs.begin(), runs.end(), [&](std::uint32_t r) { return r == runs.front(); }))
    return std::nullopt;
  return runs.front();
}

DoubleTree double_tree(std::uint32_t n) {
  DoubleTree out;
  out.first.resize(n);
  out.second.resize(n);
  for (std::uint32_t place = 0; place < n; ++place) {
    out.first[place] = tree_parent(place, n);
    // The second tree is the first one's mirror image where n is even, and the first one moved on by a place where n is
    // odd: either way the bottom row of one is the inside of the other, so that no place works twice as hard.
    const std::uint32_t twin = n % 2 == 0 ? n - 1 - place : (place + n - 1) % n;
    if (const auto up = tree_parent(twin, n)) out.second[place] = n % 2 == 0 ? n - 1 - *up : (*up + 1) % n;
  }
  return out;
}

Shape tree_shape(std::span<const std::uint32_t> runs) {
  const auto nodes = static_cast<std::uint32_t>(runs.size());
  const std::uint32_t channels = even_run(runs).value_or(1);
  std::vector<std::uint32_t> first(nodes, 0);  // first member of each node
  for (std::uint32_t n = 1; n < nodes; ++n) first[n] = first[n - 1] + runs[n - 1];
  const DoubleTree trees = double_tree(nodes);

  Shape out;
  out.denominator = 2ULL * channels;
  const auto both_ways = [&](std::uint32_t a, std::uint32_t b, std::uint64_t units) {
    out.edges.push_back({a, b, units});
    out.edges.push_back({b, a, units});
  };
  for (std::uint32_t c = 0; c < channels; ++c) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      for (const auto& parent : {trees.first[n], trees.second[n]})
        if (parent) both_ways(first[n] + c, first[*parent] + c, 1);
      for (std::uint32_t i = 0; i + 1 < runs[n]; ++i)
        both_ways(first[n] + (c + i) % runs[n], first[n] + (c + i + 1) % runs[n], 2);
    }
  }
  normalise(out.edges);
  return out;
}

Shape hierarchical_shape(Collective collective, std::uint32_t nodes, std::uint32_t per_node) {
  Shape out;
  out.denominator = std::uint64_t{nodes} * per_node;
  const std::uint64_t passes = collective == Collective::allreduce ? 2 : 1;
  for (std::uint32_t n = 0; n < nodes; ++n)
    add_ring(out.edges, n * per_node, 1, per_node, passes * (per_node - 1) * nodes);
  for (std::uint32_t i = 0; i < per_node; ++i) add_ring(out.edges, i, per_node, nodes, passes * (nodes - 1));
  normalise(out.edges);
  return out;
}

}  // namespace weft::placement
