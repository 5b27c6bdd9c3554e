// SPDX-License-Identifier: BSD-3-Clause
//
// The fabric, immutable and validated: what every question about distance, locality and capacity is asked of.
//
// DESCRIPTION
//   Fabric::build compiles a FabricSpec (symbolic, editable) into dense arrays: nodes with their NICs' links, switches
//   with tiers, links with bandwidth and state, planes, attachment classes, hop tables between leaves and a locality
//   hierarchy. Names are looked up only at the edges. A Fabric is a value; copies are deep; every const member may be
//   called from any number of threads.
//
// COMPLEXITY
//   build: O(links + sum over distinct planes of leaves * (switches + switch links)). Queries are O(1) but for those
//   that say otherwise. Memory: some 24 bytes a link, 2 bytes a pair of leaves of each distinct plane.
//
// HEALTH
//   Links that are down, or whose switch or node is down, are kept (so that they can be shown) but carry nothing: hop
//   tables and classes are those of the links that are up. Tiers and planes are those of all links, so that a fault
//   changes neither. For the locality levels a node's leaves are the switches that it is cabled to and that are up, so
//   that one broken port does not move it; a node without any link up is alone with its NVLink domain.
//
// LIMITS (ErrorCode::limit above them)
//   2^20 nodes, 256 GPUs and NICs each, 2^24 NICs in all; 2^18 switches, 16 tiers, paths of 255 switches; 2^24 links,
//   2^16 cables each; hop tables of 1 GiB (some 23,000 leaves in one plane).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/units.hpp"
#include "weft/topology/ids.hpp"

namespace weft::topology {

struct NodeAffinity;  // affinity.hpp

/// GPUs, NICs and NVLink of one kind of node.
struct NodeType {
  std::string name;
  std::uint32_t gpus = 0;
  std::uint32_t nics = 0;
  std::vector<std::uint32_t> nic_of_gpu;  ///< size gpus, each < nics
  bool nvlink = true;                     ///< NVLink joins the node's GPUs
  std::optional<Bandwidth> nvlink_bandwidth;
  std::shared_ptr<const NodeAffinity> affinity;  ///< the node's inside, where the type names a file of it; else null
  std::vector<std::uint32_t> affinity_nic;  ///< with affinity: its NIC for each NIC of the type; empty where unknown
};

/// One end of a link: a switch, or a NIC of a node.
struct LinkEnd {
  bool is_switch = true;
  std::uint32_t id = 0;   ///< SwitchId or NodeId
  std::uint32_t nic = 0;  ///< of a node end
};

/// All parallel cables of equal kind between two ends.
struct Link {
  LinkEnd a;            ///< node end first on node links, else the switch the file named first
  LinkEnd b;            ///< always a switch
  Bandwidth bandwidth;  ///< per cable and direction, after health
  std::uint32_t cables = 1;
  bool up = true;       ///< it and both its ends
  bool slowed = false;  ///< bandwidth is below what the file gave the link
};

/// A NIC's attachment in use: link and leaf.
struct Port {
  LinkId link;
  SwitchId leaf;
};

/// A shortest path between two NICs.
struct Path {
  std::uint8_t hops = 0;  ///< switches on it
  std::uint8_t tier = 0;  ///< its highest switch tier; of several shortest paths the lowest such
  friend bool operator==(const Path&, const Path&) = default;
};

/// A level of the locality hierarchy. 0: NVLink domains; 1: leaves (nodes with the same set of leaves are in one
/// domain); t >= 2: nodes joined below tier t+1 (2 = pod, 3 = core group ...). See Fabric::levels.
using Level = std::uint8_t;
inline constexpr Level kNvlinkLevel = 0;
inline constexpr Level kLeafLevel = 1;
inline constexpr Level kPodLevel = 2;

/// What is wrong with the fabric's health, for people.
struct Fault {
  enum class Kind : std::uint8_t { switch_down, node_down, link_down, link_slow };
  Kind kind;
  std::string what;                    ///< "spine4", "leaf3 - spine2 (1 of 2 cables)"
  std::string reason;                  ///< as given; may be empty
  std::optional<Bandwidth> bandwidth;  ///< link_slow: what is left, per cable
};

class Fabric {
 public:
  /// Checks and compiles. Pure, but for node types with `hwloc`: their file is read, relative to the spec's own file.
  /// Errors (with file, line, column): dangling, duplicate, conflict (two node links of one NIC to the same leaf under
  /// different bandwidths …), bad_value (unequal lists under zip, indivisible split, rail of more NICs than switches
  /// …), limit, missing (no nodes). Tiers that the spec gives must agree with the links.
  [[nodiscard]] static Result<Fabric> build(const config::FabricSpec& spec);

  Fabric(Fabric&&) noexcept;
  Fabric& operator=(Fabric&&) noexcept;
  Fabric(const Fabric&);
  Fabric& operator=(const Fabric&);
  ~Fabric();

  [[nodiscard]] const std::string& name() const;
  /// What build noticed and went on with: unattached nodes, switches without links, odd tiers.
  [[nodiscard]] const Notes& notes() const;

  // --- nodes ---
  [[nodiscard]] std::uint32_t node_count() const;
  [[nodiscard]] std::uint64_t gpu_count() const;  ///< over all nodes
  [[nodiscard]] const std::string& node_name(NodeId node) const;
  [[nodiscard]] std::optional<NodeId> find_node(std::string_view name) const;
  [[nodiscard]] const NodeType& type_of(NodeId node) const;
  [[nodiscard]] TypeId type_id(NodeId node) const;
  [[nodiscard]] std::span<const NodeType> node_types() const;
  [[nodiscard]] std::uint32_t weight(NodeId node) const;
  /// Not down, and at least one link up (or the fabric has no links for it because it has one node only).
  [[nodiscard]] bool usable(NodeId node) const;
  /// Ports that are up of NIC `nic`, in the order of their links. Empty where none is, and for a
  /// NIC that the node does not have.
  [[nodiscard]] std::span<const Port> ports(NodeId node, std::uint32_t nic) const;
  /// Nodes in fabric order: sorted by domain of every level, outermost first, then as in the file.
  [[nodiscard]] std::span<const NodeId> fabric_order() const;
  /// Place of a node in fabric_order().
  [[nodiscard]] std::uint32_t fabric_rank(NodeId node) const;

  // --- switches and links ---
  [[nodiscard]] std::uint32_t switch_count() const;
  [[nodiscard]] const std::string& switch_name(SwitchId sw) const;
  [[nodiscard]] std::optional<SwitchId> find_switch(std::string_view name) const;
  /// 1 = leaf. Given by the file, else the distance in switches from the nearest node.
  [[nodiscard]] std::uint8_t tier(SwitchId sw) const;
  [[nodiscard]] std::uint8_t max_tier() const;
  [[nodiscard]] bool switch_up(SwitchId sw) const;
  /// Every link between switches joins equal or neighbouring tiers: tier t is 2t - 1 hops away at least.
  [[nodiscard]] bool tiers_contiguous() const;
  /// Switches that no node can reach are counted to the first plane. Pieces that the file gives one plane name are one.
  [[nodiscard]] PlaneId plane(SwitchId sw) const;
  [[nodiscard]] std::uint32_t plane_count() const;
  [[nodiscard]] const std::string& plane_name(PlaneId plane) const;
  [[nodiscard]] std::uint32_t link_count() const;  ///< entries of links(), each perhaps several cables
  [[nodiscard]] const Link& link(LinkId id) const;
  [[nodiscard]] std::span<const Link> links() const;
  /// A neighbour of a switch over links that are up.
  struct Neighbour {
    SwitchId sw;
    LinkId link;
  };
  [[nodiscard]] std::span<const Neighbour> neighbours(SwitchId sw) const;  ///< ascending by (sw, link)
  /// "leaf3 - spine2" or "gpu17:3 - leaf4".
  [[nodiscard]] std::string link_name(LinkId id) const;
  [[nodiscard]] std::string end_name(const LinkEnd& end) const;
  [[nodiscard]] std::span<const Fault> faults() const;

  // --- distance ---
  /// Shortest path between two leaves (switches with node links). {1, tier} where equal; nullopt where there is none.
  [[nodiscard]] std::optional<Path> leaf_path(SwitchId a, SwitchId b) const;
  /// Shortest path between NIC `nic_a` of `a` and NIC `nic_b` of `b` over all planes that both reach; nullopt where
  /// there is none. Of equal hops the lower tier. The same node's NICs too are reached over their switches.
  [[nodiscard]] std::optional<Path> nic_path(NodeId a, std::uint32_t nic_a, NodeId b, std::uint32_t nic_b) const;
  /// Most hops on any leaf-to-leaf shortest path that a pair of NICs of equal index can need.
  [[nodiscard]] std::uint32_t max_hops() const;

  // --- locality ---
  [[nodiscard]] std::uint32_t class_count() const;  ///< attachment classes
  [[nodiscard]] ClassId class_of(NodeId node) const;
  [[nodiscard]] std::span<const NodeId> class_nodes(ClassId id) const;  ///< ascending
  /// Number of levels, at least 2 (NVLink, leaf) and up to the highest tier on any shortest path; level_count()-1 is
  /// the coarsest and may still have several domains where the fabric is in pieces.
  [[nodiscard]] Level level_count() const;
  /// "nvlink", "leaf", "pod", "core", then "tier4" ….
  [[nodiscard]] std::string_view level_name(Level level) const;
  [[nodiscard]] std::uint32_t domain_count(Level level) const;
  [[nodiscard]] DomainId domain_of(Level level, NodeId node) const;
  /// index(domain_of(level, n)) for every node n: for loops over all of them.
  [[nodiscard]] std::span<const std::uint32_t> domain_numbers(Level level) const;
  [[nodiscard]] std::span<const NodeId> domain_nodes(Level level, DomainId domain) const;  ///< in fabric order
  /// Name of a domain: its switch where it has one ("leaf3"), else "leaf1+leaf2", "pod2", the NVLink domain's own.
  [[nodiscard]] std::string domain_name(Level level, DomainId domain) const;
  /// Every domain of `level` lies inside one of `level`+1, and NICs of equal index of any two usable nodes meet on the
  /// very tier that is the lowest level (leaf and up) with both in one domain, so best fit on the hierarchy is sound.
  /// False for torus, dragonfly, irregular graphs.
  [[nodiscard]] bool hierarchical() const;

  /// Everything that must hold, checked the slow way; the first broken invariant as text. O(leaves^3) at worst: for
  /// tests.
  [[nodiscard]] std::optional<std::string> check_invariants() const;

 private:
  struct Impl;
  explicit Fabric(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
  friend class FabricBuilder;
};

}  // namespace weft::topology
