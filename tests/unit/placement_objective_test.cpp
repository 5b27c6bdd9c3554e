// SPDX-License-Identifier: BSD-3-Clause
//
// What place() prefers besides traffic: time, node weights; and that it gives the same answer again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "placement_fixtures.hpp"
#include "spread_map.hpp"
#include "spread_plan.hpp"
#include "spread_sets.hpp"

namespace weft::placement {
namespace {

using fixtures::names;
using testing::ElementsAre;
using topology::Fabric;
using topology::NodeId;

double step_seconds(const Fabric& f, const fixtures::Case& c, const Placement& placed) {
  ScoreOptions options;
  options.links.routing = Routing::spray;
  return score(f, placed, *c.traffic, options).value().links.value().step_comm_seconds;
}

constexpr const char* kRing = R"(weft: 1
name: j
nodes: {}
ranks_per_node: 1
layout: {{dp: {}}}
traffic:
  dp: {{collective: allreduce, bytes: 8MiB}}
)";

fixtures::Case ring(const Fabric& f, std::uint32_t nodes) {
  return fixtures::make_case(f, fixtures::job(fmt::format(kRing, nodes, nodes)));
}

// The least traffic is under the leaf with a slow link; the least time goes over the spine.
TEST(Objective, TimeAvoidsASlowLink) {
  std::string yaml = fixtures::tree16();
  yaml += "health:\n  - {link: [n1, l1], bandwidth: 10Gb/s}\n  - {link: [n5, l2], bandwidth: 10Gb/s}\n";
  const Fabric f = fixtures::fabric(yaml);
  fixtures::Case c = ring(f, 4);
  c.request.free.assign(f.node_count(), false);
  for (const char* n : {"n1", "n2", "n3", "n4", "n5", "n6", "n7"})
    c.request.free[topology::index(f.find_node(n).value())] = true;
  PlaceOptions options;
  const auto traffic = place(f, c.request, options);
  options.objective = Objective::time;
  const auto time = place(f, c.request, options);
  ASSERT_TRUE(traffic && time);
  EXPECT_LE(step_seconds(f, c, *time), step_seconds(f, c, *traffic));
}

// Nodes equal in traffic: those with slowed links give way, one by one, and a whole leaf of them to another.
TEST(Objective, TrafficTakesSoundNodesWhereItCostsNothing) {
  const Fabric f = fixtures::fabric(fixtures::tree16() +
                                    "health:\n  - {link: [n1, l1], bandwidth: 10Gb/s}\n"
                                    "  - {link: [n6, l2], bandwidth: 10Gb/s}\n");
  PlaceOptions options;
  EXPECT_THAT(names(f, place(f, ring(f, 2).request, options)->nodes), ElementsAre("n2", "n3"));
  EXPECT_THAT(names(f, place(f, ring(f, 4).request, options)->nodes), ElementsAre("n9", "n10", "n11", "n12"));
  fixtures::Case c = ring(f, 4);
  c.request.free.assign(f.node_count(), false);
  for (const char* n : {"n1", "n2", "n3", "n4", "n5", "n6", "n7"})
    c.request.free[topology::index(*f.find_node(n))] = true;
  // The slow node, or the spine: traffic says the node.
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), ElementsAre("n1", "n2", "n3", "n4"));
  config::JobSpec must = *c.job;
  must.constraints.required_nodes = config::Text{"n6", {}};
  fixtures::Case required = fixtures::make_case(f, must);
  EXPECT_THAT(names(f, place(f, required.request, options)->nodes), testing::Contains("n6"));
}

TEST(Objective, TimeIsNeverWorseThanTrafficByTheModel) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const brute::Trial t = brute::random_trial(seed, brute::kKinds[seed % brute::kKinds.size()], 12, 8);
    fixtures::Case c = fixtures::make_case(t.fabric, t.job);
    c.request.free = t.free;
    PlaceOptions options;
    const auto traffic = place(t.fabric, c.request, options);
    options.objective = Objective::time;
    const auto time = place(t.fabric, c.request, options);
    ASSERT_TRUE(traffic && time);
    EXPECT_LE(step_seconds(t.fabric, c, *time), step_seconds(t.fabric, c, *traffic) * (1 + 1e-12));
    EXPECT_TRUE(check_placement(t.fabric, c.request, *time));
  }
}

TEST(Objective, SpreadTouchesNoMorePodsThanTraffic) {
  std::uint32_t fewer = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const brute::Trial t = brute::random_trial(seed, brute::kKinds[seed % brute::kKinds.size()], 14, 12);
    fixtures::Case c = fixtures::make_case(t.fabric, t.job);
    c.request.free = t.free;
    PlaceOptions options;
    const auto traffic = place(t.fabric, c.request, options);
    options.objective = Objective::spread;
    const auto spread = place(t.fabric, c.request, options);
    ASSERT_TRUE(traffic && spread);
    EXPECT_TRUE(check_placement(t.fabric, c.request, *spread));
    const double most = weighted_spread(t.fabric, c.request, traffic->nodes);
    EXPECT_LE(weighted_spread(t.fabric, c.request, spread->nodes), most);
    fewer += weighted_spread(t.fabric, c.request, spread->nodes) < most ? 1 : 0;
  }
  EXPECT_GT(fewer, 0U);
}

TEST(SpreadPlan, KeepsCapacitiesAndItsWord) {
  brute::Dice dice(7);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    SpreadProblem p;
    p.rows = dice.roll(1, 8);
    p.columns = dice.roll(1, 16);
    p.row_weight = dice.roll(1, 3);
    p.column_weight = dice.roll(1, 3);
    std::uint32_t room = 0;
    while (room < p.rows * p.columns) {
      p.capacity.push_back(dice.roll(0, 20));
      room += p.capacity.back();
    }
    const SpreadPlan plan = plan_spread(p);
    ASSERT_EQ(plan.pod_of.size(), p.rows * p.columns);
    std::vector<std::uint32_t> used(p.capacity.size(), 0);
    for (const std::uint32_t pod : plan.pod_of) ++used.at(pod);
    for (std::size_t k = 0; k < used.size(); ++k) EXPECT_LE(used[k], p.capacity[k]);
    std::size_t rows = 0;
    for (std::uint32_t r = 0; r < p.rows; ++r)
      rows = std::max(rows,
                      std::set(plan.pod_of.begin() + r * p.columns, plan.pod_of.begin() + (r + 1) * p.columns).size());
    EXPECT_EQ(plan.row_spread, rows);
    EXPECT_EQ(plan.cost, p.row_weight * plan.row_spread + p.column_weight * plan.column_spread);
    EXPECT_LE(plan.bound, plan.cost);
  }
}

// No bands do it, and no free node is to spare.
TEST(SpreadPlan, RowsAndColumnsOfTwoPodsEach) {
  const SpreadPlan plan = plan_spread({4, 32, 2, 2, {32, 71, 25}});
  EXPECT_EQ(plan.row_spread, 2U);
  EXPECT_EQ(plan.column_spread, 2U);
  EXPECT_EQ(plan.cost, plan.bound);
}

TEST(SpreadPlan, SetsOfMorePodsThanAreSearchedAreNoPlan) {
  EXPECT_FALSE(spread_by_sets({3, 3, 1, 1, std::vector<std::uint32_t>(9, 1)}, 3, 3, 1000));
  EXPECT_FALSE(spread_by_sets({2, 2, 1, 1, {1, 1, 1, 1}}, 1, 1, 1000));
  EXPECT_TRUE(spread_by_sets({2, 2, 1, 1, {1, 1, 1, 1}}, 2, 2, 1000));
}

// Four pods of a quarter each: two by two, not four strips.
TEST(SpreadPlan, EqualPodsMakeABlockEach) {
  const SpreadPlan plan = plan_spread({8, 8, 1, 1, {16, 16, 16, 16}});
  EXPECT_EQ(plan.row_spread, 2U);
  EXPECT_EQ(plan.column_spread, 2U);
  EXPECT_EQ(plan.bound, 4);
}

TEST(NodeWeights, StrictTakesTheLightestLeafTieOnlyWhereEqual) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  fixtures::Case c = ring(f, 4);
  c.request.weights.assign(f.node_count(), 1);
  for (const char* n : {"n1", "n2", "n3", "n4", "n5", "n6"}) c.request.weights[topology::index(*f.find_node(n))] = 9;
  // Light nodes: n7, n8 under l2, all of l3 and l4. n9-n12 is whole but free of weight: both modes take a leaf of light
  // nodes, for leaves cost the same.
  PlaceOptions options;
  options.node_weight = NodeWeight::strict;
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), ElementsAre("n9", "n10", "n11", "n12"));
  // Only six light nodes are free, no four of them under one leaf: strict crosses the spine, tie does not.
  c.request.free.assign(f.node_count(), false);
  for (const char* n : {"n1", "n2", "n3", "n4", "n7", "n8", "n9", "n10"})
    c.request.free[topology::index(*f.find_node(n))] = true;
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), testing::UnorderedElementsAre("n7", "n8", "n9", "n10"));
  options.node_weight = NodeWeight::tie;
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), ElementsAre("n1", "n2", "n3", "n4"));
  options.node_weight = NodeWeight::ignore;
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), ElementsAre("n1", "n2", "n3", "n4"));
}

TEST(NodeWeights, TieTakesTheLighterNodesOfALeaf) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  fixtures::Case c = ring(f, 2);
  c.request.free.assign(f.node_count(), false);
  for (const char* n : {"n1", "n2", "n3", "n4"}) c.request.free[topology::index(*f.find_node(n))] = true;
  c.request.weights.assign(f.node_count(), 1);
  c.request.weights[topology::index(*f.find_node("n1"))] = 5;
  c.request.weights[topology::index(*f.find_node("n3"))] = 5;
  EXPECT_THAT(names(f, place(f, c.request)->nodes), ElementsAre("n2", "n4"));
  PlaceOptions options;
  options.node_weight = NodeWeight::ignore;
  EXPECT_THAT(names(f, place(f, c.request, options)->nodes), ElementsAre("n1", "n2"));
}

TEST(NodeWeights, AsManyAsNodes) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  fixtures::Case c = ring(f, 2);
  c.request.weights.assign(3, 1);
  const auto placed = place(f, c.request);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code, ErrorCode::usage);
  EXPECT_EQ(placed.error().message, "3 node weights for the fabric's 16 nodes");
}

TEST(Search, StopEndsItWithALegalPlacement) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  const fixtures::Case c = ring(f, 12);
  PlaceOptions options;
  options.stop = [] { return true; };
  PlaceStats stats;
  const auto placed = place(f, c.request, options, &stats);
  ASSERT_TRUE(placed);
  EXPECT_TRUE(check_placement(f, c.request, *placed));
}

// Nothing beats best fit in fabric order there, so nothing is searched.
TEST(Search, APlainRingTakesNoSteps) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  const fixtures::Case c = ring(f, 12);
  PlaceStats stats;
  const auto placed = place(f, c.request, {}, &stats);
  ASSERT_TRUE(placed);
  EXPECT_EQ(stats.steps, 0U);
  EXPECT_TRUE(std::is_sorted(placed->nodes.begin(), placed->nodes.end(),
                             [&](auto x, auto y) { return f.fabric_rank(x) < f.fabric_rank(y); }));
  EXPECT_EQ(score(f, *placed, *c.traffic)->exposure.leaves, 3U);
}

TEST(Search, BudgetBoundsSteps) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  const fixtures::Case c = fixtures::make_case(f, fixtures::replicas(3, 4, "8MiB", "1MiB"));
  PlaceStats few;
  PlaceStats many;
  PlaceOptions options;
  options.budget_steps = 50;
  ASSERT_TRUE(place(f, c.request, options, &few));
  options.budget_steps = 0;
  ASSERT_TRUE(place(f, c.request, options, &many));
  EXPECT_LE(few.steps, 200U);
  EXPECT_GT(many.steps, few.steps);
}

}  // namespace
}  // namespace weft::placement
