// SPDX-License-Identifier: BSD-3-Clause
//
// Bounds never exceed what any placement costs, and are met where they can be.
#include <gtest/gtest.h>

#include "bounds.hpp"
#include "brute_force.hpp"
#include "placement_fixtures.hpp"

namespace weft::placement {
namespace {

using topology::NodeId;

class Bounds : public testing::TestWithParam<brute::Kind> {};

TEST_P(Bounds, NeverExceedValues) {
  std::uint64_t bounded = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const brute::Trial t = brute::random_trial(seed, GetParam(), 14, 12);
    const auto resolved = resolve_job(t.fabric, t.job);
    ASSERT_TRUE(resolved);
    const auto traffic = build_traffic(t.job, resolved->layout);
    ASSERT_TRUE(traffic);
    const Request request{&t.job, resolved->layout, resolved->ranks_per_node, &*traffic, t.free};
    PlaceOptions options;
    options.seed = seed;
    ScoreOptions scoring;
    scoring.free_before = &request.free;
    for (const Policy policy : {Policy::weft, Policy::random}) {
      options.policy = policy;
      const auto placed = place(t.fabric, request, options);
      if (!placed) continue;  // random nodes may have no path to each other
      const auto s = score(t.fabric, *placed, *traffic, scoring);
      ASSERT_TRUE(s) << s.error().to_string();
      for (const DimSpread& d : s->spread)
        for (std::size_t level = 0; level < d.bound.size(); ++level) EXPECT_LE(d.bound[level], d.by_level[level].mean);
      EXPECT_EQ(s->bounds.has_value(), t.fabric.hierarchical());
      if (!s->bounds) continue;
      ++bounded;
      const auto at_most = [](double bound, double value) { EXPECT_LE(bound, value * (1 + 1e-9) + 1e-6); };
      at_most(s->bounds->cross_spine_bytes, s->cross_spine_bytes);
      at_most(s->bounds->hop_bytes, s->hop_bytes);
      ASSERT_LT(s->bounds->highest_tier, s->tier_bytes.size());
      double highest = 0;
      for (std::size_t tier = s->bounds->highest_tier; tier < s->tier_bytes.size(); ++tier)
        highest += s->tier_bytes[tier];
      if (s->bounds->highest_tier >= 2) at_most(s->bounds->highest_tier_bytes, highest);
    }
  }
  if (GetParam() == brute::Kind::tree || GetParam() == brute::Kind::racks) {
    EXPECT_GT(bounded, 100U);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Bounds, testing::ValuesIn(brute::kKinds), [](const auto& kind) {
  std::string name(brute::name_of(kind.param));
  std::erase(name, ' ');
  return name;
});

// 4 pods of 8 leaves of 16 nodes; DP 64 by PP 8.
TEST(Bounds, GridOf512NodesIsWithinTheProductBound) {
  const topology::Fabric fabric = fixtures::fat_tree(512, 16, 8);
  const fixtures::Case c = fixtures::make_case(fabric, fixtures::replicas(64, 8, "64MiB", "63MiB"));
  const auto placed = place(fabric, c.request);
  ASSERT_TRUE(placed);
  const auto s = score(fabric, *placed, *c.traffic);
  ASSERT_TRUE(s);
  ASSERT_TRUE(s->bounds);
  EXPECT_EQ(s->bounds->highest_tier, 3U);
  // Boxes of 128 = 16 x 8 or 64 x 2: between the bound and a third above it.
  EXPECT_GE(s->tier_bytes[3], s->bounds->highest_tier_bytes);
  EXPECT_LE(s->tier_bytes[3], s->bounds->highest_tier_bytes * 4 / 3);
  EXPECT_LE(s->hop_bytes, s->bounds->hop_bytes * 5 / 4);
}

// A ring over two leaves crosses between them twice, whoever places it.
TEST(Bounds, RingOverTwoLeavesIsMet) {
  const topology::Fabric f = fixtures::fabric(fixtures::tree16());
  const fixtures::Case c = fixtures::make_case(f, fixtures::job(R"(weft: 1
name: j
nodes: 8
ranks_per_node: 1
layout: {dp: 8}
traffic:
  dp: {collective: reduce_scatter, bytes: 8MiB}
)"));
  const auto placed = place(f, c.request);
  ASSERT_TRUE(placed);
  const auto s = score(f, *placed, *c.traffic);
  ASSERT_TRUE(s && s->bounds);
  EXPECT_EQ(s->cross_spine_bytes, 2.0 * (7 << 20));
  EXPECT_EQ(s->bounds->cross_spine_bytes, s->cross_spine_bytes);
  EXPECT_EQ(s->bounds->hop_bytes, s->hop_bytes);
}

}  // namespace
}  // namespace weft::placement
