// SPDX-License-Identifier: BSD-3-Clause
//
// Inside of Fabric: the dense arrays and the stages that fill them, in the order in which build runs them:
// resolve (names and patterns to links), health, graph (tiers, planes, hop tables), levels (classes, domains).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/topology/fabric.hpp"

namespace weft::topology {

/// Bounds on what build accepts, so that a typing error ends in a message and not in swap.
inline constexpr std::uint32_t kMaxNodes = 1U << 20;
inline constexpr std::uint32_t kMaxSwitches = 1U << 18;
inline constexpr std::uint32_t kMaxLinks = 1U << 24;            // entries of links()
inline constexpr std::uint32_t kMaxCables = 1U << 16;           // parallel between two ends
inline constexpr std::uint32_t kMaxPerNode = 256;               // GPUs, NICs
inline constexpr std::uint32_t kMaxNics = 1U << 24;             // over all nodes
inline constexpr std::uint32_t kMaxTier = 16;                   // given by the file or found
inline constexpr std::uint64_t kMaxHopTableBytes = 1ULL << 30;  // over all distinct planes

/// Shortest paths between the leaves of one plane, or of several planes of equal build. hops 0 = no path.
struct HopTable {
  std::uint32_t leaves = 0;
  std::vector<Path> paths;  // leaves x leaves
  [[nodiscard]] const Path& at(std::uint32_t a, std::uint32_t b) const {
    return paths[static_cast<std::size_t>(a) * leaves + b];
  }
};

/// Items in groups: group g is items[begin[g] .. begin[g + 1]).
template <typename T>
struct Groups {
  std::vector<std::uint32_t> begin{0};
  std::vector<T> items;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  [[nodiscard]] std::span<const T> operator[](std::size_t g) const {
    return std::span<const T>(items).subspan(begin[g], begin[g + 1] - begin[g]);
  }
};

/// Groups nodes by an id each, in the order of `order`. O(nodes).
[[nodiscard]] Groups<NodeId> group_nodes(std::span<const std::uint32_t> group_of, std::uint32_t groups,
                                         std::span<const NodeId> order);

/// One level of the locality hierarchy.
struct LevelTable {
  std::vector<std::uint32_t> domain_of;  // by node
  Groups<NodeId> domains;                // in fabric order
  std::vector<std::string> names;
};

struct FabricData {
  std::string name;
  Notes notes;
  std::vector<NodeType> types;

  // by node
  std::vector<std::string> node_names;
  std::vector<std::uint32_t> nodes_by_name;  // sorted by name
  std::vector<std::uint32_t> node_type;
  std::vector<std::uint32_t> node_weight;
  std::vector<std::uint8_t> node_up;
  std::vector<std::uint8_t> node_usable;
  std::vector<std::uint32_t> nic_base;       // nodes + 1; NIC k of node n is slot nic_base[n] + k
  Groups<Port> ports;                        // by slot
  std::vector<std::uint32_t> nvlink_domain;  // index into nvlink_names, or none
  std::vector<std::string> nvlink_names;

  // by switch
  std::vector<std::string> switch_names;
  std::vector<std::uint32_t> switches_by_name;
  std::vector<std::uint8_t> tier;  // 0 until found
  std::vector<std::uint8_t> switch_up;
  std::vector<std::uint32_t> plane;
  std::vector<std::uint32_t> leaf_pos;  // place among the plane's leaves; kNone = no leaf
  Groups<Fabric::Neighbour> neighbours;

  std::vector<std::string> plane_names;
  std::vector<std::uint32_t> table_of_plane;
  std::vector<HopTable> tables;
  std::uint8_t max_tier = 0;
  std::uint32_t max_hops = 0;
  bool tiers_contiguous = true;

  std::vector<Link> links;
  std::vector<Fault> faults;

  std::vector<std::uint32_t> class_of;
  Groups<NodeId> classes;
  std::vector<LevelTable> levels;
  std::vector<NodeId> order;
  std::vector<std::uint32_t> rank;
  bool hierarchical = false;

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(node_names.size()); }
  [[nodiscard]] std::uint32_t switch_count() const { return static_cast<std::uint32_t>(switch_names.size()); }
  [[nodiscard]] std::uint32_t slot(std::uint32_t node, std::uint32_t nic) const { return nic_base[node] + nic; }
  [[nodiscard]] bool is_leaf(std::uint32_t sw) const { return leaf_pos[sw] != kNone; }
  /// As Fabric::leaf_path, hops 0 = none.
  [[nodiscard]] Path leaf_path(std::uint32_t a, std::uint32_t b) const {
    if (plane[a] != plane[b] || leaf_pos[a] == kNone || leaf_pos[b] == kNone) return {};
    return tables[table_of_plane[plane[a]]].at(leaf_pos[a], leaf_pos[b]);
  }
  /// Best path between two sets of ports, hops 0 = none.
  [[nodiscard]] Path port_path(std::span<const Port> a, std::span<const Port> b) const;
  [[nodiscard]] std::string end_name(const LinkEnd& end) const;
};

/// Shorter first, then the lower; no path (hops 0) last.
[[nodiscard]] inline bool better(const Path& x, const Path& y) {
  if (x.hops == 0 || y.hops == 0) return x.hops != 0 && y.hops == 0;
  return x.hops != y.hops ? x.hops < y.hops : x.tier < y.tier;
}

/// What the file says about planes: the entry's index and the switches that its links end on.
struct PlaneClaim {
  std::uint32_t entry = 0;
  std::vector<std::uint32_t> switches;
};

using Done = tl::expected<void, Error>;
/// Types, nodes, switches, NVLink domains, links and their health.
[[nodiscard]] Done resolve(const config::FabricSpec& spec, FabricData& data, std::vector<PlaneClaim>& claims);
/// Ports, neighbours, tiers, planes, hop tables.
[[nodiscard]] Done build_graph(const config::FabricSpec& spec, std::span<const PlaneClaim> claims, FabricData& data);
/// Usable nodes, classes, domains, order; then check_hierarchy.
void build_levels(FabricData& data);
/// max_hops, hierarchical, tiers_contiguous.
void check_hierarchy(FabricData& data);
/// Fabric::check_invariants.
[[nodiscard]] std::optional<std::string> broken_invariant(const FabricData& data);

struct Fabric::Impl {
  FabricData data;
};

}  // namespace weft::topology
