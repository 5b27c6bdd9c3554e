// SPDX-License-Identifier: BSD-3-Clause
#include "packed_runs.hpp"

#include <algorithm>
#include <numeric>

#include "select_nodes.hpp"
#include "spread.hpp"

namespace weft::placement {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

std::optional<Level> spanned_level(const Fabric& fabric, const NodeMask& mask, std::uint32_t nodes) {
  for (Level level = std::min<Level>(topology::kPodLevel, static_cast<Level>(fabric.level_count() - 1));
       level >= topology::kLeafLevel; --level) {
    const std::vector<std::uint32_t> free = free_by_domain(fabric, level, mask);
    if (*std::max_element(free.begin(), free.end()) < nodes) return level;
  }
  return std::nullopt;
}

Result<std::vector<NodeId>> nodes_in_domain(const Fabric& fabric, const Eligible& eligible, Level level,
                                            topology::DomainId domain, std::uint32_t count) {
  Eligible here;
  here.mask.assign(fabric.node_count(), false);
  for (const NodeId n : fabric.domain_nodes(level, domain)) {
    here.mask[index(n)] = eligible.mask[index(n)];
    here.count += eligible.mask[index(n)] ? 1 : 0;
  }
  for (const NodeId n : eligible.required)
    if (here.mask[index(n)]) here.required.push_back(n);
  SelectRules rules;
  rules.nodes = count;
  return select_nodes(fabric, here, rules);
}

std::vector<NodeId> packed_runs(const Fabric& fabric, const Eligible& eligible, std::uint32_t nodes,
                                std::uint32_t run) {
  const auto level = spanned_level(fabric, eligible.mask, nodes);
  if (!level || !eligible.required.empty()) return {};
  const std::vector<std::uint32_t> free = free_by_domain(fabric, *level, eligible.mask);
  struct Part {
    std::uint32_t domain = 0, whole = 0, piece = 0, left = 0;  // nodes of whole runs, of pieces, free beside the former
  };
  std::vector<Part> parts(free.size());
  for (std::uint32_t d = 0; d < free.size(); ++d) parts[d].domain = d;
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const Part& a, const Part& b) { return free[a.domain] > free[b.domain]; });
  std::uint32_t held = 0;
  std::size_t used = 0;
  while (used < parts.size() && held < nodes) held += free[parts[used++].domain];
  if (held < nodes) return {};
  parts.resize(used);
  std::uint32_t missing = nodes;
  for (Part& p : parts) {
    p.whole = std::min(free[p.domain] / run * run, missing / run * run);
    p.left = free[p.domain] - p.whole;
    missing -= p.whole;
  }
  if (missing == 0 || missing == nodes) return {};
  std::vector<std::size_t> by_left(parts.size());
  std::iota(by_left.begin(), by_left.end(), std::size_t{0});
  std::stable_sort(by_left.begin(), by_left.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].left > parts[b].left; });
  for (const std::size_t i : by_left) {
    parts[i].piece = std::min(parts[i].left, missing);
    missing -= parts[i].piece;
  }
  std::vector<NodeId> out, pieces;
  for (const Part& p : parts) {
    if (p.whole + p.piece == 0) continue;
    auto here = nodes_in_domain(fabric, eligible, *level, topology::DomainId{p.domain}, p.whole + p.piece);
    if (!here) return {};
    const auto border = here->begin() + static_cast<std::ptrdiff_t>(p.whole);
    out.insert(out.end(), here->begin(), border);
    pieces.insert(pieces.end(), border, here->end());
  }
  out.insert(out.end(), pieces.begin(), pieces.end());
  return out;
}

}  // namespace weft::placement
