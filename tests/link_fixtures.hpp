// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics and loads in a few words, for tests of routing.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/config/fabric_spec.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/routing.hpp"
#include "weft/placement/score.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement::links_test {

inline topology::Fabric build(const std::string& yaml) {
  const auto spec = config::parse_fabric_yaml(std::make_shared<SourceText>("f.yaml", yaml));
  EXPECT_TRUE(spec.has_value()) << spec.error().to_string();
  auto fabric = topology::Fabric::build(*spec);
  EXPECT_TRUE(fabric.has_value()) << fabric.error().to_string();
  return std::move(*fabric);
}

//        s1     s2          s1: 1 cable to each leaf; s2: `cables` cables
//       /  \   /  \         .
//     l1    \ /    l2       a[1-2] on l1, b[1-2] on l2; 1 NIC of 8 Gb/s = 1 GB/s
inline std::string two_tier(const std::string& cables = "1", const std::string& health = "") {
  return "weft: 1\nname: t\nnode_types:\n  t: {gpus: 1, nics: 1, nvlink: {domain: node, bandwidth: 100GB/s}}\n"
         "switches:\n  - {name: \"l[1-2]\"}\n  - {name: \"s[1-2]\"}\n"
         "nodes:\n  - {name: \"a[1-2]\", type: t}\n  - {name: \"b[1-2]\", type: t}\n"
         "links:\n  - {from: \"a[1-2]\", to: l1, pattern: all, bandwidth: 8Gb/s}\n  - {from: \"b[1-2]\", to: l2, "
         "pattern: all, bandwidth: 8Gb/s}\n"
         "  - {from: \"l[1-2]\", to: s1, pattern: all, bandwidth: 8Gb/s}\n"
         "  - {from: \"l[1-2]\", to: s2, pattern: all, bandwidth: 8Gb/s, cables: " +
         cables + "}\n" + health;
}

// Loads by "from>to".
inline std::map<std::string, double> named(const topology::Fabric& fabric, const std::vector<double>& loads) {
  std::map<std::string, double> out;
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    if (loads[i] == 0) continue;
    const auto [from, to] = end_names(fabric, {topology::LinkId{i / 2}, i % 2 == 0});
    out[from + ">" + to] += loads[i];
  }
  return out;
}

inline NicFlow flow(const topology::Fabric& fabric, const char* from, const char* to, double bytes,
                    std::uint32_t from_nic = 0, std::uint32_t to_nic = 0) {
  return {*fabric.find_node(from), from_nic, *fabric.find_node(to), to_nic, bytes};
}

inline std::map<std::string, double> loads(const topology::Fabric& fabric, const std::vector<NicFlow>& flows) {
  const auto out = link_loads(fabric, flows);
  EXPECT_TRUE(out.has_value()) << out.error().to_string();
  return named(fabric, *out);
}

// A job with its traffic.
struct Job {
  config::JobSpec spec;
  Traffic traffic;
};

inline Job job(const topology::Fabric& fabric, const std::string& yaml) {
  auto spec = config::parse_job_yaml(std::make_shared<SourceText>("j.yaml", "weft: 1\nname: j\n" + yaml));
  EXPECT_TRUE(spec.has_value()) << spec.error().to_string();
  const auto resolved = resolve_job(fabric, *spec);
  EXPECT_TRUE(resolved.has_value()) << resolved.error().to_string();
  auto traffic = build_traffic(*spec, resolved->layout);
  EXPECT_TRUE(traffic.has_value()) << traffic.error().to_string();
  return {std::move(*spec), std::move(*traffic)};
}

inline Placement on(const topology::Fabric& fabric, const std::vector<std::string>& names, std::uint32_t ranks = 1) {
  std::vector<topology::NodeId> nodes;
  for (const std::string& n : names) nodes.push_back(*fabric.find_node(n));
  auto placed = ranks_in_order(fabric, std::move(nodes), ranks);
  EXPECT_TRUE(placed.has_value()) << placed.error().to_string();
  return std::move(*placed);
}

}  // namespace weft::placement::links_test
