// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "weft/topology/affinity_write.hpp"

namespace weft::topology {
namespace {

// Cores as Linux on x86 counts CPUs: with CPUs 0 to n-1 near some GPU, and every GPU's CPUs being equal first and
// second halves n/2 apart, core c has threads c and c + n/2; where no GPU's CPUs show such halves, a core has one
// thread. Empty where the CPUs do not fit either.
std::vector<CpuSet> assumed_cores(const NodeAffinity& node) {
  CpuSet all;
  for (const AffinityGpu& gpu : node.gpus) all = all.with(gpu.cpus);
  const auto count = static_cast<std::uint32_t>(all.size());
  if (count == 0 || all.cpus().back() != count - 1) return {};
  const std::uint32_t half = count / 2;
  const bool paired = count % 2 == 0 && std::all_of(node.gpus.begin(), node.gpus.end(), [&](const AffinityGpu& gpu) {
                        return std::all_of(gpu.cpus.cpus().begin(), gpu.cpus.cpus().end(), [&](std::uint32_t cpu) {
                          return gpu.cpus.contains(cpu < half ? cpu + half : cpu - half);
                        });
                      });
  // One range for all GPUs says nothing of threads.
  const bool one_range =
      std::all_of(node.gpus.begin(), node.gpus.end(), [&](const AffinityGpu& gpu) { return gpu.cpus.size() == count; });
  std::vector<CpuSet> out;
  if (paired && !one_range) {
    for (std::uint32_t c = 0; c < half; ++c) out.emplace_back(std::vector<std::uint32_t>{c, c + half});
  } else {
    for (std::uint32_t c = 0; c < count; ++c) out.emplace_back(std::vector<std::uint32_t>{c});
  }
  return out;
}

}  // namespace

CpuShares cpu_shares(const NodeAffinity& node) {
  CpuShares out;
  const std::vector<CpuSet> assumed = node.cores.empty() ? assumed_cores(node) : std::vector<CpuSet>();
  out.cores_assumed = !assumed.empty();
  const std::vector<CpuSet>& cores = node.cores.empty() ? assumed : node.cores;
  out.cpus.resize(node.gpus.size());
  out.cores.resize(node.gpus.size());
  out.own.resize(node.gpus.size());
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> sharers;  // cores to the GPUs that they are local to
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    for (std::uint32_t core = 0; core < cores.size(); ++core) {
      if (cores[core].intersects(node.gpus[g].cpus)) out.cores[g].push_back(core);
    }
    if (out.cores[g].empty()) {
      out.cpus[g] = node.gpus[g].cpus;
    } else {
      sharers[out.cores[g]].push_back(g);
    }
  }
  for (const auto& [local, gpus] : sharers) {
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      std::size_t begin = i * local.size() / gpus.size();
      const std::size_t end = std::max(begin + 1, (i + 1) * local.size() / gpus.size());
      for (; begin < end; ++begin) {
        out.own[gpus[i]].push_back(local[begin]);
        out.cpus[gpus[i]] = out.cpus[gpus[i]].with(cores[local[begin]]);
      }
    }
  }
  return out;
}

}  // namespace weft::topology
