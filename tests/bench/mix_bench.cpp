// SPDX-License-Identifier: BSD-3-Clause
//
// Mixes of training jobs, one after the other through a cluster: what each policy moves over the spines and how long
// jobs wait, without Slurm. First come, first served: a job that cannot start holds up those behind it.
//
// 200 jobs a mix, tp 8 inside the node, pp 1 to 8, dp the rest, of 1 to 32 nodes (to 64 on 256 nodes), for 70 % of the
// node minutes. Hosts are numbered leaf by leaf. topology/block starts a job only where that fits into the fewest
// leaves that can hold it; in the rows `max_leaves` jobs ask Weft for as much, and in `patience` they wait as with
// `patience: 2.5` in weft.yaml. Counters, means over the mixes: cross = TiB over tier 2 and up, summed over jobs,
// leaves = under which a job lies, wait = minutes until a job starts.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <queue>

#include "brute_force.hpp"
#include "decision.hpp"
#include "placement_fixtures.hpp"
#include "take.hpp"
#include "weft/placement.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using brute::Dice;
using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::NodeId;

constexpr std::uint32_t kJobs = 200;
constexpr double kLoad = 0.7;
constexpr std::array<std::uint32_t, 14> kSizes{1, 2, 2, 4, 4, 6, 8, 8, 12, 16, 24, 32, 48, 64};

struct MixJob {
  double arrival = 0, duration = 0;  // minutes
  config::JobSpec spec;
};

config::JobSpec spec_of(std::uint32_t nodes, std::uint32_t stages) {
  config::JobSpec out = fixtures::laid_out(nodes, stages);
  out.traffic = {{Dim::tp, Collective::allreduce, {12ULL << 30}}};
  if (stages > 1) out.traffic.push_back({Dim::pp, Collective::neighbour, {512ULL << 20}});
  if (nodes > stages) {
    out.traffic.push_back({Dim::dp, Collective::reduce_scatter, {4ULL << 30}});
    out.traffic.push_back({Dim::dp, Collective::allgather, {4ULL << 30}});
  }
  return out;
}

std::vector<MixJob> mix(std::uint32_t nodes, Dice& dice) {
  std::vector<std::uint32_t> sizes;
  double mean = 0;
  for (const std::uint32_t s : kSizes)
    if (s <= nodes / 2) {
      sizes.push_back(s);
      mean += s;
    }
  mean /= static_cast<double>(sizes.size());
  const auto exponential = [&] { return -std::log((dice.roll(0, 999'999) + 0.5) / 1e6); };
  std::vector<MixJob> out(kJobs);
  double now = 0;
  for (MixJob& j : out) {
    const std::uint32_t size = sizes[dice.roll(0, static_cast<std::uint32_t>(sizes.size()) - 1)];
    std::uint32_t stages = 1;
    do stages = 1U << dice.roll(0, 3);
    while (size % stages != 0);
    j.duration = std::ceil(exponential() * 100 + 10);
    now += exponential() * 110 * mean / nodes / kLoad;
    j.arrival = now;
    j.spec = spec_of(size, stages);
  }
  return out;
}

enum class Manner { hasty, patience, max_leaves };

struct Sums {
  double cross = 0, leaves = 0, wait = 0;
};

struct Started {
  std::vector<NodeId> nodes;
  double cross_spine_bytes = 0;
  std::uint32_t leaves = 0;
};

class Site {
 public:
  Site(const Fabric& fabric, Policy policy, Manner manner) : fabric_(fabric), policy_(policy), manner_(manner) {
    settings_.patience = manner == Manner::patience ? 2.5 : 0;
    for (std::uint32_t n = 0; n < fabric.node_count(); ++n) all_.push_back(NodeId{n});
  }

  // What the job starts on now; nullopt: it waits.
  std::optional<Started> start(const config::JobSpec& job, const NodeMask& free) {
    return policy_ == Policy::weft ? by_weft(job, free) : by_baseline(job, free);
  }

 private:
  // As slurmctld's plugin decides.
  std::optional<Started> by_weft(const config::JobSpec& job, const NodeMask& free) {
    bridge::Ask ask;
    ask.spec = fmt::format("tp=8,pp={}", (*job.layout)[Dim::pp]);
    if (manner_ == Manner::max_leaves) {
      const auto leaf = fabric_.domain_nodes(topology::kLeafLevel, topology::DomainId{0}).size();
      *ask.spec += fmt::format(",max_leaves={}", (job.nodes + leaf - 1) / leaf);
    }
    for (const NodeId n : all_)
      if (free[topology::index(n)]) ask.usable.push_back(n);
    ask.reach = all_;
    ask.min_nodes = ask.req_nodes = ask.max_nodes = job.nodes;
    ask.gpus_per_node = 8;
    bridge::DecideOptions options;
    options.traffic = &traffic_;
    options.least = &least_;
    bridge::Decision d = bridge::decide(fabric_, fabric_, settings_, ask, options);
    if (d.verdict != WEFT_PLACED || d.worth_waiting) return std::nullopt;
    return Started{std::move(d.nodes), d.cross_spine_bytes.value(), d.leaves};
  }

  [[nodiscard]] std::optional<Started> by_baseline(const config::JobSpec& job, const NodeMask& free) const {
    const ResolvedJob resolved = take(resolve_job(fabric_, job));
    const Traffic traffic = take(build_traffic(job, resolved.layout));
    const Request request{&job, resolved.layout, resolved.ranks_per_node, &traffic, free};
    PlaceOptions options;
    options.policy = policy_;
    auto placed = place(fabric_, request, options);
    if (!placed) return std::nullopt;
    const Score cost = take(score(fabric_, *placed, traffic));
    return Started{std::move(placed->nodes), cost.cross_spine_bytes, cost.exposure.leaves};
  }

  const Fabric& fabric_;
  Policy policy_;
  Manner manner_;
  bridge::Settings settings_;
  std::vector<NodeId> all_;
  bridge::TrafficCache traffic_;
  bridge::AskMemo<bridge::Least> least_{16};
};

// First come, first served. Whoever cannot be placed waits for the next job's end.
Sums run(const Fabric& fabric, const std::vector<MixJob>& jobs, Site& site) {
  using End = std::pair<double, std::vector<NodeId>>;
  const auto later = [](const End& a, const End& b) { return a.first > b.first; };
  std::priority_queue<End, std::vector<End>, decltype(later)> running(later);
  NodeMask free(fabric.node_count(), true);
  Sums out;
  double now = 0;
  const auto end_one = [&] {
    now = std::max(now, running.top().first);
    for (const NodeId n : running.top().second) free[topology::index(n)] = true;
    running.pop();
  };
  for (const MixJob& j : jobs) {
    now = std::max(now, j.arrival);
    while (!running.empty() && running.top().first <= now) end_one();
    auto started = site.start(j.spec, free);
    for (; !started; started = site.start(j.spec, free)) end_one();
    out.cross += started->cross_spine_bytes / static_cast<double>(1ULL << 40);
    out.leaves += started->leaves;
    out.wait += now - j.arrival;
    for (const NodeId n : started->nodes) free[topology::index(n)] = false;
    running.push({now + j.duration, std::move(started->nodes)});
  }
  out.leaves /= kJobs;
  out.wait /= kJobs;
  return out;
}

void mixes(benchmark::State& state, Policy policy, Manner manner) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const Fabric fabric = fixtures::fat_tree(nodes, nodes == 64 ? 8 : 16, 4);
  Site site(fabric, policy, manner);
  Sums sum;
  for (auto _ : state) {
    sum = {};
    for (std::int64_t seed = 1; seed <= state.range(1); ++seed) {
      Dice dice(static_cast<std::uint64_t>(seed));
      const Sums one = run(fabric, mix(nodes, dice), site);
      sum.cross += one.cross;
      sum.leaves += one.leaves;
      sum.wait += one.wait;
    }
  }
  const auto mixes = static_cast<double>(state.range(1));
  state.counters["cross"] = sum.cross / mixes;
  state.counters["leaves"] = sum.leaves / mixes;
  state.counters["wait"] = sum.wait / mixes;
}

void shape(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nodes", "mixes"})->Args({64, 20})->Args({256, 20})->Iterations(1)->Unit(benchmark::kSecond);
}
BENCHMARK_CAPTURE(mixes, tree, Policy::tree, Manner::hasty)->Apply(shape);
BENCHMARK_CAPTURE(mixes, block, Policy::block, Manner::hasty)->Apply(shape);
BENCHMARK_CAPTURE(mixes, weft, Policy::weft, Manner::hasty)->Apply(shape);
BENCHMARK_CAPTURE(mixes, weft_patience, Policy::weft, Manner::patience)->Apply(shape);
BENCHMARK_CAPTURE(mixes, weft_max_leaves, Policy::weft, Manner::max_leaves)->Apply(shape);

}  // namespace
}  // namespace weft::placement
