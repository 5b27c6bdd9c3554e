// SPDX-License-Identifier: BSD-3-Clause
//
// Paths between ranks, fast.
//
// DESCRIPTION
//   What a NIC can reach depends only on the set of leaves it is attached to, its endpoint. A cluster of 12,500 nodes
//   has a few hundred endpoints, so that a table of endpoint pairs, filled as pairs turn up, answers almost every
//   look-up with one load. Fabrics with too many endpoints (a large torus) ask the fabric each time.
//
// Not thread safe: look-ups fill the table. Make one for each thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "weft/config/job_spec.hpp"
#include "weft/placement/placement.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// A rank's place, resolved for look-ups.
struct Site {
  topology::NodeId node{};
  std::uint32_t domain = 0;  ///< NVLink domain
  std::uint32_t kind = 0;    ///< local number of the node's attachment class and type
  std::uint32_t gpu = 0;
  std::uint32_t nic = 0;
  std::uint32_t endpoint = 0;  ///< of `nic`
};

/// A path that a flow takes, whether it had to leave its rail, and between which NICs it goes (where hops is not 0).
struct Route {
  topology::Path path;
  bool rerouted = false;
  std::uint32_t from_nic = 0;
  std::uint32_t to_nic = 0;
};

class PathTable {
 public:
  /// For the nodes given (and their like: any node of the same class and type).
  PathTable(const topology::Fabric& fabric, std::span<const topology::NodeId> nodes,
            std::optional<config::CrossRail> cross_rail);

  /// Precondition: the slot's node is like one of the constructor's, its NIC and GPU exist.
  [[nodiscard]] Site site(const Slot& slot) const;
  /// How `from` reaches `to`; nullopt where it cannot. O(1) but for the first look-up of a pair of endpoints.
  [[nodiscard]] std::optional<Route> route(const Site& from, const Site& to);

 private:
  struct Kind {
    topology::NodeId sample{};
    const topology::NodeType* type = nullptr;
    topology::TypeId type_id{};
    bool pxn = false;
    std::vector<std::uint32_t> endpoints;  // by NIC
  };
  struct Endpoint {
    topology::NodeId node{};  // a node that has it, and with which NIC
    std::uint32_t nic = 0;
  };
  // A cell of the table; hops 255 means not looked up yet, 254 no path.
  static constexpr std::uint8_t kUnknown = 255;
  static constexpr std::uint8_t kNone = 254;

  [[nodiscard]] std::uint32_t sending_nic(const Site& from, const Site& to) const;
  [[nodiscard]] topology::Path lookup(std::uint32_t a, std::uint32_t b);
  [[nodiscard]] topology::Path ask(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::optional<Route> any_path(const Site& from, const Site& to);

  const topology::Fabric* fabric_;
  std::vector<std::uint32_t> kind_of_class_;  // first kind of each class; kinds of one class are chained
  std::vector<std::uint32_t> next_kind_;
  std::vector<Kind> kinds_;
  std::vector<Endpoint> endpoints_;
  std::vector<topology::Path> table_;  // endpoints^2, or empty where that is too many
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Route>> any_;  // by kinds
};

}  // namespace weft::placement
