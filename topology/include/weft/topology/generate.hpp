// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics by formula, as compact specs (hostlists and patterns, never a line a cable).
#pragma once

#include <cstdint>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::topology {

/// What all generators share: the node and the cable.
struct NodeShape {
  std::string type_name = "h100";
  std::uint32_t gpus = 8;
  std::uint32_t nics = 8;
  bool nvlink = true;
  Bandwidth nvlink_bandwidth{3'600'000'000'000};  // 450GB/s
  Bandwidth bandwidth{400'000'000'000};           // of every cable
};

/// Fat tree of any depth. `radix` ports a switch; taper[t] is the ratio of down to up capacity at tier t+1 (1 = full
/// bisection). All NICs of a node go to one leaf. Leiserson 1985; Al-Fares et al. 2008 for the folded Clos form.
struct FatTreeOptions {
  NodeShape node;
  std::uint32_t nodes = 0;  ///< 0 = as many as the tree holds
  std::uint32_t tiers = 2;  ///< 1 and up
  std::uint32_t nodes_per_leaf = 16;
  std::uint32_t leaves_per_pod = 8;  ///< three tiers and up; and each higher group of groups alike
  std::vector<std::uint32_t> taper;  ///< one entry a tier below the top; missing = 1
  std::uint32_t cables = 0;          ///< parallel cables between adjacent switches; 0 = derived
  std::uint32_t spines = 0;          ///< per group; 0 = derived from capacity and taper
};
[[nodiscard]] Result<config::FabricSpec> generate_fat_tree(const FatTreeOptions& options);

/// Rail-optimised: scalable units of `nodes_per_unit` nodes; NIC i of each node to rail leaf i of its unit.
struct RailOptions {
  NodeShape node;
  std::uint32_t nodes = 128;
  std::uint32_t nodes_per_unit = 32;
  std::uint32_t spines = 0;  ///< 0 = derived from taper
  std::uint32_t taper = 1;
  bool rail_only = false;  ///< spines per rail, no path between rails
};
[[nodiscard]] Result<config::FabricSpec> generate_rail(const RailOptions& options);

/// Several parallel disjoint planes of two tiers; every NIC has a port in each plane.
struct MultiPlaneOptions {
  NodeShape node;  ///< bandwidth is of a plane's port
  std::uint64_t gpus = 131072;
  std::uint32_t planes = 8;
  std::uint32_t gpus_per_leaf = 256;
  std::uint32_t spines = 0;  ///< a plane; 0 = gpus_per_leaf (full bisection)
};
[[nodiscard]] Result<config::FabricSpec> generate_multi_plane(const MultiPlaneOptions& options);

/// Racks that are one NVLink domain (GB200/GB300 NVL72: 18 nodes of 4 GPUs), rail leaves over groups of racks.
struct Nvl72Options {
  NodeShape node{.type_name = "gb200", .gpus = 4, .nics = 4, .nvlink_bandwidth = {7'200'000'000'000}};
  std::uint32_t racks = 8;
  std::uint32_t nodes_per_rack = 18;
  std::uint32_t racks_per_unit = 8;  ///< racks under the same rail leaves
  std::uint32_t spines = 0;
  std::uint32_t taper = 1;
};
[[nodiscard]] Result<config::FabricSpec> generate_nvl72(const Nvl72Options& options);

/// Dragonfly: groups of `routers` all joined to each other, `global_links` a router to other groups. Kim et al. 2008.
struct DragonflyOptions {
  NodeShape node{.nics = 1};
  std::uint32_t groups = 0;   ///< 0 = routers*global_links + 1, the balanced maximum
  std::uint32_t routers = 4;  ///< a group
  std::uint32_t nodes_per_router = 2;
  std::uint32_t global_links = 2;  ///< a router
};
[[nodiscard]] Result<config::FabricSpec> generate_dragonfly(const DragonflyOptions& options);

/// Dragonfly+: groups are two-tier leaf-spine trees, spines joined between groups. Shpiner et al. 2017.
struct DragonflyPlusOptions {
  NodeShape node{.nics = 1};
  std::uint32_t groups = 6;
  std::uint32_t leaves = 4;  ///< a group
  std::uint32_t spines = 4;  ///< a group
  std::uint32_t nodes_per_leaf = 8;
  std::uint32_t global_cables = 4;  ///< between each pair of groups
};
[[nodiscard]] Result<config::FabricSpec> generate_dragonfly_plus(const DragonflyPlusOptions& options);

/// k-ary torus of any number of dimensions, `nodes_per_switch` nodes at each.
struct TorusOptions {
  NodeShape node{.nics = 1};
  std::vector<std::uint32_t> dims{4, 4, 4};
  std::uint32_t nodes_per_switch = 1;
  bool wrap = true;  ///< false = mesh
};
[[nodiscard]] Result<config::FabricSpec> generate_torus(const TorusOptions& options);

}  // namespace weft::topology
