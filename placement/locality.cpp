// SPDX-License-Identifier: BSD-3-Clause
#include "locality.hpp"

#include <algorithm>
#include <tuple>

#include "disjoint_sets.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;
using topology::SwitchId;

std::uint32_t down_to(std::uint32_t n, std::uint32_t multiple) { return n / multiple * multiple; }
std::uint32_t up_to(std::uint32_t n, std::uint32_t multiple) { return (n + multiple - 1) / multiple * multiple; }

class Builder {
 public:
  explicit Builder(const Fabric& fabric) : fabric_(fabric) {}

  // `nodes` in fabric order.
  Locality build(const Eligible& eligible, std::span<const NodeId> nodes) {
    out_.has_pods = fabric_.level_count() > topology::kPodLevel;
    out_.nodes.reserve(std::min<std::size_t>(eligible.count, nodes.size()));
    for (const NodeId n : nodes)
      if (eligible.mask[index(n)]) out_.nodes.push_back(n);
    std::vector<NodeId> required = eligible.required;
    std::sort(required.begin(), required.end());
    out_.required.reserve(out_.nodes.size());
    for (const NodeId n : out_.nodes) out_.required.push_back(std::binary_search(required.begin(), required.end(), n));
    islands_ = islands_of(fabric_, out_.nodes);
    for (const std::uint32_t i : islands_) out_.islands = std::max(out_.islands, i + 1);
    cut();
    return std::move(out_);
  }

 private:
  // Walks the nodes and opens a new rack, leaf or pod wherever one changes; an outer change opens the inner ones too.
  void cut() {
    for (std::uint32_t i = 0; i < out_.nodes.size(); ++i) {
      const bool pod = i == 0 || !same_pod(i - 1, i);
      const bool leaf = pod || !same(topology::kLeafLevel, i - 1, i);
      const bool rack = leaf || !same(topology::kNvlinkLevel, i - 1, i);
      if (pod) out_.pods.push_back({out_.nodes[i], i, i, islands_[i], {}, 0, {}, 0, 0});
      if (leaf) {
        out_.pods.back().leaves.push_back(static_cast<std::uint32_t>(out_.leaves.size()));
        const auto racks = static_cast<std::uint32_t>(out_.racks.size());
        out_.leaves.push_back({fabric_.domain_of(topology::kLeafLevel, out_.nodes[i]), i, i, racks, racks, 0, 0});
      }
      if (rack) {
        out_.racks.push_back({i, i, 0, 0});
        ++out_.leaves.back().rack_end;
      }
      ++out_.racks.back().end;
      ++out_.leaves.back().end;
      ++out_.pods.back().end;
    }
  }

  [[nodiscard]] bool same(topology::Level level, std::uint32_t a, std::uint32_t b) const {
    const auto domains = fabric_.domain_numbers(level);
    return domains[index(out_.nodes[a])] == domains[index(out_.nodes[b])];
  }
  [[nodiscard]] bool same_pod(std::uint32_t a, std::uint32_t b) const {
    if (islands_[a] != islands_[b]) return false;
    return !out_.has_pods || same(topology::kPodLevel, a, b);
  }
  const Fabric& fabric_;
  Locality out_;
  std::vector<std::uint32_t> islands_;
};

// What each domain can give and must give under some rules.
class Ruler {
 public:
  Ruler(Locality& where, const SelectRules& rules) : out_(where), rules_(rules) {}

  void apply() {
    for (Rack& r : out_.racks) finish(r);
    for (Leaf& l : out_.leaves) finish(l);
    for (Pod& p : out_.pods) finish(p);
  }

 private:
  [[nodiscard]] std::uint32_t required_in(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t n = 0;
    for (std::uint32_t i = begin; i < end; ++i) n += out_.required[i] ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::uint32_t multiple(topology::Level level) const {
    return rules_.segment > 0 && rules_.segment_level == level ? rules_.segment : 1;
  }

  void finish(Rack& r) {
    const std::uint32_t m = multiple(topology::kNvlinkLevel);
    r.cap = down_to(r.end - r.begin, m);
    r.need = up_to(required_in(r.begin, r.end), m);
  }
  void finish(Leaf& l) {
    for (std::uint32_t r = l.rack_begin; r < l.rack_end; ++r) {
      l.cap += out_.racks[r].cap;
      l.need += out_.racks[r].need;
    }
    const std::uint32_t m = multiple(topology::kLeafLevel);
    l.cap = down_to(l.cap, m);
    l.need = up_to(l.need, m);
  }
  void finish(Pod& p) {
    const auto rank = [&](std::uint32_t l) {
      const Leaf& leaf = out_.leaves[l];
      return std::tuple(leaf.need == 0, ~leaf.cap, l);
    };
    std::sort(p.leaves.begin(), p.leaves.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
    const std::uint32_t m = multiple(topology::kPodLevel);
    std::uint32_t sum = 0;
    p.prefix.push_back(0);
    for (const std::uint32_t l : p.leaves) {
      sum += out_.leaves[l].cap;
      p.need += out_.leaves[l].need;
      if (out_.leaves[l].need > 0) ++p.forced;
      p.prefix.push_back(down_to(sum, m));
    }
    p.cap = p.prefix.back();
    p.need = up_to(p.need, m);
    // The leaves of the required nodes alone may hold no whole segment of the pod.
    while (p.prefix[p.forced] < p.need && p.forced < p.leaves.size()) ++p.forced;
  }

  Locality& out_;
  const SelectRules& rules_;
};

}  // namespace

std::vector<std::uint32_t> islands_of(const Fabric& fabric, std::span<const NodeId> nodes) {
  const auto coarsest = static_cast<topology::Level>(fabric.level_count() - 1);
  if (fabric.hierarchical() && fabric.domain_count(coarsest) == 1) return std::vector<std::uint32_t>(nodes.size(), 0);
  const std::uint32_t switches = fabric.switch_count();
  DisjointSets sets(switches + fabric.class_count());  // switches, then attachment classes
  for (std::uint32_t s = 0; s < switches; ++s)
    for (const Fabric::Neighbour& n : fabric.neighbours(SwitchId{s})) sets.join(s, index(n.sw));
  std::vector<bool> seen(fabric.class_count(), false);
  for (const NodeId node : nodes) {
    const std::uint32_t c = index(fabric.class_of(node));
    if (seen[c]) continue;
    seen[c] = true;
    for (std::uint32_t nic = 0; nic < fabric.type_of(node).nics; ++nic)
      for (const topology::Port& port : fabric.ports(node, nic)) sets.join(switches + c, index(port.leaf));
  }
  constexpr std::uint32_t kNew = ~0U;
  std::vector<std::uint32_t> number(switches + fabric.class_count(), kNew);
  std::vector<std::uint32_t> of_class(fabric.class_count(), kNew);
  std::vector<std::uint32_t> out;
  out.reserve(nodes.size());
  std::uint32_t next = 0;
  for (const NodeId node : nodes) {
    const std::uint32_t c = index(fabric.class_of(node));
    if (of_class[c] == kNew) {
      std::uint32_t& n = number[sets.find(switches + c)];
      if (n == kNew) n = next++;
      of_class[c] = n;
    }
    out.push_back(of_class[c]);
  }
  return out;
}

Locality build_locality(const Fabric& fabric, const Eligible& eligible) {
  return Builder(fabric).build(eligible, fabric.fabric_order());
}

Locality build_locality(const Fabric& fabric, const Eligible& eligible, topology::Level level,
                        topology::DomainId domain) {
  return Builder(fabric).build(eligible, fabric.domain_nodes(level, domain));
}

Locality with_rules(const Locality& ground, const SelectRules& rules) {
  Locality out = ground;
  Ruler(out, rules).apply();
  return out;
}

}  // namespace weft::placement
