// SPDX-License-Identifier: BSD-3-Clause
//
// Fabric::build at the sizes that Weft promises: 131,072 GPUs in eight planes of two tiers, and 12,500 nodes in three
// tiers. Peak memory is that of a child process that does nothing else.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "topology_specs.hpp"

namespace weft::topology {
namespace {

using config::LinkPattern;
using test::SpecMaker;

// 16,384 nodes of 8 NICs; each NIC has a port in every plane; 512 leaves and 256 spines a plane.
config::FabricSpec multi_plane_131072() {
  SpecMaker maker;
  maker.type(8, 8).nodes("gpu[00001-16384]");
  for (int p = 0; p < 8; ++p) {
    const std::string leaves = fmt::format("p{}leaf[001-512]", p);
    const std::string spines = fmt::format("p{}spine[001-256]", p);
    maker.switches(leaves, 1).switches(spines, 2);
    maker.link("gpu[00001-16384]", leaves, LinkPattern::split).link(leaves, spines);
  }
  return maker.spec();
}

// 12,500 nodes on 782 leaves in 98 pods of 8 leaves and 8 spines under 64 cores.
config::FabricSpec three_tier_12500() {
  SpecMaker maker;
  maker.type(8, 8).nodes("gpu[00001-12500]");
  maker.switches("leaf[001-782]", 1).switches("spine[001-784]", 2).switches("core[001-064]", 3);
  for (int leaf = 0; leaf < 782; ++leaf) {
    maker.link(fmt::format("gpu[{:05}-{:05}]", leaf * 16 + 1, std::min(12500, leaf * 16 + 16)),
               fmt::format("leaf{:03}", leaf + 1));
  }
  for (int pod = 0; pod < 98; ++pod) {
    const std::string spines = fmt::format("spine[{:03}-{:03}]", pod * 8 + 1, pod * 8 + 8);
    maker.link(fmt::format("leaf[{:03}-{:03}]", pod * 8 + 1, std::min(782, pod * 8 + 8)), spines);
    maker.link(spines, "core[001-064]");
  }
  return maker.spec();
}

// MiB at the peak of a child that makes the spec and builds it; `spec_only` leaves the building out.
double peak_mib(config::FabricSpec (*make)(), bool spec_only) {
  const pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    const config::FabricSpec spec = make();
    if (!spec_only && !Fabric::build(spec)) std::_Exit(1);
    std::_Exit(0);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void build(benchmark::State& state, config::FabricSpec (*make)(), std::uint32_t expected_hops) {
  // First, while this process is small: a child begins with its parent's size.
  state.counters["peak_MiB"] = peak_mib(make, false);
  state.counters["without_build_MiB"] = peak_mib(make, true);
  const config::FabricSpec spec = make();
  for (auto _ : state) {
    auto fabric = Fabric::build(spec);
    if (!fabric || fabric->max_hops() != expected_hops || !fabric->hierarchical()) {
      state.SkipWithError(fabric ? "another fabric than meant" : fabric.error().to_string().c_str());
      break;
    }
    state.counters["nodes"] = fabric->node_count();
    state.counters["links"] = fabric->link_count();
    state.counters["max_hops"] = fabric->max_hops();
  }
}

BENCHMARK_CAPTURE(build, three_tier_12500_nodes, three_tier_12500, 5U)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, multi_plane_131072_gpus, multi_plane_131072, 3U)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::topology
