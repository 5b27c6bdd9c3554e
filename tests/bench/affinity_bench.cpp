// SPDX-License-Identifier: BSD-3-Clause
//
// Reading node insides, and choosing GPUs on fragmented nodes against Slurm's default, the lowest free ones.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "gpu_choice.hpp"
#include "weft/topology.hpp"

namespace weft::placement {
namespace {

namespace fs = std::filesystem;
using topology::Fabric;
using topology::NodeId;

void BM_read(benchmark::State& state, const std::string& path) {
  const auto source = read_source(path);
  if (!source) return state.SkipWithError(source.error().message.c_str());
  for (auto _ : state) benchmark::DoNotOptimize(topology::read_affinity(*source));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * (*source)->text().size()));
}

Fabric fabric_of(const std::string& type) {
  const std::string text =
      "weft: 1\nname: bench\nnode_types:\n  a: {" + type +
      "}\nnodes:\n  - {name: 'n[01-32]', type: a}\nswitches:\n  - {name: 'leaf[1-8]', tier: 1}\nlinks:\n"
      "  - {from: 'n[01-32]', to: 'leaf[1-8]', pattern: all, bandwidth: 400Gb/s}\n";
  return *Fabric::build(*config::parse_fabric_yaml(std::make_shared<const SourceText>("bench", text)));
}

// One case: 32 nodes, each GPU in use with the case's own probability; 8 nodes of 2 or 4 GPUs wanted.
struct Case {
  std::vector<std::vector<bool>> free;
  std::uint32_t gpus;
};

Case draw(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case out{{}, random() % 2 == 0 ? 2U : 4U};
  const std::uint64_t busy = 20 + random() % 41;  // percent
  for (int n = 0; n < 32; ++n) {
    out.free.emplace_back();
    for (int g = 0; g < 8; ++g) out.free.back().push_back(random() % 100 >= busy);
  }
  return out;
}

struct Sum {
  std::uint64_t off = 0, shared = 0;
};

// The least shared NICs that any choice has: nodes with the most NICs to offer.
std::uint64_t shared_bound(const Fabric& fabric, const Case& c, std::uint32_t nodes) {
  std::vector<std::uint32_t> least;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
    const auto& type = fabric.type_of(NodeId{n});
    std::vector<bool> nics(type.nics, false);
    std::uint32_t free = 0;
    for (std::uint32_t g = 0; g < type.gpus; ++g) {
      if (!c.free[n][g]) continue;
      nics[type.nic_of_gpu[g]] = true;
      ++free;
    }
    const auto distinct = static_cast<std::uint32_t>(std::count(nics.begin(), nics.end(), true));
    if (free >= c.gpus) least.push_back(c.gpus - std::min(c.gpus, distinct));
  }
  std::sort(least.begin(), least.end());
  std::uint64_t out = 0;
  for (std::uint32_t i = 0; i < nodes; ++i) out += least[i];
  return out;
}

// Bytes over the wrong rail are what the ranks off their rail send; a rank sends one unit.
void BM_choose(benchmark::State& state, const std::string& type) {
  constexpr std::uint32_t kNodes = 8;
  const Fabric fabric = fabric_of(type);
  std::vector<NodeId> all;
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) all.push_back(NodeId{n});
  std::uint64_t cases = 0;
  std::uint64_t ranks = 0;
  Sum weft, slurm, bound;
  for (auto _ : state) {
    cases = ranks = 0;
    weft = slurm = bound = {};
    for (std::uint64_t seed = 1; cases < 1000; ++seed) {
      const Case c = draw(seed);
      const GpuChoice choice =
          choose_gpus(fabric, {.gpus_per_node = c.gpus, .nodes = kNodes, .candidates = all, .free = c.free});
      if (choice.nodes.empty()) continue;
      ++cases;
      ranks += std::uint64_t{kNodes} * c.gpus;
      const GpuCost mine = gpu_cost(fabric, choice.nodes, choice.gpus);
      weft.off += mine.off_rail;
      weft.shared += mine.shared_nics;
      bound.off += choice.off_rail;  // the optimum: unit tests try every choice
      bound.shared += shared_bound(fabric, c, kNodes);
      std::vector<NodeId> nodes;
      std::vector<std::vector<std::uint32_t>> gpus;
      for (const NodeId node : all) {
        auto lowest = lowest_gpus(c.free[topology::index(node)], c.gpus);
        if (lowest.size() < c.gpus || nodes.size() == kNodes) continue;
        nodes.push_back(node);
        gpus.push_back(std::move(lowest));
      }
      const GpuCost theirs = gpu_cost(fabric, nodes, gpus);
      slurm.off += theirs.off_rail;
      slurm.shared += theirs.shared_nics;
    }
  }
  const auto share = [&](std::uint64_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(ranks); };
  state.counters["cases"] = static_cast<double>(cases);
  state.counters["wrong_rail_pct_slurm"] = share(slurm.off);
  state.counters["wrong_rail_pct_weft"] = share(weft.off);
  state.counters["wrong_rail_pct_bound"] = share(bound.off);
  state.counters["shared_nic_pct_slurm"] = share(slurm.shared);
  state.counters["shared_nic_pct_weft"] = share(weft.shared);
  state.counters["shared_nic_pct_bound"] = share(bound.shared);
}

BENCHMARK_CAPTURE(BM_choose, one_nic_a_gpu, "gpus: 8, nics: 8")->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_choose, two_gpus_a_nic, "gpus: 8, nics: 4")->Unit(benchmark::kMillisecond)->Iterations(1);

// The fixtures, and every file at hand.
const bool kRegistered = [] {
  const char* given = std::getenv("WEFT_SHARED");
  for (const fs::path& dir : {fs::path(WEFT_SOURCE_DIR "/tests/fixtures/node"),
                              fs::path(given != nullptr ? given : WEFT_SHARED_DIR) / "data" / "node"}) {
    std::error_code none;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(dir, none)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      benchmark::RegisterBenchmark(("read/" + file.filename().string()).c_str(), BM_read, file.string())
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace weft::placement
