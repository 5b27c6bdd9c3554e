// SPDX-License-Identifier: BSD-3-Clause
//
// Worst path of an expanded spec by plain breadth-first search from every leaf: the reference for formulas and Fabric.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/expanded_spec.hpp"

namespace weft::testing {

struct WorstPath {
  std::uint32_t switches = 0;  // most switches on a shortest path between leaves that NICs of one index sit on
  bool all_reachable = true;   // every such pair has a path
};

inline WorstPath worst_path(const ExpandedSpec& spec) {
  std::map<std::string, std::vector<std::string>> neighbours;
  std::map<std::string, std::set<std::string>> leaves_of_nic;
  for (const auto& [name, tier] : spec.switches) neighbours[name];
  for (const Cable& cable : spec.cables) {
    const bool a_is_switch = neighbours.contains(cable.a);
    const std::string& node_end = a_is_switch ? cable.b : cable.a;
    if (a_is_switch && neighbours.contains(cable.b)) {
      neighbours[cable.a].push_back(cable.b);
      neighbours[cable.b].push_back(cable.a);
    } else {
      leaves_of_nic[node_end.substr(node_end.rfind(':'))].insert(a_is_switch ? cable.a : cable.b);
    }
  }
  WorstPath out;
  for (const auto& [nic, leaves] : leaves_of_nic) {
    for (const std::string& start : leaves) {
      std::map<std::string, std::uint32_t> distance{{start, 1}};
      std::vector<std::string> queue{start};
      for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const std::string& next : neighbours[queue[i]]) {
          if (distance.emplace(next, distance[queue[i]] + 1).second) queue.push_back(next);
        }
      }
      for (const std::string& leaf : leaves) {
        const auto found = distance.find(leaf);
        if (found == distance.end()) {
          out.all_reachable = false;
        } else {
          out.switches = std::max(out.switches, found->second);
        }
      }
    }
  }
  return out;
}

}  // namespace weft::testing
