// SPDX-License-Identifier: BSD-3-Clause
//
// What a job moves and how that is known, for people and programs: `weft traffic`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/placement/comm_file.hpp"
#include "weft/placement/model.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {

/// A term of the job with what its groups put on the wire.
struct ReportedTerm {
  DerivedTerm derived;  ///< formula and source are those of the job file where nothing was derived
  config::Algorithm algorithm = config::Algorithm::ring;
  std::uint32_t groups = 0;
  std::uint32_t group_size = 0;
  double wire_bytes = 0;  ///< directed sum over all groups, NVLink included
};

struct TrafficReport {
  std::string job;
  config::Layout layout;
  std::uint32_t nodes = 0;
  std::uint32_t ranks_per_node = 0;
  std::string origin;                  ///< "traffic", "model", "matrix FILE (AICB workload)"
  std::vector<DerivedNumber> numbers;  ///< of a model
  std::vector<ReportedTerm> terms;
  std::uint64_t direct_flows = 0;  ///< of a matrix
  double direct_bytes = 0;
  double wire_bytes = 0;  ///< of all terms and flows
  std::vector<std::string> notes;
};

/// Derives, reads and expands what the job says. Errors: those of build_traffic.
[[nodiscard]] Result<TrafficReport> describe_traffic(const config::JobSpec& job, const config::Layout& layout);

/// For people: each number with its formula and source on the lines under it.
[[nodiscard]] std::string write_traffic_text(const TrafficReport& report);
/// One object: job, nodes, ranks_per_node, layout, origin, numbers, terms, direct, wire_bytes, notes; bytes as numbers.
[[nodiscard]] std::string write_traffic_json(const TrafficReport& report);

}  // namespace weft::placement
