// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/expanded_spec.hpp"
#include "support/worst_path.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/generate.hpp"

namespace weft::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using weft::testing::expand;
using weft::testing::names;
using weft::testing::worst_path;

std::vector<std::string> links_of(const Result<config::FabricSpec>& spec) {
  std::vector<std::string> out;
  if (!spec) return {spec.error().to_string()};
  for (const config::LinkSpec& link : spec->links) {
    const char* pattern = link.pattern == config::LinkPattern::all     ? "all"
                          : link.pattern == config::LinkPattern::zip   ? "zip"
                          : link.pattern == config::LinkPattern::split ? "split"
                                                                       : "rail";
    out.push_back(fmt::format("{} -> {} {}{}", link.from.value, link.to.value, pattern,
                              link.cables > 1 ? fmt::format(" x{}", link.cables) : ""));
  }
  return out;
}

std::size_t switches_of(const config::FabricSpec& spec, std::uint32_t tier) {
  std::size_t count = 0;
  for (const auto& entry : spec.switches) count += entry.tier == tier ? names(entry.names.value).size() : 0;
  return count;
}

template <typename Options>
std::string refusal(const Options& options, Result<config::FabricSpec> (*generate)(const Options&)) {
  const auto spec = generate(options);
  return spec ? "accepted" : spec.error().to_string();
}

//        spine-1   spine-2          one cable of 4 up-ports a pair would need 4 spines; two spines of 8 ports
//        //  \\     //  \\          take two cables from each of 4 leaves
//   leaf-1 leaf-2 leaf-3 leaf-4
TEST(GenerateFatTree, TwoTiersAreThreeEntries) {
  FatTreeOptions options;
  options.node.nics = 2;
  options.radix = 8;
  options.nodes = 8;
  const auto spec = generate_fat_tree(options);
  EXPECT_THAT(links_of(spec), ElementsAre("gpu[1-8] -> leaf-[1-4] split", "leaf-[1-4] -> spine-[1-2] all x2"));
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->name, "fat-tree-8");
  EXPECT_EQ(spec->nodes.at(0).names.value, "gpu[1-8]");
  EXPECT_EQ(spec->node_types.at(0).name.value, "h100");
}

TEST(GenerateFatTree, ThreeTiersJoinThePodsColumnByColumn) {
  FatTreeOptions options;
  options.node.nics = 1;
  options.radix = 4;
  options.tiers = 3;
  EXPECT_THAT(links_of(generate_fat_tree(options)),
              ElementsAre("gpu[01-16] -> leaf-[1-8] split", "leaf-[1-2] -> spine-p1-[1-2] all",
                          "leaf-[3-4] -> spine-p2-[1-2] all", "leaf-[5-6] -> spine-p3-[1-2] all",
                          "leaf-[7-8] -> spine-p4-[1-2] all", "spine-p[1-4]-1 -> core-[1-2] all",
                          "spine-p[1-4]-2 -> core-[3-4] all"));
}

TEST(GenerateFatTree, DerivedLeavesMayEndPartFilled) {
  FatTreeOptions options;
  options.node.nics = 4;
  options.radix = 16;
  options.nodes = 7;
  EXPECT_THAT(links_of(generate_fat_tree(options)),
              ElementsAre("gpu[1-6] -> leaf-[1-3] split", "gpu7 -> leaf-4 all", "leaf-[1-4] -> spine-[1-2] all x4"));
}

TEST(GenerateFatTree, SpinesAndCablesAreTakenAsGiven) {
  FatTreeOptions options;
  options.node.nics = 2;
  options.radix = 16;
  options.nodes = 8;
  options.nodes_per_leaf = 4;
  options.spines = 4;
  EXPECT_EQ(links_of(generate_fat_tree(options)).back(), "leaf-[1-2] -> spine-[1-4] all x2");
  options.spines = 0;
  options.cables = 8;
  EXPECT_EQ(links_of(generate_fat_tree(options)).back(), "leaf-[1-2] -> spine-1 all x8");
  options.spines = 3;
  EXPECT_EQ(
      refusal(options, generate_fat_tree),
      "error: a leaf's 8 cables up do not come to 3 spines with 8 cables each; expected spines x cables equal to the "
      "leaf's cables up");
}

// DESIGN.md's comparison: the same GPUs in three tiers have a worst path of 5 switches, in eight planes of two tiers 3.
TEST(GenerateFatTree, HoldsATrainingClusterOf131072GpusInThreeTiers) {
  FatTreeOptions options;
  options.gpus = 131072;
  options.tiers = 3;
  const auto spec = generate_fat_tree(options);
  ASSERT_TRUE(spec.has_value()) << spec.error().to_string();
  EXPECT_EQ(names(spec->nodes.at(0).names.value).size(), 16384U);
  EXPECT_EQ(switches_of(*spec, 1), 2048U);
  EXPECT_EQ(switches_of(*spec, 2), 2048U);
  EXPECT_EQ(switches_of(*spec, 3), 1024U);
  EXPECT_THAT(spec->links, SizeIs(1 + 32 + 64));
  const auto fabric = Fabric::build(*spec);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().to_string();
  EXPECT_EQ(fabric->gpu_count(), 131072U);
  EXPECT_EQ(fabric->max_hops(), 5U);
}

TEST(GenerateFatTree, Holds12500NodesInThreeTiers) {
  FatTreeOptions options;
  options.nodes = 12500;
  options.tiers = 3;
  const auto spec = generate_fat_tree(options);
  ASSERT_TRUE(spec.has_value()) << spec.error().to_string();
  EXPECT_EQ(switches_of(*spec, 1), 1563U);
  EXPECT_EQ(switches_of(*spec, 2), 25U * 64U);
  EXPECT_EQ(switches_of(*spec, 3), 1024U);
  options.nodes_per_leaf = 5;  // exactly filled: 2,500 leaves in 50 pods
  options.leaves_per_pod = 50;
  const auto exact = generate_fat_tree(options);
  ASSERT_TRUE(exact.has_value()) << exact.error().to_string();
  EXPECT_EQ(switches_of(*exact, 1), 2500U);
  EXPECT_EQ(switches_of(*exact, 2), 50U * 40U);
  for (const auto& each : {*spec, *exact}) {
    const auto fabric = Fabric::build(each);
    ASSERT_TRUE(fabric.has_value()) << fabric.error().to_string();
    EXPECT_EQ(fabric->node_count(), 12500U);
    EXPECT_EQ(fabric->max_hops(), 5U);
    EXPECT_TRUE(fabric->hierarchical());
  }
}

TEST(GenerateFatTree, RefusalsSayWhatWouldFit) {
  FatTreeOptions options;
  options.gpus = 1001;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: 1001 GPUs do not divide into nodes of 8; expected a multiple of 8, such as 1000 or 1008");
  options.gpus = 800;
  options.nodes = 100;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: both 100 nodes and 800 GPUs are asked for; expected one of the two");
  options.gpus = 0;
  options.nodes_per_leaf = 3;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: 100 nodes do not divide into leaves of 3; expected a multiple of 3, such as 99 or 102");
  options.nodes_per_leaf = 0;
  options.nodes = 5000;
  options.radix = 64;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: 5000 nodes of 8 NICs do not fit a fat tree of 2 tiers with 64 ports a switch; expected at most 256 "
            "nodes, or more tiers, or a larger radix");
  options.nodes = 4;
  EXPECT_EQ(
      refusal(options, generate_fat_tree),
      "error: 4 nodes fit a fat tree of 1 tier, so tier 2 would join nothing; expected 1 tier, or smaller groups");
  options.nodes = 100;
  options.nodes_per_leaf = 5;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: a leaf of 64 ports has no room for 5 nodes of 8 NICs and its cables up; expected at most 4 nodes a "
            "leaf, or a larger radix");
  options.taper = {3};
  EXPECT_EQ(
      refusal(options, generate_fat_tree),
      "error: 5 nodes of 8 NICs are 40 cables down a leaf, which do not divide by a taper of 3; expected a multiple "
      "of 3 nodes a leaf");
  options.taper = {1, 1};
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: 2 tapers for 2 tiers; expected at most 1: one for each tier below the top");
  options.taper = {0};
  EXPECT_EQ(refusal(options, generate_fat_tree), "error: taper is 0; expected 1 or more");
  options.taper = {};
  options.leaves_per_pod = 4;
  EXPECT_EQ(refusal(options, generate_fat_tree),
            "error: leaves_per_pod is given, but 2 tiers have no pods; expected three tiers or more");
  options.tiers = 9;
  EXPECT_EQ(refusal(options, generate_fat_tree), "error: a fat tree of 9 tiers; expected 1 to 8 tiers");
  options = {};
  options.tiers = 5;
  EXPECT_EQ(refusal(options, generate_fat_tree), "error: the fabric has 8388608 nodes; expected at most 1048576");
}

// NVIDIA's own tables for 32-node units and 64-port switches: leaves, spines, cores of 4 and of 16 units.
TEST(GenerateRail, HasTheSwitchesOfTheSuperPodTables) {
  RailOptions options;
  const auto four = generate_rail(options);
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(switches_of(*four, 1), 32U);
  EXPECT_EQ(switches_of(*four, 2), 16U);
  EXPECT_THAT(links_of(four), ElementsAre("gpu[001-032] -> leaf-u1-r[0-7] rail", "gpu[033-064] -> leaf-u2-r[0-7] rail",
                                          "gpu[065-096] -> leaf-u3-r[0-7] rail", "gpu[097-128] -> leaf-u4-r[0-7] rail",
                                          "leaf-u[1-4]-r[0-7] -> spine-[01-16] all x2"));
  options.nodes = 512;
  options.tiers = 3;
  options.radix = 64;
  const auto sixteen = generate_rail(options);
  ASSERT_TRUE(sixteen.has_value());
  EXPECT_EQ(switches_of(*sixteen, 1), 128U);
  EXPECT_EQ(switches_of(*sixteen, 2), 128U);
  EXPECT_EQ(switches_of(*sixteen, 3), 64U);
}

TEST(GenerateRail, RailOnlyKeepsRailsApart) {
  RailOptions options;
  options.node.nics = 2;
  options.nodes = 4;
  options.nodes_per_unit = 2;
  options.radix = 4;
  options.rail_only = true;
  EXPECT_THAT(links_of(generate_rail(options)),
              ElementsAre("gpu[1-2] -> leaf-u1-r[0-1] rail", "gpu[3-4] -> leaf-u2-r[0-1] rail",
                          "leaf-u[1-2]-r0 -> spine-r0-1 all x2", "leaf-u[1-2]-r1 -> spine-r1-1 all x2"));
}

TEST(GenerateRail, RefusalsSayWhatWouldFit) {
  RailOptions options;
  options.nodes = 100;
  EXPECT_EQ(refusal(options, generate_rail),
            "error: 100 nodes do not divide into units of 32; expected a multiple of 32, such as 96 or 128");
  options.nodes = 1024;
  options.radix = 64;
  EXPECT_EQ(refusal(options, generate_rail),
            "error: 32 units of 8 rail leaves are more than spines of 64 ports can join in 2 tiers; expected at most 8 "
            "units, or three tiers, or a larger radix");
  options.nodes = 64;
  options.nodes_per_unit = 64;
  EXPECT_EQ(
      refusal(options, generate_rail),
      "error: a rail leaf with 64 nodes and 64 cables up has more than 64 ports; expected at most 32 nodes a unit, or "
      "a larger radix");
  options.nodes_per_unit = 32;
  options.taper = 3;
  EXPECT_EQ(refusal(options, generate_rail),
            "error: a leaf's 32 cables down do not divide by a taper of 3; expected nodes_per_unit in a multiple of 3");
  options.taper = 1;
  options.spines = 5;
  EXPECT_EQ(refusal(options, generate_rail),
            "error: a leaf's 32 cables up do not divide over 5 spines; expected a number of spines that divides 32");
  options.spines = 4;
  EXPECT_EQ(
      refusal(options, generate_rail),
      "error: 16 leaves with 8 cables to each of 4 spines exceed the 64 ports a spine has for them; expected more "
      "spines or a larger radix");
  options.spines = 0;
  options.tiers = 4;
  EXPECT_EQ(refusal(options, generate_rail), "error: a rail-optimised fabric of 4 tiers; expected 2 or 3 tiers");
  options.tiers = 3;
  options.rail_only = true;
  EXPECT_EQ(refusal(options, generate_rail),
            "error: a rail-only fabric has no cores to join its rails; expected 2 tiers, or not rail_only");
}

TEST(GenerateMultiPlane, Of131072GpusIsFourEntriesAPlane) {
  const auto spec = generate_multi_plane({});
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(names(spec->nodes.at(0).names.value).size(), 16384U);
  EXPECT_EQ(switches_of(*spec, 1), 8U * 512U);
  EXPECT_EQ(switches_of(*spec, 2), 8U * 256U);
  ASSERT_THAT(spec->links, SizeIs(16));
  EXPECT_EQ(links_of(spec)[0], "gpu[00001-16384] -> leaf-p1-[001-512] split");
  EXPECT_EQ(links_of(spec)[1], "leaf-p1-[001-512] -> spine-p1-[001-256] all");
  EXPECT_EQ(spec->links[15].plane->value, "plane8");
  const auto fabric = Fabric::build(*spec);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().to_string();
  EXPECT_EQ(fabric->gpu_count(), 131072U);
  EXPECT_EQ(fabric->plane_count(), 8U);
  EXPECT_EQ(fabric->max_hops(), 3U);
}

TEST(GenerateMultiPlane, RefusalsSayWhatWouldFit) {
  MultiPlaneOptions options;
  options.gpus_per_leaf = 200;
  EXPECT_EQ(
      refusal(options, generate_multi_plane),
      "error: 131072 GPUs do not divide into leaves of 200; expected a multiple of 200, such as 131000 or 131200");
  options.gpus_per_leaf = 100;
  EXPECT_EQ(refusal(options, generate_multi_plane),
            "error: 100 GPUs of a leaf do not divide into nodes of 8; expected a multiple of 8, such as 96 or 104");
  options.gpus_per_leaf = 256;
  options.spines = 100;
  EXPECT_EQ(refusal(options, generate_multi_plane),
            "error: 256 cables up of a leaf do not divide into spines of 100; expected a multiple of 100, such as 200 "
            "or 300");
  options.planes = 0;
  EXPECT_EQ(refusal(options, generate_multi_plane), "error: planes is 0; expected 1 or more");
}

TEST(GenerateNvl72, EightRacksAreOneUnit) {
  const auto spec = generate_nvl72({});
  EXPECT_THAT(links_of(spec),
              ElementsAre("rack[1-8]-node[01-18] -> leaf-u1-r[0-3] rail", "leaf-u1-r[0-3] -> spine-[1-2] all x72"));
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(expand(*spec).gpus(), 576U);
  ASSERT_THAT(spec->nvlink_domains, SizeIs(8));
  EXPECT_EQ(spec->nvlink_domains[7].name.value, "rack8");
  EXPECT_EQ(spec->nvlink_domains[7].nodes.value, "rack8-node[01-18]");
}

TEST(GenerateNvl72, RefusalsSayWhatWouldFit) {
  Nvl72Options options;
  options.racks = 12;
  EXPECT_EQ(refusal(options, generate_nvl72),
            "error: 12 racks do not divide into units of 8; expected a multiple of 8, such as 8 or 16");
  options.node.nvlink = false;
  EXPECT_EQ(refusal(options, generate_nvl72),
            "error: racks that are one NVLink domain need nodes with NVLink; expected a node type with NVLink");
}

// Kim et al.'s example: p = h = 2, a = 4, 9 groups, 72 terminals.
TEST(GenerateDragonfly, IsThePapersExample) {
  const auto spec = generate_dragonfly({});
  ASSERT_TRUE(spec.has_value());
  const auto got = expand(*spec);
  EXPECT_THAT(got.nodes, SizeIs(72));
  EXPECT_THAT(got.switches, SizeIs(36));
  EXPECT_THAT(got.cables, SizeIs(72 + 9 * 6 + 36));
  EXPECT_EQ(worst_path(got).switches, 4U);
  EXPECT_THAT(links_of(spec),
              ElementsAre("gpu[01-72] -> router-g[1-9]-[1-4] split", "router-g[1-9]-[1-3] -> router-g[1-9]-[2-4] zip",
                          "router-g[1-9]-[1-2] -> router-g[1-9]-[3-4] zip", "router-g[1-9]-1 -> router-g[1-9]-4 zip",
                          "router-g[1-9]-1 -> router-g[2-9]-4,router-g1-4 zip",
                          "router-g[1-9]-1 -> router-g[3-9]-4,router-g[1-2]-4 zip",
                          "router-g[1-9]-2 -> router-g[4-9]-3,router-g[1-3]-3 zip",
                          "router-g[1-9]-2 -> router-g[5-9]-3,router-g[1-4]-3 zip"));
}

TEST(GenerateDragonfly, RefusesGroupsOutOfReach) {
  DragonflyOptions options;
  options.groups = 10;
  EXPECT_EQ(refusal(options, generate_dragonfly),
            "error: 4 routers with 2 global links each cannot reach 9 other groups; expected at most 9 groups, or more "
            "routers or global links");
}

TEST(GenerateDragonflyPlus, JoinsSpinesOfAllGroups) {
  const auto spec = generate_dragonfly_plus({});
  ASSERT_TRUE(spec.has_value());
  const auto got = expand(*spec);
  EXPECT_THAT(got.nodes, SizeIs(192));
  EXPECT_EQ(worst_path(got).switches, 4U);
  DragonflyPlusOptions none;
  none.global_cables = 0;
  EXPECT_EQ(refusal(none, generate_dragonfly_plus), "error: global_cables is 0; expected 1 or more");
}

TEST(GenerateTorus, IsTwoZipsADimension) {
  TorusOptions options;
  options.dims = {4, 2};
  EXPECT_THAT(links_of(generate_torus(options)),
              ElementsAre("gpu[1-8] -> switch-[0-3]-[0-1] split", "switch-[0-2]-[0-1] -> switch-[1-3]-[0-1] zip",
                          "switch-3-[0-1] -> switch-0-[0-1] zip", "switch-[0-3]-0 -> switch-[0-3]-1 zip"));
  options.dims = {4, 0};
  EXPECT_EQ(refusal(options, generate_torus), "error: a dimension is 0; expected 1 or more");
  options.dims = {};
  EXPECT_EQ(refusal(options, generate_torus),
            "error: a torus of 0 dimensions; expected 1 to 16 dimensions, such as 4x4x4");
  options.dims = {2000, 2000};
  EXPECT_EQ(refusal(options, generate_torus), "error: the fabric has 4000000 switches; expected at most 1048576");
}

TEST(Generate, RefusesNodesThatCannotBe) {
  TorusOptions options;
  options.node.type_name = "h 100";
  EXPECT_EQ(refusal(options, generate_torus),
            "error: \"h 100\" cannot name a node type; expected letters, digits, '.', '_' and '-'");
  options.node.type_name = "h100";
  options.node.nics = 0;
  EXPECT_EQ(refusal(options, generate_torus), "error: nics of a node is 0; expected 1 or more");
  options.node.nics = 1;
  options.node.bandwidth = {};
  EXPECT_EQ(refusal(options, generate_torus), "error: bandwidth is 0; expected 1 or more");
}

}  // namespace
}  // namespace weft::topology
