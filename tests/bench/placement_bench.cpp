// SPDX-License-Identifier: BSD-3-Clause
//
// Score and placement at the sizes that matter.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "eligible.hpp"
#include "node_graph.hpp"
#include "placement_fixtures.hpp"
#include "rank_search.hpp"
#include "select_nodes.hpp"
#include "spots.hpp"
#include "take.hpp"
#include "weft/placement.hpp"
#include "weft/topology/generate.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::NodeId;

// 12,500 nodes under three tiers: 20 a leaf, 25 leaves a pod.
Fabric three_tiers() { return fixtures::fat_tree(12500, 20, 25); }

Fabric rails(std::uint32_t nodes) {
  topology::RailOptions options;
  options.nodes = nodes;
  options.nodes_per_unit = 32;
  return take(Fabric::build(take(topology::generate_rail(options))));
}

config::JobSpec job(std::uint32_t nodes, std::uint32_t experts) {
  config::JobSpec out = fixtures::laid_out(nodes, 8, 1, experts);
  out.traffic = {{Dim::tp, Collective::allreduce, {12ULL << 30}},
                 {Dim::dp, Collective::reduce_scatter, {4ULL << 30}},
                 {Dim::pp, Collective::neighbour, {512ULL << 20}}};
  if (experts > 1) out.traffic.push_back({Dim::ep, Collective::alltoall, {1ULL << 30}});
  return out;
}

struct World {
  config::JobSpec spec;
  ResolvedJob resolved;
  Traffic traffic;
  Request request;
  World(const Fabric& fabric, std::uint32_t nodes, std::uint32_t experts)
      : spec(job(nodes, experts)),
        resolved(take(resolve_job(fabric, spec))),
        traffic(take(build_traffic(spec, resolved.layout))),
        request{&spec, resolved.layout, resolved.ranks_per_node, &traffic, NodeMask(fabric.node_count(), true)} {}
  // Half of the nodes busy, by a fixed scramble.
  void half_busy(std::uint64_t seed) {
    for (std::size_t n = 0; n < request.free.size(); ++n) {
      std::uint64_t z = (n + seed * 1000003) * 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ULL;
      request.free[n] = (z >> 40 & 1U) != 0;
    }
  }
};

void score_8192_ranks(benchmark::State& state) {
  const Fabric fabric = rails(1024);
  const World w(fabric, 1024, static_cast<std::uint32_t>(state.range(0)));
  const Placement placed = take(place(fabric, w.request));
  for (auto _ : state) benchmark::DoNotOptimize(score(fabric, placed, w.traffic));
  state.counters["flows"] = static_cast<double>(w.traffic.flow_count());
}
BENCHMARK(score_8192_ranks)->Arg(1)->Arg(64)->Unit(benchmark::kMillisecond);

void select_of_12500_nodes(benchmark::State& state) {
  const Fabric fabric = three_tiers();
  World w(fabric, static_cast<std::uint32_t>(state.range(0)), 1);
  w.half_busy(1);
  SelectRules rules;
  rules.nodes = w.spec.nodes;
  for (auto _ : state) {
    const Eligible eligible = take(eligible_nodes(fabric, w.request));
    benchmark::DoNotOptimize(take(select_nodes(fabric, eligible, rules)));
  }
}
BENCHMARK(select_of_12500_nodes)->Arg(64)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

// Median and 99th percentile, in milliseconds, of `run` over different halves of the nodes busy.
template <typename Run>
void percentiles(benchmark::State& state, World& w, Run run) {
  std::vector<double> times;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    w.half_busy(seed++);
    state.ResumeTiming();
    const auto start = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_ms"] = times[times.size() / 2];
  state.counters["p99_ms"] = times[times.size() * 99 / 100];
}

// The choice of nodes alone: what is eligible, and best fit.
void select_percentiles(benchmark::State& state) {
  const Fabric fabric = three_tiers();
  World w(fabric, static_cast<std::uint32_t>(state.range(0)), 1);
  SelectRules rules;
  rules.nodes = w.spec.nodes;
  percentiles(state, w, [&] {
    const Eligible eligible = take(eligible_nodes(fabric, w.request));
    benchmark::DoNotOptimize(take(select_nodes(fabric, eligible, rules)));
  });
}
BENCHMARK(select_percentiles)->Arg(512)->Unit(benchmark::kMillisecond);

// Nodes and rank map.
void place_percentiles(benchmark::State& state) {
  const Fabric fabric = three_tiers();
  World w(fabric, static_cast<std::uint32_t>(state.range(0)), 1);
  percentiles(state, w, [&] { benchmark::DoNotOptimize(take(place(fabric, w.request))); });
}
BENCHMARK(place_percentiles)->Arg(64)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

// What a change of places of two of 1,024 nodes (16 ranks) does to the score.
void rescore_an_exchange(benchmark::State& state) {
  const Fabric fabric = rails(1024);
  const World w(fabric, 1024, static_cast<std::uint32_t>(state.range(0)));
  const NodeGraph graph = build_node_graph(w.traffic);
  SpotTable spots(fabric, fabric.fabric_order(), {}, graph, std::nullopt);
  std::vector<std::uint32_t> spot_of;
  for (const NodeId n : fabric.fabric_order()) spot_of.push_back(spots.spot_of(n));
  const SearchRules rules;
  RankSearch search(graph, spots, rules, spot_of);
  std::uint32_t u = 0;
  for (auto _ : state) {
    u = (u + 389) % 1024;
    benchmark::DoNotOptimize(search.exchange_delta(u, (u + 511) % 1024));
  }
}
BENCHMARK(rescore_an_exchange)->Arg(1)->Arg(64)->Unit(benchmark::kMicrosecond);

// 75,000 GPUs of 131,072 behind eight planes.
void place_75000_gpus(benchmark::State& state) {
  topology::MultiPlaneOptions options;
  options.gpus = 131072;
  options.planes = 8;
  const Fabric fabric = take(Fabric::build(take(topology::generate_multi_plane(options))));
  config::JobSpec spec = job(9375, 1);
  (*spec.layout)[Dim::pp] = 25;
  (*spec.layout)[Dim::dp] = 375;
  const ResolvedJob resolved = take(resolve_job(fabric, spec));
  const Traffic traffic = take(build_traffic(spec, resolved.layout));
  const Request request{&spec, resolved.layout, resolved.ranks_per_node, &traffic, NodeMask(fabric.node_count(), true)};
  for (auto _ : state) benchmark::DoNotOptimize(take(place(fabric, request)));
}
BENCHMARK(place_75000_gpus)->Unit(benchmark::kMillisecond);

// Time against the number of nodes of the fabric, for one job of 256 nodes.
void growth_in_fabric(benchmark::State& state) {
  const Fabric fabric = fixtures::fat_tree(static_cast<std::uint32_t>(state.range(0)), 20, 25);
  World w(fabric, 256, 1);
  w.half_busy(1);
  for (auto _ : state) benchmark::DoNotOptimize(take(place(fabric, w.request)));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(growth_in_fabric)
    ->Arg(1500)
    ->Arg(3000)
    ->Arg(6000)
    ->Arg(12000)
    ->Arg(24000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

// Time against the number of the job's nodes, on 12,500 nodes.
void growth_in_job(benchmark::State& state) {
  const Fabric fabric = three_tiers();
  World w(fabric, static_cast<std::uint32_t>(state.range(0)), 1);
  w.half_busy(1);
  for (auto _ : state) benchmark::DoNotOptimize(take(place(fabric, w.request)));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(growth_in_job)->RangeMultiplier(2)->Range(64, 4096)->Unit(benchmark::kMillisecond)->Complexity();

}  // namespace
}  // namespace weft::placement
