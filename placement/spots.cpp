// SPDX-License-Identifier: BSD-3-Clause
#include "spots.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;
using topology::Path;

constexpr std::size_t kMaxCells = 1U << 24;
constexpr std::size_t kMaxTabled = 1U << 20;  // costs kept, over all kinds
// What a pair without any path counts: worse than any path there is.
constexpr Path kNoPath{255, 255};
constexpr std::uint32_t kNone = ~0U;

// Dense numbers for domains, in the order in which they turn up.
class Numbers {
 public:
  explicit Numbers(std::size_t universe) : number_(universe, kNone) {}
  std::uint32_t of(std::uint32_t value) {
    if (number_[value] == kNone) number_[value] = next_++;
    return number_[value];
  }
  [[nodiscard]] std::uint32_t count() const { return next_; }

 private:
  std::vector<std::uint32_t> number_;
  std::uint32_t next_ = 0;
};

}  // namespace

SpotTable::SpotTable(const Fabric& fabric, std::span<const NodeId> nodes, const std::vector<bool>& required,
                     const NodeGraph& graph, std::optional<config::CrossRail> cross_rail)
    : fabric_(fabric), graph_(graph), paths_(fabric, nodes, cross_rail), spot_of_(fabric.node_count(), kNone) {
  const bool has_pods = fabric.level_count() > topology::kPodLevel;
  Numbers leaves(fabric.domain_count(topology::kLeafLevel));
  Numbers pods(has_pods ? fabric.domain_count(topology::kPodLevel) : 1);
  // Spots of one class are chained: few node types and NVLink domains share it.
  std::vector<std::uint32_t> first(fabric.class_count(), kNone);
  std::vector<std::uint32_t> next;
  for (const NodeId n : nodes) {
    const std::uint32_t rack = index(fabric.domain_of(topology::kNvlinkLevel, n));
    const bool alone = fabric.domain_nodes(topology::kNvlinkLevel, topology::DomainId{rack}).size() == 1;
    std::uint32_t& head = first[index(fabric.class_of(n))];
    std::uint32_t at = head;
    while (at != kNone && (fabric.type_id(spots_[at].nodes.front()) != fabric.type_id(n) || spots_[at].alone != alone ||
                           (!alone && spots_[at].rack != rack)))
      at = next[at];
    if (at == kNone) {
      at = count();
      next.push_back(head);
      head = at;
      Spot s;
      s.alone = alone;
      s.rack = rack;
      s.leaf = leaves.of(index(fabric.domain_of(topology::kLeafLevel, n)));
      s.pod = pods.of(has_pods ? index(fabric.domain_of(topology::kPodLevel, n)) : 0);
      spots_.push_back(std::move(s));
    }
    spots_[at].nodes.push_back(n);
    if (!required.empty() && required[index(n)]) ++spots_[at].required;
    spot_of_[index(n)] = at;
  }
  leaves_ = leaves.count();
  pods_ = pods.count();
  for (const Spot& s : spots_) {
    const auto sites = [&](NodeId n) {
      std::vector<Site> out;
      const topology::NodeType& type = fabric.type_of(n);
      for (std::uint32_t g = 0; g < type.gpus; ++g) out.push_back(paths_.site({n, g, type.nic_of_gpu[g]}));
      return out;
    };
    sites_.push_back(sites(s.nodes.front()));
    others_.push_back(s.nodes.size() > 1 ? sites(s.nodes[1]) : sites_.back());
    const auto& mine = sites_.back();
    plain_.push_back(
        std::all_of(mine.begin(), mine.end(), [&](const Site& x) { return x.endpoint == mine.front().endpoint; }));
  }
  const std::size_t cells = spots_.size() * spots_.size();
  if (cells <= kMaxCells) cells_.assign(cells, kUnknown);
}

std::uint8_t SpotTable::slot_of(std::uint8_t tier) const {
  if (tier == kNoPath.tier) return 0;
  if (tier < 2) return Cost::kTerms;
  const auto below = static_cast<std::uint8_t>(fabric_.max_tier() - tier);
  return std::min<std::uint8_t>(below, Cost::kTerms - 2);
}

std::uint32_t SpotTable::find_kind(std::uint32_t low, std::uint32_t high) {
  const std::vector<Site>& a = sites_[low];
  const std::vector<Site>& b = low == high ? others_[high] : sites_[high];
  const auto path = [&](const Lane& l) {
    const auto r = l.up ? paths_.route(a[l.low], b[l.high]) : paths_.route(b[l.high], a[l.low]);
    return r ? r->path : kNoPath;
  };
  std::vector<Path> lanes;
  if (graph_.lanes.empty()) return intern({Path{}});
  if (plain_[low] && plain_[high]) return plain_kind(path(graph_.lanes.front()));
  lanes.reserve(graph_.lanes.size());
  for (const Lane& l : graph_.lanes) lanes.push_back(path(l));
  if (std::all_of(lanes.begin(), lanes.end(), [&](const Path& p) { return p == lanes.front(); })) lanes.resize(1);
  return intern(std::move(lanes));
}

// The kind of pairs all of whose lanes take the same path: there are few of them, and they are asked for most.
std::uint32_t SpotTable::plain_kind(const Path& path) {
  for (std::uint32_t k = 0; k < kinds_.size(); ++k)
    if (kinds_[k].uniform && kinds_[k].hops == path.hops && kinds_[k].tier == path.tier) return k;
  return intern({path});
}

std::uint32_t SpotTable::intern(std::vector<Path> lanes) {
  std::vector<std::uint16_t> key;
  key.reserve(lanes.size());
  for (const Path& p : lanes) key.push_back(static_cast<std::uint16_t>(p.hops << 8U | p.tier));
  const auto [at, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint32_t>(kinds_.size()));
  if (!fresh) return at->second;
  Kind k;
  k.uniform = lanes.size() == 1;
  for (const Path& p : lanes) k.tier = std::max(k.tier, p.tier);
  if (k.uniform) {
    k.slot = slot_of(lanes.front().tier);
    k.hops = lanes.front().hops;
  } else {
    k.lanes = std::move(lanes);
    if (graph_.pattern_count() * (kinds_.size() + 1) <= kMaxTabled) {
      k.by_pattern.resize(graph_.pattern_count());
      for (std::uint32_t p = 0; p < k.by_pattern.size(); ++p) cost_of_pattern(k, p, k.by_pattern[p]);
    }
  }
  kinds_.push_back(std::move(k));
  return at->second;
}

void SpotTable::cost_of_pattern(const Kind& kind, std::uint32_t pattern, Cost& out) const {
  for (const LaneBytes& l : graph_.pattern(pattern)) {
    const Path& p = kind.lanes[l.lane];
    out.v[slot_of(p.tier)] += l.bytes;
    out.v[Cost::kTerms - 1] += l.bytes * p.hops;
  }
}

}  // namespace weft::placement
