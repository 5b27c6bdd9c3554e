// SPDX-License-Identifier: BSD-3-Clause
#include "link_router.hpp"

#include <algorithm>
#include <limits>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::Port;
using topology::SwitchId;

constexpr std::uint32_t kNone = ~0U;

}  // namespace

void SparseLoads::clear() {
  for (const std::uint32_t link : touched) bytes[link] = 0;
  touched.clear();
}

DistanceField::DistanceField(const Fabric& fabric)
    : fabric_(fabric), round_of_(fabric.switch_count(), 0), distance_(fabric.switch_count(), 0) {}

void DistanceField::set(SwitchId sw, std::uint32_t distance) {
  round_of_[index(sw)] = round_;
  distance_[index(sw)] = static_cast<std::uint16_t>(distance);
}

void DistanceField::aim(SwitchId to, std::span<const SwitchId> from) {
  ++round_;
  farthest_ = 0;
  for (const SwitchId sw : from)
    farthest_ = std::max(farthest_, fabric_.leaf_path(sw, to).value_or(topology::Path{1, 0}).hops - 1U);
  set(to, 0);
  queue_.assign(1, to);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t next = at(queue_[head]) + 1;
    if (next >= farthest_) break;
    for (const Fabric::Neighbour& n : fabric_.neighbours(queue_[head])) {
      if (round_of_[index(n.sw)] == round_) continue;
      set(n.sw, next);
      queue_.push_back(n.sw);
    }
  }
  // Who is none of the nearer ones is at the very end.
  for (const SwitchId sw : from)
    if (round_of_[index(sw)] != round_) set(sw, farthest_);
}

std::uint32_t PortPairs::ports_id(std::span<const Port> ports) {
  std::vector<std::uint64_t> key;
  key.reserve(ports.size());
  for (const Port& p : ports) key.push_back(std::uint64_t{index(p.leaf)} << 32U | fabric_.link(p.link).cables);
  return ids_.emplace(std::move(key), static_cast<std::uint32_t>(ids_.size())).first->second;
}

const std::vector<PortPair>& PortPairs::of(std::span<const Port> from, std::span<const Port> to) {
  const std::uint64_t key = std::uint64_t{ports_id(from)} << 32U | ports_id(to);
  const auto found = pairs_.find(key);
  return found != pairs_.end() ? found->second : pairs_.emplace(key, make(from, to)).first->second;
}

std::vector<PortPair> PortPairs::make(std::span<const Port> from, std::span<const Port> to) const {
  std::uint32_t nearest = std::numeric_limits<std::uint32_t>::max();
  const auto hops = [&](const Port& a, const Port& b) {
    const auto path = fabric_.leaf_path(a.leaf, b.leaf);
    return path ? std::uint32_t{path->hops} : std::numeric_limits<std::uint32_t>::max();
  };
  for (const Port& a : from)
    for (const Port& b : to) nearest = std::min(nearest, hops(a, b));
  std::vector<PortPair> out;
  if (nearest == std::numeric_limits<std::uint32_t>::max()) return out;
  std::uint64_t out_cables = 0;  // of all source ports in use
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    const std::size_t first = out.size();
    std::uint64_t in_cables = 0;
    for (std::uint32_t j = 0; j < to.size(); ++j) {
      if (hops(from[i], to[j]) != nearest) continue;
      const std::uint32_t cables = fabric_.link(to[j].link).cables;
      in_cables += cables;
      out.push_back({i, j, static_cast<double>(cables)});
    }
    if (in_cables == 0) continue;
    const std::uint32_t cables = fabric_.link(from[i].link).cables;
    out_cables += cables;
    for (std::size_t k = first; k < out.size(); ++k)
      out[k].share *= static_cast<double>(cables) / static_cast<double>(in_cables);
  }
  for (PortPair& p : out) p.share /= static_cast<double>(out_cables);
  return out;
}

SprayRouter::SprayRouter(const Fabric& fabric)
    : fabric_(fabric), field_(fabric), pairs_(fabric), local_(fabric.switch_count(), kNone) {
  loads_.bytes.assign(std::size_t{2} * fabric.link_count(), 0);
  waiting_.assign(fabric.switch_count(), 0);
}

std::uint32_t SprayRouter::local(SwitchId leaf) {
  std::uint32_t& at = local_[index(leaf)];
  if (at == kNone) {
    at = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(leaf);
    rows_.emplace_back();
  }
  return at;
}

bool SprayRouter::add(const NicFlow& flow) {
  const auto from = fabric_.ports(flow.from, flow.from_nic);
  const auto to = fabric_.ports(flow.to, flow.to_nic);
  if (from.size() == 1 && to.size() == 1) {
    if (!fabric_.leaf_path(from[0].leaf, to[0].leaf)) return false;
    add_pair(from[0], to[0], flow.bytes);
    return true;
  }
  const std::vector<PortPair>& pairs = pairs_.of(from, to);
  for (const PortPair& p : pairs) add_pair(from[p.from], to[p.to], flow.bytes * p.share);
  return !pairs.empty();
}

// On node links the node end stands first.
void SprayRouter::add_pair(const Port& from, const Port& to, double bytes) {
  if (bytes <= 0) return;
  loads_.add(DirectedLink{from.link, true}.number(), bytes);
  loads_.add(DirectedLink{to.link, false}.number(), bytes);
  if (from.leaf == to.leaf) return;
  const std::uint32_t a = local(from.leaf);
  Row& row = rows_[local(to.leaf)];
  if (a >= kDense) {
    row.sparse[a] += bytes;
    return;
  }
  if (row.dense.size() <= a) row.dense.resize(a + 1U, 0);
  row.dense[a] += bytes;
}

void SprayRouter::route() {
  for (std::uint32_t b = 0; b < rows_.size(); ++b) {
    push_down(leaves_[b], rows_[b]);
    std::fill(rows_[b].dense.begin(), rows_[b].dense.end(), 0.0);
    rows_[b].sparse.clear();
  }
}

void SprayRouter::wait_at(SwitchId sw, double bytes) {
  if (waiting_[index(sw)] == 0) levels_[field_.at(sw)].push_back(sw);
  waiting_[index(sw)] += bytes;
}

void SprayRouter::push_down(SwitchId to, const Row& row) {
  senders_.clear();
  for (std::uint32_t a = 0; a < row.dense.size(); ++a)
    if (row.dense[a] > 0) senders_.push_back(leaves_[a]);
  for (const auto& [a, bytes] : row.sparse) senders_.push_back(leaves_[a]);
  if (senders_.empty()) return;
  field_.aim(to, senders_);
  if (levels_.size() <= field_.farthest()) levels_.resize(field_.farthest() + 1U);
  for (std::uint32_t a = 0; a < row.dense.size(); ++a)
    if (row.dense[a] > 0) wait_at(leaves_[a], row.dense[a]);
  for (const auto& [a, bytes] : row.sparse) wait_at(leaves_[a], bytes);
  for (std::uint32_t distance = field_.farthest(); distance > 0; --distance) {
    for (const SwitchId sw : levels_[distance]) spread_from(sw);
    levels_[distance].clear();
  }
  levels_[0].clear();
  waiting_[index(to)] = 0;
}

void SprayRouter::spread_from(SwitchId sw) {
  std::uint64_t cables = 0;
  for (const Fabric::Neighbour& n : fabric_.neighbours(sw))
    if (field_.nearer(n.sw, sw)) cables += fabric_.link(n.link).cables;
  const double each = waiting_[index(sw)] / static_cast<double>(cables);
  waiting_[index(sw)] = 0;
  for (const Fabric::Neighbour& n : fabric_.neighbours(sw)) {
    if (!field_.nearer(n.sw, sw)) continue;
    const double bytes = each * fabric_.link(n.link).cables;
    loads_.add(out_of(fabric_, sw, n.link).number(), bytes);
    wait_at(n.sw, bytes);
  }
}

void keep_slower(std::optional<LinkUse>& worst, const LinkUse& use) {
  if (!worst || use.seconds > worst->seconds ||
      (use.seconds == worst->seconds && use.link.number() < worst->link.number()))
    worst = use;
}

LinkUse use_of(const Fabric& fabric, std::uint32_t number, double bytes) {
  const topology::Link& link = fabric.link(LinkId{number / 2});
  return {{LinkId{number / 2}, number % 2 == 0}, bytes, bytes / (link.bandwidth.bytes_per_second() * link.cables)};
}

std::optional<LinkUse> slowest_link(const Fabric& fabric, const SparseLoads& loads) {
  std::optional<LinkUse> worst;
  for (const std::uint32_t number : loads.touched) keep_slower(worst, use_of(fabric, number, loads.bytes[number]));
  return worst;
}

}  // namespace weft::placement
