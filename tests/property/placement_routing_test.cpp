// SPDX-License-Identifier: BSD-3-Clause
//
// Routing on random fabrics, against every shortest path listed one by one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "link_fixtures.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::NodeId;
using topology::SwitchId;

// A random connected graph of switches, nodes of one or two NICs on some of them, some NICs on two switches, cables and
// bandwidths of all kinds, a few faults. `fast` doubles the bandwidth of one link entry.
std::string random_fabric(std::uint64_t seed, int fast = -1) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
  };
  const int switches = pick(2, 8);
  const int nodes = pick(2, 6);
  std::string out =
      "weft: 1\nname: r\nnode_types:\n  t: {gpus: 2, nics: 2, nvlink: {domain: node, bandwidth: 10GB/s}}\n";
  out +=
      fmt::format("switches:\n  - {{name: \"s[1-{}]\", tier: 1}}\nnodes:\n  - {{name: \"n[1-{}]\", type: t}}\nlinks:\n",
                  switches, nodes);
  int entry = 0;
  const auto link = [&](const std::string& from, const std::string& to, const std::string& more) {
    const int gbps = 8 * pick(1, 4) * (entry++ == fast ? 2 : 1);
    out += fmt::format("  - {{from: {}, to: {}, bandwidth: {}Gb/s, cables: {}{}}}\n", from, to, gbps, pick(1, 3), more);
  };
  for (int n = 1; n <= nodes; ++n) {
    for (int nic = 0; nic < 2; ++nic) {
      const int first = pick(1, switches);
      link(fmt::format("n{}", n), fmt::format("s{}", first), fmt::format(", nics: \"{}\"", nic));
      const int second = pick(1, switches);
      if (pick(0, 2) == 0 && second != first)
        link(fmt::format("n{}", n), fmt::format("s{}", second), fmt::format(", nics: \"{}\"", nic));
    }
  }
  std::set<std::pair<int, int>> joined;
  const auto join = [&](int a, int b) {
    if (a == b || !joined.insert({std::min(a, b), std::max(a, b)}).second) return;
    link(fmt::format("s{}", a), fmt::format("s{}", b), "");
  };
  for (int s = 2; s <= switches; ++s) join(s, pick(1, s - 1));
  for (int extra = pick(0, 10); extra > 0; --extra) join(pick(1, switches), pick(1, switches));
  return out;
}

std::vector<NicFlow> random_flows(const Fabric& f, std::uint64_t seed) {
  std::mt19937_64 rng(seed * 7 + 1);
  std::vector<NicFlow> out;
  for (int i = 0; i < 12; ++i) {
    const NodeId from{static_cast<std::uint32_t>(rng() % f.node_count())};
    const NodeId to{static_cast<std::uint32_t>(rng() % f.node_count())};
    if (from == to) continue;
    out.push_back({from, static_cast<std::uint32_t>(rng() % 2), to, static_cast<std::uint32_t>(rng() % 2),
                   static_cast<double>(1 + rng() % 1000)});
  }
  return out;
}

// The slow way: walks every path of the least length from each port, with the chance of each branch.
class Enumerator {
 public:
  explicit Enumerator(const Fabric& f) : f_(f), loads_(std::size_t{2} * f.link_count(), 0) {}

  void add(const NicFlow& flow) {
    std::size_t least = ~std::size_t{0};
    for (const auto& p : f_.ports(flow.from, flow.from_nic))
      for (const auto& q : f_.ports(flow.to, flow.to_nic)) least = std::min(least, distance(p.leaf, q.leaf));
    std::map<std::uint32_t, double> sources;  // port place -> cables
    const auto from = f_.ports(flow.from, flow.from_nic);
    const auto to = f_.ports(flow.to, flow.to_nic);
    double all = 0;
    for (std::uint32_t i = 0; i < from.size(); ++i)
      for (const auto& q : to)
        if (distance(from[i].leaf, q.leaf) == least) sources[i] = f_.link(from[i].link).cables;
    for (const auto& [i, cables] : sources) all += cables;
    for (const auto& [i, cables] : sources) {
      const double share = flow.bytes * cables / all;
      loads_[DirectedLink{from[i].link, true}.number()] += share;
      double in = 0;
      for (const auto& q : to)
        if (distance(from[i].leaf, q.leaf) == least) in += f_.link(q.link).cables;
      for (const auto& q : to) {
        if (distance(from[i].leaf, q.leaf) != least) continue;
        const double part = share * f_.link(q.link).cables / in;
        walk(from[i].leaf, q.leaf, part);
        loads_[DirectedLink{q.link, false}.number()] += part;
      }
    }
  }
  [[nodiscard]] const std::vector<double>& loads() const { return loads_; }

 private:
  // Breadth first, forward, on all links that are up.
  [[nodiscard]] std::size_t distance(SwitchId from, SwitchId to) const {
    std::map<SwitchId, std::size_t> seen{{from, 0}};
    std::vector<SwitchId> queue{from};
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const auto& n : f_.neighbours(queue[i]))
        if (seen.emplace(n.sw, seen[queue[i]] + 1).second) queue.push_back(n.sw);
    const auto at = seen.find(to);
    return at == seen.end() ? ~std::size_t{0} - 1 : at->second;
  }
  void walk(SwitchId at, SwitchId to, double bytes) {
    if (at == to) return;
    const std::size_t left = distance(at, to);
    double cables = 0;
    for (const auto& n : f_.neighbours(at))
      if (distance(n.sw, to) + 1 == left) cables += f_.link(n.link).cables;
    for (const auto& n : f_.neighbours(at)) {
      if (distance(n.sw, to) + 1 != left) continue;
      const double part = bytes * f_.link(n.link).cables / cables;
      const auto& l = f_.link(n.link);
      loads_[2 * index(n.link) + (l.a.is_switch && l.a.id == index(at) ? 0 : 1)] += part;
      walk(n.sw, to, part);
    }
  }
  const Fabric& f_;
  std::vector<double> loads_;
};

// In less out at each switch.
void check_conservation(const Fabric& f, const std::vector<double>& loads, const std::vector<NicFlow>& flows) {
  std::vector<double> net(f.switch_count(), 0);
  double sent = 0;
  double received = 0;
  for (std::uint32_t l = 0; l < f.link_count(); ++l) {
    const topology::Link& link = f.link(LinkId{l});
    const double forward = loads[2 * l];
    const double back = loads[2 * l + 1];
    net[link.b.id] += forward - back;
    if (link.a.is_switch) {
      net[link.a.id] += back - forward;
    } else {
      sent += forward;
      received += back;
    }
    RC_ASSERT(link.up || (forward == 0 && back == 0));
  }
  double total = 0;
  for (const NicFlow& flow : flows) total += flow.bytes;
  RC_ASSERT(std::abs(sent - total) < 1e-6);
  RC_ASSERT(std::abs(received - total) < 1e-6);
  for (const double n : net) RC_ASSERT(std::abs(n) < 1e-6);
}

TEST(RoutingProperty, SprayEqualsTheListOfAllShortestPaths) {
  rc::check("spray", [] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const Fabric f = links_test::build(random_fabric(seed));
    const std::vector<NicFlow> flows = random_flows(f, seed);
    const auto loads = link_loads(f, flows);
    RC_ASSERT(loads.has_value());
    Enumerator slow(f);
    for (const NicFlow& flow : flows) slow.add(flow);
    for (std::size_t i = 0; i < loads->size(); ++i) RC_ASSERT(std::abs((*loads)[i] - slow.loads()[i]) < 1e-6);
  });
}

TEST(RoutingProperty, NothingIsLostOrMadeOnTheWay) {
  rc::check("conservation", [] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const Fabric f = links_test::build(random_fabric(seed));
    const std::vector<NicFlow> flows = random_flows(f, seed);
    check_conservation(f, *link_loads(f, flows), flows);
    const auto draw = draw_ecmp(f, flows, seed);
    check_conservation(f, draw->loads, flows);
    // Hashed flows use no link that spray does not, and no link is beyond its worst cable.
    const auto even = link_loads(f, flows);
    for (std::uint32_t i = 0; i < draw->loads.size(); ++i) {
      RC_ASSERT(draw->loads[i] == 0 || (*even)[i] > 0);
      const topology::Link& link = f.link(LinkId{i / 2});
      const double seconds = draw->loads[i] / (link.bandwidth.bytes_per_second() * link.cables);
      RC_ASSERT(seconds <= draw->worst->seconds * (1 + 1e-9));
    }
  });
}

TEST(RoutingProperty, ABetterLinkNeverMakesAScoreWorse) {
  rc::check("monotone", [] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const auto fast = *rc::gen::inRange(0, 30);
    const Fabric slow_fabric = links_test::build(random_fabric(seed));
    const Fabric fast_fabric = links_test::build(random_fabric(seed, fast));
    const auto j =
        links_test::job(slow_fabric,
                        "nodes: 2\nlayout: {dp: 2, ep: 2, tp: 2}\ntraffic:\n"
                        "  tp: {collective: allreduce, bytes: 7MB}\n  ep: {collective: alltoall, bytes: 5MB}\n"
                        "  dp: {collective: allreduce, bytes: 3MB}\n");
    const Placement p = links_test::on(slow_fabric, {"n1", "n2"}, 2);
    for (const Routing routing : {Routing::spray, Routing::ecmp}) {
      ScoreOptions options;
      options.links.routing = routing;
      const auto a = score(slow_fabric, p, j.traffic, options);
      const auto b = score(fast_fabric, p, j.traffic, options);
      RC_ASSERT(a.has_value() && b.has_value());
      RC_ASSERT(b->links->bottleneck->seconds <= a->links->bottleneck->seconds);
      RC_ASSERT(b->links->step_comm_seconds <= a->links->step_comm_seconds);
    }
  });
}

}  // namespace
}  // namespace weft::placement
