// SPDX-License-Identifier: BSD-3-Clause
#include "packed_runs.hpp"

#include <algorithm>

#include "select_nodes.hpp"
#include "spread.hpp"

namespace weft::placement {

using topology::Fabric;
using topology::Level;
using topology::NodeId;

std::optional<SpannedDomains> SpannedDomains::find(const Fabric& fabric, const Eligible& eligible,
                                                   std::uint32_t nodes) {
  SpannedDomains out(fabric, eligible, nodes);
  for (Level level = level_of(fabric, config::LevelName::pod); level >= topology::kLeafLevel; --level) {
    out.free_ = free_by_domain(fabric, level, eligible.mask);
    if (*std::max_element(out.free_.begin(), out.free_.end()) >= nodes) continue;
    out.level_ = level;
    out.ground_.resize(out.free_.size());
    return out;
  }
  return std::nullopt;
}

Result<std::vector<NodeId>> SpannedDomains::take(std::uint32_t domain, std::uint32_t count) {
  std::optional<Locality>& ground = ground_[domain];
  if (!ground) ground = build_locality(*fabric_, *eligible_, level_, topology::DomainId{domain});
  SelectRules rules;
  rules.nodes = count;
  return select_nodes(*fabric_, *ground, rules);
}

namespace {

constexpr std::size_t kMostLists = 4;

struct Part {
  std::uint32_t domain = 0, whole = 0, piece = 0, left = 0;  // nodes of whole runs, of pieces, free beside the former
};

// What each of `parts` gives; the nodes of runs that are not whole.
std::uint32_t pack(std::vector<Part>& parts, const std::vector<std::uint32_t>& free, std::uint32_t nodes,
                   std::uint32_t run) {
  std::uint32_t missing = nodes;
  std::vector<std::uint32_t> left;
  for (Part& p : parts) {
    p.whole = std::min(free[p.domain] / run * run, missing);
    p.left = free[p.domain] - p.whole;
    left.push_back(p.left);
    missing -= p.whole;
  }
  const std::uint32_t cut = missing;
  for (const std::uint32_t i : largest_first(left)) {
    parts[i].piece = std::min(parts[i].left, missing);
    missing -= parts[i].piece;
  }
  return cut;
}

std::vector<NodeId> nodes_of(SpannedDomains& domains, const std::vector<Part>& parts) {
  std::vector<NodeId> out, pieces;
  for (const Part& p : parts) {
    if (p.whole + p.piece == 0) continue;
    auto here = domains.take(p.domain, p.whole + p.piece);
    if (!here) return {};
    const auto border = here->begin() + static_cast<std::ptrdiff_t>(p.whole);
    out.insert(out.end(), here->begin(), border);
    pieces.insert(pieces.end(), border, here->end());
  }
  out.insert(out.end(), pieces.begin(), pieces.end());
  return out;
}

}  // namespace

std::vector<std::vector<NodeId>> packed_runs(SpannedDomains& domains, std::uint32_t run) {
  std::vector<std::vector<NodeId>> out;
  const std::uint32_t nodes = domains.nodes();
  if (!domains.eligible().required.empty() || nodes % run != 0 || run < 2 || run >= nodes) return out;
  const std::vector<std::uint32_t>& free = domains.free();
  std::vector<Part> all;
  for (const std::uint32_t d : largest_first(free)) all.push_back({d});
  if (free[all.front().domain] < run) return out;
  std::uint32_t held = 0;
  std::uint32_t before = nodes;
  for (std::size_t used = 1; used <= all.size() && before > 0 && out.size() < kMostLists; ++used) {
    held += free[all[used - 1].domain];
    if (held < nodes) continue;
    std::vector<Part> parts(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(used));
    const std::uint32_t cut = pack(parts, free, nodes, run);
    if (cut == before) break;  // the domains left hold no whole run
    before = cut;
    if (auto list = nodes_of(domains, parts); !list.empty()) out.push_back(std::move(list));
  }
  return out;
}

}  // namespace weft::placement
