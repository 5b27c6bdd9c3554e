// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link_fixtures.hpp"

namespace weft::placement {
namespace {

using namespace links_test;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(LinkLoads, StayOnOneLeaf) {
  const auto f = build(two_tier());
  EXPECT_THAT(loads(f, {flow(f, "a1", "a2", 12)}), UnorderedElementsAre(Pair("a1>l1", 12), Pair("l1>a2", 12)));
}

TEST(LinkLoads, SplitEvenlyOverSpines) {
  const auto f = build(two_tier());
  EXPECT_THAT(loads(f, {flow(f, "a1", "b1", 12), flow(f, "b2", "a1", 4)}),
              UnorderedElementsAre(Pair("a1>l1", 12), Pair("l1>s1", 6), Pair("l1>s2", 6), Pair("s1>l2", 6),
                                   Pair("s2>l2", 6), Pair("l2>b1", 12), Pair("b2>l2", 4), Pair("l2>s1", 2),
                                   Pair("l2>s2", 2), Pair("s1>l1", 2), Pair("s2>l1", 2), Pair("l1>a1", 4)));
}

TEST(LinkLoads, ParallelCablesCountByTheirNumber) {
  const auto f = build(two_tier("3"));
  const auto l = loads(f, {flow(f, "a1", "b1", 12)});
  EXPECT_EQ(l.at("l1>s1"), 3);
  EXPECT_EQ(l.at("l1>s2"), 9);
  EXPECT_EQ(l.at("s2>l2"), 9);
}

TEST(LinkLoads, DownSpineCarriesNothing) {
  const auto f = build(two_tier("3", "health:\n  - {switch: s2, state: down}\n"));
  EXPECT_THAT(loads(f, {flow(f, "a1", "b1", 12)}),
              UnorderedElementsAre(Pair("a1>l1", 12), Pair("l1>s1", 12), Pair("s1>l2", 12), Pair("l2>b1", 12)));
}

TEST(LinkLoads, PortsAtEqualDistanceShareByTheirCables) {
  // x's one NIC is on p (2 cables) and q (1 cable); y's on p and q alike, z's on q only.
  const auto f = build(
      "weft: 1\nname: m\nnode_types:\n  t: {gpus: 1, nics: 1}\nswitches:\n  - {name: p}\n  - {name: q}\n"
      "nodes:\n  - {name: x, type: t}\n  - {name: y, type: t}\n  - {name: z, type: t}\nlinks:\n"
      "  - {from: x, to: p, pattern: all, bandwidth: 8Gb/s, cables: 2}\n  - {from: x, to: q, pattern: all, bandwidth: "
      "8Gb/s}\n"
      "  - {from: y, to: p, pattern: all, bandwidth: 8Gb/s}\n  - {from: y, to: q, pattern: all, bandwidth: 8Gb/s}\n  - "
      "{from: z, to: q, pattern: all, bandwidth: "
      "8Gb/s}\n");
  EXPECT_THAT(loads(f, {flow(f, "x", "y", 9)}),
              UnorderedElementsAre(Pair("x>p", 6), Pair("x>q", 3), Pair("p>y", 6), Pair("q>y", 3)));
  // Only the port on q leads to z.
  EXPECT_THAT(loads(f, {flow(f, "x", "z", 9)}), UnorderedElementsAre(Pair("x>q", 9), Pair("q>z", 9)));
}

TEST(LinkLoads, TiesOfUnequalLengthTakeTheShortest) {
  // A ring of five switches: from r1 to r3 there are two links by r2, three by r5 and r4.
  const auto f = build(
      "weft: 1\nname: r\nnode_types:\n  t: {gpus: 1, nics: 1}\nswitches:\n  - {name: \"r[1-5]\", tier: 1}\n"
      "nodes:\n  - {name: \"n[1-5]\", type: t}\nlinks:\n"
      "  - {from: \"n[1-5]\", to: \"r[1-5]\", pattern: zip, bandwidth: 8Gb/s}\n"
      "  - {from: \"r[1-5]\", to: \"r[2-5,1]\", pattern: zip, bandwidth: 8Gb/s}\n");
  EXPECT_THAT(loads(f, {flow(f, "n1", "n3", 8)}),
              UnorderedElementsAre(Pair("n1>r1", 8), Pair("r1>r2", 8), Pair("r2>r3", 8), Pair("r3>n3", 8)));
}

TEST(SlowestLink, CountsBandwidthAndCablesAndTakesTheFirstOfEquals) {
  const auto f = build(two_tier("3", "health:\n  - {link: [l1, s1], bandwidth: 1Gb/s}\n"));
  const auto l = link_loads(f, std::vector<NicFlow>{flow(f, "a1", "b1", 4e9)});
  ASSERT_TRUE(l.has_value());
  // 1 GB over s1's cable of 1/8 GB/s: 8 s; the NIC needs 4 s.
  const auto worst = slowest_link(f, *l);
  ASSERT_TRUE(worst.has_value());
  EXPECT_EQ(end_names(f, worst->link), (std::pair<std::string, std::string>{"l1", "s1"}));
  EXPECT_EQ(worst->bytes, 1e9);
  EXPECT_EQ(worst->seconds, 8);
  const auto g = build(two_tier("3"));
  const auto even = slowest_link(g, *link_loads(g, std::vector<NicFlow>{flow(g, "a1", "b1", 4e9)}));
  EXPECT_EQ(end_names(g, even->link), (std::pair<std::string, std::string>{"a1", "l1"}));
  EXPECT_FALSE(slowest_link(g, std::vector<double>(std::size_t{2} * g.link_count(), 0)).has_value());
}

TEST(LinkLoads, RefusesWhatDoesNotExist) {
  const auto f = build(two_tier("1", "health:\n  - {switch: \"s[1-2]\", state: down}\n"));
  const auto cut = link_loads(f, std::vector<NicFlow>{flow(f, "a1", "b1", 1)});
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().to_string(), "error: a1:0 and b1:0 exchange data but have no path between them");
  const auto nic = link_loads(f, std::vector<NicFlow>{flow(f, "a1", "a2", 1, 1)});
  ASSERT_FALSE(nic.has_value());
  EXPECT_EQ(nic.error().to_string(), "error: a1 has no NIC 1");
  const auto negative = draw_ecmp(f, std::vector<NicFlow>{flow(f, "a1", "a2", -1)}, 1);
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().to_string(), "error: a flow of -1 bytes; expected 0 or more");
  const auto word = parse_routing("random");
  ASSERT_FALSE(word.has_value());
  EXPECT_EQ(word.error().to_string(), "error: there is no routing 'random'; expected spray, ecmp or static");
  EXPECT_EQ(*parse_routing("static"), Routing::forwarding_tables);
}

TEST(EcmpDraw, OneFlowTakesOnePathAndOneCable) {
  const auto f = build(two_tier("3"));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto draw = draw_ecmp(f, std::vector<NicFlow>{flow(f, "a1", "b1", 1e9)}, seed);
    ASSERT_TRUE(draw.has_value());
    const auto l = named(f, draw->loads);
    EXPECT_EQ(l.size(), 4U);
    for (const auto& [link, bytes] : l) EXPECT_EQ(bytes, 1e9) << link;
    // One cable of 1 GB/s each, also over s2: 1 s everywhere, the first link wins.
    EXPECT_EQ(draw->worst->seconds, 1);
    EXPECT_EQ(end_names(f, draw->worst->link).first, "a1");
  }
}

TEST(EcmpDraw, MeanOverSeedsIsTheEvenLoad) {
  const auto f = build(two_tier("3"));
  std::map<std::string, double> sum;
  constexpr int kDraws = 4000;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed)
    for (const auto& [link, bytes] : named(f, draw_ecmp(f, std::vector<NicFlow>{flow(f, "a1", "b1", 1)}, seed)->loads))
      sum[link] += bytes;
  // Three quarters over s2; four standard deviations of 4000 coins.
  EXPECT_NEAR(sum["l1>s2"] / kDraws, 0.75, 4 * std::sqrt(0.75 * 0.25 / kDraws));
  EXPECT_NEAR(sum["s1>l2"] / kDraws, 0.25, 4 * std::sqrt(0.75 * 0.25 / kDraws));
}

TEST(EcmpDraw, SameSeedSameDraw) {
  const auto f = build(two_tier("2"));
  const std::vector<NicFlow> flows{flow(f, "a1", "b1", 5), flow(f, "a2", "b2", 7), flow(f, "b1", "a2", 3)};
  EXPECT_EQ(draw_ecmp(f, flows, 9)->loads, draw_ecmp(f, flows, 9)->loads);
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    differs |= draw_ecmp(f, flows, seed)->loads != draw_ecmp(f, flows, 9)->loads;
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace weft::placement
