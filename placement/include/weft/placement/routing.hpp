// SPDX-License-Identifier: BSD-3-Clause
//
// What flows put on the links.
//
// DESCRIPTION
//   Every link is two directed links, one each way. A flow goes from a NIC to a NIC over shortest paths in switches:
//
//   spray   All shortest paths, as packet spraying and adaptive routing use them in the mean. Of the source NIC's ports
//           those through which a shortest path leads take equal parts by their cables; from each of them, so do the
//           destination NIC's ports at that distance. At each switch the flow splits evenly over the cables that lie on
//           a shortest path to the destination port's leaf; parallel cables count by their number.
//   ecmp    Each flow (from NIC, to NIC) takes one path: at each of those branches a hash of flow, place and seed
//           chooses one cable with equal chance, so that the expected load of every link is exactly that of spray.
//           What hashing costs is how uneven one draw is: `draw_ecmp` gives draws, reproducible by seed, cable by
//           cable, and their mean worst cable is the estimate of the expected worst.
//   static  Each flow takes the path of a subnet manager's forwarding tables: from the NIC's port switch by switch, by
//   the
//           destination port's (lowest) LID, cable by cable. Of a NIC's ports, those on shortest paths share as under
//           spray. A table that leads nowhere, over a cable that is down, in a circle or to another host is an error.
//           Which of a bundle's cables a health file means nobody says: its last ports, in port order.
//
// COMPLEXITY
//   spray: O(flows + for each leaf that receives: switch links nearer to it than the farthest sender's last hop).
//   ecmp: O(flows * hops) a draw besides. static: O(flows * hops).
//
// SOURCES
//   Splitting along shortest-path DAGs: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25
//   (2001). ECMP: RFC 2992 (hash-threshold), each switch hashing for itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/placement/forwarding.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/import.hpp"

namespace weft::placement {

enum class Routing : std::uint8_t { spray, ecmp, forwarding_tables };
/// "spray", "ecmp", "static".
[[nodiscard]] std::string_view to_string(Routing routing);
/// The routing of that name. Errors: usage, listing the names.
[[nodiscard]] Result<Routing> parse_routing(std::string_view text);

/// One direction of a link. Dense number: 2 * link, plus 1 from b to a.
struct DirectedLink {
  topology::LinkId link{};
  bool forward = true;  ///< from Link::a to Link::b
  friend bool operator==(const DirectedLink&, const DirectedLink&) = default;
  [[nodiscard]] std::uint32_t number() const { return 2 * topology::index(link) + (forward ? 0 : 1); }
};
/// The names of the two ends, sender first.
[[nodiscard]] std::pair<std::string, std::string> end_names(const topology::Fabric& fabric, DirectedLink link);

/// Bytes a step from NIC to NIC.
struct NicFlow {
  topology::NodeId from{};
  std::uint32_t from_nic = 0;
  topology::NodeId to{};
  std::uint32_t to_nic = 0;
  double bytes = 0;
};

/// A directed link under load, and the time that it takes to drain its bytes at its bandwidth: that of all its cables,
/// or of one cable where the routing tells them apart.
struct LinkUse {
  DirectedLink link;
  double bytes = 0;
  double seconds = 0;
  friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

/// Bytes on each directed link by DirectedLink::number(), size 2 * link_count(); flows spread as under spray. Errors:
/// usage (no such node or NIC), infeasible (no path).
[[nodiscard]] Result<std::vector<double>> link_loads(const topology::Fabric& fabric, std::span<const NicFlow> flows);

/// The link that takes longest; of equals the lowest number. nullopt where nothing is loaded.
[[nodiscard]] std::optional<LinkUse> slowest_link(const topology::Fabric& fabric, std::span<const double> loads);

/// One draw of hashed flows.
struct EcmpDraw {
  std::vector<double> loads;     ///< by DirectedLink::number(), all cables together
  std::optional<LinkUse> worst;  ///< the cable that takes longest, its bytes alone
};
/// Errors as link_loads'.
[[nodiscard]] Result<EcmpDraw> draw_ecmp(const topology::Fabric& fabric, std::span<const NicFlow> flows,
                                         std::uint64_t seed);

/// What static routing goes by: the tables of each subnet, and the ports of the dump that the fabric was read from.
struct StaticTables {
  std::vector<ForwardingTables> subnets;
  std::vector<topology::SwitchPort> ports;
};
/// Bytes on each directed link, as link_loads', along the tables. Errors: usage and infeasible as link_loads';
/// unsupported (no ports), dangling (no switch of the tables is in the fabric), duplicate (a switch in two subnets),
/// missing (a switch without a table, a port without a LID, a table without an entry), conflict (an entry that does not
/// lead there).
[[nodiscard]] Result<std::vector<double>> static_loads(const topology::Fabric& fabric, std::span<const NicFlow> flows,
                                                       const StaticTables& tables);

}  // namespace weft::placement
