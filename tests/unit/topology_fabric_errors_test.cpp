// SPDX-License-Identifier: BSD-3-Clause
//
// The exact text of every refusal of Fabric::build.
#include <gtest/gtest.h>

#include "topology_specs.hpp"

namespace weft::topology {
namespace {

using config::LinkPattern;
using test::k100G;
using test::k200G;
using test::SpecMaker;
using Target = config::HealthSpec::Target;

std::string refusal(const SpecMaker& maker) {
  const auto fabric = maker.build();
  return fabric ? "no refusal" : std::string(to_string(fabric.error().code)) + "\n" + fabric.error().to_string();
}

// Lines 1 to 5 of the source: type, nodes, of, switches, switches.
SpecMaker base() { return SpecMaker().type(8, 4).nodes("n[1-4]").switches("leaf[1-3]").switches("spine[1-2]"); }

TEST(FabricErrors, DanglingNameWithTheNearest) {
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf[1-2],leaf[4-5]")),
            "dangling\n"
            "fabric.yaml:7:15: error: no node or switch is named 'leaf4'; expected a defined name, such as 'leaf1'\n"
            "  to: leaf[1-2],leaf[4-5]\n"
            "                ^^^^^^^^^");
  EXPECT_EQ(
      refusal(base().link("completely-different", "leaf1")),
      "dangling\n"
      "fabric.yaml:6:7: error: no node or switch is named 'completely-different'; expected a name that is defined "
      "under nodes or switches\n"
      "  from: completely-different\n"
      "        ^^^^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(refusal(base().nodes("m1", "h100")),
            "dangling\n"
            "fabric.yaml:7:5: error: no node type is named 'h100'; expected one of t\n"
            "  of: h100\n"
            "      ^^^^");
}

TEST(FabricErrors, Duplicates) {
  EXPECT_EQ(refusal(base().nodes("m[1-2],n3")),
            "duplicate\n"
            "fabric.yaml:6:15: error: 'n3' is defined twice: first as a node on line 2; expected names that are each "
            "defined once\n"
            "  nodes: m[1-2],n3\n"
            "                ^^");
  EXPECT_EQ(refusal(base().switches("n1")),
            "duplicate\n"
            "fabric.yaml:6:11: error: 'n1' is defined twice: first as a node on line 2; expected names that are each "
            "defined once\n"
            "  switches: n1\n"
            "            ^^");
  EXPECT_EQ(refusal(base().type(4, 4)),
            "duplicate\n"
            "fabric.yaml:6:7: error: node type 't' is defined twice: first on line 1; expected types that are each "
            "defined once\n"
            "  type: t\n"
            "        ^");
  EXPECT_EQ(refusal(base().link("n[1-2],n2", "leaf1")),
            "duplicate\n"
            "fabric.yaml:6:14: error: 'n2' is listed twice; expected each name once\n"
            "  from: n[1-2],n2\n"
            "               ^^");
}

TEST(FabricErrors, Patterns) {
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf[1-3]", LinkPattern::zip)),
            "bad_value\n"
            "fabric.yaml:7:5: error: zip of 4 names to 3; expected lists of equal length\n"
            "  to: leaf[1-3]\n"
            "      ^^^^^^^^^");
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf[1-3]", LinkPattern::split)),
            "bad_value\n"
            "fabric.yaml:6:7: error: 4 names do not split into 3 equal runs; expected a multiple of 3 names\n"
            "  from: n[1-4]\n"
            "        ^^^^^^");
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf[1-3]", LinkPattern::rail)),
            "bad_value\n"
            "fabric.yaml:6:7: error: rail of 4 NICs of node 'n1' to 3 switches; expected exactly as many switches as "
            "NICs (choose NICs with nics)\n"
            "  from: n[1-4]\n"
            "        ^^^^^^");
  EXPECT_EQ(refusal(base().link("leaf[1-3]", "spine[1-2]", LinkPattern::rail)),
            "bad_value\n"
            "fabric.yaml:6:7: error: rail joins the NICs of nodes, but these are switches; expected nodes, or another "
            "pattern\n"
            "  from: leaf[1-3]\n"
            "        ^^^^^^^^^");
}

TEST(FabricErrors, Ends) {
  EXPECT_EQ(refusal(base().link("n[1-4],spine1", "leaf1")),
            "bad_value\n"
            "fabric.yaml:6:14: error: 'spine1' is a switch, but 'n1' is a node; expected nodes only or switches only\n"
            "  from: n[1-4],spine1\n"
            "               ^^^^^^");
  EXPECT_EQ(refusal(base().link("leaf1", "n[1-4]")),
            "bad_value\n"
            "fabric.yaml:7:5: error: 'n1' is a node; expected switches under to (put nodes under from)\n"
            "  to: n[1-4]\n"
            "      ^^^^^^");
  EXPECT_EQ(refusal(base().link("leaf[1-3]", "spine1,leaf2")),
            "bad_value\n"
            "fabric.yaml:7:12: error: switch 'leaf2' would be linked to itself; expected two different switches\n"
            "  to: spine1,leaf2\n"
            "             ^^^^^");
}

TEST(FabricErrors, Nics) {
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf1").nics("2-4")),
            "bad_value\n"
            "fabric.yaml:8:7: error: node 'n1' has no NIC 4; expected 0 to 3 (node type 't')\n"
            "  nics: 2-4\n"
            "        ^^^");
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf1").nics("0,x")),
            "bad_value\n"
            "fabric.yaml:8:7: error: 'x' is not a NIC index or range; expected indices such as \"0-3,6\"\n"
            "  nics: 0,x\n"
            "        ^^^");
  EXPECT_EQ(refusal(base().link("n[1-4]", "leaf1").nics("0-2,1")),
            "duplicate\n"
            "fabric.yaml:8:7: error: NIC 1 is listed twice; expected each NIC once\n"
            "  nics: 0-2,1\n"
            "        ^^^^^");
  EXPECT_EQ(refusal(base().link("leaf1", "spine1").nics("0")),
            "bad_value\n"
            "fabric.yaml:8:7: error: nics picks NICs of nodes, but from lists switches; expected no nics on links "
            "between switches\n"
            "  nics: 0\n"
            "        ^");
  for (const char* bad : {"", "3-1", "-1", "1-", "0,,1", "1.5", "4294967296"}) {
    EXPECT_NE(refusal(base().link("n[1-4]", "leaf1").nics(bad)).find("is not a NIC index or range"), std::string::npos)
        << bad;
  }
}

TEST(FabricErrors, Conflicts) {
  EXPECT_EQ(
      refusal(base().link("n[1-4]", "leaf1").link("n2", "leaf1", LinkPattern::all, 1, k200G)),
      "conflict\n"
      "fabric.yaml:8:7: error: n2:0 - leaf1 has another bandwidth on line 6; expected one bandwidth for the links "
      "of one NIC to one switch\n"
      "  from: n2\n"
      "        ^^");
  EXPECT_EQ(
      refusal(base().link("n1", "leaf1").plane("a").link("leaf[1-2]", "spine1").link("n2", "leaf2").plane("b")),
      "conflict\n"
      "fabric.yaml:13:8: error: plane 'b' is joined to plane 'a' (on line 8) at switch 'leaf2'; expected one name "
      "for switches that are connected\n"
      "  plane: b\n"
      "         ^");
  EXPECT_EQ(refusal(base().nvlink("r1", "n[1-2]").nvlink("r2", "n3,n2")),
            "conflict\n"
            "fabric.yaml:9:11: error: node 'n2' is already in NVLink domain 'r1' (on line 6); expected each node in at "
            "most one NVLink domain\n"
            "  nodes: n3,n2\n"
            "            ^^");
}

TEST(FabricErrors, Limits) {
  EXPECT_EQ(refusal(SpecMaker().type(257, 8).nodes("n1")),
            "limit\n"
            "fabric.yaml:1:7: error: node type 't' has 257 GPUs; expected 1 to 256\n"
            "  type: t\n"
            "        ^");
  EXPECT_EQ(refusal(base().switches("x", 17)),
            "limit\n"
            "fabric.yaml:6:11: error: tier 17 is not possible; expected 1 (leaf) to 16\n"
            "  switches: x\n"
            "            ^");
  EXPECT_EQ(refusal(base().link("n1", "leaf1", LinkPattern::all, 65537)),
            "limit\n"
            "fabric.yaml:6:7: error: 65537 cables a link; expected 1 to 65536\n"
            "  from: n1\n"
            "        ^^");
  EXPECT_EQ(refusal(base().link("n1", "leaf1", LinkPattern::all, 65536).link("n1", "leaf1")),
            "limit\n"
            "fabric.yaml:8:7: error: n1:0 - leaf1 has more than 65536 cables; expected at most 65536\n"
            "  from: n1\n"
            "        ^^");
  EXPECT_EQ(refusal(SpecMaker().type(8, 8).nodes("n[1-30000]").switches("s[1-100]").link("n[1-30000]", "s[1-100]")),
            "limit\n"
            "fabric.yaml:5:7: error: too many links; expected at most 16777216\n"
            "  from: n[1-30000]\n"
            "        ^^^^^^^^^^");
}

TEST(FabricErrors, NodesAndTypes) {
  EXPECT_EQ(refusal(SpecMaker().type(8, 8).switches("s1")),
            "missing\n"
            "fabric.yaml: error: the fabric has no nodes; expected at least one entry under nodes");
  EXPECT_EQ(refusal(SpecMaker().type(8, 0).nodes("n1")),
            "bad_value\n"
            "fabric.yaml:1:7: error: node type 't' has 0 NICs; expected 1 to 256\n"
            "  type: t\n"
            "        ^");
  EXPECT_EQ(refusal(SpecMaker().type(8, 8).nodes("n[1-")).substr(0, 33), "bad_name\nfabric.yaml:2:9: error: ");
}

TEST(FabricErrors, Health) {
  const auto linked = [] { return base().link("n[1-4]", "leaf1").link("leaf1", "spine1", LinkPattern::all, 3); };
  // Lines 6 to 9: the links.
  EXPECT_EQ(refusal(linked().down(Target::switch_, "spine3")),
            "dangling\n"
            "fabric.yaml:10:9: error: no node or switch is named 'spine3'; expected a defined name, such as 'spine1'\n"
            "  health: spine3\n"
            "          ^^^^^^");
  EXPECT_EQ(refusal(linked().down(Target::switch_, "n1")),
            "bad_value\n"
            "fabric.yaml:10:9: error: 'n1' is a node; expected a switch\n"
            "  health: n1\n"
            "          ^^");
  EXPECT_EQ(refusal(linked().down(Target::port, "n1:7")),
            "dangling\n"
            "fabric.yaml:10:9: error: node 'n1' has no NIC '7'; expected 0 to 3\n"
            "  health: n1:7\n"
            "          ^^^^");
  EXPECT_EQ(refusal(linked().down(Target::link, "leaf2", "spine1")),
            "dangling\n"
            "fabric.yaml:10:9: error: there is no link between 'leaf2' and 'spine1'; expected two ends that a link "
            "joins\n"
            "  health: leaf2\n"
            "          ^^^^^");
  EXPECT_EQ(refusal(linked().down(Target::link, "leaf1", "spine1").slow(Target::link, "spine1", "leaf1", k100G)),
            "conflict\n"
            "fabric.yaml:12:9: error: the health of 'leaf1 - spine1' is given differently on line 10; expected one "
            "statement on each thing\n"
            "  health: spine1\n"
            "          ^^^^^^");
  EXPECT_EQ(
      refusal(linked().down(Target::link, "leaf1", "spine1").cables(2).down(Target::link, "leaf1", "spine1").cables(2)),
      "bad_value\n"
      "fabric.yaml:12:9: error: 2 cables of 'leaf1 - spine1', which has 3 (1 with no health given yet); expected "
      "1 to 1\n"
      "  health: leaf1\n"
      "          ^^^^^");
  EXPECT_EQ(refusal(linked().down(Target::link, "n1", "leaf1").cables(1)),
            "bad_value\n"
            "fabric.yaml:10:9: error: cables of which NIC of 'n1'?; expected node:nic where cables are counted\n"
            "  health: n1\n"
            "          ^^");
}

}  // namespace
}  // namespace weft::topology
