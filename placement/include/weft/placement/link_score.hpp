// SPDX-License-Identifier: BSD-3-Clause
//
// The part of a score that knows single links: what they carry, what takes longest, how long a step communicates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/job_spec.hpp"
#include "weft/placement/routing.hpp"
#include "weft/placement/time_model.hpp"

namespace weft::placement {

struct Placement;
struct Traffic;

/// A job that is there already. Pointers not null; they outlive the call.
struct RunningJob {
  std::string name;
  const Placement* placement = nullptr;
  const Traffic* traffic = nullptr;
};

/// Time of a part of a step's communication.
struct CommTime {
  double seconds = 0;
  double latency_seconds = 0;  ///< of them, independent of bytes
  double exposed_seconds = 0;  ///< less what computing hides
  /// The link that its slowest term's groups wait for, under that term's load alone; nullopt where nothing crosses the
  /// fabric.
  std::optional<LinkUse> slowest;
  bool nvlink_bound = false;  ///< in that term NVLink takes longer than `slowest`
  friend bool operator==(const CommTime&, const CommTime&) = default;
};

/// Time of one dimension in a step.
struct DimTime : CommTime {
  config::Dim dim{};
  friend bool operator==(const DimTime&, const DimTime&) = default;
};

/// What a running job suffers: the slowest of the links that it uses, under the bytes of all running jobs, and of this
/// one too.
struct RunningEffect {
  std::string name;
  std::optional<LinkUse> before;
  std::optional<LinkUse> after;
  friend bool operator==(const RunningEffect&, const RunningEffect&) = default;
};

/// Running jobs are taken to send one step's bytes in the time in which this job sends its own, along the tables where
/// routing is static, else spread evenly.
struct LinkScore {
  Routing routing = Routing::spray;
  /// Under this job's own bytes; under ecmp the worst cable of the draw, under static the worst cable.
  std::optional<LinkUse> bottleneck;
  double max_utilisation = 0;  ///< the bottleneck's drain time over the step's communication time without overlap
  double step_comm_seconds = 0;
  std::vector<DimTime> dimensions;  ///< those with traffic, in Dim order
  std::optional<CommTime> direct;   ///< of a matrix's flows, which belong to no dimension; all exposed
  struct Ecmp {
    std::uint64_t seed = 0;
    std::uint32_t draws = 0;
    double even_seconds = 0;        ///< the slowest link if the hash were perfect (spray)
    double mean_worst_seconds = 0;  ///< over the draws: the estimate of the expected worst
    friend bool operator==(const Ecmp&, const Ecmp&) = default;
  };
  std::optional<Ecmp> ecmp;
  std::optional<LinkUse> shared;  ///< slowest of this job's links under everybody's bytes; only with running jobs
  std::vector<RunningEffect> running;
  friend bool operator==(const LinkScore&, const LinkScore&) = default;
};

/// How to load links. `routing` absent: not at all.
struct LinkOptions {
  std::optional<Routing> routing;
  const StaticTables* tables = nullptr;  ///< not null where routing is static
  TimeModel time_model;
  std::uint64_t ecmp_seed = 1;
  std::uint32_t ecmp_draws = 8;  ///< at least 1 is made
  std::vector<RunningJob> running;
};

}  // namespace weft::placement
