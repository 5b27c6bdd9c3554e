// SPDX-License-Identifier: BSD-3-Clause
#include "level_search.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "exchange_pass.hpp"
#include "region_map.hpp"

namespace weft::placement {
namespace {

class Levels {
 public:
  Levels(const NodeGraph& graph, const SpotTable& spots, std::vector<std::uint32_t> spot_of, int from, int to,
         Parts kind, Budget& budget)
      : graph_(graph),
        spots_(spots),
        spot_of_(std::move(spot_of)),
        from_(from),
        to_(to),
        kind_(kind),
        budget_(budget),
        local_(graph.nodes, ~0U) {}

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> all(graph_.nodes);
    std::iota(all.begin(), all.end(), 0U);
    search(all, 0);
    return std::move(spot_of_);
  }

 private:
  void search(const std::vector<std::uint32_t>& vertices, int depth) {
    if (depth == to_ || budget_.left == 0) return;
    // Parts in the order in which they turn up; their places, by part.
    std::vector<std::uint32_t> domains;
    std::vector<std::uint32_t> part_of(vertices.size());
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const std::uint32_t d = spot_domain(spots_, spot_of_[vertices[i]], depth);
      const auto at = std::find(domains.begin(), domains.end(), d);
      part_of[i] = static_cast<std::uint32_t>(at - domains.begin());
      if (at == domains.end()) domains.push_back(d);
    }
    const auto parts = static_cast<std::uint32_t>(domains.size());
    if (parts > 1 && depth >= from_) {
      std::vector<std::vector<std::uint32_t>> places(parts);
      for (std::size_t i = 0; i < vertices.size(); ++i) places[part_of[i]].push_back(spot_of_[vertices[i]]);
      best_parts(vertices, places, part_of);
      std::vector<std::size_t> next(parts, 0);
      for (std::size_t i = 0; i < vertices.size(); ++i) spot_of_[vertices[i]] = places[part_of[i]][next[part_of[i]]++];
    }
    std::vector<std::vector<std::uint32_t>> inside(parts);
    for (std::size_t i = 0; i < vertices.size(); ++i) inside[part_of[i]].push_back(vertices[i]);
    for (const auto& v : inside) search(v, depth + 1);
  }

  void best_parts(const std::vector<std::uint32_t>& vertices, const std::vector<std::vector<std::uint32_t>>& places,
                  std::vector<std::uint32_t>& part_of) {
    const auto parts = static_cast<std::uint32_t>(places.size());
    std::vector<std::size_t> sizes;
    sizes.reserve(places.size());
    for (const auto& p : places) sizes.push_back(p.size());
    exchange_passes(graph_, vertices, parts, part_of, local_, budget_);
    if (kind_ == Parts::kept) return;
    std::int64_t least = crossing(graph_, vertices, part_of, local_);
    const auto offer = [&](std::vector<std::uint32_t> other) {
      exchange_passes(graph_, vertices, parts, other, local_, budget_);
      const std::int64_t across = crossing(graph_, vertices, other, local_);
      if (across >= least) return;
      least = across;
      part_of = std::move(other);
    };
    offer(grow_parts(graph_, vertices, sizes));
    if (parts > 2) offer(halved(vertices, sizes));
  }

  // Parts of the given sizes by halving: the parts in two groups as even as can be, their vertices regions bettered by
  // exchanges, and each group the same again.
  std::vector<std::uint32_t> halved(const std::vector<std::uint32_t>& vertices, const std::vector<std::size_t>& sizes) {
    std::vector<std::uint32_t> part(graph_.nodes, 0);
    std::vector<std::uint32_t> all(sizes.size());
    std::iota(all.begin(), all.end(), 0U);
    halve(vertices, sizes, all, part);
    std::vector<std::uint32_t> out;
    out.reserve(vertices.size());
    for (const std::uint32_t v : vertices) out.push_back(part[v]);
    return out;
  }
  void halve(const std::vector<std::uint32_t>& vertices, const std::vector<std::size_t>& sizes,
             std::vector<std::uint32_t> parts, std::vector<std::uint32_t>& part_of) {
    if (parts.size() == 1) {
      for (const std::uint32_t v : vertices) part_of[v] = parts.front();
      return;
    }
    std::stable_sort(parts.begin(), parts.end(), [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
    std::array<std::vector<std::uint32_t>, 2> group;
    std::vector<std::size_t> held(2, 0);
    for (const std::uint32_t p : parts) {
      const std::size_t g = held[0] <= held[1] ? 0 : 1;
      group[g].push_back(p);
      held[g] += sizes[p];
    }
    std::vector<std::uint32_t> side = grow_parts(graph_, vertices, held);
    exchange_passes(graph_, vertices, 2, side, local_, budget_);
    std::array<std::vector<std::uint32_t>, 2> inside;
    for (std::size_t i = 0; i < vertices.size(); ++i) inside[side[i]].push_back(vertices[i]);
    for (const std::size_t g : {0, 1}) halve(inside[g], sizes, std::move(group[g]), part_of);
  }

  const NodeGraph& graph_;
  const SpotTable& spots_;
  std::vector<std::uint32_t> spot_of_;
  int from_, to_;
  Parts kind_;
  Budget& budget_;
  std::vector<std::uint32_t> local_;
};

}  // namespace

std::vector<std::uint32_t> search_levels(const NodeGraph& graph, const SpotTable& spots,
                                         std::vector<std::uint32_t> spot_of, int from, int to, Parts parts,
                                         Budget& budget) {
  return Levels(graph, spots, std::move(spot_of), from, to, parts, budget).run();
}

}  // namespace weft::placement
