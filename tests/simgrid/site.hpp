// SPDX-License-Identifier: BSD-3-Clause
//
// A fat tree as Weft reads it, with jobs that Weft has placed on it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fluid.hpp"
#include "weft/placement.hpp"
#include "weft/topology/import.hpp"

namespace weft::simgrid_test {

using namespace placement;
using topology::Fabric;
using topology::NodeId;

struct Case {
  std::string name;
  FatTree tree;
  std::vector<std::string> jobs;   ///< the first is scored, the others run already
  std::uint32_t busy_percent = 0;  ///< of the nodes
  std::uint32_t gpus = 0;          ///< a node; 0 = as many as NICs
  Policy policy = Policy::weft;
  /// A switch's cable of the tree, by level, position and port, that a health file slows to half and the dump does not.
  /// The last of its bundle, which is what Weft takes such an entry to mean.
  std::optional<std::array<std::uint32_t, 3>> sick = {};
  std::uint32_t matrix_flows = 0;  ///< that the first job exchanges besides, of unequal sizes
  bool known_slow = true;          ///< the dump shows the tree's slow cables

  /// What the cables are really like.
  [[nodiscard]] FatTree physical() const {
    FatTree out = tree;
    if (sick) out.slow_gbps[tree.cable((*sick)[0], (*sick)[1], (*sick)[2])] = 100;
    return out;
  }
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Everything of Weft's: fabric and tables read from the texts, jobs placed.
struct Site {
  Fabric fabric;
  StaticTables tables;
  struct Placed {
    std::unique_ptr<config::JobSpec> spec;
    Traffic traffic;
    Placement placement;
  };
  std::vector<Placed> jobs;
};

inline Source text(std::string name, std::string content) {
  return std::make_shared<const SourceText>(std::move(name), std::move(content));
}

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

// About that part of the nodes, the same in every run.
inline NodeMask free_nodes(const Fabric& fabric, std::uint32_t busy_percent) {
  NodeMask out(fabric.node_count(), true);
  std::uint32_t draw = 20261;
  for (std::size_t n = 0; n < out.size(); ++n) {
    draw = draw * 1664525U + 1013904223U;
    out[n] = draw / 65536U % 100 >= busy_percent;
  }
  return out;
}

// Between random ranks, 1 to 100 MB each.
inline std::vector<RankFlow> matrix(std::uint32_t ranks, std::uint32_t flows) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> out;
  std::uint32_t draw = 31415;
  const auto next = [&](std::uint32_t below) { return (draw = draw * 1664525U + 1013904223U) / 65536U % below; };
  while (out.size() < flows) {
    const std::uint32_t from = next(ranks);
    const std::uint32_t to = next(ranks);
    if (from != to) out[{from, to}] = 1'000'000ULL * (1 + next(100));
  }
  std::vector<RankFlow> list;
  for (const auto& [pair, bytes] : out) list.push_back({pair.first, pair.second, bytes});
  return list;
}

inline Site make_site(const Case& c, const std::string& tables) {
  topology::ImportOptions options;
  if (c.gpus > 0) options.gpus_per_node = c.gpus;
  FatTree seen = c.tree;
  if (!c.known_slow) seen.slow_gbps.clear();
  auto imported = must(topology::read_fabric(text("ibnetdiscover.txt", seen.dump()), options));
  if (c.sick) {
    config::HealthSpec health;
    health.target = config::HealthSpec::Target::link;
    const FatTree::Cable ends = c.tree.ends(c.tree.cable((*c.sick)[0], (*c.sick)[1], (*c.sick)[2]));
    health.a.value = FatTree::switch_name(ends.level, ends.lower);
    health.b.value = FatTree::switch_name(ends.level + 1, ends.upper);
    health.bandwidth = Bandwidth{100'000'000'000};
    health.cables = 1;
    imported.spec.health.push_back(health);
  }
  Site out{must(Fabric::build(imported.spec)), {{}, imported.ports}, {}};
  out.tables.subnets.push_back(must(parse_forwarding_tables(text("opensm-lfts.dump", tables))));
  NodeMask free = free_nodes(out.fabric, c.busy_percent);
  PlaceOptions how;
  how.policy = c.policy;
  for (const std::string& yaml : c.jobs) {
    auto spec =
        std::make_unique<config::JobSpec>(must(config::parse_job_yaml(text("job.yaml", "weft: 1\nname: j\n" + yaml))));
    const auto resolved = must(resolve_job(out.fabric, *spec));
    auto traffic = must(build_traffic(*spec, resolved.layout));
    if (out.jobs.empty()) traffic.direct = matrix(traffic.ranks(), c.matrix_flows);
    auto placed = must(place(out.fabric, {spec.get(), resolved.layout, resolved.ranks_per_node, &traffic, free}, how));
    for (const NodeId n : placed.nodes) free[topology::index(n)] = false;
    out.jobs.push_back({std::move(spec), std::move(traffic), std::move(placed)});
  }
  return out;
}

// Where the edges of a term are multiples of its smallest, each of those is a flow of its own: in a double binary tree
// two ranks may be neighbours in both trees, which are channels with connections of their own.
inline std::vector<Flow> by_channel(const std::vector<Flow>& flows) {
  double least = flows.empty() ? 0 : flows.front().bytes;
  for (const Flow& f : flows) least = std::min(least, f.bytes);
  std::vector<Flow> out;
  for (const Flow& f : flows) {
    const double parts = least > 0 ? f.bytes / least : 1;
    if (parts != std::floor(parts) || parts > 4) return flows;
    for (int i = 0; i < static_cast<int>(parts); ++i) out.push_back({f.from, f.to, least});
  }
  return out;
}

// Between NICs, by their definition (score.hpp).
inline std::vector<NicFlow> nic_flows(const Fabric& fabric, const Site::Placed& job, const std::vector<Flow>& flows) {
  std::vector<NicFlow> out;
  for (const Flow& f : flows) {
    const Slot& a = job.placement.ranks[f.from];
    const Slot& b = job.placement.ranks[f.to];
    if (a.node == b.node || f.bytes == 0) continue;
    const topology::NodeType& type = fabric.type_of(a.node);
    const auto way = job.traffic.cross_rail.value_or(type.nvlink ? config::CrossRail::pxn : config::CrossRail::fabric);
    const bool forwarded = way == config::CrossRail::pxn && a.gpu != b.gpu;
    out.push_back({a.node, forwarded ? type.nic_of_gpu[b.gpu] : a.nic, b.node, b.nic, f.bytes});
  }
  return out;
}

inline std::vector<NicFlow> direct_flows(const Fabric& fabric, const Site::Placed& job) {
  std::vector<Flow> flows;
  for (const RankFlow& f : job.traffic.direct) flows.push_back({f.from, f.to, static_cast<double>(f.bytes)});
  return nic_flows(fabric, job, flows);
}

// Names are the tree's: "n003" is its node 3.
inline Phase phase_of(const FatTree& tree, const Fabric& fabric, const std::vector<NicFlow>& flows) {
  const auto position = [&](NodeId node, std::uint32_t nic) {
    return tree.position_of(static_cast<std::uint32_t>(std::stoul(fabric.node_name(node).substr(1))), nic);
  };
  Phase out;
  for (const NicFlow& f : flows) out.push_back({position(f.from, f.from_nic), position(f.to, f.to_nic), f.bytes});
  return out;
}

}  // namespace weft::simgrid_test
