// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "inside_score.hpp"
#include "node_order.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::Level;
using topology::NodeId;

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

std::string bound_text(double value, double bound) {
  if (bound <= 0) return "";
  return fmt::format(" (at least {}, gap {:.0f} %)", bytes_text(bound), (value / bound - 1) * 100);
}

std::string tier_name(std::size_t tier) {
  constexpr std::array kNames{"inside NVLink domains", "one leaf", "over spines", "over cores"};
  return tier < kNames.size() ? fmt::format("tier {} ({})", tier, kNames[tier]) : fmt::format("tier {}", tier);
}

std::string line(std::string_view what, std::string_view value) { return fmt::format("{:<34} {}\n", what, value); }

std::string by_level(const Fabric& fabric, const std::vector<std::uint32_t>& counts) {
  std::vector<std::string> parts;
  for (Level l = 0; l < static_cast<Level>(counts.size()); ++l)
    parts.push_back(fmt::format("{} {}", fabric.level_name(l), counts[l]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

std::string use_text(const Fabric& fabric, const std::optional<LinkUse>& use) {
  if (!use) return "no link";
  const auto [from, to] = end_names(fabric, use->link);
  const topology::Link& link = fabric.link(use->link.link);
  return fmt::format("{} > {}, {} in {}{}", from, to, bytes_text(use->bytes), seconds_text(use->seconds),
                     link.slowed ? fmt::format(" (slowed to {})", to_string(link.bandwidth)) : "");
}

std::string time_text(const Fabric& fabric, const CommTime& time) {
  std::string out = seconds_text(time.seconds);
  if (time.exposed_seconds != time.seconds) out += fmt::format(" ({} exposed)", seconds_text(time.exposed_seconds));
  return out + (time.nvlink_bound ? ", waits for NVLink" : ", waits for " + use_text(fabric, time.slowest));
}

std::string links_text(const Fabric& fabric, const LinkScore& links) {
  std::string out = line(fmt::format("bottleneck ({})", to_string(links.routing)), use_text(fabric, links.bottleneck));
  if (links.ecmp)
    out += line("worst link of hashed flows",
                fmt::format("mean of {} draws {}, even {}", links.ecmp->draws,
                            seconds_text(links.ecmp->mean_worst_seconds), seconds_text(links.ecmp->even_seconds)));
  out += line("communication a step", fmt::format("{}, busiest link {:.0f} % of it",
                                                  seconds_text(links.step_comm_seconds), links.max_utilisation * 100));
  for (const DimTime& d : links.dimensions)
    out += line(fmt::format("  {}", config::to_string(d.dim)), time_text(fabric, d));
  if (links.direct) out += line("  direct", time_text(fabric, *links.direct));
  if (links.running.empty()) return out;
  out += line("bottleneck with running jobs", use_text(fabric, links.shared));
  for (const RunningEffect& r : links.running) {
    out += line(fmt::format("  {} before", r.name), use_text(fabric, r.before));
    out += line(fmt::format("  {} after", r.name), use_text(fabric, r.after));
  }
  return out;
}

}  // namespace

namespace {

std::string inside_text(const InsideScore& inside) {
  std::string out = line("ranks that share a NIC", fmt::format("{}", inside.shared_nics));
  out += line("to another rail", bytes_text(inside.cross_rail_bytes) + " a step");
  if (!inside.paths_known) return out;
  out += line("GPU to NIC over a host bridge", bytes_text(inside.pcie_detour_bytes) + " a step");
  return out + line("GPU to NIC over NUMA nodes", bytes_text(inside.numa_detour_bytes) + " a step");
}

}  // namespace

std::string write_score_text(const Fabric& fabric, const Score& score) {
  std::string out;
  for (std::size_t t = 0; t < score.tier_bytes.size(); ++t)
    out += line(tier_name(t), bytes_text(score.tier_bytes[t]) + " a step");
  out += line("cross-spine traffic",
              bytes_text(score.cross_spine_bytes) + " a step" +
                  (score.bounds ? bound_text(score.cross_spine_bytes, score.bounds->cross_spine_bytes) : ""));
  out += line("hop-bytes",
              bytes_text(score.hop_bytes) + (score.bounds ? bound_text(score.hop_bytes, score.bounds->hop_bytes) : ""));
  out += line("hops", fmt::format("mean {:.3f}, max {}", score.mean_hops, score.max_hops));
  if (score.rerouted_bytes > 0) out += line("off their own rail", bytes_text(score.rerouted_bytes) + " a step");
  if (score.inside && has_inside(*score.inside)) out += inside_text(*score.inside);
  if (score.links) out += links_text(fabric, *score.links);
  for (const DimSpread& s : score.spread) {
    std::vector<std::string> parts;
    for (Level l = 0; l < static_cast<Level>(s.by_level.size()); ++l)
      parts.push_back(fmt::format("{} {:.2f}/{:.0f} (at least {})", fabric.level_name(l), s.by_level[l].mean,
                                  s.by_level[l].max, s.bound[l]));
    out += line(fmt::format("spread of {} groups, mean/max", config::to_string(s.dim)),
                fmt::format("{}", fmt::join(parts, ", ")));
  }
  out += line("largest gang that fits, before", by_level(fabric, score.fragmentation_before));
  out += line("largest gang that fits, after", by_level(fabric, score.fragmentation_after));
  out += line("exposed to the loss of",
              fmt::format("{} leaves, {} pods, {} planes, {} NVLink domains", score.exposure.leaves,
                          score.exposure.pods, score.exposure.planes, score.exposure.nvlink_domains));
  return out;
}

std::string write_placement_text(const Fabric& fabric, const Placement& placement, const config::JobSpec& job,
                                 const config::Layout& layout) {
  std::vector<std::string> sizes;
  for (const config::Dim d : layout.order)
    if (layout[d] > 1) sizes.push_back(fmt::format("{} {}", config::to_string(d), layout[d]));
  std::string out = line("job", fmt::format("{}: {} nodes, {} ranks{}{}", job.name, placement.nodes.size(),
                                            placement.ranks.size(), sizes.empty() ? "" : ", ", fmt::join(sizes, " ")));
  std::vector<NodeId> sorted = placement.nodes;
  sort_in_fabric_order(fabric, sorted);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto leaf = fabric.domain_of(topology::kLeafLevel, sorted[i]);
    names.push_back(fabric.node_name(sorted[i]));
    if (i + 1 < sorted.size() && fabric.domain_of(topology::kLeafLevel, sorted[i + 1]) == leaf) continue;
    out += line(fabric.domain_name(topology::kLeafLevel, leaf),
                fmt::format("{} {}", config::compress_hostlist(names),
                            names.size() == 1 ? "(1 node)" : fmt::format("({} nodes)", names.size())));
    names.clear();
  }
  if (sorted != placement.nodes) out += line("rank order", "not that of the fabric; --format hostfile lists it");
  return out;
}

}  // namespace weft::placement
