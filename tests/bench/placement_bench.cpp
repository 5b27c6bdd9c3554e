// SPDX-License-Identifier: BSD-3-Clause
//
// Score and placement at the sizes that matter.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "eligible.hpp"
#include "select_nodes.hpp"
#include "weft/placement.hpp"
#include "weft/topology/generate.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::NodeId;

template <typename T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

// 12,500 nodes under three tiers: 20 a leaf, 25 leaves a pod.
Fabric three_tiers() {
  topology::FatTreeOptions options;
  options.nodes = 12500;
  options.tiers = 3;
  options.nodes_per_leaf = 20;
  options.leaves_per_pod = 25;
  return take(Fabric::build(take(topology::generate_fat_tree(options))));
}

Fabric rails(std::uint32_t nodes) {
  topology::RailOptions options;
  options.nodes = nodes;
  options.nodes_per_unit = 32;
  return take(Fabric::build(take(topology::generate_rail(options))));
}

config::JobSpec job(std::uint32_t nodes, std::uint32_t experts) {
  config::JobSpec out;
  out.name = "bench";
  out.nodes = nodes;
  out.ranks_per_node = 8;
  config::Layout layout;
  layout[Dim::tp] = 8;
  layout[Dim::pp] = 8;
  layout[Dim::ep] = experts;
  layout[Dim::dp] = nodes / 8;
  out.layout = layout;
  out.dp_given = true;
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

void place_on_12500_nodes_half_busy(benchmark::State& state) {
  const Fabric fabric = three_tiers();
  World w(fabric, static_cast<std::uint32_t>(state.range(0)), 1);
  w.half_busy(1);
  for (auto _ : state) benchmark::DoNotOptimize(take(place(fabric, w.request)));
}
BENCHMARK(place_on_12500_nodes_half_busy)->Arg(64)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::placement
