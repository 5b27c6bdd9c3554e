// SPDX-License-Identifier: BSD-3-Clause
//
// The whole way of a generated fabric: options -> spec -> fabric.yaml -> parsed spec -> Fabric, by size. Besides the
// time, `peak_rss_MB` is the peak resident memory of one such run in a child process of its own, so that neither the
// harness nor an earlier run counts. Targets: 131,072 GPUs in eight planes under 3 s and 1 GB, 12,500 nodes in three
// tiers under 0.5 s and 200 MB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/config.hpp"
#include "weft/topology.hpp"

namespace weft {
namespace {

using Generator = Result<config::FabricSpec> (*)();

Result<config::FabricSpec> eight_planes() { return topology::generate_multi_plane({}); }

Result<config::FabricSpec> three_tiers_12500_nodes() {
  topology::FatTreeOptions options;
  options.nodes = 12500;
  options.tiers = 3;
  return topology::generate_fat_tree(options);
}

Result<config::FabricSpec> three_tiers_131072_gpus() {
  topology::FatTreeOptions options;
  options.gpus = 131072;
  options.tiers = 3;
  return topology::generate_fat_tree(options);
}

Result<topology::Fabric> round_trip(Generator generator) {
  const auto spec = generator();
  if (!spec) return fail(spec.error());
  const auto source = std::make_shared<const SourceText>("fabric.yaml", config::write_fabric_yaml(*spec));
  const auto parsed = config::parse_fabric_yaml(source);
  if (!parsed) return fail(parsed.error());
  return topology::Fabric::build(*parsed);
}

// Peak resident MB of one run in a fresh child; 0 where it could not be measured.
double peak_megabytes(Generator generator) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return 0;
  if (child == 0) {
    const bool built = round_trip(generator).has_value();
    _exit(built ? 0 : 1);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return 0;
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts it in KiB
}

void round_trip_bench(benchmark::State& state, Generator generator, std::uint32_t expected_max_hops) {
  const double peak = peak_megabytes(generator);
  for (auto _ : state) {
    const auto fabric = round_trip(generator);
    if (!fabric || fabric->max_hops() != expected_max_hops) {
      state.SkipWithError(fabric ? "unexpected worst path" : fabric.error().to_string().c_str());
      return;
    }
    state.counters["nodes"] = fabric->node_count();
    state.counters["gpus"] = static_cast<double>(fabric->gpu_count());
    state.counters["links"] = fabric->link_count();
    state.counters["max_hops"] = fabric->max_hops();
  }
  state.counters["peak_rss_MB"] = peak;
}

BENCHMARK_CAPTURE(round_trip_bench, multi_plane_131072_gpus_8_planes, eight_planes, 3U)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_trip_bench, fat_tree_131072_gpus_3_tiers, three_tiers_131072_gpus, 5U)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_trip_bench, fat_tree_12500_nodes_3_tiers, three_tiers_12500_nodes, 5U)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft
