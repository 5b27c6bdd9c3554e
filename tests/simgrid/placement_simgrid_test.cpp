// SPDX-License-Identifier: BSD-3-Clause
//
// The cases of compare.hpp, and that it can tell what is wrong.
#include <gtest/gtest.h>

#include <array>

#include "compare.hpp"

namespace weft::simgrid_test {
namespace {

constexpr double kTolerance = 0.05;

class SimGrid : public ::testing::TestWithParam<Case> {
 protected:
  // Of all cases of a run; a ctest test is one.
  static void TearDownTestSuite() {
    std::printf("largest of %zu cases: bytes %.4f %%, share %.4f %%, fair %.4f %%, terms %.4f %%, step %.4f %%; ",
                cases_, 100 * most_.bytes, 100 * most_.share, 100 * most_.fair, 100 * most_.terms, 100 * most_step_);
    std::printf("at once %.2f %%, shared %.2f %%\n", 100 * most_at_once_, 100 * most_shared_);
  }
  static void check(const Case& c, const Comparison& r) {
    print(c.name, r);
    ++cases_;
    most_.bytes = std::max(most_.bytes, r.bytes);
    most_.share = std::max(most_.share, r.share);
    most_.fair = std::max(most_.fair, r.fair);
    most_.terms = std::max(most_.terms, r.terms);
    most_step_ = std::max(most_step_, r.step.off());
    most_at_once_ = std::max(most_at_once_, r.at_once.off());
    most_shared_ = std::max(most_shared_, r.shared.off());
    EXPECT_GT(r.flows, 0U) << c.name;
    EXPECT_LE(r.bytes, kTolerance) << c.name;
    EXPECT_LE(r.share, kTolerance) << c.name;
    EXPECT_LE(r.fair, kTolerance) << c.name;
    EXPECT_LE(r.terms, kTolerance) << c.name;
    EXPECT_LE(r.step.off(), kTolerance) << c.name;
    EXPECT_LE(r.early, 1e-6) << c.name;
    EXPECT_LE(r.at_once.weft, r.at_once.simgrid * (1 + 1e-6)) << c.name;
    EXPECT_LE(r.shared.weft, r.shared.simgrid * (1 + 1e-6)) << c.name;
  }

 private:
  static inline std::size_t cases_ = 0;
  static inline Comparison most_;
  static inline double most_step_ = 0, most_at_once_ = 0, most_shared_ = 0;
};

TEST_P(SimGrid, Agrees) {
  const Case& c = GetParam();
  const Comparison r = compare(c, c.tree.tables());
  check(c, r);
  EXPECT_LE(r.at_once.off(), kTolerance);
  EXPECT_LE(r.shared.off(), kTolerance);
}

std::string job(std::uint32_t nodes, std::uint32_t ranks_per_node, const std::string& rest) {
  return fmt::format("nodes: {}\nranks_per_node: {}\n{}", nodes, ranks_per_node, rest);
}

const char* const kRing = "traffic: {dp: {collective: allreduce, bytes: 4GB}}\n";
const char* const kMixed =
    "layout: {pp: 4}\ntraffic:\n  dp: {collective: allreduce, bytes: 2GB}\n"
    "  pp: {collective: neighbour, bytes: 800MB}\n";
const char* const kExperts =
    "layout: {ep: 8}\ntraffic:\n  ep: {collective: alltoall, bytes: 2GB}\n  dp: {collective: allreduce, bytes: 1GB}\n";

// Cables by level, position and port: of level 0 a NIC's, of 1 a leaf's, of 2 a spine's.
FatTree slowed(FatTree tree, const std::vector<std::array<std::uint32_t, 3>>& cables, double gbps) {
  for (const auto& [level, position, port] : cables) tree.slow_gbps[tree.cable(level, position, port)] = gbps;
  return tree;
}

std::vector<Case> cases() {
  const FatTree two{{8, 8}, {1, 4}, {1, 1}};                   // 64 nodes, leaves 2 : 1
  const FatTree even{{6, 6}, {1, 6}, {1, 1}};                  // 36 nodes, nothing tapered
  const FatTree three{{4, 4, 4}, {1, 4, 4}, {1, 1, 1}};        // 64 nodes, nothing tapered
  const FatTree narrow{{8, 4, 4}, {1, 4, 2}, {1, 1, 1}};       // 128 nodes, leaves and spines 2 : 1
  const FatTree four_nics{{16, 8}, {1, 8}, {1, 1}, 4};         // 32 nodes, leaves 2 : 1
  const FatTree two_nics{{8, 4, 4}, {1, 4, 4}, {1, 1, 1}, 2};  // 64 nodes of three tiers, leaves 2 : 1
  const FatTree rails{{8, 16}, {1, 4}, {1, 1}, 4, true};       // 32 nodes, 4 units of 4 rail leaves, 2 : 1
  const FatTree bundles{{8, 6}, {1, 2}, {1, 2}};               // 48 nodes, two cables to each of two spines
  const std::string tree_algorithm = "traffic: {dp: {collective: allreduce, bytes: 4GB, algorithm: tree}}\n";
  return {
      {"ring", two, {job(20, 1, kRing)}, 40},
      {"ring_untapered", even, {job(16, 1, kRing)}, 40},
      {"mixed", two, {job(24, 1, kMixed)}, 40},
      {"experts", two, {job(32, 1, kExperts)}, 30},
      {"three_tiers_mixed", three, {job(24, 1, kMixed)}, 40},
      {"three_tiers_experts", three, {job(32, 1, kExperts)}, 30},
      {"tapered_mixed", narrow, {job(48, 1, kMixed)}, 40},
      {"tapered_experts", narrow, {job(64, 1, kExperts)}, 30},
      {"four_nics",
       four_nics,
       {job(16, 4,
            "layout: {tp: 4, pp: 2}\ntraffic:\n  tp: {collective: allreduce, bytes: 9GB}\n"
            "  dp: {collective: allreduce, bytes: 2GB}\n  pp: {collective: neighbour, bytes: 1GB}\n")},
       30},
      {"four_nics_experts", four_nics, {job(16, 4, kExperts)}, 30},
      {"shared_nics",
       four_nics,
       {job(12, 8,
            "layout: {tp: 2, pp: 4}\ntraffic:\n  dp: {collective: reduce_scatter, bytes: 2GB}\n"
            "  pp: {collective: neighbour, bytes: 1GB}\n")},
       30,
       8},
      {"two_nics_three_tiers",
       two_nics,
       {job(32, 2, "layout: {tp: 2}\ntraffic: {dp: {collective: allreduce, bytes: 4GB}}\n")},
       30},
      {"rails_pxn", rails, {job(16, 4, "layout: {ep: 16}\ntraffic: {ep: {collective: alltoall, bytes: 4GB}}\n")}, 30},
      {"rails_hierarchical",
       rails,
       {job(20, 4, "traffic: {dp: {collective: allreduce, bytes: 4GB, algorithm: hierarchical}}\n")},
       30},
      {"bundles", bundles, {job(24, 1, kMixed)}, 30},
      {"bundles_experts", bundles, {job(32, 1, kExperts)}, 20},
      {"slow_cables", slowed(two, {{0, 9, 0}, {1, 2, 1}, {1, 5, 3}}, 32), {job(40, 1, kMixed)}, 20},
      {"slow_three_tiers", slowed(narrow, {{1, 3, 2}, {2, 1, 1}, {2, 9, 0}}, 32), {job(64, 1, kExperts)}, 20},
      {"tree", two, {job(20, 1, tree_algorithm)}, 40},
      {"matrix", two, {job(24, 1, "layout: {dp: 24}\n")}, 40, 0, Policy::weft, {}, 200},
      {"matrix_three_tiers", narrow, {job(64, 1, "layout: {dp: 64}\n")}, 40, 0, Policy::weft, {}, 600},
      {"random_mixed", two, {job(24, 1, kMixed)}, 40, 0, Policy::random},
      {"random_experts", narrow, {job(64, 1, kExperts)}, 30, 0, Policy::random},
      {"sick_cable", bundles, {job(40, 1, kMixed)}, 0, 0, Policy::weft, {{1, 2, 3}}},
      {"jobs", two, {job(16, 1, kRing), job(12, 1, kMixed), job(16, 1, kExperts)}, 10},
      {"jobs_scattered", two, {job(16, 1, kRing), job(12, 1, kMixed), job(16, 1, kExperts)}, 10, 0, Policy::random},
      {"jobs_three_tiers", narrow, {job(32, 1, kMixed), job(24, 1, kRing), job(16, 1, kExperts)}, 30},
  };
}

INSTANTIATE_TEST_SUITE_P(FatTrees, SimGrid, ::testing::ValuesIn(cases()),
                         [](const auto& which) { return which.param.name; });

// Trees, sick cables, jobs, busy nodes and policies by draw.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}
  std::uint32_t operator()(std::uint32_t below) {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ / 65536U % below;
  }

 private:
  std::uint32_t state_;
};

FatTree random_tree(Draw& draw) {
  static constexpr std::array<std::uint32_t, 3> kNics{1, 2, 4};
  FatTree out;
  out.nics = kNics[draw(3)];
  const std::uint32_t leaf_nodes = 3 + draw(4);
  out.rails = draw(3) == 0;
  out.m = {out.rails ? leaf_nodes : leaf_nodes * out.nics, out.rails ? out.nics * (2 + draw(3)) : 3 + draw(5)};
  out.w = {1, 1 + draw(out.m[0])};
  if (draw(2) == 0) {
    out.m.push_back(2 + draw(2));
    out.w.push_back(1 + draw(4));
  }
  out.p.assign(out.m.size(), 1);
  if (draw(4) == 0) out.p[1] = 2;
  for (std::uint32_t i = draw(4); i > 0; --i) out.slow_gbps[draw(out.cable_count())] = draw(2) == 0 ? 100 : 32;
  return out;
}

std::string random_job(Draw& draw, std::uint32_t nodes, std::uint32_t gpus) {
  static constexpr std::array<const char*, 3> kAlgorithms{"ring", "tree", "hierarchical"};
  std::uint32_t ranks = nodes * gpus;
  std::string layout, traffic;
  const auto dimension = [&](const char* name, const char* collective) {
    if (ranks % 2 != 0 || draw(3) == 0) return;
    const std::uint32_t size = ranks % 4 == 0 && draw(2) == 0 ? 4 : 2;
    layout += fmt::format("{}{}: {}", layout.empty() ? "" : ", ", name, size);
    traffic += fmt::format("  {}: {{collective: {}, bytes: {}MB}}\n", name, collective, 100 * (1 + draw(20)));
    if (std::string(name) != "ep") ranks /= size;
  };
  dimension("tp", "reduce_scatter");
  dimension("pp", "neighbour");
  dimension("ep", "alltoall");
  // One GPU a node: the members of a group are on as many nodes, whatever the layout.
  const char* algorithm = gpus == 1 ? kAlgorithms[draw(3)] : "ring";
  traffic +=
      fmt::format("  dp: {{collective: allreduce, bytes: {}MB, algorithm: {}}}\n", 100 * (1 + draw(40)), algorithm);
  return job(nodes, gpus, fmt::format("layout: {{{}}}\ntraffic:\n{}", layout, traffic));
}

TEST_F(SimGrid, AgreesOnCasesByDraw) {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    Draw draw(seed);
    Case c;
    c.name = fmt::format("draw_{}", seed);
    c.tree = random_tree(draw);
    c.busy_percent = draw(20);
    c.policy = draw(3) == 0 ? Policy::random : Policy::weft;
    const std::uint32_t half = c.tree.node_count() / 2;
    c.jobs.push_back(random_job(draw, 2 + draw(half - 1), c.tree.nics));
    if (draw(2) == 0) c.jobs.push_back(random_job(draw, 2 + draw(half / 2 - 1), c.tree.nics));
    check(c, compare(c, c.tree.tables()));
  }
}

// The check itself must be able to fail.

TEST(SimGridFails, WhereTablesAreNotThoseOfTheFabric) {
  for (const Case& c : cases()) {
    if (c.name != "experts" && c.name != "three_tiers_mixed") continue;
    const Comparison r = compare(c, c.tree.tables(FatTree::Upwards::first_port));
    print(c.name + ", other way", r);
    EXPECT_GT(r.bytes, 10 * kTolerance);
    EXPECT_GT(r.share, kTolerance);
    EXPECT_GT(r.terms, kTolerance);
    EXPECT_GT(r.step.off(), kTolerance);
  }
}

TEST(SimGridFails, WhereASlowCableIsUnknown) {
  // A job on all nodes, so that none of the cables goes unused.
  Case c{"unknown slow cables", slowed({{8, 8}, {1, 4}, {1, 1}}, {{0, 9, 0}, {1, 2, 1}}, 32), {job(64, 1, kMixed)}};
  c.known_slow = false;
  const Comparison r = compare(c, c.tree.tables());
  print(c.name, r);
  EXPECT_LE(r.bytes, kTolerance);
  EXPECT_GT(r.share, kTolerance);
  EXPECT_GT(r.step.off(), kTolerance);
  c.known_slow = true;
  EXPECT_LE(compare(c, c.tree.tables()).step.off(), kTolerance);
}

}  // namespace
}  // namespace weft::simgrid_test
