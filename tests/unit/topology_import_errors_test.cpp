// SPDX-License-Identifier: BSD-3-Clause
//
// What each importer says of each fault, to the letter, and what hostile bytes come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "unit/import_faults.hpp"
#include "weft/topology.hpp"

namespace weft::topology {
namespace {

using namespace faults;  // the tables

Result<Imported> read(std::string text, const ImportOptions& options = {}) {
  return read_fabric(std::make_shared<const SourceText>("f", std::move(text)), options);
}

template <std::size_t N>
void expect_all(const std::array<BadText, N>& faults) {
  for (const BadText& fault : faults) {
    SCOPED_TRACE(fault.text);
    const auto imported = read(std::string(fault.text));
    ASSERT_FALSE(imported);
    std::string want(fault.error);
    if (const std::size_t at = want.find("$K"); at != std::string::npos) want.replace(at, 2, kFabrics);
    EXPECT_EQ(imported.error().to_string(), want);
  }
}

TEST(ImportErrors, TopologyConf) { expect_all(kConf); }
TEST(ImportErrors, TopologyYaml) { expect_all(kYaml); }
TEST(ImportErrors, ModelsTablesAndOtherFiles) { expect_all(kRest); }

TEST(ImportErrors, TopologyThatIsNotThere) {
  ImportOptions options;
  options.topology = "c";
  const auto imported =
      read("- {topology: a, ring: {rings: {ring: r, nodes: n1}}}\n- {topology: b, flat: true}\n", options);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().to_string(),
            "f:1:1: error: no topology 'c'; expected one of: a\n"
            "  - {topology: a, ring: {rings: {ring: r, nodes: n1}}}\n"
            "  ^");
}

TEST(ImportErrors, FlatByDefaultNamesTheOthers) {
  const auto imported = read(
      "- {topology: b, flat: true, cluster_default: true}\n- {topology: a, ring: {rings: {ring: r, nodes: n1}}}\n");
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().message, "topology 'b' is flat, which names no nodes");
  EXPECT_EQ(imported.error().expected, "another of the file's topologies: a");
}

TEST(ImportErrors, NodeTypes) {
  constexpr std::string_view kExpected =
      "; expected one of v100, a100, a800, h100, h200, h800, b200, b300, gb200, gb300, mi300x, or "
      "gpus=N,nics=N,nvlink=450GB/s|none,bandwidth=400Gb/s,name=WORD";
  const auto said = [](std::string_view text) { return parse_node_type(text).error().to_string(); };
  EXPECT_EQ(said("h42"), "error: no node type 'h42'" + std::string(kExpected));
  EXPECT_EQ(said(""), "error: an empty node type" + std::string(kExpected));
  EXPECT_EQ(said("cpus=8"), "error: no key 'cpus' in a node type" + std::string(kExpected));
  EXPECT_EQ(said("gpus=8,h100"), "error: 'h100' in a node type has no value" + std::string(kExpected));
  EXPECT_EQ(said("gpus=0"), "error: gpus=0 in the node type; expected a whole number from 1 to 1024");
  EXPECT_EQ(said("name=a b"), "error: name=a b in the node type; expected a plain word");
  EXPECT_EQ(parse_node_type("nvlink=450").error().code, ErrorCode::usage);
}

// --- hostile input ---

TEST(Hostile, NulBytesAndPackedFiles) {
  EXPECT_EQ(read(std::string("SwitchName=a Nodes=n1\n\0", 23)).error().to_string(),
            "f:1:1: error: the file is binary; expected " + std::string(kFabrics));
  std::string far = "#" + std::string(5000, 'x') + "\nSwitchName=a Nodes=n";
  far += '\0';
  EXPECT_EQ(read(far).error().message, "a NUL byte");
  for (const auto& [bytes, word] :
       {std::pair{"\x1f\x8b\x08", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh9", "bzip2"}, {"PK\x03\x04", "zip"}}) {
    EXPECT_EQ(read(bytes).error().message, std::string("the file is compressed (") + word + ")");
  }
  EXPECT_EQ(read("\xff\xfeS\x01").error().message, "the file is in UTF-16");
}

TEST(Hostile, ControlBytesNeverReachTheTerminal) {
  const std::string shown = read("SwitchName=\x1b[31m Nodes=\x07 \x1b]0;t\x07").error().to_string();
  for (const char c : shown) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << shown;
}

TEST(Hostile, HugeHostlistsAreRefusedAtOnce) {
  EXPECT_EQ(read("SwitchName=a Nodes=n[0-99999999999999999999]").error().code, ErrorCode::limit);
  EXPECT_EQ(read("SwitchName=a Nodes=n[1-999][1-999][1-999]").error().code, ErrorCode::limit);
  std::string many;
  for (int i = 0; i < 5; ++i)
    many += "SwitchName=s" + std::to_string(i) + " Nodes=n" + std::to_string(i) + "x[1-300000]\n";
  EXPECT_EQ(read(many).error().message, "too many nodes in all");
}

TEST(Hostile, DeepNestingAndDeepTrees) {
  std::string yaml = "- topology: ";
  yaml += std::string(100000, '[');
  EXPECT_FALSE(read(yaml));
  // A chain listed from the leaf up settles in one pass, from the root down in one pass a level.
  std::string up = "SwitchName=s0 Nodes=n1\n";
  std::string down;
  for (int i = 1; i <= 30; ++i) {
    const std::string line = "SwitchName=s" + std::to_string(i) + " Switches=s" + std::to_string(i - 1) + "\n";
    up += line;
    down = line + down;
  }
  EXPECT_EQ(read(up).error().message, "switch s30 has 30 tiers of switches below it");
  EXPECT_EQ(read(down + "SwitchName=s0 Nodes=n1\n").error().message,
            "too many levels of switches below s30; Slurm takes it for no tree");
  std::string model = "switches:\n";
  for (int i = 1; i <= 20000; ++i)
    model += "  s" + std::to_string(i) + ": {switches: [s" + std::to_string(i - 1) + "]}\n";
  EXPECT_EQ(read(model + "blocks: [{switch: s0, nodes: [n1]}]\n").error().code, ErrorCode::limit);
}

TEST(Hostile, LongLines) {
  std::string line = "SwitchName=a Nodes=n1";
  for (int i = 2; i < 50000; ++i) line += ",n" + std::to_string(i);
  EXPECT_TRUE(read(line));
  const std::string shown = read(line + ",n[").error().to_string();
  EXPECT_LT(shown.size(), 600U);
  std::string joined = "SwitchName=a Nodes=n1";
  for (int i = 2; i < 20000; ++i) joined += ",\\\nn" + std::to_string(i);
  EXPECT_EQ(read(joined)->spec.nodes.front().names.value, "n[1-19999]");
}

}  // namespace
}  // namespace weft::topology
