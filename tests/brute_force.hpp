// SPDX-License-Identifier: BSD-3-Clause
//
// The best placement by trying all of them, and small random fabrics and jobs to try it on. Shares no code with the
// engine's search: flows and paths come from the reference score.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "reference_score.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/score.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement::brute {

using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::index;
using topology::NodeId;

/// SplitMix64: the same numbers everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Of [low, high].
  std::uint32_t roll(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(next() % (high - low + 1));
  }
  bool one_in(std::uint32_t n) { return roll(1, n) == 1; }

 private:
  std::uint64_t state_;
};

enum class Kind : std::uint8_t { tree, rails, racks, ring, dragonfly, irregular };
inline constexpr std::array kKinds{Kind::tree, Kind::rails, Kind::racks, Kind::ring, Kind::dragonfly, Kind::irregular};
inline std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 6> kNames{"tree", "rails", "NVLink racks", "ring", "dragonfly", "irregular"};
  return kNames[static_cast<std::size_t>(kind)];
}

class FabricMaker {
 public:
  FabricMaker(Dice& dice, Kind kind) : dice_(dice) {
    spec_.name = std::string("small");
    config::NodeTypeSpec type;
    type.name = {"t", {}};
    type.gpus = type.nics = kind == Kind::rails ? 2 : 1;
    if (kind != Kind::rails) type.gpus = 2;
    if (kind == Kind::rails && dice.one_in(3)) type.nvlink = config::NvlinkScope::none;
    spec_.node_types.push_back(type);
    switch (kind) {
      case Kind::tree: tree(false); break;
      case Kind::racks: tree(true); break;
      case Kind::rails: rails(); break;
      default: graph(kind); break;
    }
  }
  [[nodiscard]] Fabric fabric() const {
    auto built = Fabric::build(spec_);
    if (!built) throw std::runtime_error(built.error().to_string());
    return std::move(*built);
  }

 private:
  static constexpr std::uint32_t kMostNodes = 14;

  void link(const std::string& from, const std::string& to, std::optional<std::string> nics = std::nullopt) {
    config::LinkSpec l;
    l.from = {from, {}};
    l.to = {to, {}};
    l.bandwidth = {400'000'000'000};
    if (nics) l.nics = config::Text{*nics, {}};
    spec_.links.push_back(l);
  }
  void sw(const std::string& name, std::uint32_t tier) { spec_.switches.push_back({{name, {}}, tier}); }
  std::string node() {
    std::string name = fmt::format("n{}", nodes_++);
    spec_.nodes.push_back({{name, {}}, {"t", {}}, 1});
    return name;
  }

  void tree(bool racks) {
    sw("core", 3);
    const std::uint32_t pods = dice_.roll(2, 4);
    for (std::uint32_t p = 0; p < pods; ++p) {
      const std::string spine = fmt::format("spine{}", p);
      sw(spine, 2);
      link(spine, "core");
      const std::uint32_t leaves = dice_.roll(1, 3);
      for (std::uint32_t l = 0; l < leaves && nodes_ < kMostNodes; ++l) {
        const std::string leaf = fmt::format("leaf{}-{}", p, l);
        sw(leaf, 1);
        link(leaf, spine);
        const std::uint32_t nodes = dice_.roll(1, 4);
        for (std::uint32_t n = 0; n < nodes && nodes_ < kMostNodes; ++n) {
          link(node(), leaf);
          if (racks && n % 2 == 1)
            spec_.nvlink_domains.push_back(
                {{fmt::format("rack{}", nodes_), {}}, {fmt::format("n[{}-{}]", nodes_ - 2, nodes_ - 1), {}}});
        }
      }
    }
  }

  void rails() {
    sw("spine", 2);
    const std::uint32_t units = dice_.roll(2, 4);
    for (std::uint32_t u = 0; u < units; ++u) {
      for (std::uint32_t r = 0; r < 2; ++r) {
        sw(fmt::format("u{}r{}", u, r), 1);
        link(fmt::format("u{}r{}", u, r), "spine");
      }
      const std::uint32_t nodes = dice_.roll(1, 5);
      for (std::uint32_t n = 0; n < nodes && nodes_ < kMostNodes; ++n) {
        const std::string name = node();
        for (std::uint32_t r = 0; r < 2; ++r) link(name, fmt::format("u{}r{}", u, r), fmt::format("{}", r));
      }
    }
  }

  void graph(Kind kind) {
    const std::uint32_t switches = kind == Kind::dragonfly ? 6 : dice_.roll(4, 9);
    const auto at = [](std::uint32_t s) { return fmt::format("s{}", s); };
    for (std::uint32_t s = 0; s < switches; ++s) sw(at(s), 1);
    if (kind == Kind::dragonfly) {
      for (std::uint32_t g = 0; g < 3; ++g) link(at(2 * g), at(2 * g + 1));
      for (std::uint32_t g = 0; g < 3; ++g) link(at(2 * g), at((2 * g + 3) % 6));
    } else if (kind == Kind::ring) {
      for (std::uint32_t s = 0; s < switches; ++s) link(at(s), at((s + 1) % switches));
    } else {
      for (std::uint32_t s = 1; s < switches; ++s) link(at(s), at(dice_.roll(0, s - 1)));
      if (dice_.one_in(2)) link(at(0), at(switches - 1));
    }
    for (std::uint32_t s = 0; s < switches; ++s) {
      const std::uint32_t nodes = dice_.roll(1, kind == Kind::dragonfly ? 3 : 2);
      for (std::uint32_t n = 0; n < nodes && nodes_ < kMostNodes; ++n) link(node(), at(s));
    }
  }

  Dice& dice_;
  config::FabricSpec spec_;
  std::uint32_t nodes_ = 0;
};

/// A job of `nodes` nodes with random dimensions and volumes.
inline config::JobSpec random_job(Dice& dice, std::uint32_t nodes, std::uint32_t gpus) {
  config::JobSpec job;
  job.name = std::string("j");
  job.nodes = nodes;
  job.ranks_per_node = gpus == 2 && !dice.one_in(4) ? 2 : 1;
  config::Layout layout;
  std::uint32_t left = nodes * *job.ranks_per_node;
  const auto part = [&](std::uint32_t of) {
    std::vector<std::uint32_t> divisors;
    for (std::uint32_t d = 1; d <= of; ++d)
      if (of % d == 0) divisors.push_back(d);
    return divisors[dice.roll(0, static_cast<std::uint32_t>(divisors.size() - 1))];
  };
  for (const Dim d : {Dim::tp, Dim::pp, Dim::cp}) {
    layout[d] = dice.one_in(d == Dim::pp ? 1 : 3) ? part(left) : 1;
    left /= layout[d];
  }
  layout[Dim::dp] = left;
  if (dice.one_in(2)) layout[Dim::ep] = part(layout[Dim::dp] * layout[Dim::cp]);
  if (dice.one_in(4)) layout.order = {Dim::tp, Dim::pp, Dim::cp, Dim::ep, Dim::dp};
  job.layout = layout;
  job.dp_given = true;
  const auto bytes = [&] { return Bytes{std::uint64_t{dice.roll(1, 64)} << 20U}; };
  const std::array dp{Collective::allreduce, Collective::reduce_scatter, Collective::allgather};
  job.traffic.push_back({Dim::dp, dp[dice.roll(0, 2)], bytes()});
  job.traffic.push_back({Dim::pp, Collective::neighbour, bytes()});
  if (layout[Dim::tp] > 1) job.traffic.push_back({Dim::tp, Collective::allreduce, bytes()});
  if (layout[Dim::cp] > 1) job.traffic.push_back({Dim::cp, Collective::allgather, bytes()});
  if (layout[Dim::ep] > 1) job.traffic.push_back({Dim::ep, Collective::alltoall, bytes()});
  return job;
}

struct Trial {
  Fabric fabric;
  config::JobSpec job;
  std::vector<bool> free;
};

inline Trial random_trial(std::uint64_t seed, Kind kind, std::uint32_t most_free, std::uint32_t most_nodes) {
  Dice dice(seed * 0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(kind));
  const Fabric fabric = FabricMaker(dice, kind).fabric();
  std::vector<bool> free(fabric.node_count(), false);
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) order.push_back(n);
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[dice.roll(0, static_cast<std::uint32_t>(i))]);
  const auto count = std::min(static_cast<std::uint32_t>(order.size()), dice.roll(2, most_free));
  for (std::uint32_t i = 0; i < count; ++i) free[order[i]] = true;
  const std::uint32_t nodes = dice.roll(2, std::min(count, most_nodes));
  return {fabric, random_job(dice, nodes, fabric.node_types().front().gpus), free};
}

/// What a placement costs, in the order in which `place` minimises: bytes by tier from the highest down to 2,
/// hop-bytes, then gangs left (negated), coarsest level first.
using Cost = std::vector<double>;

/// Costs differ by more than the rounding of sums in another order.
inline bool less(const Cost& a, const Cost& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] - b[i]) > 1e-9 * std::max({std::abs(a[i]), std::abs(b[i]), 1.0})) return a[i] < b[i];
  return false;
}

class Solver {
 public:
  Solver(const Fabric& fabric, const config::JobSpec& job, const config::Layout& layout, const std::vector<bool>& free)
      : fabric_(fabric), per_node_(*job.ranks_per_node), nodes_(job.nodes), free_(free) {
    for (const config::TrafficTerm& term : job.traffic)
      for (const auto& group : reference::groups(layout, term.dim))
        for (const Flow& f : reference::flows(term, group))
          if (f.from / per_node_ != f.to / per_node_) flows_.push_back(f);
    by_last_.resize(nodes_);
    for (const Flow& f : flows_) by_last_[std::max(f.from, f.to) / per_node_].push_back(f);
    const std::uint32_t n = fabric.node_count();
    const std::uint32_t nics = fabric.node_types().front().nics;
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t i = 0; i < nics; ++i)
        for (std::uint32_t b = 0; b < n; ++b)
          for (std::uint32_t k = 0; k < nics; ++k)
            paths_.push_back(reference::nic_path(fabric, NodeId{a}, i, NodeId{b}, k));
    nics_ = nics;
  }

  /// The least cost over all ordered choices of free nodes.
  Cost best() {
    at_.clear();
    taken_.assign(free_.size(), false);
    best_.reset();
    descend(Cost(tiers() + 1, 0.0));
    return *best_;
  }

  Cost cost_of(const std::vector<NodeId>& nodes) {
    at_ = nodes;
    taken_.assign(free_.size(), false);
    for (const NodeId n : nodes) taken_[index(n)] = true;
    Cost out(tiers() + 1, 0.0);
    for (const Flow& f : flows_) add(f, out);
    return with_gangs(std::move(out));
  }

 private:
  [[nodiscard]] std::size_t tiers() const { return fabric_.max_tier() < 2 ? 0 : fabric_.max_tier() - 1; }

  void add(const Flow& f, Cost& to) const {
    const NodeId a = at_[f.from / per_node_];
    const NodeId b = at_[f.to / per_node_];
    if (fabric_.domain_of(topology::kNvlinkLevel, a) == fabric_.domain_of(topology::kNvlinkLevel, b)) return;
    const topology::NodeType& type = fabric_.type_of(a);
    const std::uint32_t i = f.from % per_node_;
    const std::uint32_t k = f.to % per_node_;
    const std::uint32_t from = type.nic_of_gpu[type.nvlink ? k : i];
    const std::uint32_t n = fabric_.node_count();
    const auto& path =
        paths_[((std::size_t{index(a)} * nics_ + from) * n + index(b)) * nics_ + type.nic_of_gpu[k]].value();
    if (path.second >= 2) to[fabric_.max_tier() - static_cast<std::size_t>(path.second)] += f.bytes;
    to[tiers()] += f.bytes * path.first;
  }

  [[nodiscard]] Cost with_gangs(Cost cost) const {
    for (std::size_t level = fabric_.level_count(); level-- > 0;) {
      std::map<std::uint32_t, double> left;
      for (std::uint32_t n = 0; n < free_.size(); ++n)
        if (free_[n] && !taken_[n]) ++left[index(fabric_.domain_of(static_cast<topology::Level>(level), NodeId{n}))];
      double most = 0;
      for (const auto& [domain, count] : left) most = std::max(most, count);
      cost.push_back(-most);
    }
    return cost;
  }

  void descend(const Cost& so_far) {
    // What is paid so far is paid in the end: a dearer start is no start of the best.
    if (best_) {
      Cost known(best_->begin(), best_->begin() + static_cast<std::ptrdiff_t>(so_far.size()));
      if (less(known, so_far)) return;
    }
    if (at_.size() == nodes_) {
      Cost whole = with_gangs(so_far);
      if (!best_ || less(whole, *best_)) best_ = std::move(whole);
      return;
    }
    for (std::uint32_t n = 0; n < free_.size(); ++n) {
      if (!free_[n] || taken_[n]) continue;
      at_.push_back(NodeId{n});
      taken_[n] = true;
      Cost next = so_far;
      for (const Flow& f : by_last_[at_.size() - 1]) add(f, next);
      descend(next);
      taken_[n] = false;
      at_.pop_back();
    }
  }

  const Fabric& fabric_;
  std::uint32_t per_node_;
  std::uint32_t nodes_;
  std::uint32_t nics_ = 0;
  std::vector<bool> free_;
  std::vector<Flow> flows_;
  std::vector<std::vector<Flow>> by_last_;  // by the later of a flow's two nodes
  std::vector<std::optional<std::pair<int, int>>> paths_;
  std::vector<NodeId> at_;
  std::vector<bool> taken_;
  std::optional<Cost> best_;
};

struct Outcome {
  bool equal = false;
  double excess = 0;  ///< of the first term that differs, as a part of the best's; of cost, not of gangs
};

/// What `place` does against the best there is. Throws where it does not place at all.
inline Outcome compare(const Trial& t) {
  const auto take = [](auto result) {
    if (!result) throw std::runtime_error(result.error().to_string());
    return std::move(*result);
  };
  const ResolvedJob resolved = take(resolve_job(t.fabric, t.job));
  const Traffic traffic = take(build_traffic(t.job, resolved.layout));
  const Request request{&t.job, resolved.layout, resolved.ranks_per_node, &traffic, t.free};
  const Placement placed = take(place(t.fabric, request));
  Solver solver(t.fabric, t.job, resolved.layout, t.free);
  const Cost best = solver.best();
  const Cost got = solver.cost_of(placed.nodes);
  if (less(got, best)) throw std::logic_error("brute force is not the best");
  Outcome out;
  out.equal = !less(best, got);
  const std::size_t terms = got.size() - t.fabric.level_count();
  for (std::size_t i = 0; i < terms; ++i) {
    if (got[i] - best[i] <= 1e-9 * std::max(got[i], 1.0)) continue;
    out.excess = best[i] > 0 ? got[i] / best[i] - 1 : 1;
    break;
  }
  return out;
}

}  // namespace weft::placement::brute
