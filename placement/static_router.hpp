// SPDX-License-Identifier: BSD-3-Clause
//
// Flows along forwarding tables, cable by cable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "link_router.hpp"
#include "weft/placement/routing.hpp"

namespace weft::placement {

/// Tables and port map compiled for one fabric: where each port of each switch leads, and where NICs are plugged in.
/// Immutable; refers to both. Loads are kept by directed cable: 2 * cable, plus 1 from the link's b to its a.
class StaticPaths {
 public:
  /// Errors: those of static_loads that need no flow.
  [[nodiscard]] static Result<StaticPaths> make(const topology::Fabric& fabric, const StaticTables& tables);

  [[nodiscard]] std::uint32_t cable_count() const { return static_cast<std::uint32_t>(link_of_cable_.size()); }
  [[nodiscard]] LinkUse use_of(std::uint32_t number, double bytes) const;

 private:
  friend class StaticRouter;
  // Where a port leads.
  struct Out {
    enum class To : std::uint8_t { nowhere, switch_, node } to = To::nowhere;
    std::uint32_t number = 0;  // directed cable, outwards
    std::uint32_t id = 0;      // SwitchId or NodeId
    std::uint32_t nic = 0;
  };
  struct Station {
    const ForwardingTables* tables = nullptr;
    const ForwardingTables::Switch* table = nullptr;
    std::vector<Out> out;  // by port
  };
  // A cable of a NIC.
  struct Plug {
    topology::SwitchId leaf{};
    topology::LinkId link{};
    std::uint32_t number = 0;  // directed cable, towards the switch
    std::uint64_t guid = 0;
    std::uint32_t lid = 0;  // 0: unknown
  };

  explicit StaticPaths(const topology::Fabric& fabric);
  class Builder;

  const topology::Fabric* fabric_;
  std::vector<Station> stations_;          // by switch
  std::vector<std::uint32_t> nic_base_;    // by node
  std::vector<std::vector<Plug>> plugs_;   // by nic_base_ + NIC
  std::vector<std::uint32_t> cable_base_;  // by link
  std::vector<topology::LinkId> link_of_cable_;
};

class StaticRouter {
 public:
  explicit StaticRouter(const StaticPaths& paths);
  /// The number of switches on the longest of the flow's paths; nullopt where the tables do not lead there: fault()
  /// says why. The NICs exist and have a path in the fabric.
  [[nodiscard]] std::optional<std::uint32_t> add(const NicFlow& flow);
  [[nodiscard]] const SparseLoads& loads() const { return loads_; }
  void clear() { loads_.clear(); }
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }  ///< the first

 private:
  using Plug = StaticPaths::Plug;
  std::uint32_t walk(const NicFlow& flow, const Plug& from, const Plug& to, double bytes);
  void blame(Error fault);
  [[nodiscard]] Error entry_fault(topology::SwitchId sw, const NicFlow& flow, const Plug& to, std::string what) const;
  [[nodiscard]] std::string circle(topology::SwitchId from, std::uint32_t lid) const;

  const StaticPaths& paths_;
  PortPairs pairs_;
  SparseLoads loads_;
  std::optional<Error> fault_;
};

}  // namespace weft::placement
