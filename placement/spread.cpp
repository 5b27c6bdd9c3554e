// SPDX-License-Identifier: BSD-3-Clause
#include "spread.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "bounds.hpp"
#include "traffic_digest.hpp"

namespace weft::placement {
namespace {

using config::Dim;
using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

// Counts distinct small integers, many times over, without clearing between.
class Distinct {
 public:
  explicit Distinct(std::size_t universe) : stamp_(universe, 0) {}
  void start() {
    ++round_;
    count_ = 0;
  }
  void add(std::uint32_t value) {
    if (stamp_[value] == round_) return;
    stamp_[value] = round_;
    ++count_;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::vector<std::uint32_t> stamp_;
  std::uint32_t round_ = 0;
  std::uint32_t count_ = 0;
};

MeanMax group_spread(const RankGrid& grid, Dim dim, const std::vector<std::uint32_t>& domain_of_rank,
                     std::uint32_t domains) {
  Distinct seen(domains);
  std::uint64_t sum = 0;
  std::uint32_t largest = 0;
  const std::uint32_t groups = grid.group_count(dim);
  for (std::uint32_t g = 0; g < groups; ++g) {
    seen.start();
    for (std::uint32_t i = 0; i < grid.group_size(dim); ++i) seen.add(domain_of_rank[grid.member(dim, g, i)]);
    sum += seen.count();
    largest = std::max(largest, seen.count());
  }
  return {static_cast<double>(sum) / groups, static_cast<double>(largest)};
}

std::uint32_t distinct_domains(const Fabric& fabric, Level level, const std::vector<NodeId>& nodes) {
  Distinct seen(fabric.domain_count(level));
  seen.start();
  for (const NodeId n : nodes) seen.add(index(fabric.domain_of(level, n)));
  return seen.count();
}

std::uint32_t distinct_planes(const Fabric& fabric, const std::vector<Slot>& ranks) {
  Distinct seen(fabric.plane_count());
  seen.start();
  for (const Slot& s : ranks)
    for (const topology::Port& port : fabric.ports(s.node, s.nic)) seen.add(index(fabric.plane(port.leaf)));
  return seen.count();
}

// What the job could have had: the free nodes and its own; or what it leaves free.
NodeMask with(NodeMask free, const std::vector<NodeId>& nodes, bool own) {
  for (const NodeId n : nodes) free[index(n)] = own;
  return free;
}

std::uint32_t largest(const std::vector<std::uint32_t>& counts) {
  return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
}

}  // namespace

std::vector<std::uint32_t> free_by_domain(const Fabric& fabric, Level level, const NodeMask& free) {
  std::vector<std::uint32_t> out(fabric.domain_count(level), 0);
  const auto domains = fabric.domain_numbers(level);
  for (std::size_t n = 0; n < domains.size(); ++n) out[domains[n]] += free[n] ? 1 : 0;
  return out;
}

std::vector<std::uint32_t> largest_first(std::span<const std::uint32_t> counts) {
  std::vector<std::uint32_t> out(counts.size());
  std::iota(out.begin(), out.end(), 0U);
  std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  return out;
}

std::uint32_t fewest_domains(std::span<const std::uint32_t> largest_first, std::uint64_t nodes) {
  std::uint32_t used = 0;
  for (std::uint64_t held = 0; held < nodes && used < largest_first.size(); ++used) held += largest_first[used];
  return used;
}

void score_bounds(const Fabric& fabric, const Placement& placement, const Traffic& traffic, const NodeMask& free,
                  const TrafficDigest* digest, Score& out) {
  if (!fabric.hierarchical() || !ranks_in_node_order(placement, traffic.ranks_per_node)) return;
  const NodeMask reach = with(free, placement.nodes, true);
  out.bounds = digest != nullptr ? digest->bounder.on(fabric, reach) : TrafficBounder(traffic).on(fabric, reach);
}

void score_locality(const Fabric& fabric, const Placement& placement, const Traffic& traffic, const NodeMask& free,
                    const TrafficDigest* digest, Score& out) {
  const NodeMask after = with(free, placement.nodes, false);
  const NodeMask reach = with(free, placement.nodes, true);
  const RankGrid& grid = traffic.grid;
  for (std::size_t d = 0; d < config::kDims; ++d) {
    const auto dim = static_cast<Dim>(d);
    if (grid.group_size(dim) > 1) out.spread.push_back({dim, {}, {}});
  }
  const bool in_order = ranks_in_node_order(placement, traffic.ranks_per_node);
  std::array<std::uint32_t, config::kDims> fewest{};
  for (const DimSpread& s : out.spread)
    fewest[static_cast<std::size_t>(s.dim)] =
        in_order ? (digest != nullptr ? digest->fewest[static_cast<std::size_t>(s.dim)] : fewest_nodes(traffic, s.dim))
                 : (grid.group_size(s.dim) + traffic.ranks_per_node - 1) / traffic.ranks_per_node;
  const auto nodes_of_group = [&](Dim d) { return fewest[static_cast<std::size_t>(d)]; };
  std::vector<std::uint32_t> domain_of_rank(grid.ranks());
  for (Level level = 0; level < fabric.level_count(); ++level) {
    out.fragmentation_before.push_back(largest(free_by_domain(fabric, level, free)));
    out.fragmentation_after.push_back(largest(free_by_domain(fabric, level, after)));
    const auto domains = fabric.domain_numbers(level);
    for (std::uint32_t r = 0; r < grid.ranks(); ++r) domain_of_rank[r] = domains[index(placement.ranks[r].node)];
    std::vector<std::uint32_t> capacity = free_by_domain(fabric, level, reach);
    std::sort(capacity.begin(), capacity.end(), std::greater<>());
    for (DimSpread& s : out.spread) {
      s.by_level.push_back(group_spread(grid, s.dim, domain_of_rank, fabric.domain_count(level)));
      s.bound.push_back(fewest_domains(capacity, nodes_of_group(s.dim)));
    }
  }
  out.exposure.nvlink_domains = distinct_domains(fabric, topology::kNvlinkLevel, placement.nodes);
  out.exposure.leaves = distinct_domains(fabric, topology::kLeafLevel, placement.nodes);
  if (fabric.level_count() > topology::kPodLevel)
    out.exposure.pods = distinct_domains(fabric, topology::kPodLevel, placement.nodes);
  out.exposure.planes = distinct_planes(fabric, placement.ranks);
}

}  // namespace weft::placement
