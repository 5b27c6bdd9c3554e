// SPDX-License-Identifier: BSD-3-Clause
//
// Every fabric and topology file at hand goes through read_fabric: each is named here, read with counts that were made
// without Weft, or refused with the words that stand here. A file that is in neither table fails the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "same_fabric.hpp"
#include "weft/topology.hpp"

namespace weft::topology::test {
namespace {

namespace fs = std::filesystem;

struct Readable {
  std::string_view file;
  FileKind kind;
  std::uint32_t nodes;
  std::uint32_t switches;
  std::uint64_t cables;
  std::uint32_t domains;  ///< larger than a node
};

constexpr FileKind kIb = FileKind::ibnetdiscover;
constexpr FileKind kPorts = FileKind::ibnetdiscover_ports;
constexpr FileKind kLinks = FileKind::iblinkinfo;
constexpr FileKind kConf = FileKind::slurm_topology_conf;
constexpr FileKind kModel = FileKind::topograph_model;

// How these were counted, all without Weft:
//   ibnetdiscover  switches grep -c '^Switch'; nodes: first words of Ca descriptions, each once, aggregation nodes left
//                  out, one more for each adapter under a default description; cables: pairs of (GUID, port) on lines
//                  that start with '[', each once, loops on one switch and aggregation nodes left out
//   ports report, iblinkinfo  the same of the same fabric
//   tree, models   a script that expands the hostlists; cables are 8 a node at each level up to its root (8 NICs, no
//                  oversubscription), and one for each empty leaf at each level
//   block          the same, each group that holds more than one of the next smaller level a switch, and one on top
//                  where several are left: azure 4+1, check 8+4+2+1, slinky_dra 12+6+3+1
//   CSV            distinct hosts; distinct prefixes of (DSW, PSW, ASW); 3 levels of 8 cables a host
constexpr auto kReadable = std::to_array<Readable>({
    {"fabric/clos-csv/alibaba_lingjun_2023_topo.csv", FileKind::clos_csv, 847, 1 + 3 + 119, 847 * 24, 0},
    {"fabric/iblinkinfo/psmn_x5.iblinkinfo.txt", kLinks, 89, 11, 159, 0},
    {"fabric/iblinkinfo/psmn_x5.iblinkinfo_l.txt", kLinks, 89, 11, 159, 0},
    {"fabric/iblinkinfo/sim_ft2_128h.iblinkinfo.txt", kLinks, 128, 16, 256, 0},
    {"fabric/iblinkinfo/sim_ft2_128h.iblinkinfo_l.txt", kLinks, 128, 16, 256, 0},
    {"fabric/iblinkinfo/sim_messy_56h.iblinkinfo.txt", kLinks, 58, 10, 116, 0},
    {"fabric/iblinkinfo/sim_messy_56h.iblinkinfo_l.txt", kLinks, 58, 10, 116, 0},
    {"fabric/ibnetdiscover/ibtopotool_1.topo", kIb, 4, 2, 7, 0},
    {"fabric/ibnetdiscover/ibtopotool_3.topo", kIb, 5, 2, 7, 0},
    {"fabric/ibnetdiscover/infiniband_exporter_test_dash_p.txt", kPorts, 3, 3, 4, 0},
    {"fabric/ibnetdiscover/real_gb200_nvl72_ndr.txt", kIb, 193, 40, 1074, 0},
    {"fabric/ibnetdiscover/real_psmn_x5_qdr.txt", kIb, 89, 11, 159, 0},
    {"fabric/ibnetdiscover/sim_dragonflyplus_192h_x2.txt", kIb, 192, 48, 540, 0},
    {"fabric/ibnetdiscover/sim_ft2_128h.dash_f.txt", kIb, 128, 16, 256, 0},
    {"fabric/ibnetdiscover/sim_ft2_128h.dash_g.txt", kIb, 128, 16, 256, 0},
    {"fabric/ibnetdiscover/sim_ft2_128h.dash_p.txt", kPorts, 128, 16, 256, 0},
    {"fabric/ibnetdiscover/sim_ft2_128h.txt", kIb, 128, 16, 256, 0},
    {"fabric/ibnetdiscover/sim_ft3_1024h.txt.xz", kIb, 1024, 160, 3072, 0},
    {"fabric/ibnetdiscover/sim_messy_56h.dash_p.txt", kPorts, 58, 10, 116, 0},
    {"fabric/ibnetdiscover/sim_messy_56h.txt", kIb, 58, 10, 116, 0},
    {"fabric/ibnetdiscover/sim_rail_128h_x8.txt.xz", kIb, 128, 48, 2048, 0},
    {"fabric/ibnetdiscover/sim_torus3d_4x4x4.txt", kIb, 128, 64, 320, 0},
    // ibsim's descriptions are ibnetdiscover's own text.
    {"fabric/ibsim-net/dragonflyplus_192h_x2.net.xz", kIb, 192, 48, 540, 0},
    {"fabric/ibsim-net/ft2_128h.net.xz", kIb, 128, 16, 256, 0},
    {"fabric/ibsim-net/ft3_1024h.net.xz", kIb, 1024, 160, 3072, 0},
    {"fabric/ibsim-net/messy_56h.net.xz", kIb, 58, 10, 116, 0},
    {"fabric/ibsim-net/rail_128h_x8.net.xz", kIb, 128, 48, 2048, 0},
    {"fabric/ibsim-net/torus3d_4x4x4.net.xz", kIb, 128, 64, 320, 0},
    {"slurm-topology/block/azure_block_topology.conf", kConf, 72, 5, 72 * 16, 4},
    {"slurm-topology/block/slurm_testsuite_check_topology.conf", kConf, 32, 15, 32 * 32, 8},
    {"slurm-topology/block/topograph_slinky_dra_block.conf", kConf, 96, 22, 96 * 32, 12},
    {"slurm-topology/topograph-models/dual-xclr-irregular.yaml", kModel, 255, 34, 255 * 24 + 4, 2},
    {"slurm-topology/topograph-models/medium.yaml", kModel, 8, 7, 8 * 24, 4},
    {"slurm-topology/topograph-models/nvl72.yaml", kModel, 72, 7, 72 * 24, 4},
    {"slurm-topology/topograph-models/small-tree.yaml", kModel, 6, 3, 6 * 16, 2},
    {"slurm-topology/tree/azure_slurm_topology.conf", kConf, 16, 6, 16 * 16, 0},
    // circe-n051 is on two leaves, and no leaf has a switch above it.
    {"slurm-topology/tree/circe_dgx2h_superpod_topology.conf", kConf, 79, 5, 80 * 8, 0},
    {"slurm-topology/tree/ft3_1024_topology.conf", kConf, 1024, 73, 1024 * 24, 0},
    {"slurm-topology/tree/nstda_tara_topology.conf", kConf, 10, 5, 10 * 16, 0},
    // ethleaf with four of the nodes stands alone.
    {"slurm-topology/tree/rail_su_topology.conf", kConf, 131, 6, 127 * 16 + 4 * 8, 0},
    {"slurm-topology/tree/slurm_testsuite_133_1_case1_topology.conf", kConf, 10000, 529, 10000 * 32, 0},
    {"slurm-topology/tree/slurm_testsuite_133_1_case3_topology.conf", kConf, 400, 23, 400 * 24, 0},
    // leafC with eight of the nodes stands alone.
    {"slurm-topology/tree/slurm_testsuite_133_1_case6_topology.conf", kConf, 40, 7, 32 * 16 + 8 * 8, 0},
    {"slurm-topology/tree/three_level_bracket_no_dash_topology.conf", kConf, 8, 7, 8 * 24, 0},
    {"slurm-topology/yaml/slinky_topology.yaml", FileKind::slurm_topology_yaml, 4, 3, 4 * 16, 0},
});

struct Refused {
  std::string_view file;
  std::string_view error;  ///< first line, without the file name
};

constexpr std::string_view kFabrics =
    "fabric.yaml, ibnetdiscover or iblinkinfo output, Slurm topology.conf or topology.yaml, a topograph model, or a "
    "CSV "
    "of host, ASW, PSW, DSW";
constexpr std::string_view kTables =
    ":1:1: error: forwarding tables, not a fabric; expected the fabric they belong to; forwarding tables go with "
    "--routing static";
constexpr std::string_view kLids =
    ":1:1: error: OpenSM's guid2lid cache, which has no links; expected the output of ibnetdiscover, which has the "
    "links";
constexpr std::string_view kSubnet =
    ":1:1: error: OpenSM's subnet list (opensm-subnet.lst); expected the output of ibnetdiscover, which has the links";
// "$K" stands for kFabrics.
constexpr std::string_view kAstra = ":1:1: error: an ASTRA-sim network, which names no nodes or switches; expected $K";
constexpr std::string_view kMedium =
    ":1:1: error: a request to topograph, not a model; expected the model that it names as modelFileName: "
    "tests/models/medium.yaml";
constexpr std::string_view kLarge =
    ":1:1: error: a request to topograph, not a model; expected the model that it names as modelFileName: "
    "tests/models/large.yaml";
constexpr std::string_view kNoModel =
    ":1:1: error: a request to topograph, not a model; expected a topograph model; this request names none as "
    "modelFileName";

constexpr auto kRefused = std::to_array<Refused>({
    {"fabric/astra-sim/dgx_v100_8gpu.yml", kAstra},
    {"fabric/astra-sim/hgx_h100_32gpu.yml", kAstra},
    {"fabric/astra-sim/hgx_h100_8gpu.yml", kAstra},
    {"fabric/htsim/fat_tree_1024.topo",
     ":1:1: error: an htsim topology, which names no nodes or switches; expected a fabric of the same shape by 'weft "
     "generate fat-tree'"},
    {"fabric/ibnetdiscover/infiniband_exporter_test3_dash_p.txt",
     ":1:73: error: neither a peer nor a name in single quotes; expected SW lid port 0xguid 4x EDR - CA lid port "
     "0xguid "
     "( 'name' - 'peer' )"},
    {"fabric/ibnetdiscover/real_gb200_truncated.txt",
     ":10:1: error: the file ends after the head of H-b8e92403009ca838, without a port line: it is truncated, or "
     "discovery got no further; expected [port] \"S-guid\"[port] # \"description\" lid N 4xHDR"},
    {"fabric/ibnetdiscover/real_psmn_x5_guid_to_host.map",
     ":2:1: error: a map of GUIDs to node names, not a fabric; expected the fabric it belongs to; the map goes with "
     "--names"},
    {"fabric/ibnetdiscover/real_psmn_x5_spines.txt",
     ":2:1: error: a list of GUIDs, which has no links; expected the output of ibnetdiscover, which has the links"},
    {"fabric/ibnetdiscover/sim_ft2_128h.dash_l.txt",
     ":1:1: error: a node list (ibnetdiscover -l), which has no links; expected the output of ibnetdiscover, which has "
     "the links"},
    {"fabric/netq/computeNodes.json",
     ":1:1: error: compute nodes from NVIDIA's NMX, without the links of the fabric; expected $K"},
    {"fabric/netq/topologyGraph.json", ":1:1: error: a topology graph from NVIDIA's NetQ; expected $K"},
    {"fabric/opensm/gb200_nvl72.guid2lid.xz", kLids},
    {"fabric/opensm/gb200_nvl72.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/gb200_nvl72.opensm.fdbs.xz", kTables},
    {"fabric/opensm/psmn_x5.guid2lid", kLids},
    {"fabric/opensm/psmn_x5.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/psmn_x5.opensm-subnet.lst.xz", kSubnet},
    {"fabric/opensm/psmn_x5.opensm.fdbs.xz", kTables},
    {"fabric/opensm/sim_dragonflyplus_192h_x2.guid2lid", kLids},
    {"fabric/opensm/sim_dragonflyplus_192h_x2.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/sim_dragonflyplus_192h_x2.opensm-subnet.lst.xz", kSubnet},
    {"fabric/opensm/sim_dragonflyplus_192h_x2.opensm.fdbs.xz", kTables},
    {"fabric/opensm/sim_ft2_128h.dump_fts.txt.xz", kTables},
    {"fabric/opensm/sim_ft2_128h.guid2lid", kLids},
    {"fabric/opensm/sim_ft2_128h.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/sim_ft2_128h.opensm-subnet.lst.xz", kSubnet},
    {"fabric/opensm/sim_ft2_128h.opensm.fdbs.xz", kTables},
    {"fabric/opensm/sim_messy_56h.guid2lid", kLids},
    {"fabric/opensm/sim_messy_56h.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/sim_messy_56h.opensm-subnet.lst.xz", kSubnet},
    {"fabric/opensm/sim_messy_56h.opensm.fdbs.xz", kTables},
    {"fabric/opensm/sim_rail_128h_x8.guid2lid.xz", kLids},
    {"fabric/opensm/sim_rail_128h_x8.opensm-lfts.dump.xz", kTables},
    {"fabric/opensm/sim_rail_128h_x8.opensm-subnet.lst.xz", kSubnet},
    {"fabric/opensm/sim_rail_128h_x8.opensm.fdbs.xz", kTables},
    {"slurm-topology/block/azure_illegal_block_topology.conf",
     ":17:1: error: no block in the file: every BlockName line is commented out; expected at least one BlockName line"},
    {"slurm-topology/slurm22_reaction_to_bad_tree_files.txt",
     ":1:1: error: '==' is no Key=value; expected such as SwitchName=s1 Nodes=n[1-4]"},
    {"slurm-topology/topograph-models/payloads/aws-sim-block.json", kMedium},
    {"slurm-topology/topograph-models/payloads/aws-sim-tree.json", kMedium},
    {"slurm-topology/topograph-models/payloads/dsx-sim-block.json", kMedium},
    {"slurm-topology/topograph-models/payloads/dsx-sim-tree.json", kMedium},
    {"slurm-topology/topograph-models/payloads/example-netq.json", kNoModel},
    {"slurm-topology/topograph-models/payloads/gcp-sim-large-block.json", kLarge},
    {"slurm-topology/topograph-models/payloads/gcp-sim-tree.json", kMedium},
    {"slurm-topology/topograph-models/payloads/oci-sim-large-block.json", kLarge},
    {"slurm-topology/topograph-models/payloads/oci-sim-tree.json", kMedium},
    {"slurm-topology/topograph-models/payloads/test-tree.json", kNoModel},
    {"slurm-topology/topograph-models/payloads/toposim-block.json",
     ":1:1: error: a request to topograph, not a model; expected the model that it names as modelFileName: "
     "medium.yaml"},
    {"slurm-topology/tree/psmn_x5_cyclic_topology.conf",
     ":4:12: error: the switches are not a tree: S-0008f105001086a2 -> S-0008f10500108530 -> S-0008f105001086a2; "
     "expected no switch below itself"},
    {"slurm-topology/yaml/negative/block_bad_options.yaml",
     ":10:9: error: block size 12 is not 4 times a power of two; expected the base block size 4, then 8, 16 and so on "
     "up to 32768 times it"},
    {"slurm-topology/yaml/negative/block_blocks_not_list.yaml",
     ":16:13: error: blocks is \"b1=node[1-4],b2=node[5-8]\"; expected a list of blocks, each a map with block and "
     "nodes"},
    {"slurm-topology/yaml/negative/flat_bad_options.yaml",
     ":6:3: error: topology 'flat_bad_options' has no type; expected one of block, flat (true), ring, torus3d or tree"},
    {"slurm-topology/yaml/negative/flat_bool_mutually_exclusive.yaml",
     ":17:3: error: topology 'flat_bool_mutually_exclusive' is both block and flat; expected exactly one of block, "
     "flat, "
     "ring, torus3d or tree"},
    {"slurm-topology/yaml/negative/ring_bad_options.yaml",
     ":13:16: error: ring ring0 has 17 nodes; expected at most 16, as in Slurm"},
    {"slurm-topology/yaml/negative/ring_mutually_exclusive.yaml",
     ":14:3: error: topology 'ring_mutually_exclusive' is both block and ring; expected exactly one of block, flat, "
     "ring, torus3d or tree"},
    {"slurm-topology/yaml/negative/ring_rings_not_list.yaml",
     ":9:12: error: rings is \"r1=node[1-8],r2=node[9-16]\"; expected a list of rings, each a map with ring and nodes"},
    {"slurm-topology/yaml/negative/root_not_list.yaml",
     ":7:1: error: topology.yaml is \"topology/tree\"; expected a list of topologies, each with a name and one of "
     "block, "
     "flat, ring, torus3d or tree"},
    {"slurm-topology/yaml/negative/torus3d_not_dict.yaml",
     ":8:12: error: torus3d is \"4x2x2\"; expected a map with toruses"},
    {"slurm-topology/yaml/negative/torus3d_placements_not_list.yaml",
     ":19:21: error: placements is \"2x2x1\"; expected a list of placements, each a map with dims"},
    {"slurm-topology/yaml/negative/torus3d_toruses_not_list.yaml",
     ":9:14: error: toruses is \"pod1=node[1-16]\"; expected a list of toruses, each a map with name, dims and nodes "
     "or "
     "regions"},
    {"slurm-topology/yaml/negative/torus_bad_options.yaml",
     ":15:16: error: torus pod1 of 4x4x2 has 32 cells, but 8 nodes; expected 32 nodes, one a cell"},
    {"slurm-topology/yaml/negative/tree_mutually_exclusive.yaml",
     ":15:3: error: topology 'tree_mutually_exclusive' is both block and tree; expected exactly one of block, flat, "
     "ring, torus3d or tree"},
    {"slurm-topology/yaml/negative/tree_not_dict.yaml",
     ":8:9: error: tree is \"SwitchName=s1 Nodes=node[1-16]\"; expected a map with switches"},
});

fs::path data_dir() {
  const char* given = std::getenv("WEFT_SHARED");
  return fs::path(given != nullptr ? given : WEFT_SHARED_DIR) / "data";
}

#define WEFT_NEEDS_DATA()                                                                       \
  if (!fs::exists(data_dir() / "fabric")) {                                                     \
    GTEST_SKIP() << "no files under " << data_dir() << " (set WEFT_SHARED to their directory)"; \
  }                                                                                             \
  static_assert(true)

// The text of a file, unpacked by the xz program where it is compressed.
Source load(std::string_view file) {
  const std::string path = (data_dir() / file).string();
  std::string text;
  const bool packed = path.ends_with(".xz");
  FILE* in = packed ? popen(("xz -dc '" + path + "'").c_str(), "r") : std::fopen(path.c_str(), "r");
  if (in == nullptr) return nullptr;
  std::array<char, 65536> buffer{};
  std::size_t n = 0;
  while ((n = std::fread(buffer.data(), 1, buffer.size(), in)) > 0) text.append(buffer.data(), n);
  const int status = packed ? pclose(in) : std::fclose(in);
  if (status != 0) return nullptr;
  return std::make_shared<const SourceText>(fs::path(file).filename().string(), std::move(text));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string with_fabrics(std::string_view text) {
  std::string out(text);
  if (const std::size_t at = out.find("$K"); at != std::string::npos) out.replace(at, 2, kFabrics);
  return out;
}

TEST(SharedFiles, EveryFileIsInOneTable) {
  WEFT_NEEDS_DATA();
  std::multiset<std::string> listed;
  for (const Readable& r : kReadable) listed.emplace(r.file);
  for (const Refused& r : kRefused) listed.emplace(r.file);
  std::multiset<std::string> there;
  for (const char* folder : {"fabric", "slurm-topology"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_dir() / folder)) {
      if (entry.is_regular_file()) there.insert(fs::relative(entry.path(), data_dir()).generic_string());
    }
  }
  EXPECT_EQ(there, listed);
}

TEST(SharedFiles, ReadableFilesHaveTheirCounts) {
  WEFT_NEEDS_DATA();
  for (const Readable& want : kReadable) {
    SCOPED_TRACE(want.file);
    const Source source = load(want.file);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(recognise(source->text()), want.kind);
    const auto imported = read_fabric(source);
    ASSERT_TRUE(imported) << imported.error().to_string();
    EXPECT_EQ(imported->kind, want.kind);
    const auto fabric = Fabric::build(imported->spec);
    ASSERT_TRUE(fabric) << fabric.error().to_string();
    EXPECT_EQ(fabric->node_count(), want.nodes);
    EXPECT_EQ(fabric->switch_count(), want.switches);
    const auto links = fabric->links();
    const std::uint64_t cables = std::accumulate(links.begin(), links.end(), std::uint64_t{0},
                                                 [](std::uint64_t sum, const Link& link) { return sum + link.cables; });
    EXPECT_EQ(cables, want.cables);
    EXPECT_EQ(imported->spec.nvlink_domains.size(), want.domains);
    EXPECT_EQ(fabric->domain_count(kNvlinkLevel), want.domains == 0 ? want.nodes : want.domains);
  }
}

TEST(SharedFiles, RefusedFilesSayWhy) {
  WEFT_NEEDS_DATA();
  for (const Refused& want : kRefused) {
    SCOPED_TRACE(want.file);
    const Source source = load(want.file);
    ASSERT_NE(source, nullptr);
    const auto imported = read_fabric(source);
    ASSERT_FALSE(imported);
    EXPECT_EQ(first_line(imported.error().to_string()), source->file() + with_fabrics(want.error));
  }
}

// Import, write, read again: the same fabric to everyone who asks.
TEST(SharedFiles, ExportAndReadAgainGivesTheSameFabric) {
  WEFT_NEEDS_DATA();
  for (const Readable& file : kReadable) {
    SCOPED_TRACE(file.file);
    const auto imported = read_fabric(load(file.file));
    ASSERT_TRUE(imported);
    const std::string text = config::write_fabric_yaml(imported->spec);
    const auto again = read_fabric(std::make_shared<const SourceText>("fabric.yaml", text));
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->kind, FileKind::fabric_yaml);
    EXPECT_EQ(config::write_fabric_yaml(again->spec), text);
    const auto a = Fabric::build(imported->spec);
    const auto b = Fabric::build(again->spec);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(difference(*a, *b), std::nullopt);
  }
}

// A packed file is recognised as packed, with the way out.
TEST(SharedFiles, PackedFilesAreNamedAsSuch) {
  WEFT_NEEDS_DATA();
  const auto source = read_source((data_dir() / "fabric/ibnetdiscover/sim_ft3_1024h.txt.xz").string());
  ASSERT_TRUE(source);
  const auto imported = read_fabric(*source);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().message, "the file is compressed (xz)");
  EXPECT_EQ(imported.error().expected, "the text in it; unpack it first");
}

// Slurm's recorded reactions: what it warns of is a note, and reading goes on.
TEST(SharedFiles, CirceIsReadWithSlurmsWarnings) {
  WEFT_NEEDS_DATA();
  const auto imported = read_fabric(load("slurm-topology/tree/circe_dgx2h_superpod_topology.conf"));
  ASSERT_TRUE(imported);
  std::vector<std::string> warnings;
  for (const Note& note : imported->notes) {
    if (note.kind == Note::Kind::warning) warnings.push_back(note.message);
  }
  EXPECT_THAT(warnings,
              testing::ElementsAre(
                  "n[019-020] under s0: other nodes there begin with 'circe-n'; is 'circe-' missing?",
                  "1 node is on several leaves: circe-n051; read as attached to each of them",
                  "no switch reaches every node: the fabric is in 4 parts, and a job fits into one of them at most"));
}

}  // namespace
}  // namespace weft::topology::test
