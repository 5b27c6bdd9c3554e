// SPDX-License-Identifier: BSD-3-Clause
//
// Flows to link loads, fast.
//
// DESCRIPTION
//   Flows are added one by one: their bytes go on the node links at once, and between leaves into a matrix. Routing
//   then works on the matrix: for each destination leaf, distances from it, and all that is bound for it pushed down
//   them. The farthest senders' own links are looked at from their side only, so that on a tree the links of other
//   leaves are never touched.
//
// Not thread safe. Keeps its buffers between rounds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "weft/placement/routing.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// Loads of few links among many: what was touched, in the order in which it was.
struct SparseLoads {
  std::vector<double> bytes;           ///< by directed link
  std::vector<std::uint32_t> touched;  ///< whose bytes are not 0
  void add(std::uint32_t link, double amount) {
    if (bytes[link] == 0) touched.push_back(link);
    bytes[link] += amount;
  }
  void clear();
};

/// Distances to one leaf, as far as they matter for its senders.
class DistanceField {
 public:
  explicit DistanceField(const topology::Fabric& fabric);
  /// Distances to `to`, in links, of every switch nearer than the farthest of `from`, and of all of `from`.
  /// Precondition: every one of `from` reaches `to`.
  void aim(topology::SwitchId to, std::span<const topology::SwitchId> from);
  [[nodiscard]] std::uint32_t farthest() const { return farthest_; }
  /// Distance; only of switches that aim() covers.
  [[nodiscard]] std::uint32_t at(topology::SwitchId sw) const { return distance_[topology::index(sw)]; }
  /// True where `next` is one nearer than `sw`, which is covered.
  [[nodiscard]] bool nearer(topology::SwitchId next, topology::SwitchId sw) const {
    const std::uint32_t n = topology::index(next);
    return round_of_[n] == round_ && distance_[n] + 1U == distance_[topology::index(sw)];
  }

 private:
  void set(topology::SwitchId sw, std::uint32_t distance);
  const topology::Fabric& fabric_;
  std::vector<std::uint32_t> round_of_;
  std::vector<std::uint16_t> distance_;
  std::vector<topology::SwitchId> queue_;
  std::uint32_t round_ = 0;
  std::uint32_t farthest_ = 0;
};

/// The way a flow between two NICs takes out of the one and into the other.
struct PortPair {
  std::uint32_t from = 0;  ///< index into Fabric::ports
  std::uint32_t to = 0;
  double share = 1;
};

/// The port pairs that flows between NICs use, with their shares; answers are kept.
class PortPairs {
 public:
  explicit PortPairs(const topology::Fabric& fabric) : fabric_(fabric) {}
  /// Empty where the NICs have no path.
  [[nodiscard]] const std::vector<PortPair>& of(std::span<const topology::Port> from,
                                                std::span<const topology::Port> to);

 private:
  [[nodiscard]] std::uint32_t ports_id(std::span<const topology::Port> ports);
  [[nodiscard]] std::vector<PortPair> make(std::span<const topology::Port> from,
                                           std::span<const topology::Port> to) const;
  const topology::Fabric& fabric_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> ids_;  // leaves and cables
  std::unordered_map<std::uint64_t, std::vector<PortPair>> pairs_;
};

class SprayRouter {
 public:
  explicit SprayRouter(const topology::Fabric& fabric);
  /// False where there is no path. The node and NIC exist.
  [[nodiscard]] bool add(const NicFlow& flow);
  /// Routes what was added; loads() is complete from here on.
  void route();
  [[nodiscard]] const SparseLoads& loads() const { return loads_; }
  /// Forgets the loads.
  void clear() { loads_.clear(); }

 private:
  // What is bound for one leaf, by sending leaf; in a plain array for the first leaves that turn up.
  struct Row {
    std::vector<double> dense;
    std::map<std::uint32_t, double> sparse;
  };
  static constexpr std::uint32_t kDense = 1024;

  std::uint32_t local(topology::SwitchId leaf);
  void add_pair(const topology::Port& from, const topology::Port& to, double bytes);
  void push_down(topology::SwitchId to, const Row& row);
  void spread_from(topology::SwitchId sw);
  void wait_at(topology::SwitchId sw, double bytes);

  const topology::Fabric& fabric_;
  DistanceField field_;
  PortPairs pairs_;
  SparseLoads loads_;
  std::vector<std::uint32_t> local_;                     // of a switch
  std::vector<topology::SwitchId> leaves_;               // by local number
  std::vector<Row> rows_;                                // by local number of the destination
  std::vector<double> waiting_;                          // bytes at a switch
  std::vector<std::vector<topology::SwitchId>> levels_;  // switches with bytes, by distance
  std::vector<topology::SwitchId> senders_;
};

/// The directed link out of `sw` over `link`.
[[nodiscard]] inline DirectedLink out_of(const topology::Fabric& fabric, topology::SwitchId sw, topology::LinkId link) {
  const topology::LinkEnd& a = fabric.link(link).a;
  return {link, a.is_switch && a.id == topology::index(sw)};
}

/// Load and drain time over all cables of a directed link.
[[nodiscard]] LinkUse use_of(const topology::Fabric& fabric, std::uint32_t number, double bytes);
/// Takes the slower of two; of equals the lower number.
void keep_slower(std::optional<LinkUse>& worst, const LinkUse& use);
/// The slowest link of those touched.
[[nodiscard]] std::optional<LinkUse> slowest_link(const topology::Fabric& fabric, const SparseLoads& loads);

/// Whether the flows' nodes and NICs exist.
[[nodiscard]] Result<void> check_flows(const topology::Fabric& fabric, std::span<const NicFlow> flows);
[[nodiscard]] Error no_path(const topology::Fabric& fabric, const NicFlow& flow);

}  // namespace weft::placement
