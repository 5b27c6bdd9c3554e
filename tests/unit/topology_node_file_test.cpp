// SPDX-License-Identifier: BSD-3-Clause
//
// --node-file: one node's inside for an imported fabric, joined by the GUIDs of its NICs or by order. The machine is
// tests/fixtures/node/hwloc2.xml: gpu01 with mlx5_0 .. mlx5_3, GUIDs b8cef603000010 00 .. 03.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/topology.hpp"

namespace weft::topology::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kMachine = WEFT_SOURCE_DIR "/tests/fixtures/node/hwloc2.xml";

struct Adapter {
  std::string host;
  std::string device;
  std::uint64_t guid;
};

// One leaf with these adapters, as ibnetdiscover tells it.
Source dump(const std::vector<Adapter>& adapters) {
  std::string out =
      "vendid=0x2c9\ndevid=0xcb20\nsysimgguid=0x1\nswitchguid=0x1(1)\nSwitch\t40 \"S-0000000000000001\"\t\t# "
      "\"leaf\" enhanced port 0 lid 1 lmc 0\n";
  int port = 1;
  for (const Adapter& a : adapters)
    out += fmt::format("[{}]\t\"H-{:016x}\"[1]({:x}) \t\t# \"{} {}\" lid 1 4xHDR\n", port++, a.guid, a.guid, a.host,
                       a.device);
  port = 1;
  for (const Adapter& a : adapters)
    out += fmt::format(
        "\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x{0:x}\ncaguid=0x{0:x}\nCa\t1 \"H-{0:016x}\"\t\t# \"{1} {2}\"\n"
        "[1]({0:x}) \t\"S-0000000000000001\"[{3}]\t\t# lid 5 lmc 0 \"leaf\" lid 1 4xHDR\n",
        a.guid, a.host, a.device, port++);
  return std::make_shared<const SourceText>("dump.txt", out);
}

std::vector<Adapter> machine(const std::string& host, const std::vector<int>& order,
                             std::uint64_t base = 0xb8cef60300001000) {
  std::vector<Adapter> out;
  for (std::size_t i = 0; i < order.size(); ++i)
    out.push_back({host, fmt::format("mlx5_{}", i), base + static_cast<std::uint64_t>(order[i])});
  return out;
}

std::vector<Adapter> operator+(std::vector<Adapter> a, const std::vector<Adapter>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Result<Imported> import(const std::vector<Adapter>& adapters, const std::string& file = kMachine) {
  ImportOptions options;
  options.node_file = file;
  return read_fabric(dump(adapters), options);
}

// The type of `node`, and what has been said of the join.
struct Seen {
  NodeType type;
  std::string notes;
};

Seen seen(const std::vector<Adapter>& adapters, const std::string& node, const std::string& file = kMachine) {
  const auto imported = import(adapters, file);
  EXPECT_TRUE(imported) << imported.error().to_string();
  if (!imported) return {};
  const auto fabric = Fabric::build(imported->spec);
  EXPECT_TRUE(fabric) << fabric.error().to_string();
  if (!fabric) return {};
  Seen out{fabric->type_of(*fabric->find_node(node)), {}};
  for (const Note& note : imported->notes)
    if (note.file == file) out.notes += note.to_string().substr(file.size() + 2) + "\n";
  return out;
}

TEST(NodeFile, NicsAreJoinedByGuid) {
  // The dump numbers the adapters the other way round than the machine does.
  const Seen s = seen(machine("gpu01", {3, 2, 1, 0}) + machine("gpu02", {0, 1, 2, 3}, 0x500), "gpu01");
  EXPECT_THAT(s.type.affinity_nic, ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(s.type.nic_of_gpu, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(s.type.gpus, 4U);
  EXPECT_EQ(s.notes,
            "assumed: NICs by the GUIDs of gpu01: mlx5_3, mlx5_2, mlx5_1, mlx5_0, another order than the file's\n");
}

TEST(NodeFile, WithoutCommonGuidsNicsGoByOrder) {
  const Seen strangers = seen(machine("node1", {3, 2, 1, 0}, 0x500), "node1");
  EXPECT_THAT(strangers.type.affinity_nic, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(strangers.notes, "assumed: the fabric has none of its adapters; NICs go by order\n");
  const std::string table = WEFT_SOURCE_DIR "/tests/fixtures/node/topo-m.txt";  // has no GUIDs
  const Seen silent = seen(machine("node1", {3, 2, 1, 0}, 0x500), "node1", table);
  EXPECT_THAT(silent.type.affinity_nic, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(silent.notes, "");
}

TEST(NodeFile, ContradictionsAreSaid) {
  const Seen replaced = seen(machine("gpu01", {0, 1, 2, 3}, 0x500), "gpu01");
  EXPECT_EQ(replaced.notes, "warning: gpu01 has adapters of other GUIDs in the fabric; NICs go by order\n");
  const Seen one = seen(machine("gpu01", {0, 1, 2, 9}), "gpu01");
  EXPECT_EQ(one.notes, "warning: 1 of the 4 adapters that gpu01 has in the fabric is not in it; NICs go by order\n");
  EXPECT_THAT(one.type.affinity_nic, ElementsAre(0, 1, 2, 3));
  const Seen swapped = seen(machine("gpu01", {0, 1, 7, 8}) + machine("gpu02", {4, 5, 2, 3}), "gpu02");
  EXPECT_EQ(swapped.notes, "warning: its NICs are adapters of gpu01 and of gpu02 in the fabric; NICs go by order\n");
  const Seen renamed = seen(machine("gpu02", {0, 1, 2, 3}) + machine("gpu01", {0, 1, 2, 3}, 0x500), "gpu02");
  EXPECT_EQ(renamed.notes,
            "warning: it says that it is of gpu01; by the GUIDs of its NICs it is of gpu02\n"
            "assumed: NICs by the GUIDs of gpu02: mlx5_0, mlx5_1, mlx5_2, mlx5_3\n");
}

TEST(NodeFile, HostsOfAnotherShapeAreLeftAlone) {
  const auto adapters = machine("gpu01", {1, 0, 3, 2}) + machine("store", {0}, 0x900);
  const Seen gpu = seen(adapters, "gpu01");
  EXPECT_THAT(gpu.type.affinity_nic, ElementsAre(1, 0, 3, 2));
  const Seen store = seen(adapters, "store");
  EXPECT_EQ(store.type.affinity, nullptr);
  EXPECT_EQ(store.type.gpus, 1U);  // as for any dump
  const auto none = import(machine("gpu01", {0}, 0x900));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(),
            kMachine +
                ": error: 4 GPUs and 4 NICs, 4 of them near a GPU, fit no node type of the fabric; "
                "expected the inside of one of the fabric's nodes");
}

// A GPU whose nearest NIC the fabric does not have takes the nearest that it has.
TEST(NodeFile, GpusWithoutTheirNicTakeTheNearestThatIsThere) {
  const Seen s = seen(machine("gpu01", {1, 2}), "gpu01");
  EXPECT_THAT(s.type.affinity_nic, ElementsAre(1, 2));
  EXPECT_THAT(s.type.nic_of_gpu, ElementsAre(0, 0, 1, 1));
}

TEST(NodeFile, WhatIsImportedReadsBackEqual) {
  const auto imported = import(machine("gpu01", {3, 2, 1, 0}));
  ASSERT_TRUE(imported);
  const std::string text = config::write_fabric_yaml(imported->spec);
  EXPECT_THAT(text, HasSubstr("hwloc_nics: [mlx5_3, mlx5_2, mlx5_1, mlx5_0]"));
  const auto again = config::parse_fabric_yaml(std::make_shared<const SourceText>("dump.yaml", text));
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(config::write_fabric_yaml(*again), text);
  const auto fabric = Fabric::build(*again);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_THAT(fabric->type_of(NodeId{0}).nic_of_gpu, ElementsAre(3, 2, 1, 0));
}

TEST(NodeFile, FilesWithoutNicsTakeTheirNumbersFromIt) {
  ImportOptions options;
  options.node_file = kMachine;
  options.bandwidth = Bandwidth{100'000'000'000};
  const auto imported =
      read_fabric(std::make_shared<const SourceText>("topology.conf", "SwitchName=s1 Nodes=n[1-4]\n"), options);
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_EQ(fabric->type_of(NodeId{0}).gpus, 4U);
  EXPECT_EQ(fabric->type_of(NodeId{0}).nics, 4U);
  EXPECT_NE(fabric->type_of(NodeId{0}).affinity, nullptr);
}

std::string refusal(const std::string& type) {
  const std::string text = "weft: 1\nname: t\nnode_types:\n  a: {" + type +
                           "}\nnodes:\n  - {name: n1, type: a}\nswitches:\n  - {name: leaf, tier: 1}\nlinks:\n"
                           "  - {from: n1, to: leaf, pattern: all, bandwidth: 200Gb/s}\n";
  const auto spec =
      config::parse_fabric_yaml(std::make_shared<const SourceText>(WEFT_SOURCE_DIR "/tests/fixtures/f.yaml", text));
  const auto fabric = spec ? Fabric::build(*spec) : tl::unexpected(spec.error());
  if (fabric) return "built";
  const std::string said = fabric.error().to_string();
  const std::size_t from = said.find("error: ");
  return said.substr(from + 7, said.find('\n') - from - 7);
}

TEST(NodeFile, NamesOfNicsAreChecked) {
  const std::string file = WEFT_SOURCE_DIR "/tests/fixtures/node/hwloc2.xml";
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, hwloc_nics: [mlx5_0, mlx5_9]"),
            "'" + file + "' has no NIC 'mlx5_9'; expected one of mlx5_0, mlx5_1, mlx5_2, mlx5_3");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, hwloc_nics: [mlx5_0, mlx5_0]"),
            "'mlx5_0' is there twice; expected each NIC once");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, nics: 3, hwloc_nics: [mlx5_0]"),
            "hwloc_nics has 1 entries for 3 NICs; expected one entry a NIC");
  EXPECT_EQ(refusal("gpus: 4, hwloc_nics: [mlx5_0]"),
            "hwloc_nics without hwloc; expected the file that has these NICs");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, hwloc_nics: mlx5_0"),
            "hwloc_nics is \"mlx5_0\"; expected [mlx5_0, mlx5_1]");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, hwloc_nics: [{}]"), "an entry of hwloc_nics is a map; expected text");
  EXPECT_EQ(refusal("hwloc: node/showtopo.txt, hwloc_nics: [mlx5_0]"),
            "'" WEFT_SOURCE_DIR
            "/tests/fixtures/node/showtopo.txt' has no NIC 'mlx5_0'; expected a file that has NICs");
}

// A file that is named from where the fabric lies is named anew where the fabric is written elsewhere.
TEST(NodeFile, NamesFollowTheFabricWhereItIsWritten) {
  config::FabricSpec spec;
  spec.source = std::make_shared<const SourceText>(WEFT_SOURCE_DIR "/tests/fixtures/f.yaml", "");
  const auto moved = [&](const std::string& file, const std::string& to) {
    spec.node_types.assign(1, {});
    spec.node_types[0].hwloc = config::Text{file, {}};
    move_node_files(spec, to);
    return spec.node_types[0].hwloc->value;
  };
  EXPECT_EQ(moved("node/hwloc2.xml", WEFT_SOURCE_DIR "/tests"), "fixtures/node/hwloc2.xml");
  EXPECT_EQ(moved("node/hwloc2.xml", WEFT_SOURCE_DIR "/tests/fixtures/node"), "hwloc2.xml");
  EXPECT_EQ(moved("node/hwloc2.xml", WEFT_SOURCE_DIR "/docs"), "../tests/fixtures/node/hwloc2.xml");
  EXPECT_EQ(moved("/etc/machine.xml", WEFT_SOURCE_DIR "/docs"), "/etc/machine.xml");
  const std::string here = moved("node/hwloc2.xml", "");
  EXPECT_TRUE(std::filesystem::exists(here)) << here;
}

}  // namespace
}  // namespace weft::topology::test
