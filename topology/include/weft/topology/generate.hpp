// SPDX-License-Identifier: BSD-3-Clause
//
// Fabrics by formula, as compact specs (hostlists and patterns, never a line a cable).
//
// NAMES are numbered from 1 and zero-padded, so that they sort naturally: gpu0001, leaf-001, spine-01, core-1. A switch
// of a group says which: spine-p03-07 (pod 3), leaf-u1-r0 (unit 1, rail 0), leaf-p1-001 (plane 1), router-g02-04.
// Rails and torus coordinates count from 0, as NICs do.
//
// ERRORS of every generator: bad_value (a number out of range, or sizes that do not divide, with the arithmetic and
// what would fit), usage (options that exclude each other), bad_name, limit (more than 2^20 nodes or switches).
//
// All are pure and take time and memory of the text they produce, which for all but the torus's and the trees' middle
// tiers does not grow with the fabric.
#pragma once

#include <cstdint>
#include <string>
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
  Bandwidth nvlink_bandwidth{3'600'000'000'000};  ///< a GPU, each way; 450GB/s
  Bandwidth bandwidth{400'000'000'000};           ///< of every cable, each way
};

/// Fat tree of any depth; all NICs of a node go to one leaf.
///
/// With n NICs a node, a leaf has d1 = n * nodes_per_leaf cables down and u1 = d1 / taper[0] up. A tier-t switch joins
/// m_t groups of the tier below by p_t cables each: d_t = m_t * p_t down, u_t = d_t / taper[t-1] up, d_t + u_t <= radix
/// (the top tier uses all ports down). Each switch of tier t-1 has w_t = u_(t-1) / p_t switches above it, the fewest
/// that the radix allows unless `spines` or `cables` say otherwise; a group of tier t has W_t = w_2 * ... * w_t
/// switches of that tier. Hence, with G_1 = ceil(nodes / nodes_per_leaf) leaves and G_t = ceil(G_(t-1) / m_t) groups
/// (G_tiers = 1):
///
///   switches of tier t     G_t * W_t
///   node cables            nodes * n
///   cables from t-1 to t   G_(t-1) * W_(t-1) * u_(t-1)     in G_(t-1) * W_(t-1) * w_t links
///   worst path             2 * tiers - 1 switches
///
/// With one NIC a node, taper 1 and radix k this is the k-ary fat tree of Al-Fares et al.: three tiers hold k^3/4 nodes
/// on k^2/2 leaves, k^2/2 spines and k^2/4 cores. 131,072 GPUs in three tiers take radix 128; 12,500 nodes of 8 NICs
/// too.
///
/// Leiserson, "Fat-Trees", IEEE Trans. Computers 34(10), 1985. Al-Fares, Loukissas, Vahdat, "A Scalable, Commodity Data
/// Center Network Architecture", SIGCOMM 2008. Zahavi, "Fat-Trees Routing and Node Ordering Providing Contention Free
/// Traffic for MPI Global Collectives", JPDC 72(11), 2012 (parallel ports generalised fat trees: m, w, p).
struct FatTreeOptions {
  NodeShape node;
  std::uint32_t nodes = 0;  ///< 0 = from `gpus`; both 0 = as many as the tree holds
  std::uint64_t gpus = 0;   ///< in place of `nodes`: GPUs in all
  std::uint32_t tiers = 2;  ///< 1 and up
  std::uint32_t radix = 0;  ///< ports of a switch at the cables' rate; 0 = the least of 64, 128, 256, 512 that will do
  /// 0 = as many as the radix allows, and then the last leaf may be part filled; a given size must divide the nodes.
  std::uint32_t nodes_per_leaf = 0;
  /// Three tiers and up: m_2, and each higher group of groups but the topmost alike. 0 = as many as the radix allows,
  /// and then the last group may be part filled; a given size must divide the leaves.
  std::uint32_t leaves_per_pod = 0;
  std::vector<std::uint32_t> taper;  ///< capacity down : up, one entry a tier below the top; missing = 1
  std::uint32_t spines = 0;          ///< w_2: tier-2 switches of a pod (in all, of two tiers); 0 = derived
  std::uint32_t cables = 0;          ///< p_2: parallel cables from a leaf to each of them; 0 = derived
};
[[nodiscard]] Result<config::FabricSpec> generate_fat_tree(const FatTreeOptions& options);

/// Rail-optimised: scalable units of `nodes_per_unit` nodes; NIC i of each node to rail leaf i of its unit.
///
/// With n NICs a node, U = nodes / nodes_per_unit units, u = nodes_per_unit / taper up-ports a leaf:
///
///   leaves         U * n;  node cables  nodes * n;  leaf cables up  U * n * u (none where nothing is to be joined)
///   spines, 2 tiers   the fewest s dividing u with U * n * u / s <= radix, each leaf to each spine
///   spines, rail_only the fewest s a rail with U * u / s <= radix, in n separate groups; none where U is 1
///   3 tiers           s a rail with U * u / s <= radix / 2, then as many up-ports as down; c cores a spine column, the
///                     fewest dividing them with n * up / c <= radix: s * c cores
///   worst path     rail leaf to rail leaf of one rail: 1 switch for U = 1, else 3
///
/// NVIDIA, "DGX SuperPOD Reference Architecture (DGX H100)", RA-11333: 32 nodes a unit, radix 64: 4 units 32 leaves and
/// 16 spines; 16 units 128 leaves, 128 spines and 64 cores. Wang et al., "Rail-only: A Low-Cost High-Performance
/// Network for Training LLMs with Trillion Parameters", HOTI 2024.
struct RailOptions {
  NodeShape node;
  std::uint32_t nodes = 128;
  std::uint32_t nodes_per_unit = 32;  ///< divides `nodes`; fewer nodes are one unit
  std::uint32_t tiers = 2;            ///< 3 = spines of one rail each, cores over them
  std::uint32_t radix = 0;            ///< ports of a switch; 0 = the least of 64, 128, 256, 512 that will do
  std::uint32_t spines = 0;           ///< in all of two tiers, else a rail; 0 = derived
  std::uint32_t taper = 1;            ///< capacity down : up of a leaf
  bool rail_only = false;             ///< spines per rail, no path between rails
};
[[nodiscard]] Result<config::FabricSpec> generate_rail(const RailOptions& options);

/// Several parallel disjoint planes of two tiers; every NIC has a port in each plane.
///
///   nodes      gpus / node.gpus, in L = gpus / gpus_per_leaf leaves a plane, each of d = nodes_per_leaf * nics
///   down-ports switches   planes * L leaves and planes * spines spines; a leaf has d up-ports, d / spines cables to
///   each spine cables     planes * nodes * nics to nodes, planes * L * d between switches worst path 3 switches, where
///   a three-tier tree of the same size has 5
///
/// DeepSeek-AI, "Insights into DeepSeek-V3: Scaling Challenges and Reflections on Hardware for AI Architectures", ISCA
/// 2025 (multi-plane two-layer fat tree).
struct MultiPlaneOptions {
  NodeShape node{.bandwidth = {100'000'000'000}};  ///< bandwidth is of a plane's port
  std::uint64_t gpus = 131072;
  std::uint32_t planes = 8;
  std::uint32_t gpus_per_leaf = 256;
  std::uint32_t spines = 0;  ///< a plane; 0 = as many as a leaf has ports down, one cable each
};
[[nodiscard]] Result<config::FabricSpec> generate_multi_plane(const MultiPlaneOptions& options);

/// Racks that are one NVLink domain (GB200/GB300 NVL72: 18 nodes of 4 GPUs), rail leaves over groups of racks. Counts
/// as for RailOptions with racks_per_unit * nodes_per_rack nodes a unit, and `racks` NVLink domains.
///
/// NVIDIA, "DGX SuperPOD Reference Architecture (DGX GB200)", RA-11338: units of 8 racks, 576 GPUs.
struct Nvl72Options {
  NodeShape node{.type_name = "gb200", .gpus = 4, .nics = 4, .nvlink_bandwidth = {7'200'000'000'000}};
  std::uint32_t racks = 8;
  std::uint32_t nodes_per_rack = 18;
  std::uint32_t racks_per_unit = 8;  ///< racks under the same rail leaves; divides `racks`; fewer racks are one unit
  std::uint32_t radix = 288;         ///< ports of a switch: 144 of 800Gb/s, each split in two
  std::uint32_t spines = 0;          ///< 0 = derived
  std::uint32_t taper = 1;
};
[[nodiscard]] Result<config::FabricSpec> generate_nvl72(const Nvl72Options& options);

/// Dragonfly: groups of a routers all joined to each other, h global links a router to other groups, p nodes a router.
///
///   groups        g <= a * h + 1, q = a * h / (g - 1) rounded down global cables between every two
///   nodes         a * p * g (the maximum a * p * (a * h + 1) where g is the largest; balanced where a = 2p = 2h)
///   cables        nodes * nics, g * a * (a - 1) / 2 local, q * g * (g - 1) / 2 global
///   worst path    4 routers at most
///
/// Global cable k of a group goes round the other groups in turn, from router k / h. Kim, Dally, Scott, Abts,
/// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008; the arrangement is the relative one of Hastings
/// et al., "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015.
struct DragonflyOptions {
  NodeShape node{.nics = 1};
  std::uint32_t groups = 0;            ///< g; 0 = a * h + 1, the largest
  std::uint32_t routers = 4;           ///< a: of a group
  std::uint32_t nodes_per_router = 2;  ///< p
  std::uint32_t global_links = 2;      ///< h: of a router
};
[[nodiscard]] Result<config::FabricSpec> generate_dragonfly(const DragonflyOptions& options);

/// Dragonfly+: groups are two-tier leaf-spine trees, spines joined between groups.
///
///   switches    groups * leaves and groups * spines;  nodes  groups * leaves * nodes_per_leaf
///   cables      nodes * nics, groups * leaves * spines inside, global_cables * groups * (groups - 1) / 2 between,
///   dealt
///               over a group's spines in turn
///   worst path  4 switches where every group's cables reach every other (leaf, spine, spine, leaf)
///
/// Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi, "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB
/// 2017.
struct DragonflyPlusOptions {
  NodeShape node{.nics = 1};
  std::uint32_t groups = 6;
  std::uint32_t leaves = 4;  ///< a group
  std::uint32_t spines = 4;  ///< a group
  std::uint32_t nodes_per_leaf = 8;
  std::uint32_t global_cables = 4;  ///< between each pair of groups
};
[[nodiscard]] Result<config::FabricSpec> generate_dragonfly_plus(const DragonflyPlusOptions& options);

/// Torus or mesh of any number of dimensions, `nodes_per_switch` nodes at each switch.
///
///   switches    S = product of dims;  nodes  S * nodes_per_switch
///   links       per dimension of k switches: S * (k - 1) / k of a mesh, and S / k more round the edge of a torus where
///               k > 2 (round an edge of two there is no second way)
///   worst path  1 + sum of k / 2 rounded down (torus), 1 + sum of k - 1 (mesh) switches
///
/// Dally, "Performance Analysis of k-ary n-cube Interconnection Networks", IEEE Trans. Computers 39(6), 1990.
struct TorusOptions {
  NodeShape node{.nics = 1};
  std::vector<std::uint32_t> dims{4, 4, 4};
  std::uint32_t nodes_per_switch = 1;
  bool wrap = true;  ///< false = mesh
};
[[nodiscard]] Result<config::FabricSpec> generate_torus(const TorusOptions& options);

}  // namespace weft::topology
