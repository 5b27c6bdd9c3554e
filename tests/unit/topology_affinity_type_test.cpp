// SPDX-License-Identifier: BSD-3-Clause
//
// node_types.NAME.hwloc: a file of any kind gives a node type its GPUs, NICs and which NIC each GPU uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "weft/topology.hpp"

namespace weft::topology::test {
namespace {

using testing::ElementsAre;

// A fabric file that lies beside the fixtures.
Result<Fabric> build(const std::string& type) {
  const std::string text = "weft: 1\nname: t\nnode_types:\n  a: {" + type +
                           "}\nnodes:\n  - {name: 'n[1-2]', type: a}\nswitches:\n  - {name: leaf, tier: 1}\nlinks:\n"
                           "  - {from: 'n[1-2]', to: leaf, pattern: all, bandwidth: 200Gb/s}\n";
  const auto spec = config::parse_fabric_yaml(
      std::make_shared<const SourceText>(WEFT_SOURCE_DIR "/tests/fixtures/fabric-of-test.yaml", text));
  if (!spec) return fail(spec.error());
  return Fabric::build(*spec);
}

std::string refusal(const std::string& type) {
  const auto fabric = build(type);
  if (fabric) return "built";
  std::string text = fabric.error().to_string();
  const std::string dir = WEFT_SOURCE_DIR "/tests/fixtures/";
  for (std::size_t at = 0; (at = text.find(dir)) != std::string::npos;) text.erase(at, dir.size());
  return text;
}

TEST(AffinityType, EveryKindGivesTheNics) {
  for (const char* file : {"hwloc1.xml", "hwloc3.xml", "nccl.xml", "topo-m.txt"}) {
    for (const char* more : {"", ", gpus: 4", ", gpus: 4, nics: 4", ", nics: 4"}) {
      const auto fabric = build("hwloc: node/" + std::string(file) + more);
      ASSERT_TRUE(fabric) << fabric.error().to_string();
      const NodeType& type = fabric->type_of(NodeId{0});
      EXPECT_EQ(type.gpus, 4U);
      EXPECT_EQ(type.nics, 4U);
      EXPECT_THAT(type.nic_of_gpu, ElementsAre(0, 1, 2, 3));
      ASSERT_NE(type.affinity, nullptr);
      EXPECT_THAT(type.affinity_nic, ElementsAre(0, 1, 2, 3));
      EXPECT_EQ(fabric->ports(NodeId{1}, 3).size(), 1U);
    }
  }
}

TEST(AffinityType, AFileWithoutNicsGoesByNumber) {
  const auto fabric = build("hwloc: node/showtopo.txt, nics: 1");
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_THAT(fabric->type_of(NodeId{0}).nic_of_gpu, ElementsAre(0, 0));
  ASSERT_FALSE(fabric->notes().empty());
  EXPECT_EQ(fabric->notes().front().message, "no NIC in it; the GPUs of node type 'a' use its 1 NICs by number");
}

TEST(AffinityType, RefusalsPointAtTheName) {
  EXPECT_EQ(
      refusal("hwloc: node/none.xml"),
      "fabric-of-test.yaml:4:14: error: 'node/none.xml': cannot read: No such file or directory; expected a file of "
      "the node's inside, named from where the fabric file is\n    a: {hwloc: node/none.xml}\n               "
      "^^^^^^^^^^^^^");
  EXPECT_EQ(refusal("hwloc: node"),
            "fabric-of-test.yaml:4:14: error: 'node' is no regular file; expected a file of the node's inside\n"
            "    a: {hwloc: node}\n               ^^^^");
  EXPECT_EQ(
      refusal("hwloc: node/showtopo.txt"),
      "fabric-of-test.yaml:4:14: error: 'node/showtopo.txt' names no NIC; expected nics: N beside it, or a file that "
      "has NICs\n    a: {hwloc: node/showtopo.txt}\n               ^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, gpus: 8"),
            "fabric-of-test.yaml:4:14: error: node type 'a' has 8 GPUs, 'node/hwloc2.xml' has 4; expected no gpus, or "
            "as many "
            "as there are\n    a: {hwloc: node/hwloc2.xml, gpus: 8}\n               ^^^^^^^^^^^^^^^");
  EXPECT_EQ(refusal("hwloc: node/hwloc2.xml, nics: 3"),
            "fabric-of-test.yaml:4:14: error: node type 'a' has 3 NICs, 'node/hwloc2.xml' has 4, 4 of them near a GPU; "
            "expected no nics, or as many as there are\n    a: {hwloc: node/hwloc2.xml, nics: 3}\n               "
            "^^^^^^^^^^^^^^^");
  EXPECT_EQ(refusal("hwloc: fabric.yaml").substr(0, 76),
            "fabric.yaml:1:1: error: a fabric (fabric.yaml), not the inside of a node; ex");
}

}  // namespace
}  // namespace weft::topology::test
