// SPDX-License-Identifier: BSD-3-Clause
#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "disjoint_sets.hpp"
#include "spread.hpp"
#include "tilings.hpp"

namespace weft::placement {
namespace {

using config::Dim;
using topology::Fabric;

// What a term's groups of one pattern (members per node, in member order) must move between domains.
struct Pattern {
  std::vector<std::uint32_t> members;  // of each node
  std::uint64_t groups = 0;
  double lightest = 0;  // bytes of the lightest edge between two of its nodes, both ways together
  bool connected = false;
  bool ring = false;
  double pair = 0;  // all-to-all: bytes from a member to another; else 0
};

// Finds whether edges between `nodes` nodes connect them, and whether they form a ring.
void look(const std::map<std::pair<std::uint32_t, std::uint32_t>, double>& edges, std::uint32_t nodes, Pattern& out) {
  DisjointSets sets(nodes);
  std::vector<std::uint32_t> degree(nodes, 0);
  std::uint32_t joined = 1;
  out.lightest = std::numeric_limits<double>::max();
  for (const auto& [ends, bytes] : edges) {
    ++degree[ends.first];
    ++degree[ends.second];
    out.lightest = std::min(out.lightest, bytes);
    if (sets.join(ends.first, ends.second)) ++joined;
  }
  out.connected = joined == nodes;
  // Two nodes that exchange both ways are a ring of two; its edge is counted whole, so a chain says the same.
  out.ring = out.connected && nodes > 2 && std::all_of(degree.begin(), degree.end(), [](auto d) { return d == 2; });
  if (edges.empty()) out.lightest = 0;
}

std::vector<Pattern> patterns(const Traffic& traffic, const TrafficTermFlows& term) {
  const Dim dim = term.term.dim;
  std::map<std::pair<const Shape*, std::vector<std::uint32_t>>, std::size_t> known;
  std::vector<Pattern> out;
  std::vector<std::uint32_t> members;
  std::vector<std::uint32_t> node_of;  // of each member, dense
  for (std::uint32_t g = 0; g < traffic.grid.group_count(dim); ++g) {
    const Shape& shape = term.shape(g);
    if (shape.edges.empty()) continue;
    traffic.grid.members(dim, g, members);
    node_of.clear();
    std::map<std::uint32_t, std::uint32_t> dense;
    for (const std::uint32_t m : members)
      node_of.push_back(
          dense.try_emplace(m / traffic.ranks_per_node, static_cast<std::uint32_t>(dense.size())).first->second);
    const auto [at, fresh] = known.try_emplace({&shape, node_of}, out.size());
    if (!fresh) {
      ++out[at->second].groups;
      continue;
    }
    Pattern p;
    p.groups = 1;
    p.members.assign(dense.size(), 0);
    for (const std::uint32_t n : node_of) ++p.members[n];
    if (term.term.collective == config::Collective::alltoall) {
      p.pair = edge_bytes(shape.edges.front().units, term.term.bytes, shape.denominator);
    } else {
      std::map<std::pair<std::uint32_t, std::uint32_t>, double> edges;
      for (const ShapeEdge& e : shape.edges) {
        const auto ends = std::minmax(node_of[e.from], node_of[e.to]);
        if (ends.first != ends.second)
          edges[{ends.first, ends.second}] += edge_bytes(e.units, term.term.bytes, shape.denominator);
      }
      look(edges, static_cast<std::uint32_t>(dense.size()), p);
    }
    out.push_back(std::move(p));
  }
  return out;
}

// Members of an all-to-all that can stay with members of the same domain: the most of sum n_p^2.
double most_together(const std::vector<std::uint32_t>& capacity, const Pattern& p) {
  std::vector<std::uint32_t> members = p.members;
  std::sort(members.begin(), members.end(), std::greater<>());
  double sum = 0;
  std::size_t next = 0;
  for (const std::uint32_t nodes : capacity) {
    double here = 0;
    for (std::uint32_t i = 0; i < nodes && next < members.size(); ++i) here += members[next++];
    sum += here * here;
    if (next == members.size()) break;
  }
  return sum;
}

// Capacity by domain, fullest first.
std::vector<std::uint32_t> capacities(const Fabric& fabric, topology::Level level, const NodeMask& reach) {
  std::vector<std::uint32_t> out = free_by_domain(fabric, level, reach);
  std::sort(out.begin(), out.end(), std::greater<>());
  while (!out.empty() && out.back() == 0) out.pop_back();
  return out;
}

}  // namespace

struct TrafficBounder::Terms {
  explicit Terms(const Traffic& traffic)
      : nodes_(traffic.ranks() / traffic.ranks_per_node), grid_(node_grid(traffic.layout(), traffic.ranks_per_node)) {
    for (const TrafficTermFlows& term : traffic.terms) terms_.push_back({term.term.dim, patterns(traffic, term)});
  }

  // Least bytes between domains of these capacities.
  [[nodiscard]] double crossing(const std::vector<std::uint32_t>& capacity) const {
    const double alone = each_alone(capacity, [](Dim) { return true; });
    if (!grid_ || grid_->extent.empty()) return alone;
    const auto in_grid = [&](Dim d) { return std::find(grid_->dim.begin(), grid_->dim.end(), d) != grid_->dim.end(); };
    return std::max(alone, each_alone(capacity, [&](Dim d) { return !in_grid(d); }) + together(capacity));
  }

 private:
  struct Term {
    Dim dim;
    std::vector<Pattern> patterns;
  };

  // Every group by itself, of the dimensions that `counts`.
  template <typename Counts>
  [[nodiscard]] double each_alone(const std::vector<std::uint32_t>& capacity, Counts counts) const {
    double sum = 0;
    for (const Term& t : terms_) {
      if (!counts(t.dim)) continue;
      for (const Pattern& p : t.patterns) {
        if (p.pair > 0) {
          const double members = std::accumulate(p.members.begin(), p.members.end(), 0.0);
          sum += static_cast<double>(p.groups) * p.pair * (members * members - most_together(capacity, p));
          continue;
        }
        const std::uint32_t s = fewest_domains(capacity, p.members.size());
        if (!p.connected || s < 2) continue;
        sum += static_cast<double>(p.groups) * p.lightest * (p.ring ? s : s - 1);
      }
    }
    return sum;
  }

  // All lines of the grid together.
  [[nodiscard]] double together(const std::vector<std::uint32_t>& capacity) const {
    const auto d = static_cast<double>(grid_->extent.size());
    double sum = 0;
    std::uint64_t left = nodes_;
    for (const std::uint32_t c : capacity) {
      const auto here = static_cast<double>(std::min<std::uint64_t>(left, c));
      if (here == 0) break;
      sum += std::pow(here, (d - 1) / d);
      left -= static_cast<std::uint64_t>(here);
    }
    const double product = std::pow(sum, d) / std::pow(static_cast<double>(nodes_), d - 1);
    std::vector<double> cost;
    std::vector<double> low;
    for (std::size_t k = 0; k < grid_->extent.size(); ++k) {
      const std::uint32_t extent = grid_->extent[k];
      const auto most = static_cast<double>(std::min<std::size_t>(extent, capacity.size()));
      low.push_back(fewest_domains(capacity, extent));
      double a = 0;
      for (const Term& t : terms_) {
        if (t.dim != grid_->dim[k]) continue;
        for (const Pattern& p : t.patterns) {
          if (!p.connected || p.pair > 0) continue;
          // The least line under a ring's 0, 2, 3, … edges on 1, 2, 3, … domains.
          const double slope = p.ring && most > 1 ? most / (most - 1) : 1;
          a += static_cast<double>(p.groups) * p.lightest * slope;
        }
      }
      cost.push_back(a);
    }
    return least_cost(cost, low, product);
  }

  // Least sum a_k (x_k - 1) over x_k >= l_k with product at least `product`.
  static double least_cost(const std::vector<double>& a, const std::vector<double>& low, double product) {
    if (std::any_of(a.begin(), a.end(), [](double x) { return x <= 0; })) {
      // Spread costs nothing in one dimension: it takes all of the product.
      double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * (low[k] - 1);
      return sum;
    }
    const auto at = [&](double lambda, std::size_t k) { return std::max(low[k], lambda / a[k]); };
    double below = 0;
    double above = product * *std::max_element(a.begin(), a.end());
    for (int i = 0; i < 200 && above - below > above * 1e-12; ++i) {
      const double middle = (below + above) / 2;
      double got = 1;
      for (std::size_t k = 0; k < a.size(); ++k) got *= at(middle, k);
      (got < product ? below : above) = middle;
    }
    double sum = 0;
    // `below` keeps the bound on the safe side of rounding.
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * (at(below, k) - 1);
    return sum;
  }

  std::uint64_t nodes_;
  std::optional<NodeGrid> grid_;
  std::vector<Term> terms_;
};

bool ranks_in_node_order(const Placement& placement, std::uint32_t ranks_per_node) {
  if (placement.ranks.size() != placement.nodes.size() * ranks_per_node) return false;
  for (std::size_t r = 0; r < placement.ranks.size(); ++r)
    if (placement.ranks[r].node != placement.nodes[r / ranks_per_node]) return false;
  return true;
}

std::uint32_t fewest_nodes(const Traffic& traffic, Dim dim) {
  std::uint32_t out = traffic.grid.group_size(dim);
  std::vector<std::uint32_t> members;
  for (std::uint32_t g = 0; g < traffic.grid.group_count(dim); ++g) {
    traffic.grid.members(dim, g, members);
    for (std::uint32_t& m : members) m /= traffic.ranks_per_node;
    std::sort(members.begin(), members.end());
    out = std::min(out, static_cast<std::uint32_t>(std::unique(members.begin(), members.end()) - members.begin()));
  }
  return out;
}

TrafficBounder::TrafficBounder(const Traffic& traffic) : terms_(std::make_shared<const Terms>(traffic)) {}

TrafficBounds TrafficBounder::on(const Fabric& fabric, const NodeMask& reach) const {
  TrafficBounds out;
  const bool contiguous = fabric.tiers_contiguous();
  for (topology::Level level = 0; level + 1 < fabric.level_count(); ++level) {
    const double bytes = terms_->crossing(capacities(fabric, level, reach));
    const std::size_t tier = level + std::size_t{1};
    if (tier == 2) out.cross_spine_bytes = bytes;
    if (tier >= 2) out.highest_tier_bytes = bytes;
    out.hop_bytes += bytes * (tier == 1 ? 1 : contiguous ? 2 : 0);
  }
  out.highest_tier = fabric.level_count() - 1;
  return out;
}

}  // namespace weft::placement
