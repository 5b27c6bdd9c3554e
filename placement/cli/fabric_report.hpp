// SPDX-License-Identifier: BSD-3-Clause
//
// What `weft show` says about a fabric, gathered once and printed as text or JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric_input.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::cli {

/// All switches of one tier. Cables count whether up or down; capacities are those in use now, one direction.
struct TierReport {
  std::uint32_t tier = 0;
  std::uint64_t switches = 0;
  std::uint64_t switches_down = 0;
  std::uint64_t node_cables = 0;                       ///< to nodes
  std::uint64_t lower_cables = 0;                      ///< to switches of lower tiers
  std::uint64_t peer_cables = 0;                       ///< among themselves
  std::uint64_t upper_cables = 0;                      ///< to switches of higher tiers
  std::map<std::uint64_t, std::uint64_t> down_speeds;  ///< bits/s -> cables, to nodes and lower tiers
  std::map<std::uint64_t, std::uint64_t> up_speeds;    ///< bits/s -> cables, to higher tiers and peers
  double down_bits = 0;                                ///< capacity to nodes and lower tiers
  double up_bits = 0;                                  ///< capacity to higher tiers
  /// down:up over the tier; nothing where no link leads up.
  [[nodiscard]] std::optional<double> oversubscription() const;
  std::optional<double> worst;  ///< of a single switch, where it is more than the tier's
  std::string worst_switch;
};

struct LevelReport {
  std::string_view name;
  std::uint32_t domains = 0;
  std::uint32_t smallest = 0;  ///< nodes
  std::uint32_t largest = 0;
};

struct TypeReport {
  const topology::NodeType* type = nullptr;
  std::uint64_t nodes = 0;
};

struct FabricReport {
  std::uint64_t cables = 0;
  std::uint64_t usable_nodes = 0;
  std::uint32_t rails = 1;  ///< most different leaves that the NICs of one node use within one plane
  std::vector<TypeReport> types;
  std::vector<TierReport> tiers;  ///< ascending, tiers that have switches
  std::vector<LevelReport> levels;
};

/// O(links + nodes * levels).
[[nodiscard]] FabricReport report_fabric(const topology::Fabric& fabric);

/// "leaf", "spine", "core", "tier 4".
[[nodiscard]] std::string tier_word(std::uint32_t tier);

/// "switch down", "link slow" …
[[nodiscard]] std::string_view fault_word(topology::Fault::Kind kind);

/// A note's place and words, without its kind; control bytes shown as '?'.
[[nodiscard]] std::string note_words(const Note& note);

[[nodiscard]] std::string fabric_text(const LoadedFabric& loaded, const FabricReport& report);
[[nodiscard]] std::string fabric_json(const LoadedFabric& loaded, const FabricReport& report);

}  // namespace weft::cli
