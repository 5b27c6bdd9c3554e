// SPDX-License-Identifier: BSD-3-Clause
//
// What a placement costs. Pure: no Slurm, no files, no clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

struct ScoreOptions {
  std::optional<config::CrossRail> cross_rail;  ///< default: the job's, else pxn where the node has NVLink
  const NodeMask* free_before = nullptr;        ///< for fragmentation; null = every usable node
};

struct MeanMax {
  double mean = 0;
  double max = 0;
};

/// Spread of one dimension's groups: distinct domains a group's members sit on, by level.
struct DimSpread {
  config::Dim dim{};
  std::vector<MeanMax> by_level;  ///< indexed by topology::Level
};

struct Score {
  std::vector<double>
      tier_bytes;  ///< bytes a step by highest switch tier on the path; [0] inside an NVLink domain or node
  double cross_spine_bytes = 0;                     ///< sum of tiers 2 and up
  double hop_bytes = 0;                             ///< sum of bytes * hops
  double mean_hops = 0;                             ///< byte-weighted over traffic of tier 1 and up
  std::uint32_t max_hops = 0;                       ///< largest used
  std::vector<DimSpread> spread;                    ///< dimensions larger than 1, in Dim order
  std::vector<std::uint32_t> fragmentation_before;  ///< by level: largest gang of free nodes in one domain
  std::vector<std::uint32_t> fragmentation_after;
  struct Exposure {
    std::uint32_t leaves = 0, pods = 0, planes = 0, nvlink_domains = 0;
  } exposure;
};

/// Errors: infeasible where two ranks that talk have no path.
[[nodiscard]] Result<Score> score(const topology::Fabric& fabric, const Placement& placement, const Traffic& traffic,
                                  const ScoreOptions& options = {});

}  // namespace weft::placement
