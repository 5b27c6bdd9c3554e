// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement_fixtures.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using namespace fixtures;
using testing::ElementsAre;

Score score_of(const topology::Fabric& f, const Case& c, const std::vector<std::string>& order,
               const ScoreOptions& options = {}) {
  const auto placed = ranks_in_order(f, nodes(f, order), c.request.ranks_per_node);
  EXPECT_TRUE(placed.has_value());
  auto out = score(f, *placed, *c.traffic, options);
  EXPECT_TRUE(out.has_value()) << out.error().to_string();
  return std::move(*out);
}

TEST(Score, RingOverThreeTiers) {
  const auto f = fabric(tree16());
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 4\nlayout: {dp: 4}\n"
                                  "traffic: {dp: {collective: allreduce, bytes: 8B}}\n"));
  // Ring n1>n2>n5>n9>n1, 2*8*3/4 = 12 B an edge.
  //   n1>n2 one leaf: tier 1, 1 hop.  n2>n5 over spineA: tier 2, 3 hops.  n5>n9, n9>n1 over the core: tier 3, 5 hops.
  const Score s = score_of(f, c, {"n1", "n2", "n5", "n9"});
  EXPECT_THAT(s.tier_bytes, ElementsAre(0, 12, 12, 24));
  EXPECT_EQ(s.cross_spine_bytes, 36);
  EXPECT_EQ(s.hop_bytes, 12 * (1 + 3 + 5 + 5));
  EXPECT_EQ(s.mean_hops, 14.0 / 4);
  EXPECT_EQ(s.max_hops, 5U);
  ASSERT_EQ(s.spread.size(), 1U);
  EXPECT_EQ(s.spread[0].dim, config::Dim::dp);
  EXPECT_EQ(s.spread[0].by_level[topology::kNvlinkLevel], (MeanMax{4, 4}));
  EXPECT_EQ(s.spread[0].by_level[topology::kLeafLevel], (MeanMax{3, 3}));
  EXPECT_EQ(s.spread[0].by_level[topology::kPodLevel], (MeanMax{2, 2}));
  // Four ranks, one a node: at least 4 nodes, 1 leaf, 1 pod.
  EXPECT_THAT(s.spread[0].bound, ElementsAre(4, 1, 1, 1));
  // 16 nodes free before: 1, 4, 8, 16 in a domain; after, leaf l4 keeps 4 and pod B 7.
  EXPECT_THAT(s.fragmentation_before, ElementsAre(1, 4, 8, 16));
  EXPECT_THAT(s.fragmentation_after, ElementsAre(1, 4, 7, 12));
  EXPECT_EQ(s.exposure, (Score::Exposure{3, 2, 1, 4}));
}

TEST(Score, FreeMaskAndHealthDecideFragmentation) {
  const auto f = fabric(tree16() + "health:\n  - {node: n16, state: down}\n");
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 1\nranks_per_node: 1\n"));
  NodeMask free(f.node_count(), true);
  for (const char* busy : {"n5", "n6"}) free[topology::index(*f.find_node(busy))] = false;
  ScoreOptions options;
  options.free_before = &free;
  const Score s = score_of(f, c, {"n1"}, options);
  // Free: l1 4, l2 2, l3 4, l4 3; pod A 6, pod B 7; after n1: l1 3.
  EXPECT_THAT(s.fragmentation_before, ElementsAre(1, 4, 7, 13));
  EXPECT_THAT(s.fragmentation_after, ElementsAre(1, 4, 7, 12));
}

TEST(Score, ADigestChangesNothingAndLocalityMayBeLeftOut) {
  const auto f = fabric(tree16());
  const Case c = make_case(f, replicas(3, 4, "8MiB", "1MiB"));
  const auto digest = make_digest(*c.traffic);
  Request request = c.request;
  request.digest = digest.get();
  const auto plain = place(f, c.request);
  const auto digested = place(f, request);
  ASSERT_TRUE(plain && digested);
  EXPECT_EQ(plain->nodes, digested->nodes);
  ScoreOptions options;
  const auto whole = score(f, *plain, *c.traffic, options);
  options.digest = digest.get();
  const auto same = score(f, *plain, *c.traffic, options);
  options.locality = false;
  const auto less = score(f, *plain, *c.traffic, options);
  ASSERT_TRUE(whole && same && less);
  EXPECT_EQ(same->bounds, whole->bounds);
  EXPECT_EQ(same->spread, whole->spread);
  EXPECT_EQ(same->hop_bytes, whole->hop_bytes);
  EXPECT_EQ(less->bounds, whole->bounds);
  EXPECT_EQ(less->tier_bytes, whole->tier_bytes);
  EXPECT_TRUE(less->spread.empty());
  EXPECT_FALSE(whole->spread.empty());
}

TEST(Score, CrossRailTrafficTakesTheReceiversRailUnderPxn) {
  const auto f = fabric(rails4());
  const std::string spec =
      "weft: 1\nname: j\nnodes: 2\nlayout: {ep: 4, dp: 4}\ntraffic: {ep: {collective: alltoall, bytes: 40B}}\n";
  // Ranks 0,1 on x1 and 2,3 on x2 (or x3). 12 ordered pairs of 10 B; 4 of them inside nodes.
  const Case c = make_case(f, job(spec));
  // Same unit: all 8 pairs between the nodes share a leaf under pxn: hops 1.
  const Score near = score_of(f, c, {"x1", "x2"});
  EXPECT_THAT(near.tier_bytes, ElementsAre(40, 80, 0));
  EXPECT_EQ(near.hop_bytes, 80);
  // Other unit: leaf, spine, leaf.
  const Score far = score_of(f, c, {"x1", "x3"});
  EXPECT_THAT(far.tier_bytes, ElementsAre(40, 0, 80));
  EXPECT_EQ(far.hop_bytes, 240);
  // cross_rail: fabric. The 4 pairs of equal index stay on their leaf, the 4 crossing ones climb to the spine.
  ScoreOptions fabric_option;
  fabric_option.cross_rail = config::CrossRail::fabric;
  const Score crossing = score_of(f, c, {"x1", "x2"}, fabric_option);
  EXPECT_THAT(crossing.tier_bytes, ElementsAre(40, 40, 40));
  EXPECT_EQ(crossing.hop_bytes, 40 * 1 + 40 * 3);
}

TEST(Score, WithoutNvlinkTheDefaultIsTheFabricAndTheJobMaySayOtherwise) {
  const auto f = fabric(rails4("none"));
  const std::string spec =
      "weft: 1\nname: j\nnodes: 2\nlayout: {ep: 4, dp: 4}\ntraffic: {ep: {collective: alltoall, bytes: 40B}}\n";
  const Case silent = make_case(f, job(spec));
  EXPECT_THAT(score_of(f, silent, {"x1", "x2"}).tier_bytes, ElementsAre(40, 40, 40));
  const Case says = make_case(f, job(spec + "cross_rail: pxn\n"));
  EXPECT_THAT(score_of(f, says, {"x1", "x2"}).tier_bytes, ElementsAre(40, 80, 0));
}

TEST(Score, ADeadRailIsGoneAroundAndSaidSo) {
  // x1's NIC 1 is down: what x2's GPU 1 sends to x1's GPU 1 goes to NIC 0, over a0 (x2 NIC 0 to x1 NIC 0).
  const auto f = fabric(rails4() + "health:\n  - {link: [\"x1:1\", a1], state: down}\n");
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 2\nlayout: {tp: 2, dp: 2}\n"
                                  "traffic: {dp: {collective: allreduce, bytes: 10B}}\n"));
  // dp groups {0,2} and {1,3}, 10 B each way: group 0 on a0; group 1 rerouted.
  const Score s = score_of(f, c, {"x1", "x2"});
  EXPECT_THAT(s.tier_bytes, ElementsAre(0, 40, 0));
  EXPECT_EQ(s.rerouted_bytes, 20);
}

TEST(Score, NoPathAtAllIsAnError) {
  const auto f = fabric(tree16() + "health:\n  - {switch: core, state: down}\n");
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 2\nlayout: {dp: 2}\n"
                                  "traffic: {dp: {collective: allreduce, bytes: 8B}}\n"));
  const auto placed = ranks_in_order(f, nodes(f, {"n1", "n9"}), 1);
  const auto s = score(f, *placed, *c.traffic);
  ASSERT_FALSE(s.has_value());
  EXPECT_EQ(s.error().code, ErrorCode::infeasible);
  EXPECT_EQ(s.error().message, "rank 0 on n1 GPU 0 and rank 1 on n9 GPU 0 exchange data but have no path between them");
}

TEST(Score, RefusesWhatDoesNotFitTogether) {
  const auto f = fabric(tree16());
  const Case c = make_case(f, job("weft: 1\nname: j\nnodes: 2\n"));
  const auto placed = ranks_in_order(f, nodes(f, {"n1"}), 1);
  EXPECT_EQ(score(f, *placed, *c.traffic).error().message, "the placement has 1 ranks, the job 2");
  auto wrong = ranks_in_order(f, nodes(f, {"n1", "n2"}), 1).value();
  wrong.ranks[1].gpu = 1;
  EXPECT_EQ(score(f, wrong, *c.traffic).error().message, "rank 1: n2 has no GPU 1");
}

}  // namespace
}  // namespace weft::placement
