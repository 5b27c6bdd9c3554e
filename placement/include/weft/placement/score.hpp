// SPDX-License-Identifier: BSD-3-Clause
//
// What a placement costs. Pure: no Slurm, no files, no clock.
//
// DEFINITIONS (final; FORMATS.md)
//   Every flow takes a shortest path between two NICs. Ranks in one NVLink domain (a node is one, whatever its NVLink)
//   need none: hops 0, tier 0. Else GPU i sends to GPU j over
//     - the sender's NIC of GPU j and the receiver's NIC of GPU j where cross_rail is pxn and i != j,
//     - the NIC of GPU i and the NIC of GPU j otherwise.
//   Where those two NICs cannot reach each other (a rail that is down, a rail-only fabric), the flow takes the best
//   path between any NICs of the two nodes and counts in `rerouted_bytes` too.
//
// COMPLEXITY
//   O(flows + ranks * levels * dimensions), after one path look-up for each pair of leaf sets in use. A score of 8,192
//   ranks takes a few milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/link_score.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

struct ScoreOptions {
  std::optional<config::CrossRail> cross_rail;  ///< default: the job's, else pxn where the sender's node has NVLink
  const NodeMask* free_before = nullptr;        ///< for fragmentation and bounds; null = every usable node
  bool inside = false;                          ///< count Score::inside
  bool locality = true;                         ///< count spread, fragmentation and exposure; bounds come all the same
  const TrafficDigest* digest = nullptr;        ///< of the traffic; null = made anew
  /// Link loads and times. Without a routing they are left out: the rest of a score takes a fraction of the time.
  LinkOptions links;
};

struct MeanMax {
  double mean = 0;
  double max = 0;
  friend bool operator==(const MeanMax&, const MeanMax&) = default;
};

/// Spread of one dimension's groups: distinct domains a group's members sit on, by level.
struct DimSpread {
  config::Dim dim{};
  std::vector<MeanMax> by_level;  ///< indexed by topology::Level
  /// Lower bound on the spread of any group of this size at each level: the nodes that a group's ranks fill (at least
  /// ceil(g / ranks_per_node); where ranks follow the nodes' order, those that they lie on) need at least so many of
  /// the freest domains (before the job came).
  std::vector<std::uint32_t> bound;
  friend bool operator==(const DimSpread&, const DimSpread&) = default;
};

/// What no placement with ranks in node order can beat, given what was free (bounds.hpp).
struct TrafficBounds {
  std::size_t highest_tier = 0;   ///< the tier that the next one is about
  double highest_tier_bytes = 0;  ///< 0 where that tier is below 2
  double cross_spine_bytes = 0;
  double hop_bytes = 0;
  friend bool operator==(const TrafficBounds&, const TrafficBounds&) = default;
};

/// What traffic meets inside the nodes, on its way between GPUs and NICs. Of flows that leave their node; each end of a
/// flow counts its own node's part.
struct InsideScore {
  std::uint64_t shared_nics = 0;  ///< ranks that share their NIC with a rank of lower number, summed over nodes
  double cross_rail_bytes = 0;    ///< bytes between GPUs whose NICs have different numbers
  double pcie_detour_bytes = 0;   ///< bytes that cross a host bridge of the own NUMA node (PHB, NODE)
  double numa_detour_bytes = 0;   ///< bytes that cross to another NUMA node (SYS)
  bool paths_known = false;       ///< the detours are of node types whose inside is known; 0 for all others
  friend bool operator==(const InsideScore&, const InsideScore&) = default;
};

struct Score {
  /// Bytes a step by highest switch tier on the path; [0] inside an NVLink domain or node. Size max_tier + 1.
  std::vector<double> tier_bytes;
  double cross_spine_bytes = 0;                     ///< sum of tiers 2 and up
  double hop_bytes = 0;                             ///< sum of bytes * hops
  double mean_hops = 0;                             ///< byte-weighted over traffic of tier 1 and up; 0 without any
  std::uint32_t max_hops = 0;                       ///< largest used
  double rerouted_bytes = 0;                        ///< bytes that could not use their own rail
  std::vector<DimSpread> spread;                    ///< dimensions larger than 1, in Dim order
  std::vector<std::uint32_t> fragmentation_before;  ///< by level: largest gang of free nodes in one domain
  std::vector<std::uint32_t> fragmentation_after;
  struct Exposure {
    std::uint32_t leaves = 0, pods = 0, planes = 0, nvlink_domains = 0;
    friend bool operator==(const Exposure&, const Exposure&) = default;
  } exposure;
  std::optional<InsideScore> inside;  ///< where ScoreOptions::inside asks for it
  std::optional<LinkScore> links;     ///< where ScoreOptions::links has a routing
  /// Of hierarchical fabrics, for placements whose ranks follow their nodes' order, as place() makes them.
  std::optional<TrafficBounds> bounds;
  friend bool operator==(const Score&, const Score&) = default;
};

/// Scores a placement of traffic.ranks() ranks. Errors: usage where placement, traffic and fabric do not fit together
/// (rank counts, ids, GPUs or NICs out of range, mask size), infeasible where two ranks that talk have no path at all,
/// those of static_loads for static routing. The same for the running jobs, named.
[[nodiscard]] Result<Score> score(const topology::Fabric& fabric, const Placement& placement, const Traffic& traffic,
                                  const ScoreOptions& options = {});

}  // namespace weft::placement
