// SPDX-License-Identifier: BSD-3-Clause
//
// Small fabrics and jobs for tests of the placement room.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/fabric_spec.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/generate.hpp"

namespace weft::placement::fixtures {

inline Source text(std::string content, std::string file = "t") {
  return std::make_shared<const SourceText>(std::move(file), std::move(content));
}

inline topology::Fabric fabric(const std::string& yaml) {
  auto spec = config::parse_fabric_yaml(text(yaml, "fabric.yaml"));
  if (!spec) throw std::runtime_error(spec.error().to_string());
  auto built = topology::Fabric::build(*spec);
  if (!built) throw std::runtime_error(built.error().to_string());
  return std::move(*built);
}

inline config::JobSpec job(const std::string& yaml) {
  auto spec = config::parse_job_yaml(text(yaml, "job.yaml"));
  if (!spec) throw std::runtime_error(spec.error().to_string());
  return std::move(*spec);
}

/// `nodes` nodes n1, ... under `leaves` leaves l1, ... in equal runs, these likewise under `spines` (a hostlist, one a
/// pod), these under one core; `gpus` GPUs and NICs a node.
inline std::string three_tiers(std::uint32_t nodes, std::uint32_t leaves, std::string_view spines,
                               std::uint32_t gpus = 1, std::uint32_t cables = 1) {
  return fmt::format(R"(weft: 1
name: tree{0}
node_types:
  t: {{gpus: {3}, nics: {3}}}
switches:
  - {{name: "l[1-{1}]", tier: 1}}
  - {{name: "{2}", tier: 2}}
  - {{name: "core", tier: 3}}
nodes:
  - {{name: "n[1-{0}]", type: t}}
links:
  - {{from: "n[1-{0}]", to: "l[1-{1}]", pattern: split, bandwidth: 400Gb/s}}
  - {{from: "l[1-{1}]", to: "{2}", pattern: split, bandwidth: 400Gb/s, cables: {4}}}
  - {{from: "{2}", to: "core", pattern: all, bandwidth: 400Gb/s, cables: {4}}}
)",
                     nodes, leaves, spines, gpus, cables);
}

/// Two pods of two leaves of four nodes, one NIC and one GPU a node, one spine a pod, one core:
///
///                      core
///             spineA           spineB          tier 2
///          l1       l2      l3       l4        tier 1
///        n1-n4    n5-n8   n9-n12  n13-n16
inline std::string tree16() { return three_tiers(16, 4, "spineA,spineB"); }

/// A generated fat tree: of three tiers, or of two where `leaves_per_pod` is 0.
inline topology::Fabric fat_tree(std::uint32_t nodes, std::uint32_t nodes_per_leaf, std::uint32_t leaves_per_pod = 0) {
  topology::FatTreeOptions options;
  options.nodes = nodes;
  options.tiers = leaves_per_pod > 0 ? 3 : 2;
  options.nodes_per_leaf = nodes_per_leaf;
  if (leaves_per_pod > 0) options.leaves_per_pod = leaves_per_pod;
  const auto spec = topology::generate_fat_tree(options);
  if (!spec) throw std::runtime_error(spec.error().to_string());
  auto built = topology::Fabric::build(*spec);
  if (!built) throw std::runtime_error(built.error().to_string());
  return std::move(*built);
}

/// Two units of two nodes with two GPUs and two rails each; rails meet in the spine.
///
///        spine              tier 2
///   a0  a1    b0  b1        tier 1: rail 0 and 1 of each unit
///   x1 x2     x3 x4         NIC i to rail i
inline std::string rails4(std::string_view nvlink = "node") {
  return std::string(R"(weft: 1
name: rails4
node_types:
  t: {gpus: 2, nics: 2, nvlink: {domain: )") +
         std::string(nvlink) + R"(}}
switches:
  - {name: "a[0-1],b[0-1]", tier: 1}
  - {name: "spine", tier: 2}
nodes:
  - {name: "x[1-4]", type: t}
links:
  - {from: "x[1-2]", to: "a[0-1]", pattern: rail, bandwidth: 400Gb/s}
  - {from: "x[3-4]", to: "b[0-1]", pattern: rail, bandwidth: 400Gb/s}
  - {from: "a[0-1],b[0-1]", to: "spine", pattern: all, bandwidth: 400Gb/s}
)";
}

/// `leaves` leaves l1, ... under one spine s, each with an equal run of the nodes n1, ...; one NIC a node.
inline std::string two_tiers(std::uint32_t nodes, std::uint32_t leaves, std::uint32_t gpus = 1) {
  return fmt::format(R"(weft: 1
name: tree
node_types:
  t: {{gpus: {2}, nics: 1}}
switches:
  - {{name: "l[1-{1}]", tier: 1}}
  - {{name: s, tier: 2}}
nodes:
  - {{name: "n[1-{0}]", type: t}}
links:
  - {{from: "n[1-{0}]", to: "l[1-{1}]", pattern: split, bandwidth: 400Gb/s}}
  - {{from: "l[1-{1}]", to: s, pattern: all, bandwidth: 400Gb/s}}
)",
                     nodes, leaves, gpus);
}

/// A job of 8 ranks a node, tp 8 inside it and dp what is left, without traffic.
inline config::JobSpec laid_out(std::uint32_t nodes, std::uint32_t pp, std::uint32_t cp = 1, std::uint32_t ep = 1) {
  config::JobSpec out;
  out.name = "job";
  out.nodes = nodes;
  out.ranks_per_node = 8;
  config::Layout layout;
  layout[config::Dim::tp] = 8;
  layout[config::Dim::cp] = cp;
  layout[config::Dim::ep] = ep;
  layout[config::Dim::pp] = pp;
  layout[config::Dim::dp] = nodes / pp / cp;
  out.layout = layout;
  out.dp_given = true;
  return out;
}

/// `dp` replicas of `pp` stages, one rank a node.
inline config::JobSpec replicas(std::uint32_t dp, std::uint32_t pp, std::string_view dp_bytes,
                                std::string_view pp_bytes) {
  return job(fmt::format(R"(weft: 1
name: j
nodes: {}
ranks_per_node: 1
layout: {{dp: {}, pp: {}}}
traffic:
  dp: {{collective: allreduce, bytes: {}}}
  pp: {{collective: neighbour, bytes: {}}}
)",
                         dp * pp, dp, pp, dp_bytes, pp_bytes));
}

/// A job with its layout and traffic resolved for a fabric, every node free.
struct Case {
  std::unique_ptr<config::JobSpec> job;
  std::unique_ptr<Traffic> traffic;
  Request request;
};

inline Case make_case(const topology::Fabric& f, config::JobSpec spec) {
  Case out;
  out.job = std::make_unique<config::JobSpec>(std::move(spec));
  auto resolved = resolve_job(f, *out.job);
  if (!resolved) throw std::runtime_error(resolved.error().to_string());
  auto traffic = build_traffic(*out.job, resolved->layout);
  if (!traffic) throw std::runtime_error(traffic.error().to_string());
  out.traffic = std::make_unique<Traffic>(std::move(*traffic));
  out.request = {out.job.get(), resolved->layout, resolved->ranks_per_node, out.traffic.get(),
                 NodeMask(f.node_count(), true)};
  return out;
}

inline std::vector<topology::NodeId> nodes(const topology::Fabric& f, const std::vector<std::string>& names) {
  std::vector<topology::NodeId> out;
  for (const std::string& n : names) out.push_back(f.find_node(n).value());
  return out;
}

inline std::vector<std::string> names(const topology::Fabric& f, const std::vector<topology::NodeId>& list) {
  std::vector<std::string> out;
  for (const topology::NodeId n : list) out.push_back(f.node_name(n));
  return out;
}

}  // namespace weft::placement::fixtures
