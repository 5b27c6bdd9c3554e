// SPDX-License-Identifier: BSD-3-Clause
//
// Every InfiniBand dump at hand, real and simulated: read with the right counts, or refused with the right words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ib_dumps.hpp"

namespace weft::topology::test {
namespace {

using testing::HasSubstr;

struct Readable {
  View view;
  std::string file;
  std::string map;
  Counts counts;
};

// Counted with grep and awk, without Weft:
//   switches   grep -c '^Switch' (in iblinkinfo '^Switch:', in a ports report the GUIDs of SW lines)
//   NICs       grep '^Ca' | grep -vc 'Aggregation Node' ('^CA:'; CA lines by description and port)
//   nodes      first words of Ca descriptions, each once; one more for each adapter that says "…Mellanox Technologies"
//              or "localhost"
//   cables     lines that start with '[' (hold LinkUp; hold "' - '"), without those of aggregation nodes and those that
//              lead to the record's own switch, halved
//   slow       by eye: ibtopotool_1 has two cables that are 1x at one end; messy a 1xQDR cable and a 4xDDR one in a
//              bundle of 4xEDR
// infiniband_exporter_test is an excerpt: one cable has one end only, and a fourth switch has no cable.
const std::vector<Readable>& readable() {
  static const std::vector<Readable> kFiles{
      {View::topology, "ibnetdiscover/ibtopotool_1.topo", "", {4, 4, 2, 7, 2}},
      {View::topology, "ibnetdiscover/ibtopotool_3.topo", "", {5, 6, 2, 7, 0}},
      {View::ports, "ibnetdiscover/infiniband_exporter_test_dash_p.txt", "", {3, 3, 3, 4, 0}},
      {View::topology, "ibnetdiscover/real_gb200_nvl72_ndr.txt", "", {193, 542, 40, 1074, 0}},
      {View::topology, "ibnetdiscover/real_psmn_x5_qdr.txt", "", {89, 89, 11, 159, 0}},
      {View::topology,
       "ibnetdiscover/real_psmn_x5_qdr.txt",
       "ibnetdiscover/real_psmn_x5_guid_to_host.map",
       {89, 89, 11, 159, 0}},
      {View::topology, "ibnetdiscover/sim_dragonflyplus_192h_x2.txt", "", {192, 384, 48, 540, 0}},
      {View::topology, "ibnetdiscover/sim_ft2_128h.txt", "", {128, 128, 16, 256, 0}},
      {View::topology, "ibnetdiscover/sim_ft2_128h.dash_f.txt", "", {128, 128, 16, 256, 0}},
      {View::topology, "ibnetdiscover/sim_ft2_128h.dash_g.txt", "", {128, 128, 16, 256, 0}},
      {View::ports, "ibnetdiscover/sim_ft2_128h.dash_p.txt", "", {128, 128, 16, 256, 0}},
      {View::topology, "ibnetdiscover/sim_ft3_1024h.txt.xz", "", {1024, 1024, 160, 3072, 0}},
      {View::topology, "ibnetdiscover/sim_messy_56h.txt", "", {58, 58, 10, 116, 2}},
      {View::ports, "ibnetdiscover/sim_messy_56h.dash_p.txt", "", {58, 58, 10, 116, 2}},
      {View::topology, "ibnetdiscover/sim_rail_128h_x8.txt.xz", "", {128, 1024, 48, 2048, 0}},
      {View::topology, "ibnetdiscover/sim_torus3d_4x4x4.txt", "", {128, 128, 64, 320, 0}},
      {View::linkinfo, "iblinkinfo/psmn_x5.iblinkinfo.txt", "", {89, 89, 11, 159, 0}},
      {View::linkinfo, "iblinkinfo/psmn_x5.iblinkinfo_l.txt", "", {89, 89, 11, 159, 0}},
      {View::linkinfo, "iblinkinfo/sim_ft2_128h.iblinkinfo.txt", "", {128, 128, 16, 256, 0}},
      {View::linkinfo, "iblinkinfo/sim_ft2_128h.iblinkinfo_l.txt", "", {128, 128, 16, 256, 0}},
      {View::linkinfo, "iblinkinfo/sim_messy_56h.iblinkinfo.txt", "", {58, 58, 10, 116, 2}},
      {View::linkinfo, "iblinkinfo/sim_messy_56h.iblinkinfo_l.txt", "", {58, 58, 10, 116, 2}},
  };
  return kFiles;
}

struct Refused {
  View view;
  std::string file;
  std::string error;  // what follows the file name
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> kFiles{
      {View::ports, "ibnetdiscover/infiniband_exporter_test3_dash_p.txt",
       ":1:73: error: neither a peer nor a name in single quotes; expected SW lid port 0xguid 4x EDR - CA lid port "
       "0xguid ( 'name' - 'peer' )"},
      {View::topology, "ibnetdiscover/real_gb200_truncated.txt",
       ":10:1: error: the file ends after the head of H-b8e92403009ca838, without a port line: it is truncated, or "
       "discovery got no further; expected [port] \"S-guid\"[port] # \"description\" lid N 4xHDR"},
      {View::topology, "ibnetdiscover/sim_ft2_128h.dash_l.txt",
       ":1:1: error: this is a list of devices without their links; expected the dump of ibnetdiscover without -l, -S, "
       "-H or -R"},
      {View::topology, "ibnetdiscover/real_psmn_x5_spines.txt",
       ":2:1: error: this is no line of an ibnetdiscover dump; expected vendid=, sysimgguid=, switchguid=, Switch, Ca, "
       "[port], a # comment or a blank line"},
      {View::topology, "ibnetdiscover/real_psmn_x5_guid_to_host.map",
       ":2:1: error: this is no line of an ibnetdiscover dump; expected vendid=, sysimgguid=, switchguid=, Switch, Ca, "
       "[port], a # comment or a blank line"},
      {View::topology, "opensm/psmn_x5.opensm-subnet.lst.xz",
       ":1:1: error: this is no line of an ibnetdiscover dump; expected vendid=, sysimgguid=, switchguid=, Switch, Ca, "
       "[port], a # comment or a blank line"},
  };
  return kFiles;
}

class SharedDumps : public testing::Test {
 protected:
  void SetUp() override {
    if (shared_data().empty()) GTEST_SKIP() << "no shared data (WEFT_SHARED names its directory)";
  }
  static std::string path(const std::string& file) { return shared_data() + "/fabric/" + file; }
};

TEST_F(SharedDumps, AreReadWithTheRightCounts) {
  for (const Readable& entry : readable()) {
    SCOPED_TRACE(entry.file);
    const Source source = load(path(entry.file));
    ASSERT_TRUE(source);
    ImportOptions options;
    if (!entry.map.empty()) options.names = load(path(entry.map));
    const auto imported = import_view(entry.view, source, options);
    ASSERT_TRUE(imported) << imported.error().to_string();
    const auto fabric = Fabric::build(imported->spec);
    ASSERT_TRUE(fabric) << fabric.error().to_string();
    EXPECT_EQ(count(*fabric), entry.counts);
    EXPECT_EQ(fabric->gpu_count(), entry.counts.nics) << "as many GPUs as compute NICs";
  }
}

TEST_F(SharedDumps, AreRefusedWithTheReason) {
  for (const Refused& entry : refused()) {
    SCOPED_TRACE(entry.file);
    const Source source = load(path(entry.file));
    ASSERT_TRUE(source);
    const auto imported = import_view(entry.view, source);
    ASSERT_FALSE(imported);
    const std::string text = imported.error().to_string();
    EXPECT_EQ(text.substr(0, text.find('\n')), source->file() + entry.error);
  }
}

TEST_F(SharedDumps, AreAllInOneOfTheTables) {
  std::set<std::string> known;
  for (const Readable& entry : readable()) known.insert(entry.file);
  for (const Refused& entry : refused()) known.insert(entry.file);
  for (const char* directory : {"ibnetdiscover", "iblinkinfo"}) {
    for (const auto& file : std::filesystem::directory_iterator(path(directory))) {
      EXPECT_TRUE(known.contains(std::string(directory) + "/" + file.path().filename().string())) << file.path();
    }
  }
}

// Whatever tool looked at it, it is the same fabric.
TEST_F(SharedDumps, GiveOneSpecPerFabric) {
  const std::vector<std::vector<std::pair<View, std::string>>> fabrics{
      {{View::topology, "ibnetdiscover/sim_ft2_128h.txt"},
       {View::topology, "ibnetdiscover/sim_ft2_128h.dash_f.txt"},
       {View::topology, "ibnetdiscover/sim_ft2_128h.dash_g.txt"},
       {View::ports, "ibnetdiscover/sim_ft2_128h.dash_p.txt"},
       {View::linkinfo, "iblinkinfo/sim_ft2_128h.iblinkinfo.txt"},
       {View::linkinfo, "iblinkinfo/sim_ft2_128h.iblinkinfo_l.txt"}},
      {{View::topology, "ibnetdiscover/sim_messy_56h.txt"},
       {View::ports, "ibnetdiscover/sim_messy_56h.dash_p.txt"},
       {View::linkinfo, "iblinkinfo/sim_messy_56h.iblinkinfo.txt"},
       {View::linkinfo, "iblinkinfo/sim_messy_56h.iblinkinfo_l.txt"}},
      {{View::topology, "ibnetdiscover/real_psmn_x5_qdr.txt"},
       {View::linkinfo, "iblinkinfo/psmn_x5.iblinkinfo.txt"},
       {View::linkinfo, "iblinkinfo/psmn_x5.iblinkinfo_l.txt"}}};
  for (const auto& views : fabrics) {
    std::string first;
    for (const auto& [view, file] : views) {
      SCOPED_TRACE(file);
      const auto imported = import_view(view, load(path(file)));
      ASSERT_TRUE(imported) << imported.error().to_string();
      if (first.empty()) first = spec_text(imported->spec);
      EXPECT_EQ(spec_text(imported->spec), first);
    }
  }
}

TEST_F(SharedDumps, RealRackKeepsItsRailsAndTellsWhatItAssumed) {
  const auto imported = import_ibnetdiscover(load(path("ibnetdiscover/real_gb200_nvl72_ndr.txt")), {});
  ASSERT_TRUE(imported);
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric);
  // HCA-1, -2, -5, -6 of one host and mlx5_0, _1, _4, _5 of another: both are NIC 0 to 3, each on its rail.
  for (const auto& [node, group] : {std::pair("a07-p1-dgx-03-c05", "A09-P1-IBLEAF-0%d-03"),
                                    std::pair("a08-p1-dgx-04-c05", "A09-P1-IBLEAF-0%d-04")}) {
    const auto id = fabric->find_node(node);
    ASSERT_TRUE(id);
    for (std::uint32_t nic = 0; nic < 4; ++nic) {
      ASSERT_EQ(fabric->ports(*id, nic).size(), 1U);
      std::string leaf = group;
      leaf.replace(leaf.find("%d"), 2, std::to_string(nic + 1));
      EXPECT_EQ(fabric->switch_name(fabric->ports(*id, nic)[0].leaf), leaf);
    }
  }
  std::string notes;
  for (const Note& note : imported->notes) notes += note.message + "\n";
  EXPECT_EQ(notes,
            "40 SHARP aggregation nodes are no hosts\n"
            "72 adapters without a host name, each a node of its own named by port GUID (first: H-e09d730300af10d2); a "
            "map of GUIDs to names (--names) tells better\n"
            "as many GPUs in each node as it has compute NICs (--node-type says otherwise)\n"
            "the GPUs of a node are joined by NVLink (--node-type says otherwise)\n");
}

TEST_F(SharedDumps, CutAnywhereNeverCrash) {
  for (const Readable& entry : readable()) {
    if (entry.file.ends_with(".xz")) continue;
    SCOPED_TRACE(entry.file);
    const Source source = load(path(entry.file));
    ASSERT_TRUE(source);
    const std::string_view text = source->text();
    for (std::size_t i = 1; i <= 40; ++i) {
      const std::size_t size = text.size() * i / 41 + i % 7;
      const auto imported = import_view(entry.view, source_of(std::string(text.substr(0, size))));
      EXPECT_TRUE(imported || !imported.error().message.empty());
    }
  }
}

// --- our own dumps ---

std::string example(const std::string& file) { return std::string(WEFT_SOURCE_DIR) + "/config/examples/ib/" + file; }

const std::vector<std::pair<View, std::string>>& views() {
  static const std::vector<std::pair<View, std::string>> kViews{
      {View::topology, ".ibnetdiscover.txt"},   {View::topology, ".ibnetdiscover-f.txt"},
      {View::topology, ".ibnetdiscover-g.txt"}, {View::ports, ".ibnetdiscover-p.txt"},
      {View::linkinfo, ".iblinkinfo.txt"},      {View::linkinfo, ".iblinkinfo-l.txt"}};
  return kViews;
}

TEST(ExampleDumps, GiveOneSpecPerFabric) {
  for (const std::string name : {"fat-tree", "messy"}) {
    ImportOptions options;
    if (name == "messy") options.names = load(example("messy.names"));
    std::string first;
    for (const auto& [view, suffix] : views()) {
      SCOPED_TRACE(name + suffix);
      const auto imported = import_view(view, load(example(name + suffix)), options);
      ASSERT_TRUE(imported) << imported.error().to_string();
      if (first.empty()) first = spec_text(imported->spec);
      EXPECT_EQ(spec_text(imported->spec), first);
    }
  }
}

TEST(ExampleDumps, RailSuHas128NodesOnFourUnits) {
  const auto imported = import_ibnetdiscover(load(example("rail-su.ibnetdiscover.txt")), {});
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_EQ(count(*fabric), (Counts{128, 1024, 48, 1024 + 32 * 16 * 2, 0}));
  EXPECT_EQ(fabric->domain_count(kLeafLevel), 4U) << "a scalable unit is one set of leaves";
  EXPECT_EQ(fabric->max_tier(), 2);
}

TEST(ExampleDumps, MessyIsReadAsItsFormulaSays) {
  ImportOptions options;
  options.names = load(example("messy.names"));
  const auto imported = import_ibnetdiscover(load(example("messy.ibnetdiscover.txt")), options);
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  // Adapters 15 + 16 + 9 + 2 + 1, two of them with two cables; 3 leaves x 4 x 2 switch cables, one too many, two of the
  // old switch; nodes 4 + 16 + 8 + 2 + 1.
  EXPECT_EQ(count(*fabric), (Counts{31, 43, 8, 43 + 2 + 24 + 1 + 2, 3}));
  for (const char* name : {"gpu-02", "cpu05.example.org", "cpu09.example.org", "fdr8", "store2", "mgmt"}) {
    EXPECT_TRUE(fabric->find_node(name)) << name;
  }
  for (const char* name :
       {"S-248a070300000040", "core-L01-U1", "core-L02-U1", "hall-A-row-1", "hall-A-row-2", "hall.b", "old-4036"}) {
    EXPECT_TRUE(fabric->find_switch(name)) << name;
  }
  std::string faults;
  for (const Fault& fault : fabric->faults()) faults += fault.what + ": " + fault.reason + "\n";
  EXPECT_EQ(faults,
            "gpu-04:1 - hall-A-row-1: runs at 4xFDR, not 4xEDR\n"
            "S-248a070300000080 - old-4036: runs at 1xQDR, not 4xQDR\n"
            "core-L02-U1 - hall.b (1 of 3 cables): runs at 4xDDR, not 4xEDR\n");
}

// A card's system GUID joins its unnamed adapter to the named one; only ibnetdiscover without -p shows it.
TEST(ExampleDumps, SystemGuidJoinsAnUnnamedAdapter) {
  const auto topology = import_ibnetdiscover(load(example("messy.ibnetdiscover.txt")), {});
  const auto ports = import_ibnetdiscover_ports(load(example("messy.ibnetdiscover-p.txt")), {});
  ASSERT_TRUE(topology && ports);
  const auto with = Fabric::build(topology->spec);
  const auto without = Fabric::build(ports->spec);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->type_of(*with->find_node("fdr8")).nics, 2U);
  EXPECT_EQ(without->type_of(*without->find_node("fdr8")).nics, 1U);
  EXPECT_TRUE(without->find_node("H-b8cef60300000281"));
}

TEST(ExampleDumps, ImportAndReReadGiveTheSameFabric) {
  for (const char* file : {"rail-su.ibnetdiscover.txt", "fat-tree.ibnetdiscover.txt", "messy.ibnetdiscover.txt"}) {
    SCOPED_TRACE(file);
    const auto imported = import_ibnetdiscover(load(example(file)), {});
    ASSERT_TRUE(imported);
    const std::string yaml = config::write_fabric_yaml(imported->spec);
    const auto again = config::parse_fabric_yaml(source_of(yaml, "fabric.yaml"));
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(config::write_fabric_yaml(*again), yaml);
    const auto fabric = Fabric::build(imported->spec);
    const auto reread = Fabric::build(*again);
    ASSERT_TRUE(fabric && reread);
    EXPECT_EQ(count(*fabric), count(*reread));
    EXPECT_EQ(fabric->faults().size(), reread->faults().size());
  }
}

}  // namespace
}  // namespace weft::topology::test
