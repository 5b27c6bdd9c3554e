// SPDX-License-Identifier: BSD-3-Clause
//
// What a FabricSpec means, spelt out cable by cable the trivial way: the reference that folding and generating are
// tested against. Shares no code with either, nor with Fabric::build.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/config/fabric_spec.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::testing {

inline std::vector<std::string> names(const std::string& hostlist) {
  auto out = config::expand_hostlist(hostlist);
  if (!out) throw std::runtime_error("bad hostlist " + hostlist + ": " + out.error().message);
  return *std::move(out);
}

/// "0-3,6" spelt out.
inline std::vector<std::uint32_t> numbers(const std::string& list) {
  std::vector<std::uint32_t> out;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string range = list.substr(begin, end - begin);
    const std::size_t dash = range.find('-');
    const std::uint32_t low = static_cast<std::uint32_t>(std::stoul(range.substr(0, dash)));
    const std::uint32_t high =
        dash == std::string::npos ? low : static_cast<std::uint32_t>(std::stoul(range.substr(dash + 1)));
    for (std::uint32_t i = low; i <= high; ++i) out.push_back(i);
    begin = end + 1;
  }
  return out;
}

/// One cable, ends in alphabetical order: a switch's name, or "node:nic".
struct Cable {
  std::string a;
  std::string b;
  std::uint64_t bits_per_second = 0;
  std::string plane;
  friend auto operator<=>(const Cable&, const Cable&) = default;
};

inline Cable cable(std::string a, std::string b, Bandwidth bandwidth, std::string plane) {
  if (b < a) std::swap(a, b);
  return {std::move(a), std::move(b), bandwidth.bits_per_second, std::move(plane)};
}

struct ExpandedSpec {
  struct Node {
    std::string name;
    std::uint32_t gpus = 0;
    std::uint32_t nics = 0;
    std::uint32_t weight = 1;
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes;                                                     // in order
  std::vector<std::pair<std::string, std::optional<std::uint32_t>>> switches;  // in order, with tier
  std::vector<Cable> cables;                                                   // sorted

  [[nodiscard]] std::size_t switches_of(std::uint32_t tier) const {
    return static_cast<std::size_t>(
        std::count_if(switches.begin(), switches.end(), [&](const auto& sw) { return sw.second == tier; }));
  }
  [[nodiscard]] std::uint64_t gpus() const {
    std::uint64_t sum = 0;
    for (const Node& node : nodes) sum += node.gpus;
    return sum;
  }
};

/// Pairs of ends (node name and NIC, or switch; switch) of one entry, each once a cable.
inline void expand_link(const config::LinkSpec& link, const std::map<std::string, std::uint32_t>& nics_of,
                        std::vector<Cable>& out) {
  const std::vector<std::string> from = names(link.from.value);
  const std::vector<std::string> to = names(link.to.value);
  const std::string plane = link.plane ? link.plane->value : "";
  const auto connect = [&](const std::string& a, const std::string& b) {
    for (std::uint32_t i = 0; i < link.cables; ++i) out.push_back(cable(a, b, link.bandwidth, plane));
  };
  const auto connect_nics = [&](const std::string& a, const std::string& b) {
    const auto node = nics_of.find(a);
    if (node == nics_of.end()) return connect(a, b);
    std::vector<std::uint32_t> nics;
    if (link.nics) {
      nics = numbers(link.nics->value);
    } else {
      for (std::uint32_t i = 0; i < node->second; ++i) nics.push_back(i);
    }
    for (const std::uint32_t nic : nics) connect(a + ":" + std::to_string(nic), b);
  };
  switch (link.pattern) {
    case config::LinkPattern::all:
      for (const std::string& a : from) {
        for (const std::string& b : to) connect_nics(a, b);
      }
      break;
    case config::LinkPattern::zip:
      if (from.size() != to.size()) throw std::runtime_error("zip of unequal lists");
      for (std::size_t i = 0; i < from.size(); ++i) connect_nics(from[i], to[i]);
      break;
    case config::LinkPattern::split:
      if (from.size() % to.size() != 0) throw std::runtime_error("split does not divide");
      for (std::size_t i = 0; i < from.size(); ++i) connect_nics(from[i], to[i / (from.size() / to.size())]);
      break;
    case config::LinkPattern::rail:
      for (const std::string& a : from) {
        const std::uint32_t nics = nics_of.at(a);
        if (nics != to.size()) throw std::runtime_error("rail of another width than the node");
        for (std::uint32_t i = 0; i < nics; ++i) connect(a + ":" + std::to_string(i), to[i]);
      }
      break;
  }
}

/// Throws where names are unknown or repeated.
inline ExpandedSpec expand(const config::FabricSpec& spec) {
  ExpandedSpec out;
  std::map<std::string, std::uint32_t> nics_of;
  std::set<std::string> seen;
  for (const config::NodeSpec& entry : spec.nodes) {
    const auto type = std::find_if(spec.node_types.begin(), spec.node_types.end(),
                                   [&](const config::NodeTypeSpec& t) { return t.name == entry.type; });
    if (type == spec.node_types.end()) throw std::runtime_error("unknown type " + entry.type.value);
    for (const std::string& name : names(entry.names.value)) {
      if (!seen.insert(name).second) throw std::runtime_error("repeated " + name);
      nics_of[name] = type->nics;
      out.nodes.push_back({name, type->gpus, type->nics, entry.weight});
    }
  }
  for (const config::SwitchSpec& entry : spec.switches) {
    for (const std::string& name : names(entry.names.value)) {
      if (!seen.insert(name).second) throw std::runtime_error("repeated " + name);
      out.switches.emplace_back(name, entry.tier);
    }
  }
  for (const config::LinkSpec& link : spec.links) {
    for (const std::string& name : names(link.from.value)) {
      if (!seen.contains(name)) throw std::runtime_error("unknown " + name);
    }
    for (const std::string& name : names(link.to.value)) {
      if (!seen.contains(name) || nics_of.contains(name)) throw std::runtime_error("unknown switch " + name);
    }
    expand_link(link, nics_of, out.cables);
  }
  std::sort(out.cables.begin(), out.cables.end());
  return out;
}

}  // namespace weft::testing
