// SPDX-License-Identifier: BSD-3-Clause
#include "rank_search.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

constexpr std::uint32_t kNobody = ~0U;

}  // namespace

Cost cost_of_map(const NodeGraph& graph, SpotTable& spots, std::span<const std::uint32_t> spot_of, const Cost* limit) {
  Cost out;
  for (std::uint32_t u = 0; u < graph.nodes; ++u) {
    // The higher neighbours come last.
    const auto edges = graph.edges(u);
    for (std::size_t i = edges.size(); i-- > 0 && edges[i].to > u;)
      spots.add(out, spot_of[u], spot_of[edges[i].to], edges[i]);
    // What follows only adds.
    if (limit != nullptr && out.v[0] > limit->v[0]) break;
  }
  return out;
}

RankSearch::RankSearch(const NodeGraph& graph, SpotTable& spots, const SearchRules& rules,
                       std::vector<std::uint32_t> spot_of)
    : graph_(graph),
      spots_(spots),
      rules_(rules),
      spot_of_(std::move(spot_of)),
      members_(spots.count()),
      place_(graph.nodes),
      in_leaf_(spots.leaf_count(), 0),
      in_pod_(spots.pod_count(), 0),
      cost_(cost_of_map(graph, spots, spot_of_)),
      mark_(spots.count(), 0),
      inside_(graph.nodes, 0) {
  for (std::uint32_t u = 0; u < graph_.nodes; ++u) {
    auto& m = members_[spot_of_[u]];
    place_[u] = static_cast<std::uint32_t>(m.size());
    m.push_back(u);
    count(spot_of_[u], 1);
  }
}

void RankSearch::count(std::uint32_t spot, int by) {
  const auto change = [by](std::uint32_t& in, std::uint32_t& domains) {
    if (by > 0 && in == 0) ++domains;
    in += static_cast<std::uint32_t>(by);
    if (by < 0 && in == 0) --domains;
  };
  change(in_leaf_[spots_.spot(spot).leaf], leaves_);
  change(in_pod_[spots_.spot(spot).pod], pods_);
}

// What changes if `u` goes to `to` and nobody else goes anywhere, its edge to `except` left out.
Cost RankSearch::leave_delta(std::uint32_t u, std::uint32_t to, std::uint32_t except) {
  Cost out;
  const std::uint32_t from = spot_of_[u];
  for (const NodeGraph::Half& e : graph_.edges(u)) {
    if (e.to == except) continue;
    const std::uint32_t at = spot_of_[e.to];
    if (u < e.to)
      spots_.replace(out, from, at, to, at, e);
    else
      spots_.replace(out, at, from, at, to, e);
  }
  return out;
}

Cost RankSearch::exchange_delta(std::uint32_t u, std::uint32_t w) {
  const std::uint32_t a = spot_of_[u];
  const std::uint32_t b = spot_of_[w];
  Cost out = leave_delta(u, b, w);
  out += leave_delta(w, a, u);
  const auto edges = graph_.edges(u);
  const auto e = std::lower_bound(edges.begin(), edges.end(), w,
                                  [](const NodeGraph::Half& h, std::uint32_t v) { return h.to < v; });
  if (e != edges.end() && e->to == w) {
    if (u < w)
      spots_.replace(out, a, b, b, a, *e);
    else
      spots_.replace(out, b, a, a, b, *e);
  }
  return out;
}

bool RankSearch::may_exchange(std::uint32_t a, std::uint32_t b) const {
  return rules_.segment == 0 || rules_.segment_domain[a] == rules_.segment_domain[b];
}

bool RankSearch::may_move(std::uint32_t from, std::uint32_t to) const {
  const Spot& a = spots_.spot(from);
  const Spot& b = spots_.spot(to);
  if (members_[to].size() >= b.nodes.size() || members_[from].size() <= a.required || !may_exchange(from, to))
    return false;
  const auto after = [](const std::vector<std::uint32_t>& in, std::uint32_t used, std::uint32_t x, std::uint32_t y) {
    return x == y ? used : used - (in[x] == 1 ? 1 : 0) + (in[y] == 0 ? 1 : 0);
  };
  return (!rules_.max_leaves || after(in_leaf_, leaves_, a.leaf, b.leaf) <= *rules_.max_leaves) &&
         (!rules_.max_pods || after(in_pod_, pods_, a.pod, b.pod) <= *rules_.max_pods);
}

void RankSearch::put(std::uint32_t u, std::uint32_t to) {
  const std::uint32_t from = spot_of_[u];
  auto& old = members_[from];
  old[place_[u]] = old.back();
  place_[old.back()] = place_[u];
  old.pop_back();
  place_[u] = static_cast<std::uint32_t>(members_[to].size());
  members_[to].push_back(u);
  spot_of_[u] = to;
  count(to, 1);
  count(from, -1);
}

void RankSearch::exchange(std::uint32_t u, std::uint32_t w) {
  const std::uint32_t a = spot_of_[u];
  const std::uint32_t b = spot_of_[w];
  std::swap(members_[a][place_[u]], members_[b][place_[w]]);
  std::swap(place_[u], place_[w]);
  spot_of_[u] = b;
  spot_of_[w] = a;
}

bool RankSearch::improve_vertex(std::uint32_t u, Budget& budget) {
  const std::uint32_t from = spot_of_[u];
  const auto edges = graph_.edges(u);
  ++round_;
  mark_[from] = round_;
  Cost best;
  std::uint32_t best_spot = from;
  std::uint32_t best_partner = kNobody;
  for (const NodeGraph::Half& edge : edges) {
    const std::uint32_t to = spot_of_[edge.to];
    if (mark_[to] == round_) continue;
    mark_[to] = round_;
    if (!budget.spend(edges.size())) return false;
    const Cost alone = leave_delta(u, to, kNobody);
    if (!alone.negative()) continue;
    if (alone < best && may_move(from, to)) {
      best = alone;
      best_spot = to;
      best_partner = kNobody;
    }
    if (!may_exchange(from, to)) continue;
    for (const std::uint32_t w : members_[to]) {
      if (!budget.spend(edges.size() + graph_.edges(w).size())) return false;
      const Cost both = exchange_delta(u, w);
      if (!(both < best)) continue;
      best = both;
      best_spot = to;
      best_partner = w;
    }
  }
  if (!best.negative()) return false;
  if (best_partner == kNobody)
    put(u, best_spot);
  else
    exchange(u, best_partner);
  cost_ += best;
  return true;
}

// All edges with an end among `vertices`, those between two of them once.
Cost RankSearch::cost_of(std::span<const std::uint32_t> vertices, Budget& budget) {
  Cost out;
  ++round_of_vertices_;
  for (const std::uint32_t u : vertices) inside_[u] = round_of_vertices_;
  for (const std::uint32_t u : vertices) {
    budget.spend(graph_.edges(u).size());
    for (const NodeGraph::Half& e : graph_.edges(u)) {
      if (inside_[e.to] == round_of_vertices_ && e.to < u) continue;
      if (u < e.to)
        spots_.add(out, spot_of_[u], spot_of_[e.to], e);
      else
        spots_.add(out, spot_of_[e.to], spot_of_[u], e);
    }
  }
  return out;
}

void RankSearch::apply(std::span<const std::uint32_t> vertices, std::span<const std::uint32_t> targets) {
  for (std::size_t i = 0; i < vertices.size(); ++i) put(vertices[i], targets[i]);
}

// Two whole segments change places.
bool RankSearch::exchange_segments(Budget& budget) {
  const std::uint32_t size = rules_.segment;
  const std::uint32_t count = graph_.nodes / size;
  bool any = false;
  std::vector<std::uint32_t> vertices(std::size_t{2} * size);
  std::vector<std::uint32_t> there(vertices.size());
  std::vector<std::uint32_t> back(vertices.size());
  for (std::uint32_t i = 0; i < count && budget.left > 0; ++i) {
    for (std::uint32_t k = i + 1; k < count && budget.left > 0; ++k) {
      if (may_exchange(spot_of_[std::size_t{i} * size], spot_of_[std::size_t{k} * size]))
        continue;  // one domain: single exchanges do
      for (std::uint32_t n = 0; n < size; ++n) {
        vertices[n] = i * size + n;
        vertices[size + n] = k * size + n;
        back[n] = there[size + n] = spot_of_[vertices[n]];
        back[size + n] = there[n] = spot_of_[vertices[size + n]];
      }
      const Cost before = cost_of(vertices, budget);
      apply(vertices, there);
      Cost delta = cost_of(vertices, budget);
      delta -= before;
      if (delta.negative()) {
        cost_ += delta;
        any = true;
      } else {
        apply(vertices, back);
      }
    }
  }
  return any;
}

void RankSearch::improve(Budget& budget) {
  if (spots_.count() < 2) return;
  for (bool again = true; again && budget.left > 0 && !budget.stopped;) {
    again = false;
    for (std::uint32_t u = 0; u < graph_.nodes && budget.left > 0; ++u)
      if (improve_vertex(u, budget)) again = true;
    budget.poll();
    if (again || budget.left == 0) continue;
    again = rules_.segment > 0 && exchange_segments(budget);
  }
}

}  // namespace weft::placement
