// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference_score.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using config::Dim;
using topology::Fabric;
using topology::NodeId;

// Any graph: nodes whose NICs go to random leaves, leaves and upper switches joined at random, some links down.
config::FabricSpec random_spec(std::uint32_t nodes, std::uint32_t gpus, std::uint32_t nics) {
  config::FabricSpec spec;
  spec.name = "random";
  config::NodeTypeSpec type;
  type.name = {"t", {}};
  type.gpus = gpus;
  type.nics = nics;
  type.nvlink = *rc::gen::arbitrary<bool>() ? config::NvlinkScope::node : config::NvlinkScope::none;
  spec.node_types.push_back(type);
  spec.nodes.push_back({{fmt::format("n[0-{}]", nodes - 1), {}}, {"t", {}}, 1});
  const auto leaves = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto uppers = *rc::gen::inRange<std::uint32_t>(0, 4);
  spec.switches.push_back({{fmt::format("s[0-{}]", leaves + uppers - 1), {}}, std::nullopt});
  const auto link = [&](const std::string& a, const std::string& b, std::optional<std::uint32_t> nic) {
    config::LinkSpec l;
    l.from = {a, {}};
    l.to = {b, {}};
    l.bandwidth = {400'000'000'000};
    if (nic) l.nics = config::Text{std::to_string(*nic), {}};
    spec.links.push_back(l);
    if (*rc::gen::inRange(0, 12) > 0) return;
    config::HealthSpec down;
    down.target = config::HealthSpec::Target::link;
    down.a = {nic ? fmt::format("{}:{}", a, *nic) : a, {}};
    down.b = {b, {}};
    down.down = true;
    spec.health.push_back(down);
  };
  // Every leaf has a node, so that tiers can be found; then every NIC has a leaf.
  for (std::uint32_t n = 0; n < nodes; ++n)
    for (std::uint32_t i = 0; i < nics; ++i) {
      const std::uint32_t at = n * nics + i;
      const std::uint32_t leaf = at < leaves ? at : *rc::gen::inRange<std::uint32_t>(0, leaves);
      link(fmt::format("n{}", n), fmt::format("s{}", leaf), i);
    }
  for (std::uint32_t s = 1; s < leaves + uppers; ++s)
    for (std::uint32_t t = 0; t < s; ++t)
      if (t + 1 == s || *rc::gen::arbitrary<bool>()) link(fmt::format("s{}", s), fmt::format("s{}", t), std::nullopt);
  if (nodes >= 4 && *rc::gen::arbitrary<bool>()) spec.nvlink_domains.push_back({{"rack", {}}, {"n[1-2]", {}}});
  return spec;
}

config::Layout random_layout(std::uint32_t ranks) {
  config::Layout out;
  for (std::uint32_t left = ranks, p = 2; left > 1;) {
    if (left % p != 0) {
      ++p;
      continue;
    }
    left /= p;
    out[*rc::gen::element(Dim::tp, Dim::cp, Dim::pp, Dim::dp)] *= p;
  }
  const std::uint32_t product = out[Dim::dp] * out[Dim::cp];
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d <= product; ++d)
    if (product % d == 0) divisors.push_back(d);
  out[Dim::ep] = *rc::gen::elementOf(divisors);
  for (std::size_t i = 0; i + 1 < out.order.size(); ++i)
    std::swap(out.order[i], out.order[*rc::gen::inRange(i, out.order.size())]);
  return out;
}

std::vector<config::TrafficTerm> random_terms() {
  return *rc::gen::container<std::vector<config::TrafficTerm>>(rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 5), rc::gen::inRange(0, 6), rc::gen::inRange<std::uint64_t>(0, 1 << 20)),
      [](const std::tuple<int, int, std::uint64_t>& t) {
        return config::TrafficTerm{
            static_cast<Dim>(std::get<0>(t)), static_cast<config::Collective>(std::get<1>(t)), {std::get<2>(t)}};
      }));
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)}); }

struct World {
  std::optional<Fabric> fabric;
  std::uint32_t ranks_per_node = 1;
  std::vector<NodeId> nodes;
  config::JobSpec job;
  config::Layout layout;
};

World random_world() {
  World w;
  const auto nodes = *rc::gen::inRange<std::uint32_t>(2, 8);
  const auto gpus = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto nics = *rc::gen::inRange<std::uint32_t>(1, gpus + 1);
  auto fabric = Fabric::build(random_spec(nodes, gpus, nics));
  if (!fabric) RC_DISCARD(fabric.error().to_string());
  w.fabric = std::move(*fabric);
  w.ranks_per_node = *rc::gen::inRange<std::uint32_t>(1, gpus + 1);
  std::vector<std::uint32_t> ids(nodes);
  std::iota(ids.begin(), ids.end(), 0U);
  const auto used = *rc::gen::inRange<std::uint32_t>(1, nodes + 1);
  for (std::uint32_t i = 0; i < used; ++i) {
    std::swap(ids[i], ids[*rc::gen::inRange(i, nodes)]);
    w.nodes.push_back(NodeId{ids[i]});
  }
  w.job.nodes = used;
  w.job.traffic = random_terms();
  if (*rc::gen::arbitrary<bool>())
    w.job.cross_rail = *rc::gen::element(config::CrossRail::pxn, config::CrossRail::fabric);
  w.layout = random_layout(used * w.ranks_per_node);
  return w;
}

TEST(ScoreProperty, EqualsTheReference) {
  EXPECT_TRUE(rc::check("score == reference", [] {
    const World w = random_world();
    const auto traffic = build_traffic(w.job, w.layout);
    RC_ASSERT(traffic.has_value());
    const auto placed = ranks_in_order(*w.fabric, w.nodes, w.ranks_per_node);
    RC_ASSERT(placed.has_value());
    const auto expected = reference::score(*w.fabric, *placed, w.layout, w.job.traffic, w.job.cross_rail);
    const auto got = score(*w.fabric, *placed, *traffic);
    RC_ASSERT(got.has_value() == expected.has_value());
    RC_CLASSIFY(!expected, "no path");
    if (!expected) return;
    RC_CLASSIFY(expected->rerouted > 0, "rerouted");
    double outside = 0;
    for (std::size_t t = 0; t < got->tier_bytes.size(); ++t) {
      const auto at = expected->tier_bytes.find(static_cast<int>(t));
      RC_ASSERT(near(got->tier_bytes[t], at == expected->tier_bytes.end() ? 0 : at->second));
      if (t > 0) outside += got->tier_bytes[t];
    }
    RC_ASSERT(near(got->hop_bytes, expected->hop_bytes));
    RC_ASSERT(near(got->rerouted_bytes, expected->rerouted));
    RC_ASSERT(got->max_hops == static_cast<std::uint32_t>(expected->max_hops));
    RC_ASSERT(near(got->mean_hops, outside > 0 ? expected->hop_bytes / outside : 0));
    for (const DimSpread& s : got->spread) {
      for (topology::Level l = 0; l < w.fabric->level_count(); ++l) {
        double sum = 0;
        double max = 0;
        const auto groups = reference::groups(w.layout, s.dim);
        for (const auto& g : groups) {
          std::set<std::uint32_t> seen;
          for (const std::uint32_t r : g) seen.insert(topology::index(w.fabric->domain_of(l, placed->ranks[r].node)));
          sum += static_cast<double>(seen.size());
          max = std::max(max, static_cast<double>(seen.size()));
        }
        RC_ASSERT(near(s.by_level[l].mean, sum / static_cast<double>(groups.size())));
        RC_ASSERT(s.by_level[l].max == max);
        RC_ASSERT(s.bound[l] <= s.by_level[l].mean + 1e-9);
      }
    }
  }));
}

TEST(ScoreProperty, NodesOfOneClassAreInterchangeable) {
  EXPECT_TRUE(rc::check("relabelling within a class changes nothing", [] {
    const World w = random_world();
    const auto traffic = build_traffic(w.job, w.layout);
    RC_ASSERT(traffic.has_value());
    const Fabric& f = *w.fabric;
    // A permutation of all nodes that maps each class, and each NVLink domain larger than a node, onto itself.
    std::vector<std::uint32_t> image(f.node_count());
    std::iota(image.begin(), image.end(), 0U);
    for (std::uint32_t a = 0; a < image.size(); ++a) {
      const auto b = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(image.size()));
      const NodeId x{a};
      const NodeId y{b};
      // Nodes of one class may still be of two leaf domains: classes go by the ports that are up, domains by cabling.
      bool together = true;
      for (topology::Level l = 1; l < f.level_count(); ++l)
        together = together && f.domain_of(l, x) == f.domain_of(l, y);
      const auto alone = [&](NodeId n) { return f.domain_nodes(0, f.domain_of(0, n)).size() == 1; };
      if (f.class_of(x) == f.class_of(y) && f.type_id(x) == f.type_id(y) && together && alone(x) && alone(y))
        std::swap(image[a], image[b]);
    }
    std::vector<NodeId> renamed;
    for (const NodeId n : w.nodes) renamed.push_back(NodeId{image[topology::index(n)]});
    const auto before = score(f, *ranks_in_order(f, w.nodes, w.ranks_per_node), *traffic);
    const auto after = score(f, *ranks_in_order(f, renamed, w.ranks_per_node), *traffic);
    RC_ASSERT(before.has_value() == after.has_value());
    RC_CLASSIFY(renamed != w.nodes, "moved");
    if (!before) return;
    RC_ASSERT(before->tier_bytes == after->tier_bytes);
    RC_ASSERT(before->hop_bytes == after->hop_bytes);
    RC_ASSERT(before->max_hops == after->max_hops);
    RC_ASSERT(before->spread == after->spread);
    RC_ASSERT(before->fragmentation_after == after->fragmentation_after);
  }));
}

}  // namespace
}  // namespace weft::placement
