// SPDX-License-Identifier: BSD-3-Clause
#include "ecmp.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::SwitchId;

// SplitMix64's finalizer (Steele, Lea, Flood, OOPSLA 2014): every bit of the result depends on every bit of the input.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Uniform in [0, n), by the upper bits (Lemire 2019).
std::uint64_t below(std::uint64_t hash, std::uint64_t n) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * n) >> 64U);
}

std::uint64_t flow_hash(const NicFlow& f, std::uint64_t seed) {
  const std::uint64_t from = std::uint64_t{index(f.from)} << 32U | f.from_nic;
  const std::uint64_t to = std::uint64_t{index(f.to)} << 32U | f.to_nic;
  return mix(mix(mix(seed) ^ from) ^ to);
}

}  // namespace

EcmpRouter::EcmpRouter(const Fabric& fabric)
    : fabric_(fabric), field_(fabric), pairs_(fabric), branches_(fabric.switch_count()) {
  std::uint32_t base = 0;
  for (const topology::Link& link : fabric.links()) {
    cable_base_.push_back(base);
    base += link.cables;
  }
  cable_bytes_.resize(std::size_t{2} * base);
}

bool EcmpRouter::add(const NicFlow& flow) {
  if (pairs_.of(fabric_.ports(flow.from, flow.from_nic), fabric_.ports(flow.to, flow.to_nic)).empty()) return false;
  if (flow.bytes > 0) flows_.push_back(flow);
  return true;
}

void EcmpRouter::load(DirectedLink link, std::uint64_t cable, double bytes) {
  cable_bytes_[2 * (cable_base_[index(link.link)] + cable) + (link.forward ? 0 : 1)] += bytes;
}

void EcmpRouter::leave_ports(std::uint64_t seed) {
  constexpr double kTwo64 = 18446744073709551616.0;
  walks_.clear();
  for (const NicFlow& f : flows_) {
    const auto from = fabric_.ports(f.from, f.from_nic);
    const auto to = fabric_.ports(f.to, f.to_nic);
    const std::vector<PortPair>& pairs = pairs_.of(from, to);
    std::uint64_t hash = flow_hash(f, seed);
    double point = static_cast<double>(hash) / kTwo64;
    const PortPair* chosen = &pairs.back();
    for (const PortPair& p : pairs) {
      if (point < p.share) {
        chosen = &p;
        break;
      }
      point -= p.share;
    }
    const topology::Port& out = from[chosen->from];
    const topology::Port& in = to[chosen->to];
    hash = mix(hash);
    load({out.link, true}, below(hash, fabric_.link(out.link).cables), f.bytes);
    load({in.link, false}, below(mix(hash), fabric_.link(in.link).cables), f.bytes);
    if (out.leaf != in.leaf) walks_.push_back({out.leaf, in.leaf, hash, f.bytes});
  }
}

const EcmpRouter::Branch& EcmpRouter::branch_at(SwitchId sw) {
  Branch& b = branches_[index(sw)];
  if (b.round == round_) return b;
  b = {static_cast<std::uint32_t>(choices_.size()), 0, 0, round_};
  for (const Fabric::Neighbour& n : fabric_.neighbours(sw)) {
    if (!field_.nearer(n.sw, sw)) continue;
    choices_.push_back({n.sw, n.link, b.cables});
    b.cables += fabric_.link(n.link).cables;
  }
  b.end = static_cast<std::uint32_t>(choices_.size());
  return b;
}

// Walks to one leaf.
void EcmpRouter::walk_to(std::size_t begin, std::size_t end) {
  ++round_;
  choices_.clear();
  senders_.clear();
  for (std::size_t i = begin; i < end; ++i) senders_.push_back(walks_[i].from);
  const SwitchId to = walks_[begin].to;
  field_.aim(to, senders_);
  for (std::size_t i = begin; i < end; ++i) {
    const Walk& w = walks_[i];
    for (SwitchId sw = w.from; sw != to;) {
      const Branch& b = branch_at(sw);
      const std::uint64_t cable = below(mix(w.hash ^ (std::uint64_t{index(sw)} + 1)), b.cables);
      auto at = std::upper_bound(choices_.begin() + b.begin, choices_.begin() + b.end, cable,
                                 [](std::uint64_t c, const Choice& choice) { return c < choice.cables_before; });
      --at;
      load(out_of(fabric_, sw, at->link), cable - at->cables_before, w.bytes);
      sw = at->sw;
    }
  }
}

EcmpDraw EcmpRouter::draw(std::uint64_t seed) {
  std::fill(cable_bytes_.begin(), cable_bytes_.end(), 0.0);
  leave_ports(seed);
  std::stable_sort(walks_.begin(), walks_.end(), [](const Walk& a, const Walk& b) { return a.to < b.to; });
  for (std::size_t begin = 0; begin < walks_.size();) {
    std::size_t end = begin;
    while (end < walks_.size() && walks_[end].to == walks_[begin].to) ++end;
    walk_to(begin, end);
    begin = end;
  }
  EcmpDraw out;
  out.loads.assign(std::size_t{2} * fabric_.link_count(), 0);
  for (std::uint32_t l = 0; l < fabric_.link_count(); ++l) {
    const topology::Link& link = fabric_.link(LinkId{l});
    for (std::uint64_t c = 0; c < std::uint64_t{2} * link.cables; ++c) {
      const double bytes = cable_bytes_[std::size_t{2} * cable_base_[l] + c];
      if (bytes == 0) continue;
      const DirectedLink directed{LinkId{l}, c % 2 == 0};
      out.loads[directed.number()] += bytes;
      keep_slower(out.worst, {directed, bytes, bytes / link.bandwidth.bytes_per_second()});
    }
  }
  return out;
}

}  // namespace weft::placement
