// SPDX-License-Identifier: BSD-3-Clause
//
// Flows over a fat tree in SimGrid. The header knows nothing of SimGrid, so that its headers stay in one file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fat_tree.hpp"

namespace weft::simgrid_test {

/// Bytes from NIC to NIC, by position in the tree.
struct Transfer {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double bytes = 0;
};
/// Transfers that start together.
using Phase = std::vector<Transfer>;

struct PhaseResult {
  std::vector<double> finish;  ///< of each transfer, seconds after the phase's start
  /// What each directed cable carried (FatTree::route's numbers): its rate, read off SimGrid's link between any two
  /// events, times the time between them.
  std::vector<double> bytes;
};

struct FluidResult {
  std::vector<PhaseResult> phases;
  std::string fault;  ///< why there is none
};

/// Runs phases one after another in SimGrid. Trees without parallel cables are SimGrid's own fat-tree zone, which
/// routes by itself; that its routes are those of FatTree::route but for the links' names is checked, and a fault where
/// it does not hold. Its zone chooses among parallel cables by the sender, which no forwarding table can: such trees
/// get explicit routes.
///
/// Network model: flows share links by max-min fairness and nothing else (CM02 without latencies, TCP windows, protocol
/// overhead, or acknowledgements' cross traffic), every link split-duplex.
///
/// SimGrid has one engine a process, and its fat trees count their hosts in a static: each call runs in a child.
[[nodiscard]] FluidResult run_fluid(const FatTree& tree, const std::vector<Phase>& phases);

}  // namespace weft::simgrid_test
