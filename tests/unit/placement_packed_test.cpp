// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packed_runs.hpp"
#include "placement_fixtures.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using namespace fixtures;
using testing::ElementsAre;
using testing::IsEmpty;

topology::Fabric four_leaves() { return fabric(two_tiers(28, 4)); }

// Of the leaves' seven nodes each, 7, 6, 4 and 3.
Eligible some_free(const topology::Fabric& f) {
  Eligible out;
  out.mask.assign(f.node_count(), true);
  out.count = 20;
  for (const char* busy : {"n14", "n19", "n20", "n21", "n25", "n26", "n27", "n28"})
    out.mask[topology::index(*f.find_node(busy))] = false;
  return out;
}

TEST(PackedRuns, WholeRunsFirstThenPiecesLargestFirst) {
  const auto f = four_leaves();
  const Eligible eligible = some_free(f);
  const auto lists = [&](std::uint32_t nodes, std::uint32_t run) {
    std::vector<std::vector<std::string>> out;
    auto domains = SpannedDomains::find(f, eligible, nodes);
    if (!domains) return out;
    for (const auto& list : packed_runs(*domains, run)) out.push_back(names(f, list));
    return out;
  };
  // 16 nodes on the three fullest leaves: one run of four in each, and what they have left, 3 + 1, for the fourth. The
  // last leaf would add no whole run.
  EXPECT_THAT(lists(16, 4), ElementsAre(ElementsAre("n1", "n2", "n3", "n4", "n8", "n9", "n10", "n11", "n15", "n16",
                                                    "n17", "n18", "n5", "n6", "n7", "n12")));
  // All runs whole on two leaves: nothing more to try.
  const auto of_three = lists(12, 3);
  ASSERT_EQ(of_three.size(), 1U);
  EXPECT_EQ(of_three.front().size(), 12U);
  // Five runs of three: 6 + 6 and three more of the third leaf.
  EXPECT_THAT(lists(15, 3).back(), testing::IsSupersetOf({"n1", "n6", "n8", "n13", "n15", "n17"}));
  EXPECT_THAT(lists(16, 8), IsEmpty());  // no leaf holds a whole run
  EXPECT_THAT(lists(7, 7), IsEmpty());   // one leaf does
  EXPECT_THAT(lists(24, 4), IsEmpty());  // too many
}

// Four rings of four: best fit cuts two of them, the packed list one.
TEST(PackedRuns, FewerRingsAreCut) {
  const auto f = four_leaves();
  const Case c = make_case(f, replicas(4, 4, "100MiB", "1MiB"));
  Request request = c.request;
  request.free = some_free(f).mask;
  const auto placed = place(f, request);
  ASSERT_TRUE(placed);
  ScoreOptions options;
  options.free_before = &request.free;
  const auto scored = score(f, *placed, *c.traffic, options);
  ASSERT_TRUE(scored);
  EXPECT_EQ(scored->spread.back().dim, config::Dim::dp);
  EXPECT_EQ(scored->spread.back().by_level[topology::kLeafLevel].mean, 1.25);
}

}  // namespace
}  // namespace weft::placement
