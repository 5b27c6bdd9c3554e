// SPDX-License-Identifier: BSD-3-Clause
//
// The score by its definitions alone, slowly: groups by comparing coordinates, flows one by one, paths by breadth-first
// search over the raw links. Shares no code with the engine but the types.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "weft/placement/score.hpp"

namespace weft::placement::reference {

using config::Dim;
using topology::Fabric;
using topology::NodeId;

inline std::map<Dim, std::uint32_t> coordinates(const config::Layout& l, std::uint32_t rank) {
  std::map<Dim, std::uint32_t> out;
  for (const Dim d : l.order) {
    if (d == Dim::ep) continue;
    out[d] = rank % l[d];
    rank /= l[d];
  }
  return out;
}

inline std::vector<std::vector<std::uint32_t>> groups(const config::Layout& l, Dim dim) {
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> by_others;
  for (std::uint32_t r = 0; r < l.ranks(); ++r) {
    const auto c = coordinates(l, r);
    std::vector<std::uint32_t> key;
    for (const auto& [d, value] : c)
      if (dim == Dim::ep ? d != Dim::dp && d != Dim::cp : d != dim) key.push_back(value);
    by_others[key].push_back(r);  // ascending, which is the order of the coordinate, and of the dp*cp product
  }
  std::vector<std::vector<std::uint32_t>> out;
  const std::uint32_t size = l[dim];
  for (const auto& [key, ranks] : by_others)
    for (std::size_t i = 0; i < ranks.size(); i += size) out.emplace_back(ranks.begin() + i, ranks.begin() + i + size);
  std::sort(out.begin(), out.end());
  return out;
}

inline std::vector<Flow> flows(const config::TrafficTerm& term, const std::vector<std::uint32_t>& g) {
  std::vector<Flow> out;
  const auto n = static_cast<std::uint32_t>(g.size());
  const auto v = static_cast<double>(term.bytes.value);
  if (n < 2) return out;
  using C = config::Collective;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (term.collective == C::allreduce) out.push_back({g[i], g[(i + 1) % n], 2 * v * (n - 1) / n});
    if (term.collective == C::reduce_scatter || term.collective == C::allgather)
      out.push_back({g[i], g[(i + 1) % n], v * (n - 1) / n});
    if (term.collective == C::broadcast && i + 1 < n) out.push_back({g[i], g[i + 1], v});
    if (term.collective == C::neighbour && i + 1 < n) {
      out.push_back({g[i], g[i + 1], v});
      out.push_back({g[i + 1], g[i], v});
    }
    if (term.collective == C::alltoall)
      for (std::uint32_t j = 0; j < n; ++j)
        if (i != j) out.push_back({g[i], g[j], v / n});
  }
  return out;
}

/// Fewest switches, then lowest highest tier, from any leaf of one NIC to any leaf of another.
inline std::optional<std::pair<int, int>> nic_path(const Fabric& f, NodeId a, std::uint32_t na, NodeId b,
                                                   std::uint32_t nb) {
  std::set<std::uint32_t> from;
  std::set<std::uint32_t> to;
  std::map<std::uint32_t, std::set<std::uint32_t>> next;
  for (const topology::Link& l : f.links()) {
    if (!l.up) continue;
    if (l.a.is_switch) {
      next[l.a.id].insert(l.b.id);
      next[l.b.id].insert(l.a.id);
      continue;
    }
    if (l.a.id == topology::index(a) && l.a.nic == na) from.insert(l.b.id);
    if (l.a.id == topology::index(b) && l.a.nic == nb) to.insert(l.b.id);
  }
  const auto tier = [&](std::uint32_t s) { return static_cast<int>(f.tier(topology::SwitchId{s})); };
  // Breadth first, in layers; within a layer the lowest highest tier at each switch.
  std::map<std::uint32_t, int> layer;
  std::set<std::uint32_t> seen;
  for (const std::uint32_t s : from) layer[s] = tier(s);
  for (int hops = 1; !layer.empty(); ++hops) {
    std::optional<int> best;
    for (const auto& [s, highest] : layer) {
      seen.insert(s);
      if (to.contains(s) && (!best || highest < *best)) best = highest;
    }
    if (best) return std::pair(hops, *best);
    std::map<std::uint32_t, int> following;
    for (const auto& [s, highest] : layer)
      for (const std::uint32_t t : next[s]) {
        if (seen.contains(t)) continue;
        const int h = std::max(highest, tier(t));
        const auto [at, fresh] = following.emplace(t, h);
        if (!fresh) at->second = std::min(at->second, h);
      }
    layer = std::move(following);
  }
  return std::nullopt;
}

struct Totals {
  std::map<int, double> tier_bytes;
  double hop_bytes = 0;
  double rerouted = 0;
  int max_hops = 0;
};

/// nullopt where two ranks that talk have no path.
inline std::optional<Totals> score(const Fabric& f, const Placement& p, const config::Layout& layout,
                                   const std::vector<config::TrafficTerm>& terms,
                                   std::optional<config::CrossRail> cross) {
  Totals out;
  for (const config::TrafficTerm& term : terms) {
    for (const auto& group : groups(layout, term.dim)) {
      for (const Flow& flow : flows(term, group)) {
        const Slot& a = p.ranks[flow.from];
        const Slot& b = p.ranks[flow.to];
        if (term.bytes.value == 0) continue;
        if (f.domain_of(0, a.node) == f.domain_of(0, b.node)) {
          out.tier_bytes[0] += flow.bytes;
          continue;
        }
        const bool pxn = cross ? *cross == config::CrossRail::pxn : f.type_of(a.node).nvlink;
        const std::uint32_t nic_a = f.type_of(a.node).nic_of_gpu[pxn && a.gpu != b.gpu ? b.gpu : a.gpu];
        const std::uint32_t nic_b = f.type_of(b.node).nic_of_gpu[b.gpu];
        auto path = nic_path(f, a.node, nic_a, b.node, nic_b);
        if (!path) {
          for (std::uint32_t i = 0; i < f.type_of(a.node).nics; ++i)
            for (std::uint32_t j = 0; j < f.type_of(b.node).nics; ++j)
              if (const auto other = nic_path(f, a.node, i, b.node, j); other && (!path || *other < *path))
                path = other;
          if (!path) return std::nullopt;
          out.rerouted += flow.bytes;
        }
        out.tier_bytes[path->second] += flow.bytes;
        out.hop_bytes += flow.bytes * path->first;
        out.max_hops = std::max(out.max_hops, path->first);
      }
    }
  }
  return out;
}

}  // namespace weft::placement::reference
