// SPDX-License-Identifier: BSD-3-Clause
//
// From what the command line says about routing, times and running jobs to what a score takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric_input.hpp"
#include "weft/config/error.hpp"
#include "weft/placement/link_score.hpp"
#include "weft/placement/placement.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::cli {

/// As given; empty = not given.
struct LinkArgs {
  std::string routing = "spray";
  std::vector<std::string> tables;  ///< forwarding tables, each perhaps followed by its guid2lid file
  std::string time_model;
  std::vector<std::string> overlap;  ///< "dp=0.5"
  std::vector<std::string> running;  ///< "placement.json" or "placement:job.yaml"
};

/// A running job, read and resolved.
struct Neighbour {
  std::string name;
  placement::Placement placement;
  placement::Traffic traffic;
};

/// All that link loads need, owned.
struct LinkInput {
  placement::Routing routing = placement::Routing::spray;
  placement::StaticTables tables;
  placement::TimeModel time_model;
  std::vector<Neighbour> running;

  /// Points into *this.
  [[nodiscard]] placement::LinkOptions options() const;
};

/// Reads the files. Errors: usage (words, overlaps), those of the files, conflict where two running jobs have one GPU.
[[nodiscard]] Result<LinkInput> read_links(const LoadedFabric& loaded, const LinkArgs& args);

/// Refuses a placement that has a GPU of a running job. Errors: conflict, naming both.
[[nodiscard]] Result<void> check_apart(const topology::Fabric& fabric, const LinkInput& links,
                                       const placement::Placement& placement);

/// Marks the nodes of running jobs as not free.
void take_running(const LinkInput& links, placement::NodeMask& free);

}  // namespace weft::cli
