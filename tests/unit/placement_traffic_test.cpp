// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shapes.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {
namespace {

using config::Algorithm;
using config::Collective;
using config::Dim;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

config::Layout layout(std::uint32_t tp, std::uint32_t cp, std::uint32_t ep, std::uint32_t pp, std::uint32_t dp) {
  config::Layout out;
  out.size = {tp, cp, ep, pp, dp};
  return out;
}

config::JobSpec job(std::uint32_t nodes, std::vector<config::TrafficTerm> terms) {
  config::JobSpec out;
  out.nodes = nodes;
  out.traffic = std::move(terms);
  return out;
}

std::vector<Flow> flows_of(std::uint32_t nodes, const config::Layout& l, const config::TrafficTerm& term) {
  const auto traffic = build_traffic(job(nodes, {term}), l);
  EXPECT_TRUE(traffic.has_value()) << traffic.error().to_string();
  return traffic->flows(traffic->terms.front());
}

std::string refusal(std::uint32_t nodes, const config::Layout& l, const config::TrafficTerm& term) {
  const auto traffic = build_traffic(job(nodes, {term}), l);
  return traffic ? "accepted" : traffic.error().to_string();
}

TEST(RankGrid, DefaultOrderRunsTpThenDpThenPp) {
  const RankGrid grid(layout(2, 1, 1, 2, 3));  // order tp cp ep dp pp: rank = tp + 2*dp + 6*pp
  EXPECT_EQ(grid.ranks(), 12U);
  EXPECT_EQ(grid.coordinate(11, Dim::tp), 1U);
  EXPECT_EQ(grid.coordinate(11, Dim::dp), 2U);
  EXPECT_EQ(grid.coordinate(11, Dim::pp), 1U);
  std::vector<std::uint32_t> members;
  grid.members(Dim::dp, 1, members);  // second dp group starts at rank 1
  EXPECT_THAT(members, ElementsAre(1, 3, 5));
  grid.members(Dim::dp, 2, members);
  EXPECT_THAT(members, ElementsAre(6, 8, 10));
  grid.members(Dim::pp, 5, members);
  EXPECT_THAT(members, ElementsAre(5, 11));
  EXPECT_EQ(grid.group_of(10, Dim::dp), 2U);
}

TEST(RankGrid, ExpertGroupsAreRunsOfTheDpCpProduct) {
  config::Layout l = layout(2, 2, 4, 2, 4);  // 32 ranks; strides tp 1, cp 2, pp 4, dp 8 in this order
  l.order = {Dim::tp, Dim::cp, Dim::ep, Dim::pp, Dim::dp};
  const RankGrid grid(l);
  std::vector<std::uint32_t> members;
  grid.members(Dim::ep, 0, members);  // tp 0, pp 0: cp runs fastest, then dp
  EXPECT_THAT(members, ElementsAre(0, 2, 8, 10));
  grid.members(Dim::ep, 1, members);  // next first rank: tp 1
  EXPECT_THAT(members, ElementsAre(1, 3, 9, 11));
  grid.members(Dim::ep, 4, members);  // dp 2..3 of tp 0, pp 0
  EXPECT_THAT(members, ElementsAre(16, 18, 24, 26));
  EXPECT_EQ(grid.coordinate(24, Dim::ep), 2U);
  EXPECT_EQ(grid.group_of(24, Dim::ep), 4U);
}

TEST(Traffic, RingAllreduceMovesTwiceVOverEachEdge) {
  // V = 12 B, g = 3: 2*12*2/3 = 16 B on each of 0>1, 1>2, 2>0.
  EXPECT_THAT(flows_of(3, layout(1, 1, 1, 1, 3), {Dim::dp, Collective::allreduce, {12}}),
              ElementsAre(Flow{0, 1, 16}, Flow{1, 2, 16}, Flow{2, 0, 16}));
}

TEST(Traffic, RingOfTwoHasAnEdgeEachWay) {
  // V = 10 B, g = 2: 2*10*1/2 = 10 B each way.
  EXPECT_THAT(flows_of(2, layout(1, 1, 1, 1, 2), {Dim::dp, Collective::allreduce, {10}}),
              ElementsAre(Flow{0, 1, 10}, Flow{1, 0, 10}));
}

TEST(Traffic, ReduceScatterAndAllgatherMoveHalfOfIt) {
  for (const Collective c : {Collective::reduce_scatter, Collective::allgather})
    EXPECT_THAT(flows_of(3, layout(1, 1, 1, 1, 3), {Dim::dp, c, {12}}),  // 12*2/3 = 8 B
                ElementsAre(Flow{0, 1, 8}, Flow{1, 2, 8}, Flow{2, 0, 8}));
}

TEST(Traffic, BroadcastIsAChainAndNeighboursDoNotWrap) {
  EXPECT_THAT(flows_of(3, layout(1, 1, 1, 3, 1), {Dim::pp, Collective::broadcast, {7}}),
              ElementsAre(Flow{0, 1, 7}, Flow{1, 2, 7}));
  EXPECT_THAT(flows_of(3, layout(1, 1, 1, 3, 1), {Dim::pp, Collective::neighbour, {7}}),
              ElementsAre(Flow{0, 1, 7}, Flow{1, 0, 7}, Flow{1, 2, 7}, Flow{2, 1, 7}));
}

TEST(Traffic, AlltoallGivesEveryOrderedPairItsShare) {
  const auto flows = flows_of(4, layout(1, 1, 4, 1, 4), {Dim::ep, Collective::alltoall, {10}});
  ASSERT_EQ(flows.size(), 12U);
  for (const Flow& f : flows) EXPECT_EQ(f.bytes, 2.5);  // 10/4
}

TEST(Traffic, GroupsOfOneMoveNothing) {
  EXPECT_TRUE(flows_of(4, layout(1, 1, 1, 1, 4), {Dim::tp, Collective::allreduce, {10}}).empty());
}

// NCCL's own drawings (src/graph/trees.cc): 14 places, 0 on top of 8, 8 over 4 and 12; the second tree is the mirror.
TEST(DoubleTree, IsNcclsForFourteenPlaces) {
  const DoubleTree t = double_tree(14);
  using P = std::optional<std::uint32_t>;
  EXPECT_THAT(t.first,
              ElementsAre(P(), P(2), P(4), P(2), P(8), P(6), P(4), P(6), P(0), P(10), P(12), P(10), P(8), P(12)));
  for (std::uint32_t i = 0; i < 14; ++i) EXPECT_EQ(t.second[i], t.first[13 - i] ? P(13 - *t.first[13 - i]) : P()) << i;
}

TEST(DoubleTree, SecondTreeOfAnOddNumberIsShifted) {
  const DoubleTree t = double_tree(13);
  EXPECT_EQ(t.second[1], std::nullopt);
  EXPECT_EQ(t.second[9], 1U);  // as 8 under 0
  EXPECT_EQ(t.second[5], 9U);  // as 4 under 8
  EXPECT_EQ(t.second[0], 9U);  // as 12 under 8, 13 places: 12 + 1 wraps to 0
}

TEST(DoubleTree, BothAreTreesAndNoPlaceHasMoreThanThreeChildrenInAll) {
  for (std::uint32_t n = 2; n < 200; ++n) {
    const DoubleTree t = double_tree(n);
    std::vector<int> children(n, 0);
    for (const auto* tree : {&t.first, &t.second}) {
      std::vector<int> of_tree(n, 0);
      std::uint32_t roots = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        if (!(*tree)[i]) {
          ++roots;
          continue;
        }
        ++of_tree[*(*tree)[i]];
        // Every place reaches the root.
        std::uint32_t at = i;
        std::uint32_t steps = 0;
        while ((*tree)[at] && steps <= n) {
          at = *(*tree)[at];
          ++steps;
        }
        ASSERT_LE(steps, 9U) << n;  // depth of 200 places
      }
      ASSERT_EQ(roots, 1U) << n;
      for (std::uint32_t i = 0; i < n; ++i) {
        ASSERT_LE(of_tree[i], 2) << n;
        children[i] += of_tree[i];
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) ASSERT_LE(children[i], 3) << n << " place " << i;
  }
}

TEST(Traffic, TreeAllreduceSendsHalfUpAndDownEachTree) {
  // Two nodes of one member each, V = 8 B: both trees are the one edge, 4 B up and 4 B down in each: 8 B each way.
  EXPECT_THAT(flows_of(2, layout(1, 1, 1, 1, 2), {Dim::dp, Collective::allreduce, {8}, Algorithm::tree}),
              ElementsAre(Flow{0, 1, 8}, Flow{1, 0, 8}));
}

TEST(Traffic, TreeUsesEveryMemberOfANodeAsAChannel) {
  // Two nodes of two members, V = 8 B, two channels of 4 B: across, channel c joins the c-th members, 4 B each way.
  // Inside, each channel is the chain of one edge: 4 B each way and channel, 8 B in all.
  EXPECT_THAT(flows_of(2, layout(1, 1, 1, 1, 4), {Dim::dp, Collective::allreduce, {8}, Algorithm::tree}),
              ElementsAre(Flow{0, 1, 8}, Flow{0, 2, 4}, Flow{1, 0, 8}, Flow{1, 3, 4}, Flow{2, 0, 4}, Flow{2, 3, 8},
                          Flow{3, 1, 4}, Flow{3, 2, 8}));
}

TEST(Traffic, HierarchicalAllreduceScattersInsideThenCrosses) {
  // Two nodes of two members, V = 8 B: inside 2*8*(1/2) = 8 B each ring edge; across 2*(8/2)*(1/2) = 4 B.
  EXPECT_THAT(flows_of(2, layout(1, 1, 1, 1, 4), {Dim::dp, Collective::allreduce, {8}, Algorithm::hierarchical}),
              ElementsAre(Flow{0, 1, 8}, Flow{0, 2, 4}, Flow{1, 0, 8}, Flow{1, 3, 4}, Flow{2, 0, 4}, Flow{2, 3, 8},
                          Flow{3, 1, 4}, Flow{3, 2, 8}));
}

TEST(Traffic, HierarchicalNeedsEvenGroups) {
  // 12 ranks on 4 nodes of 3: the first tp group, ranks 0 to 3, has three members on node 0 and one on node 1.
  EXPECT_EQ(
      refusal(4, layout(4, 1, 1, 1, 3), {Dim::tp, Collective::allreduce, {8}, Algorithm::hierarchical}),
      "error: traffic.tp: algorithm hierarchical needs as many members of a group on each of its nodes; group 0 has "
      "unequal numbers; expected ring, tree or auto");
}

TEST(Traffic, AutoPicksByTheDocumentedRule) {
  const auto chosen = [](std::uint32_t nodes, const config::Layout& l, config::TrafficTerm term) {
    term.algorithm = Algorithm::automatic;
    return build_traffic(job(nodes, {term}), l).value().terms.front().algorithm;
  };
  EXPECT_EQ(chosen(1, layout(8, 1, 1, 1, 1), {Dim::tp, Collective::allreduce, {8}}), Algorithm::ring);
  EXPECT_EQ(chosen(2, layout(1, 1, 1, 1, 16), {Dim::dp, Collective::allgather, {8}}), Algorithm::hierarchical);
  EXPECT_EQ(chosen(64, layout(1, 1, 1, 1, 64), {Dim::dp, Collective::allreduce, {1 << 20}}), Algorithm::tree);
  EXPECT_EQ(chosen(64, layout(1, 1, 1, 1, 64), {Dim::dp, Collective::allreduce, {16ULL << 30}}), Algorithm::ring);
  EXPECT_EQ(chosen(64, layout(1, 1, 1, 1, 64), {Dim::dp, Collective::alltoall, {8}}), Algorithm::ring);
}

TEST(Traffic, RefusesAlgorithmsThatACollectiveDoesNotHave) {
  EXPECT_EQ(refusal(2, layout(1, 1, 1, 1, 2), {Dim::dp, Collective::alltoall, {8}, Algorithm::tree}),
            "error: traffic.dp: algorithm tree does not apply to alltoall; expected allreduce with tree, or ring");
  EXPECT_EQ(
      refusal(2, layout(1, 1, 1, 1, 2), {Dim::dp, Collective::neighbour, {8}, Algorithm::hierarchical}),
      "error: traffic.dp: algorithm hierarchical does not apply to neighbour; expected allreduce, reduce_scatter or "
      "allgather with hierarchical, or ring");
}

TEST(Traffic, RefusesLayoutsThatDoNotFit) {
  EXPECT_EQ(refusal(2, layout(1, 1, 3, 1, 4), {}), "error: ep 3 does not divide dp*cp = 4*1 = 4");
  EXPECT_EQ(refusal(3, layout(1, 1, 1, 1, 4), {}), "error: 4 ranks cannot be spread evenly over 3 nodes");
}

TEST(Traffic, BoundsTheNumberOfFlows) {
  EXPECT_EQ(refusal(8192, layout(1, 1, 8192, 1, 8192), {Dim::ep, Collective::alltoall, {8}}),
            "error: traffic.ep: alltoall over 8192 ranks makes more than 16777216 flows a group");
}

TEST(Traffic, StaysCompactForLargeJobs) {
  // 131,072 ranks: 8,192 dp groups' rings of 16 would be 131,072 flows a term; the term keeps one ring of 16 edges.
  const auto traffic = build_traffic(
      job(16384, {{Dim::dp, Collective::allreduce, {1 << 20}}, {Dim::ep, Collective::alltoall, {1 << 20}}}),
      layout(8, 1, 64, 1, 16384));
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->terms[1].shapes.size(), 1U);
  EXPECT_EQ(traffic->terms[1].shapes[0].edges.size(), 64U * 63);
  EXPECT_EQ(traffic->flow_count(), 131072ULL + 131072ULL * 63);
}

TEST(EdgeBytes, AreExactWhereWhole) {
  EXPECT_EQ(edge_bytes(2 * 15, {12ULL << 30}, 16), 24159191040.0);  // 2*12Gi*15/16
  EXPECT_EQ(edge_bytes(1, {10}, 4), 2.5);
}

}  // namespace
}  // namespace weft::placement
