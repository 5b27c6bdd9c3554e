// SPDX-License-Identifier: BSD-3-Clause
//
// `weft affinity`: the inside of a node.
#pragma once

#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/topology/affinity.hpp"

namespace CLI {
class App;
}

namespace weft::cli {

struct AffinityArgs {
  std::vector<std::string> files;  ///< views of one machine, or of machines of one type; the first leads
  bool live = false;
  std::string format = "text";
  std::string nodes;  ///< hostlist for gres.conf and the rankfile
  std::string output;
  bool quiet = false;
};
[[nodiscard]] Result<int> run_affinity(const AffinityArgs& args);

/// FORMATS.md's keys, and more: kind, host, sockets, numa, links, warnings.
[[nodiscard]] std::string affinity_json(const topology::NodeAffinity& node, const Notes& warnings);

/// A matrix of GPUs against NICs and GPUs with the places of each; `colour`: with escape codes.
[[nodiscard]] std::string affinity_text(const topology::NodeAffinity& node, bool colour);

}  // namespace weft::cli
