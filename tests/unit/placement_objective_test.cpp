// SPDX-License-Identifier: BSD-3-Clause
//
// What place() prefers besides traffic: time, node weights; and that it gives the same answer again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "placement_fixtures.hpp"

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

TEST(Search, BudgetBoundsSteps) {
  const Fabric f = fixtures::fabric(fixtures::tree16());
  const fixtures::Case c = ring(f, 12);
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
