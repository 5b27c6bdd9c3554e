// SPDX-License-Identifier: BSD-3-Clause
//
// Where a job's nodes may sit, seen by the rank map: nodes that no path can tell apart are one spot.
//
// DESCRIPTION
//   A spot holds free nodes of one attachment class and node type, and of one NVLink domain where that is larger than a
//   node. What an edge costs depends on its two spots alone; a pair of spots is of a kind (all its lanes' paths), found
//   when first asked for, and there are few kinds: 4,096 nodes under 256 leaves have three.
//
// Not thread safe: look-ups fill the tables. Make one for each thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "node_graph.hpp"
#include "path_table.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// Lexicographic: units (1/scale byte) over the highest tier, the next, all the others down to tier 2; then unit-hops.
/// The last entry is a bin for what does not count.
struct Cost {
  static constexpr std::size_t kTerms = 4;
  std::array<std::int64_t, kTerms + 1> v{};

  Cost& operator+=(const Cost& o) {
    for (std::size_t i = 0; i < kTerms; ++i) v[i] += o.v[i];
    return *this;
  }
  Cost& operator-=(const Cost& o) {
    for (std::size_t i = 0; i < kTerms; ++i) v[i] -= o.v[i];
    return *this;
  }
  [[nodiscard]] bool negative() const {
    for (std::size_t i = 0; i < kTerms; ++i)
      if (v[i] != 0) return v[i] < 0;
    return false;
  }
  friend bool operator<(const Cost& a, const Cost& b) {
    for (std::size_t i = 0; i < kTerms; ++i)
      if (a.v[i] != b.v[i]) return a.v[i] < b.v[i];
    return false;
  }
  friend bool operator==(const Cost& a, const Cost& b) {
    for (std::size_t i = 0; i < kTerms; ++i)
      if (a.v[i] != b.v[i]) return false;
    return true;
  }
};

struct Spot {
  std::vector<topology::NodeId> nodes;  ///< in the order in which they are given out: required ones first
  std::uint32_t required = 0;           ///< how many of them must be used
  std::uint32_t leaf = 0;               ///< domains, dense numbers within the table
  std::uint32_t pod = 0;
  std::uint32_t rack = 0;  ///< NVLink domain
  bool alone = true;       ///< each of its nodes is an NVLink domain of its own
};

class SpotTable {
 public:
  /// Of `nodes`, in the order in which a spot gives them out. `required` by NodeId, or empty.
  SpotTable(const topology::Fabric& fabric, std::span<const topology::NodeId> nodes, const std::vector<bool>& required,
            const NodeGraph& graph, std::optional<config::CrossRail> cross_rail);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(spots_.size()); }
  [[nodiscard]] const Spot& spot(std::uint32_t s) const { return spots_[s]; }
  /// Spot of a node that the table was made of.
  [[nodiscard]] std::uint32_t spot_of(topology::NodeId node) const { return spot_of_[topology::index(node)]; }
  [[nodiscard]] std::uint32_t leaf_count() const { return leaves_; }
  [[nodiscard]] std::uint32_t pod_count() const { return pods_; }

  /// Adds what an edge costs, its lower vertex on `low`, its higher one on `high`.
  void add(Cost& to, std::uint32_t low, std::uint32_t high, const NodeGraph::Half& edge) {
    put<1>(to, kind(low, high), edge);
  }
  /// Adds what an edge costs more between the spots `low` and `high` than between the ones from which it comes.
  void replace(Cost& to, std::uint32_t low_before, std::uint32_t high_before, std::uint32_t low, std::uint32_t high,
               const NodeGraph::Half& edge) {
    // By number: a look-up may move the kinds.
    const std::uint32_t before = kind_number(low_before, high_before);
    const std::uint32_t after = kind_number(low, high);
    if (before == after) return;
    put<1>(to, kinds_[after], edge);
    put<-1>(to, kinds_[before], edge);
  }
  /// Whether an edge between the two spots can cost more than one within a spot.
  [[nodiscard]] std::uint8_t tier(std::uint32_t low, std::uint32_t high) { return kind(low, high).tier; }

 private:
  struct Kind {
    bool uniform = true;  // every lane takes the same path
    std::uint8_t slot = Cost::kTerms;
    std::uint8_t tier = 0;  // highest
    std::int64_t hops = 0;
    std::vector<topology::Path> lanes;  // where not uniform
    std::vector<Cost> by_pattern;       // where not uniform and patterns are few
  };
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  template <int kSign>
  void put(Cost& to, const Kind& k, const NodeGraph::Half& edge) const {
    if (k.uniform) {
      to.v[k.slot] += kSign * edge.bytes;
      to.v[Cost::kTerms - 1] += kSign * edge.bytes * k.hops;
    } else if (!k.by_pattern.empty()) {
      if constexpr (kSign > 0)
        to += k.by_pattern[edge.pattern];
      else
        to -= k.by_pattern[edge.pattern];
    } else {
      Cost c;
      cost_of_pattern(k, edge.pattern, c);
      if constexpr (kSign > 0)
        to += c;
      else
        to -= c;
    }
  }
  const Kind& kind(std::uint32_t low, std::uint32_t high) { return kinds_[kind_number(low, high)]; }
  std::uint32_t kind_number(std::uint32_t low, std::uint32_t high) {
    if (cells_.empty()) return find_kind(low, high);
    std::uint32_t& cell = cells_[std::size_t{low} * spots_.size() + high];
    if (cell == kUnknown) cell = find_kind(low, high);
    return cell;
  }
  [[nodiscard]] std::uint32_t find_kind(std::uint32_t low, std::uint32_t high);
  std::uint32_t intern(std::vector<topology::Path> lanes);
  std::uint32_t plain_kind(const topology::Path& path);
  [[nodiscard]] std::uint8_t slot_of(std::uint8_t tier) const;
  void cost_of_pattern(const Kind& kind, std::uint32_t pattern, Cost& out) const;

  const topology::Fabric& fabric_;
  const NodeGraph& graph_;
  PathTable paths_;
  std::vector<Spot> spots_;
  std::vector<std::uint32_t> spot_of_;     // by NodeId
  std::vector<std::vector<Site>> sites_;   // by spot: of each GPU of its first node
  std::vector<std::vector<Site>> others_;  // of its second node, for edges within a spot
  std::vector<bool> plain_;                // by spot: one endpoint for all GPUs
  std::uint32_t leaves_ = 0, pods_ = 0;
  std::vector<std::uint32_t> cells_;  // spots^2, or empty where that is too many
  std::vector<Kind> kinds_;
  std::map<std::vector<std::uint16_t>, std::uint32_t> known_;
};

}  // namespace weft::placement
