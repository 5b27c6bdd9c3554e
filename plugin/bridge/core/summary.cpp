// SPDX-License-Identifier: BSD-3-Clause
#include "summary.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "weft/placement/score.hpp"

namespace weft::bridge {
namespace {

using topology::Fabric;

// The ranks of a node on its GPUs in ascending order.
void give_gpus(const Fabric& fabric, const std::vector<std::uint64_t>& gpus, std::uint32_t ranks_per_node,
               placement::Placement& placed) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    std::uint64_t left = gpus[i];
    for (std::size_t r = i * ranks_per_node; r < (i + 1) * ranks_per_node; ++r, left &= left - 1) {
      placement::Slot& slot = placed.ranks[r];
      slot.gpu = static_cast<std::uint32_t>(std::countr_zero(left));
      slot.nic = fabric.type_of(slot.node).nic_of_gpu[slot.gpu];
    }
  }
}

void add_score(const Fabric& fabric, const Ask& ask, const Job& job, const Sized& sized, const Pool& pool,
               TrafficCache* cache, Decision& out) {
  const config::JobSpec spec = job.spec_for(sized);
  const auto known = cache != nullptr ? cache->get(spec, sized.layout) : make_known(spec, sized.layout);
  if (!known || known->traffic->flow_count() > kMaxScoredFlows) return;
  // Slurm lays ranks out node by node, whatever else the engine had in mind: that is what is scored.
  auto placed = placement::ranks_in_order(fabric, out.nodes, sized.ranks_per_node);
  if (!placed) return;
  if (!out.gpus.empty()) give_gpus(fabric, out.gpus, sized.ranks_per_node, *placed);
  placement::NodeMask free(fabric.node_count(), false);
  for (const std::uint32_t i : pool) free[topology::index(ask.usable[i])] = true;
  placement::ScoreOptions options;
  options.free_before = &free;
  options.locality = false;
  options.digest = known->digest.get();
  const auto score = placement::score(fabric, *placed, *known->traffic, options);
  if (!score) return;
  out.cross_spine_bytes = score->cross_spine_bytes;
  out.hop_bytes = score->hop_bytes;
  if (score->bounds) out.bound = score->bounds->cross_spine_bytes;
}

}  // namespace

std::string short_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}B", bytes) : fmt::format("{:.3g}{}", bytes, kUnits[unit]);
}

void summarise(const Fabric& fabric, const Ask& ask, const Job& job, const Sized& sized, const Pool& pool,
               TrafficCache* cache, Decision& out) {
  out.leaves = count_domains(fabric, topology::kLeafLevel, out.nodes);
  out.pods = count_domains(fabric, topology::kPodLevel, out.nodes);
  out.switches_exceeded = ask.max_switches > 0 && out.leaves > ask.max_switches;
  if (sized.laid_out) add_score(fabric, ask, job, sized, pool, cache, out);
  out.summary = fmt::format("leaves={}", out.leaves);
  if (out.pods > 0) out.summary += fmt::format(" pods={}", out.pods);
  if (sized.laid_out) {
    if (!out.cross_spine_bytes) return;
    out.summary += fmt::format(" cross_spine={}/step", short_bytes(*out.cross_spine_bytes));
    if (*out.cross_spine_bytes == 0) out.bound = 0;
  } else {
    out.bound = fewest_domains(fabric, topology::kLeafLevel, ask, pool, sized.nodes);
  }
  const double value = sized.laid_out ? *out.cross_spine_bytes : out.leaves;
  if (!out.bound || (*out.bound == 0 && value > 0)) return;  // no bound worth a gap
  out.gap = *out.bound > 0 ? (value - *out.bound) / *out.bound : 0;
  out.summary += fmt::format(" gap={:.2f}", *out.gap);
}

}  // namespace weft::bridge
