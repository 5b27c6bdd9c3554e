// SPDX-License-Identifier: BSD-3-Clause
//
// What is free where: the fabric's hierarchy as seen by one request. Built in O(nodes * levels), in fabric order, so
// that every domain is a run of it.
//
//   island            nodes that can reach each other at all
//    └ top … level 3  domains above pods, where the fabric has them
//       └ pod         level 2 (the whole island where the fabric has no such level)
//          └ leaf     level 1
//             └ rack  level 0 within the leaf: an NVLink domain, often a single node
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eligible.hpp"
#include "weft/placement/placement.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// What a choice of nodes must obey. Zero or nullopt = no rule.
struct SelectRules {
  std::uint32_t nodes = 0;
  std::uint32_t segment = 0;  ///< divides nodes; each run of this many nodes inside one domain of segment_level
  topology::Level segment_level = topology::kLeafLevel;  ///< at most kPodLevel
  std::optional<std::uint32_t> max_leaves;
  std::optional<std::uint32_t> max_pods;
};

/// Run [begin, end) of free nodes and what it can give. `cap` counts nodes in whole segments, `need` the nodes that
/// must be taken for the required ones and their segments.
struct Rack {
  std::uint32_t begin = 0, end = 0;  ///< into Locality::nodes
  std::uint32_t cap = 0, need = 0;
};
struct Leaf {
  topology::DomainId domain{};
  std::uint32_t begin = 0, end = 0;            ///< into Locality::nodes
  std::uint32_t rack_begin = 0, rack_end = 0;  ///< into Locality::racks
  std::uint32_t cap = 0, need = 0;
  [[nodiscard]] std::uint32_t free() const { return end - begin; }
};
struct Pod {
  topology::NodeId sample{};  ///< a node of it
  std::uint32_t begin = 0, end = 0;
  std::uint32_t island = 0;
  std::vector<std::uint32_t> leaves;  ///< those that must be used first, then by cap, largest first, then fabric order
  std::uint32_t forced = 0;           ///< how many of `leaves` the required nodes and their segments take
  std::vector<std::uint32_t> prefix;  ///< prefix[j]: nodes that the first j leaves hold, in whole segments
  std::uint32_t cap = 0, need = 0;
  [[nodiscard]] std::uint32_t free() const { return end - begin; }
};

struct Locality {
  std::vector<topology::NodeId> nodes;  ///< eligible ones, in fabric order
  std::vector<bool> required;           ///< by place in `nodes`
  std::vector<Rack> racks;
  std::vector<Leaf> leaves;
  std::vector<Pod> pods;
  std::uint32_t islands = 0;
  bool has_pods = false;  ///< the fabric has level 2
};

/// Without rules: caps, needs and the order of a pod's leaves are not filled in.
[[nodiscard]] Locality build_locality(const topology::Fabric& fabric, const Eligible& eligible);
/// The same of one domain alone. O(nodes of the domain), in a connected hierarchy.
[[nodiscard]] Locality build_locality(const topology::Fabric& fabric, const Eligible& eligible, topology::Level level,
                                      topology::DomainId domain);
/// The same ground under rules. O(nodes).
[[nodiscard]] Locality with_rules(const Locality& ground, const SelectRules& rules);

/// For each node of `nodes` the number of the set of nodes that it can reach, numbered as they turn up. O(links).
[[nodiscard]] std::vector<std::uint32_t> islands_of(const topology::Fabric& fabric,
                                                    std::span<const topology::NodeId> nodes);

}  // namespace weft::placement
