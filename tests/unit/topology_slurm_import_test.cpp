// SPDX-License-Identifier: BSD-3-Clause
//
// Slurm topologies, topograph models and Clos tables of our own: what is read from them, note by note.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "weft/topology.hpp"

namespace weft::topology {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Source fixture(const std::string& name) {
  auto source = read_source(std::string(WEFT_SOURCE_DIR) + "/tests/fixtures/import/" + name);
  EXPECT_TRUE(source) << source.error().to_string();
  return source ? *source : nullptr;
}

Source text(std::string content) { return std::make_shared<const SourceText>("f", std::move(content)); }

Imported must(const Source& source, const ImportOptions& options = {}) {
  auto imported = read_fabric(source, options);
  EXPECT_TRUE(imported) << imported.error().to_string();
  return imported ? std::move(*imported) : Imported{};
}

Fabric built(const Imported& imported) {
  auto fabric = Fabric::build(imported.spec);
  if (!fabric) throw std::runtime_error(fabric.error().to_string());
  return std::move(*fabric);
}

std::vector<std::string> messages(const Imported& imported, Note::Kind kind) {
  std::vector<std::string> out;
  for (const Note& note : imported.notes) {
    if (note.kind == kind) out.push_back(note.message);
  }
  return out;
}
std::vector<std::string> warnings(const Imported& imported) { return messages(imported, Note::Kind::warning); }
std::vector<std::string> assumed(const Imported& imported) { return messages(imported, Note::Kind::assumption); }

std::uint32_t cables_between(const Fabric& fabric, std::string_view name) {
  std::uint32_t cables = 0;
  for (std::uint32_t i = 0; i < fabric.link_count(); ++i) {
    if (fabric.link_name(LinkId{i}) == name) cables += fabric.link(LinkId{i}).cables;
  }
  return cables;
}

std::uint32_t hops(const Fabric& fabric, std::string_view a, std::string_view b) {
  const auto path = fabric.nic_path(*fabric.find_node(a), 0, *fabric.find_node(b), 0);
  return path ? path->hops : 0;
}

std::string domain(const Fabric& fabric, Level level, std::string_view node) {
  return fabric.domain_name(level, fabric.domain_of(level, *fabric.find_node(node)));
}

//        site
//      /      \.
//   hall1    hall2
//   /   \    /   \.
// row1 row2 row3 row4      4 nodes each
TEST(SlurmTree, ReadsHandWrittenFile) {
  const Imported imported = must(fixture("hall.topology.conf"));
  EXPECT_EQ(imported.kind, FileKind::slurm_topology_conf);
  EXPECT_THAT(warnings(imported),
              ElementsAre("LinkSpeed has no unit and Slurm does not use it; left out (give --bandwidth)"));
  EXPECT_THAT(
      assumed(imported),
      ElementsAre("8 GPUs and 8 NICs a node, joined by NVLink inside the node", "400Gb/s a cable",
                  "every NIC of a node has one cable to each leaf that lists the node, and a switch has as many "
                  "cables up as come in from below (no oversubscription)"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.name(), "hall");
  EXPECT_EQ(fabric.node_count(), 16U);
  EXPECT_EQ(fabric.gpu_count(), 128U);
  EXPECT_EQ(fabric.max_tier(), 3);
  EXPECT_EQ(fabric.tier(*fabric.find_switch("row4")), 1);
  EXPECT_EQ(fabric.tier(*fabric.find_switch("site")), 3);
  EXPECT_EQ(cables_between(fabric, "row1 - hall1"), 32U);
  EXPECT_EQ(cables_between(fabric, "hall2 - site"), 64U);
  EXPECT_EQ(hops(fabric, "h1n01", "h1n04"), 1U);
  EXPECT_EQ(hops(fabric, "h1n01", "h1n05"), 3U);
  EXPECT_EQ(hops(fabric, "h1n01", "h2n08"), 5U);
  EXPECT_EQ(domain(fabric, kLeafLevel, "h2n04"), "row3");
  EXPECT_TRUE(fabric.hierarchical());
}

TEST(SlurmTree, OptionsReplaceAssumptions) {
  ImportOptions options;
  options.gpus_per_node = 4;
  options.nics_per_node = 2;
  options.nvlink = false;
  options.bandwidth = Bandwidth{200'000'000'000};
  options.type_name = "small";
  const Imported imported = must(text("SwitchName=s Nodes=n[1-3]"), options);
  EXPECT_THAT(assumed(imported), ElementsAre("every NIC of a node has one cable to each leaf that lists the node"));
  const Fabric fabric = built(imported);
  const NodeType& type = fabric.type_of(NodeId{0});
  EXPECT_EQ(type.name, "small");
  EXPECT_EQ(type.gpus, 4U);
  EXPECT_EQ(type.nics, 2U);
  EXPECT_FALSE(type.nvlink);
  EXPECT_EQ(fabric.link(LinkId{0}).bandwidth.bits_per_second, 200'000'000'000U);
}

TEST(SlurmTree, WarnsWhereSlurmWarnsAndGoesOn) {
  const Imported imported =
      must(text("SwitchName=a Nodes=n[1-3],n2\n"
                "SwitchName=b Nodes=n[3-4] Nodes=n[3-5]\n"
                "SwitchName=c Nodes=m1\n"
                "SwitchName=empty\n"
                "SwitchName=DEFAULT Switches=empty\n"));
  EXPECT_THAT(
      warnings(imported),
      ElementsAre("Nodes more than once in one line; the last is used, as Slurm does",
                  "SwitchName in topology.conf has no defaults; DEFAULT is read as a name, as Slurm does",
                  "named more than once in one list: n2",
                  "neither nodes nor switches below a switch: empty (Slurm before 25.05 refuses that)",
                  "1 node is on several leaves: n3; read as attached to each of them",
                  "no switch reaches every node: the fabric is in 3 parts, and a job fits into one of them at most"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.node_count(), 6U);
  EXPECT_EQ(fabric.ports(*fabric.find_node("n3"), 0).size(), 2U);
}

TEST(SlurmTree, TwoParentsShareTheCables) {
  const Imported imported = must(text("SwitchName=l Nodes=n[1-3]\nSwitchName=p Switches=l\nSwitchName=q Switches=l\n"));
  EXPECT_THAT(warnings(imported), IsEmpty());
  const Fabric fabric = built(imported);
  EXPECT_EQ(cables_between(fabric, "l - p"), 12U);
  EXPECT_EQ(cables_between(fabric, "l - q"), 12U);
}

TEST(SlurmTree, SwitchNamedAsANodeIsRenamed) {
  const Imported imported = must(text("SwitchName=n1 Nodes=n[1-2]\n"));
  EXPECT_THAT(warnings(imported), ElementsAre("switch n1 has the name of a node; called n1-switch here"));
  EXPECT_TRUE(built(imported).find_switch("n1-switch"));
}

TEST(SlurmTree, CommentsEscapesAndLineEndsAsSlurmReadsThem) {
  const Imported imported =
      must(text("# SwitchName=x Nodes=x \\\r\n"
                "SwitchName=l\\1 Nodes=n[1-2],\\ \t \r\n"
                "n3 # more \\\r\n"
                " \t \r\n"
                "SwitchName+=m Nodes*=n4\r\n"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.node_count(), 4U);
  EXPECT_TRUE(fabric.find_switch("l1"));
  EXPECT_TRUE(fabric.find_switch("m"));
}

TEST(SlurmBlock, GroupsOfBlocks) {
  const Imported imported = must(fixture("racks.topology.conf"));
  EXPECT_THAT(warnings(imported), ElementsAre("fewer nodes than the base block size 4 in rackE (Slurm before 25.05 "
                                              "refuses that)"));
  EXPECT_THAT(assumed(imported), Contains("one switch above the 3 largest groups of blocks joins them all"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.node_count(), 19U);
  EXPECT_EQ(fabric.switch_count(), 5U + 2U + 1U);  // rackE has no group of its own: the rack covers it
  EXPECT_EQ(fabric.tier(*fabric.find_switch("rackA-to-rackB")), 2);
  EXPECT_EQ(fabric.tier(*fabric.find_switch("all-blocks")), 3);
  EXPECT_EQ(fabric.domain_count(kNvlinkLevel), 5U);
  EXPECT_EQ(domain(fabric, kNvlinkLevel, "e2"), "rackE");
  EXPECT_EQ(hops(fabric, "a1", "b4"), 3U);
  EXPECT_EQ(hops(fabric, "a1", "c1"), 5U);
  EXPECT_EQ(hops(fabric, "a1", "e1"), 4U);
}

TEST(SlurmBlock, WithoutNvlinkThereAreNoDomains) {
  ImportOptions options;
  options.nvlink = false;
  EXPECT_THAT(must(fixture("racks.topology.conf"), options).spec.nvlink_domains, IsEmpty());
}

TEST(SlurmBlock, DefaultSizesAndPlaceholders) {
  const Imported imported = must(text("BlockName=a Nodes=n[1-2]\nBlockName=gap\nBlockName=c Nodes=n[2-4]\n"));
  EXPECT_THAT(warnings(imported), ElementsAre("n2 in block c too; left in block a alone"));
  EXPECT_THAT(assumed(imported), Contains("no block sizes in the file: base blocks and groups of 2, 4, 8 and 16 of "
                                          "them, as Slurm"));
  const Fabric fabric = built(imported);
  EXPECT_TRUE(fabric.find_switch("a-to-gap"));
  EXPECT_TRUE(fabric.find_switch("a-to-c"));  // the group of four; c alone is no group of two
  EXPECT_EQ(fabric.switch_count(), 5U);
  EXPECT_EQ(imported.spec.nvlink_domains.size(), 2U);
}

//  i1 - i2 - ... - i6 - i1       p1 - p2       s1
TEST(SlurmRing, NeighboursAndTheWayRound) {
  const Imported imported = must(fixture("rings.topology.conf"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.node_count(), 9U);
  EXPECT_EQ(fabric.switch_count(), 9U);
  EXPECT_EQ(hops(fabric, "i1", "i2"), 2U);
  EXPECT_EQ(hops(fabric, "i1", "i6"), 2U);
  EXPECT_EQ(hops(fabric, "i1", "i4"), 4U);
  EXPECT_EQ(hops(fabric, "p1", "p2"), 2U);
  EXPECT_EQ(hops(fabric, "i1", "p1"), 0U);
  EXPECT_EQ(cables_between(fabric, "inner-p0 - inner-p1") + cables_between(fabric, "inner-p1 - inner-p0"), 8U);
}

TEST(SlurmYaml, TakesTheDefaultAndSaysSo) {
  const Imported imported = must(fixture("every_kind.topology.yaml"));
  EXPECT_EQ(imported.kind, FileKind::slurm_topology_yaml);
  EXPECT_EQ(imported.spec.name, "racks");
  EXPECT_THAT(assumed(imported), Contains("topology racks of the 5 in the file, its cluster_default"));
  EXPECT_EQ(built(imported).switch_count(), 3U);
}

TEST(SlurmYaml, TakesTheOneAskedFor) {
  ImportOptions options;
  options.topology = "leaves";
  const Imported tree = must(fixture("every_kind.topology.yaml"), options);
  EXPECT_EQ(built(tree).tier(*built(tree).find_switch("top")), 2);
  options.topology = "loops";
  EXPECT_EQ(hops(built(must(fixture("every_kind.topology.yaml"), options)), "n1", "n3"), 3U);
}

TEST(SlurmYaml, TorusHasNeighboursAllRound) {
  ImportOptions options;
  options.topology = "cube";
  const Imported imported = must(fixture("every_kind.topology.yaml"), options);
  EXPECT_THAT(warnings(imported),
              ElementsAre("placements are a rule of Slurm's for jobs, not of the fabric; left out"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.switch_count(), 12U);
  EXPECT_EQ(fabric.node_count(), 7U);
  EXPECT_EQ(hops(fabric, "n1", "n2"), 2U);  // x 0 and 1
  EXPECT_EQ(hops(fabric, "n1", "n3"), 2U);  // x 0 and 2, around
  EXPECT_EQ(hops(fabric, "n1", "n4"), 2U);  // y 0 and 1
  EXPECT_EQ(hops(fabric, "n1", "n7"), 3U);  // x and z
  EXPECT_EQ(fabric.ports(*fabric.find_node("n7"), 0)[0].leaf, *fabric.find_switch("t-z1y0x1"));
  std::uint32_t links = 0;
  for (const Link& link : fabric.links()) links += link.a.is_switch ? 1 : 0;
  EXPECT_EQ(links, 12U + 6U + 6U);  // rings of three in x; pairs in y and z
}

TEST(SlurmYaml, SlurmsOwnLeniencies) {
  const Imported imported =
      must(text("topology: only\n"
                "tree:\n"
                "  switches:\n"
                "    - {switch: s, nodes: n1, children: t, speed: 4}\n"
                "flat: false\n"));
  EXPECT_THAT(warnings(imported),
              ElementsAre("unknown key speed, left out as Slurm does; known are switch, children or nodes",
                          "switch s has both nodes and children; its children are left out, as Slurm does"));
  EXPECT_EQ(built(imported).node_count(), 1U);
  // One switch alone may stand for a list of one.
  EXPECT_EQ(built(must(text("- topology: a\n  tree:\n    switches: {switch: s, nodes: n1}\n"))).node_count(), 1U);
}

TEST(Topograph, DomainsFromBlocksAndFromSwitches) {
  const Imported imported = must(fixture("two_domains.model.yaml"));
  EXPECT_EQ(imported.kind, FileKind::topograph_model);
  EXPECT_THAT(warnings(imported),
              ElementsAre("sub-domains of accelerator domains are left out; the whole domain is one "
                          "NVLink domain"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.name(), "two_domains");
  EXPECT_EQ(fabric.node_count(), 10U);
  EXPECT_EQ(fabric.domain_count(kNvlinkLevel), 2U);
  EXPECT_EQ(domain(fabric, kNvlinkLevel, "g01"), "nvl-a");
  EXPECT_EQ(domain(fabric, kNvlinkLevel, "g09"), "nvl-a");
  EXPECT_EQ(domain(fabric, kNvlinkLevel, "k4"), "nvl-b");
  EXPECT_EQ(domain(fabric, kLeafLevel, "g05"), "leaf2");
  EXPECT_EQ(hops(fabric, "g01", "k1"), 5U);
}

TEST(Topograph, BlocksWithoutSwitches) {
  const Imported imported =
      must(text("blocks:\n"
                "- nodes: [\"a[1-2]\"]\n"
                "  annotations: {accelerator.topology.test/domain: d}\n"
                "- nodes: [a3]\n"
                "  annotations: {accelerator.topology.test/domain: d}\n"
                "- nodes: [b1]\n"));
  EXPECT_THAT(assumed(imported), Contains("blocks that name no switch have a leaf of their own, and all parts of the "
                                          "model are joined at the top"));
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.switch_count(), 3U);
  EXPECT_EQ(hops(fabric, "a1", "a3"), 1U);
  EXPECT_EQ(hops(fabric, "a1", "b1"), 3U);
}

TEST(ClosCsv, NamesThatRepeatAreOtherSwitches) {
  const Imported imported = must(fixture("reused_names.csv"));
  EXPECT_EQ(imported.kind, FileKind::clos_csv);
  const Fabric fabric = built(imported);
  EXPECT_EQ(fabric.node_count(), 5U);
  EXPECT_EQ(fabric.switch_count(), 4U + 3U + 2U);
  EXPECT_EQ(domain(fabric, kLeafLevel, "h4"), "G1-P2-S1");
  EXPECT_EQ(hops(fabric, "h1", "h2"), 1U);
  EXPECT_EQ(hops(fabric, "h1", "h3"), 3U);
  EXPECT_EQ(hops(fabric, "h1", "h4"), 5U);
  EXPECT_EQ(hops(fabric, "h1", "h5"), 0U);
  EXPECT_THAT(warnings(imported), ElementsAre(HasSubstr("the fabric is in 2 parts")));
}

TEST(ClosCsv, TwoLevelsAndRepeatedRows) {
  const Imported imported = must(text("hostname,leaf,rack\nh1,L1,r1\nh1,L1,r1\nh1,L2,r1\n"));
  EXPECT_THAT(warnings(imported), ElementsAre("host h1 again under the same switches",
                                              "1 node is on several leaves: h1; read as attached to each of them"));
  EXPECT_EQ(built(imported).ports(NodeId{0}, 0).size(), 2U);
}

TEST(NodeType, PresetsAndKeys) {
  const auto h100 = parse_node_type("h100");
  ASSERT_TRUE(h100);
  EXPECT_EQ(h100->gpus_per_node, 8U);
  EXPECT_EQ(h100->nvlink_bandwidth, Bandwidth{3'600'000'000'000});
  EXPECT_EQ(h100->bandwidth, Bandwidth{400'000'000'000});
  const auto tray = parse_node_type("GB200,nics=2");
  ASSERT_TRUE(tray);
  EXPECT_EQ(tray->gpus_per_node, 4U);
  EXPECT_EQ(tray->nics_per_node, 2U);
  EXPECT_EQ(tray->type_name, "gb200");
  const auto own = parse_node_type("gpus=2,nics=1,nvlink=none,bandwidth=25Gb/s,name=edge", *h100);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->nvlink, false);
  EXPECT_EQ(own->nvlink_bandwidth, std::nullopt);
  EXPECT_EQ(own->type_name, "edge");
  ImportOptions faster;
  faster.bandwidth = Bandwidth{800'000'000'000};
  EXPECT_EQ(parse_node_type("h100", faster)->bandwidth, faster.bandwidth);
}

}  // namespace
}  // namespace weft::topology
