// SPDX-License-Identifier: BSD-3-Clause
//
// Hashed flows: one path each, cable by cable.
//
// A flow is (from NIC, to NIC): whatever ranks and terms send between two NICs takes one path in one draw, as one queue
// pair does. Not thread safe; keeps its buffers between draws.
#pragma once

#include <cstdint>
#include <vector>

#include "link_router.hpp"
#include "weft/placement/routing.hpp"

namespace weft::placement {

class EcmpRouter {
 public:
  explicit EcmpRouter(const topology::Fabric& fabric);
  /// False where there is no path.
  [[nodiscard]] bool add(const NicFlow& flow);
  [[nodiscard]] EcmpDraw draw(std::uint64_t seed);
  /// Forgets the flows.
  void clear() { flows_.clear(); }
  [[nodiscard]] const std::vector<NicFlow>& flows() const { return flows_; }

 private:
  // A flow with its ports chosen.
  struct Walk {
    topology::SwitchId from{};
    topology::SwitchId to{};
    std::uint64_t hash = 0;
    double bytes = 0;
  };
  struct Choice {
    topology::SwitchId sw{};
    topology::LinkId link{};
    std::uint64_t cables_before = 0;
  };
  struct Branch {
    std::uint32_t begin = 0, end = 0;  // into choices_
    std::uint64_t cables = 0;
    std::uint32_t round = 0;
  };

  void leave_ports(std::uint64_t seed);
  void walk_to(std::size_t begin, std::size_t end);
  const Branch& branch_at(topology::SwitchId sw);
  void load(DirectedLink link, std::uint64_t cable, double bytes);

  const topology::Fabric& fabric_;
  DistanceField field_;
  PortPairs pairs_;
  std::vector<NicFlow> flows_;
  std::vector<Walk> walks_;
  std::vector<topology::SwitchId> senders_;
  std::vector<Branch> branches_;  // by switch
  std::vector<Choice> choices_;
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> cable_base_;  // of a link, in cables
  std::vector<double> cable_bytes_;        // by 2 * (base + cable) + direction
};

}  // namespace weft::placement
