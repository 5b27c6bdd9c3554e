// SPDX-License-Identifier: BSD-3-Clause
//
// The InfiniBand importers on dumps of a few lines: each quirk by itself, and the exact words of each refusal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ib_dumps.hpp"

namespace weft::topology::test {
namespace {

// One line of a switch's record; `peer` as in S-2 or H-10, `text` its description.
std::string port(int n, const std::string& peer, int peer_port, const std::string& text,
                 const std::string& speed = "4xEDR") {
  const std::string guid = peer.starts_with("H-") ? fmt::format("({})", peer.substr(2)) : "";
  return fmt::format("[{}]\t\"{}\"[{}]{} \t\t# \"{}\" lid 1 {}\n", n, peer, peer_port, guid, text, speed);
}

std::string switch_head(int guid, const std::string& text, int ports = 36) {
  return fmt::format(
      "vendid=0x2c9\ndevid=0xcb20\nsysimgguid=0x{0}\nswitchguid=0x{0}({0})\n"
      "Switch\t{1} \"S-{0:016}\"\t\t# \"{2}\" enhanced port 0 lid 1 lmc 0\n",
      guid, ports, text);
}

// A host's record with one port to port `at` of switch S-<sw>.
std::string host(int guid, const std::string& text, int sw, int at, const std::string& speed = "4xEDR",
                 int system = 0) {
  return fmt::format(
      "\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x{4}\ncaguid=0x{0}\nCa\t1 \"H-{0:016}\"\t\t# \"{1}\"\n"
      "[1]({0}) \t\"S-{2:016}\"[{3}]\t\t# lid 5 lmc 0 \"leaf\" lid 1 {5}\n",
      guid, text, sw, at, system == 0 ? guid : system, speed);
}

// A fabric in lines: "node:nic switch bandwidth xcables", then faults, then notes.
std::string told(const Result<Imported>& imported) {
  if (!imported) return imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  if (!fabric) return fabric.error().to_string();
  std::string out;
  for (std::uint32_t i = 0; i < fabric->link_count(); ++i) {
    const Link& link = fabric->link(LinkId{i});
    out += fmt::format("{} {} x{}{}\n", fabric->link_name(LinkId{i}), to_string(link.bandwidth), link.cables,
                       link.up ? "" : " down");
  }
  for (const Fault& fault : fabric->faults()) out += fault.reason + "\n";
  for (const Note& note : imported->notes) {
    const bool is_usual = note.message.find("--node-type says otherwise") != std::string::npos;
    if (!is_usual) out += note.to_string() + "\n";
  }
  return out;
}

std::string told(const std::string& dump, const ImportOptions& options = {}) {
  return told(import_ibnetdiscover(source_of(dump), options));
}

TEST(IbImport, AdaptersOfOneHostUnderDifferentSpellingsAreItsNicsByNumber) {
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-10", 1, "gpu-04 mlx5_5") + port(2, "H-11", 1, "gpu-04 HCA-1") +
                 host(10, "gpu-04 mlx5_5", 1, 1) + host(11, "gpu-04 HCA-1", 1, 2)),
            "gpu-04:0 - leaf 100Gb/s x1\ngpu-04:1 - leaf 100Gb/s x1\n");
  const auto imported =
      import_ibnetdiscover(source_of(switch_head(1, "a") + port(1, "H-10", 1, "g mlx5_5") + host(10, "g mlx5_5", 1, 1) +
                                     switch_head(2, "b") + port(1, "H-11", 1, "g HCA-1") + port(2, "S-1", 9, "a") +
                                     host(11, "g HCA-1", 2, 1)),
                           {});
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->switch_name(fabric->ports(NodeId{0}, 0)[0].leaf), "b") << "HCA-1 comes before mlx5_5";
}

TEST(IbImport, TwoAdaptersOfOneNumberCountInGuidOrder) {
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-10", 1, "h mlx5_0") + port(2, "H-11", 1, "h mlx5_0") +
                 host(11, "h mlx5_0", 1, 2) + host(10, "h mlx5_0", 1, 1)),
            "h:0 - leaf 100Gb/s x1\nh:1 - leaf 100Gb/s x1\n"
            "dump.txt:20: assumed: NICs in GUID order in 1 host whose adapters have no distinct numbers (first: h)\n");
}

TEST(IbImport, NamesOfSwitchesKeepTheirMiddleAndGoByGuidWhereRepeated) {
  EXPECT_EQ(told(switch_head(1, "MF0;Leaf.4 (rack #7):MSB7700/U1") + port(1, "H-10", 1, "h") + port(2, "S-2", 1, "x") +
                 port(3, "S-3", 1, "x") + host(10, "h", 1, 1) + switch_head(2, "SwitchIB Mellanox Technologies") +
                 port(1, "S-1", 2, "x") + switch_head(3, "SwitchIB Mellanox Technologies") + port(1, "S-1", 3, "x")),
            "h - Leaf.4-rack-7 100Gb/s x1\nLeaf.4-rack-7 - S-0000000000000002 100Gb/s x1\n"
            "Leaf.4-rack-7 - S-0000000000000003 100Gb/s x1\n");
}

TEST(IbImport, ANameMapNamesByAnyGuidOfTheAdapter) {
  ImportOptions options;
  options.names = source_of("# site map\nH-000000000000000a first\n0xb \"second mlx5_0\"\n0xff nobody\n", "map");
  const std::string text = "MT25408 ConnectX Mellanox Technologies";
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-a", 1, text) + port(2, "H-b", 1, text) + port(3, "H-c", 1, text),
                 options),
            "H-000000000000000c - leaf 100Gb/s x1\nfirst - leaf 100Gb/s x1\nsecond - leaf 100Gb/s x1\n"
            "dump.txt:6: warning: 3 links are told by one of their ends only (first: S-0000000000000001[1] (leaf) - "
            "H-000000000000000a[1] (MT25408 ConnectX Mellanox Technologies))\n"
            "dump.txt:8: assumed: 1 adapter without a host name, each a node of its own named by port GUID (first: "
            "H-000000000000000c); a map of GUIDs to names (--names) tells better\n"
            "dump.txt: warning: 1 of the name map's GUIDs are not in this dump\n"
            "dump.txt:6: warning: 3 devices named as a peer but without a record of their own (first: "
            "000000000000000a): the dump may be truncated\n");
}

TEST(IbImport, AMapWithTwoNamesForOneGuidIsRefused) {
  ImportOptions options;
  options.names = source_of("0x0a one\nH-a two\n", "site.map");
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-a", 1, "h"), options),
            "site.map:2:5: error: GUID 000000000000000a is already named 'one'; expected one name for each GUID\n"
            "  H-a two\n"
            "      ^^^");
  options.names = source_of("0x0a one\nnode7\n", "site.map");
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-a", 1, "h"), options),
            "site.map:2:1: error: this is no GUID; expected H-<guid> name, S-<guid> name, 0x<guid> name or 0x<guid> "
            "\"name\"\n"
            "  node7\n"
            "  ^^^^^");
}

TEST(IbImport, LoopsAggregationNodesAndRoutersAreLeftOut) {
  EXPECT_EQ(told(switch_head(1, "leaf", 41) + port(1, "H-10", 1, "h") + port(5, "S-1", 6, "leaf") +
                 port(6, "S-1", 5, "leaf") + port(41, "H-12", 1, "Mellanox Technologies Aggregation Node") +
                 port(7, "R-13", 1, "router") + host(10, "h", 1, 1) +
                 host(12, "Mellanox Technologies Aggregation Node", 1, 41)),
            "h - leaf 100Gb/s x1\n"
            "dump.txt: assumed: 1 SHARP aggregation node is no host\n"
            "dump.txt:10: warning: 1 router left out: what lies behind is another subnet\n"
            "dump.txt:7: warning: cable that loops back to its own switch is left out: S-0000000000000001[5] (leaf) - "
            "S-0000000000000001[6] (leaf)\n");
}

TEST(IbImport, SlowCablesAreKeptWithTheReason) {
  std::string two = switch_head(1, "leaf") + port(1, "H-10", 1, "h");
  for (int i = 2; i <= 4; ++i) two += port(i, "S-2", i, "spine", i == 3 ? "4xDDR" : "4xEDR");
  two += switch_head(2, "spine");
  for (int i = 2; i <= 4; ++i) two += port(i, "S-1", i, "leaf", i == 3 ? "4xDDR" : "4xEDR");
  EXPECT_EQ(told(two + host(10, "h", 1, 1)),
            "h - leaf 100Gb/s x1\nleaf - spine 100Gb/s x2\nleaf - spine 16Gb/s x1\nruns at 4xDDR, not 4xEDR\n");
  // One lane is never meant; a generation of hosts is.
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-10", 1, "a", "1xHDR") + port(2, "H-11", 1, "b", "4xFDR") +
                 port(3, "H-12", 1, "c", "2xNDR") + host(10, "a", 1, 1, "1xHDR") + host(11, "b", 1, 2, "4xFDR") +
                 host(12, "c", 1, 3, "2xNDR")),
            "a - leaf 50Gb/s x1\nc - leaf 200Gb/s x1\nb - leaf 54.5Gb/s x1\nruns at 1xHDR, not 4xHDR\n");
}

TEST(IbImport, ALoneSlowCableIsToldByWhatBothSwitchesShowElsewhere) {
  std::string dump = switch_head(1, "hub");
  for (int i = 2; i <= 7; ++i) dump += port(i, fmt::format("S-{}", i), 1, "x", i == 7 ? "4xQDR" : "4xEDR");
  for (int i = 2; i <= 7; ++i) {
    dump += switch_head(i, fmt::format("leaf{}", i)) + port(1, "S-1", i, "hub", i == 7 ? "4xQDR" : "4xEDR") +
            port(2, fmt::format("H-{}", 10 + i), 1, fmt::format("n{}", i));
  }
  const std::string text = told(dump);
  EXPECT_NE(text.find("leaf7 - hub 32Gb/s x1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nruns at 4xQDR, not 4xEDR\n"), std::string::npos) << text;
}

TEST(IbImport, AStorageAdapterSlowerByDesignComesLastAndServesNoGpu) {
  std::string dump = switch_head(1, "leaf");
  std::string hosts;
  int at = 1;
  for (int n = 1; n <= 3; ++n) {
    for (int i = 0; i < 4; ++i, ++at) {
      const std::string text = fmt::format("gpu{} mlx5_{}", n, i);
      const std::string speed = i == 0 ? "4xEDR" : "4xNDR";
      dump += port(at, fmt::format("H-{}", 100 + at), 1, text, speed);
      hosts += host(100 + at, text, 1, at, speed);
    }
  }
  const auto imported = import_ibnetdiscover(source_of(dump + hosts), {});
  ASSERT_TRUE(imported) << imported.error().to_string();
  const auto fabric = Fabric::build(imported->spec);
  ASSERT_TRUE(fabric) << fabric.error().to_string();
  EXPECT_TRUE(fabric->faults().empty());
  const NodeType& type = fabric->type_of(NodeId{0});
  EXPECT_EQ(type.gpus, 3U);
  EXPECT_EQ(type.nics, 4U);
  EXPECT_EQ(type.nic_of_gpu, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(fabric->link(fabric->ports(NodeId{0}, 3)[0].link).bandwidth.bits_per_second, 100'000'000'000U);
}

TEST(IbImport, ADualPortAdapterIsOneNicWithTwoLinks) {
  const std::string ca =
      "\ncaguid=0x20\nCa\t2 \"H-20\"\t# \"store mlx5_0\"\n"
      "[1](21) \t\"S-1\"[1]\t\t# lid 5 lmc 0 \"a\" lid 1 4xEDR\n"
      "[2](22) \t\"S-2\"[1]\t\t# lid 6 lmc 0 \"b\" lid 1 4xEDR\n";
  EXPECT_EQ(told("switchguid=0x1(1)\nSwitch\t4 \"S-1\"\t# \"a\"\n[1]\t\"H-20\"[1](21)\t# \"store mlx5_0\" lid 5 4xEDR\n"
                 "[2] \"S-2\"[2] # \"b\" lid 1 4xEDR\n\nswitchguid=0x2(2)\nSwitch\t4 \"S-2\"\t# \"b\"\n"
                 "[1]\t\"H-20\"[2](22)\t# \"store mlx5_0\" lid 6 4xEDR\n[2] \"S-1\"[2] # \"a\" lid 1 4xEDR\n" +
                 ca),
            "store - a 100Gb/s x1\nstore - b 100Gb/s x1\na - b 100Gb/s x1\n");
}

TEST(IbImport, EndsThatDisagreeOnSpeedAreASlowLinkAndAWarning) {
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-10", 1, "h", "4xEDR") + host(10, "h", 1, 1, "1xEDR")),
            "h - leaf 25Gb/s x1\nruns at 1xEDR, not 4xEDR, as its other end says\n"
            "dump.txt:6: warning: the ends of a link disagree on its speed, the slower counts: S-0000000000000001[1] "
            "(leaf) - H-0000000000000010[1] (h): 4xEDR here, 1xEDR in line 13\n");
}

TEST(IbImport, EndsThatDisagreeOnThePeerAreRefusedWithBothLines) {
  EXPECT_EQ(
      told(switch_head(1, "leaf") + port(1, "H-10", 1, "h") + host(10, "h", 1, 2)),
      "dump.txt:13:1: error: H-0000000000000010[1] (h) leads to S-0000000000000001[2] (leaf) here, but line 6 says "
      "that S-0000000000000001[1] (leaf) leads to H-0000000000000010[1] (h); expected both ends of a cable to "
      "name each other (the fabric may have changed during discovery)\n"
      "  [1](10)  \"S-0000000000000001\"[2]  # lid 5 lmc 0 \"leaf\" lid 1 4xEDR\n"
      "  " +
          std::string(66, '^'));
  EXPECT_EQ(told(switch_head(1, "leaf") + port(1, "H-10", 1, "h") + port(2, "H-10", 1, "h")).substr(0, 90),
            "dump.txt:7:1: error: S-0000000000000001[2] (leaf) leads to H-0000000000000010[1] (h) here,");
}

TEST(IbImport, UnknownSpeedsAreDownUnlessAFlagGivesOne) {
  const std::string dump = switch_head(1, "leaf") + port(1, "H-10", 1, "a", "4x???") + port(2, "H-11", 1, "b") +
                           host(10, "a", 1, 1, "4x???") + host(11, "b", 1, 2);
  EXPECT_EQ(told(dump),
            "a - leaf 100Gb/s x1 down\nb - leaf 100Gb/s x1\nspeed is unknown\n"
            "dump.txt:6: warning: link of unknown speed counts as down (--bandwidth says otherwise): "
            "H-0000000000000010[1] (a) - S-0000000000000001[1] (leaf)\n");
  ImportOptions options;
  options.bandwidth = Bandwidth{200'000'000'000};
  EXPECT_EQ(told(dump, options),
            "a - leaf 200Gb/s x1\nb - leaf 100Gb/s x1\n"
            "dump.txt:6: assumed: 200Gb/s of links whose speed the dump does not say (1, first: H-0000000000000010[1] "
            "(a) - S-0000000000000001[1] (leaf))\n");
  EXPECT_EQ(
      told(switch_head(1, "leaf") + port(1, "H-10", 1, "a", "4x???")),
      "dump.txt:6:1: error: no link of this dump has a known speed; expected --bandwidth, or a dump of newer tools "
      "that know the links' rate\n"
      "  [1] \"H-10\"[1](10)   # \"a\" lid 1 4x???\n"
      "  ^");
}

TEST(IbImport, DiagnosticsOfTheToolAreToldNotRead) {
  EXPECT_EQ(told("src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed "
                 "out\nibwarn: [7] mad_rpc: _do_madrpc failed\n" +
                 switch_head(1, "leaf") + port(1, "H-10", 1, "h") + host(10, "h", 1, 1)),
            "h - leaf 100Gb/s x1\n"
            "dump.txt:1: warning: 2 lines of the tool's own complaints: discovery may have missed something\n");
}

struct Refusal {
  View view;
  std::string dump, error;
};

TEST(IbImport, RefusalsSayWhereAndWhatWouldBeRight) {
  const std::string head = "Switch\t8 \"S-1\"\t# \"leaf\" base port 0 lid 1 lmc 0\n";
  const std::string form = R"(; expected [port] "S-guid"[port] # "description" lid N 4xHDR)";
  const std::string ports_form = "; expected SW lid port 0xguid 4x EDR - CA lid port 0xguid ( 'name' - 'peer' )";
  const std::string info_form =
      R"(; expected lid port[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> lid port[ ] "peer" ( ))";
  const std::vector<Refusal> refusals{
      {View::topology, "", ":1:1: error: the file holds no Switch or Ca record; expected the output of ibnetdiscover"},
      {View::topology, "hello\n",
       ":1:1: error: this is no line of an ibnetdiscover dump; expected vendid=, sysimgguid=, switchguid=, Switch, Ca, "
       "[port], a # comment or a blank line"},
      {View::topology, "vendid=zz\n",
       ":1:8: error: vendid= needs a hexadecimal number; expected as in 0x2c9030004e938"},
      {View::topology, "vendid=0x2c9\n",
       ":1:1: error: the file ends inside this record: it is truncated; expected a "
       "whole dump"},
      {View::topology, "Switch\t\"S-1\"\n",
       R"(:1:8: error: the number of ports is missing; expected Switch ports "S-guid" # "description")"},
      {View::topology, "Ca\t1 \"S-1\"\n",
       R"(:1:6: error: the device's identity is missing; expected Ca ports "H-guid" # "description")"},
      {View::topology, "[1]\t\"S-1\"[2]\n",
       R"(:1:1: error: a port without a device; expected a line such as Switch 36 "S-guid" before)"},
      {View::topology, head + "[9]\t\"S-2\"[2]\n", ":2:1: error: port 9 of a device with 8 ports; expected 1 to 8"},
      {View::topology, head + "[1]\tS-2[2]\n", ":2:5: error: the peer is missing or malformed" + form},
      {View::topology, head + "[1]\t\"S-2\"[0]\n", ":2:10: error: the peer's port is malformed" + form},
      {View::topology, head + "[1]\t\"S-2\"[2] # \"x lid 1 4xEDR\n",
       R"(:2:16: error: the peer's description is missing or does not end; expected "description")"},
      {View::topology, head + "[1]\t\"S-2\"[2] # \"x\" lid 1 4xABC\n",
       ":2:26: error: the speed is malformed; expected a width and rate such as 4xEDR"},
      {View::topology, head + "[1]\t\"S-2\"[2] # \"x\" lid 1\n",
       ":2:25: error: the speed is missing; expected a width and rate such as 4xEDR"},
      {View::topology, head + "[1]\t\"S-2\"[2] # \"x\" li",
       ":2:20: error: the file ends in the middle of this line: it is truncated; expected a whole dump"},
      {View::topology, head + "[1]\t\"S-2\"[2] # \"x\" lid 1 4xEDR\n",
       ":2:1: error: the dump holds no host, only switches; expected a whole dump, with switches, adapters and the "
       "links between them (this one may be truncated)"},
      {View::ports, "CA 1 1\n", ":1:7: error: the port GUID is missing or malformed" + ports_form},
      {View::ports, "XX 1 1 0x1\n", ":1:1: error: this is no line of a ports report" + ports_form},
      {View::ports, "SW 1 1 0x1 4x EDR - CA 1 1 0x2\n", ":1:31: error: the two names are missing" + ports_form},
      {View::ports, "SW 1 1 0x1 5x EDR 'a'\n", ":1:12: error: the width is missing or malformed" + ports_form},
      {View::ports, "", ":1:1: error: the file holds no port" + ports_form},
      {View::linkinfo, "", ":1:1: error: the file holds no port" + info_form},
      {View::linkinfo, "Switch: leaf:\n",
       ":1:9: error: the switch's GUID is missing; expected Switch: 0xguid description:"},
      {View::linkinfo, "  1 1[ ] ==( Down/ Polling)==> [ ] \"\" ( )\n",
       ":1:3: error: a port without a device; expected a line such as Switch: 0xguid description: before"},
      {View::linkinfo, "Switch: 0x1 a:\n  1 1[ ] ==( 4X 2.5 Gbps Active/ LinkUp\n",
       ":2:10: error: the arrow does not end in ==>" + info_form},
      {View::linkinfo, "Switch: 0x1 a:\n  1 1[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> 0 1[ ] \"x\" ( )\n",
       ":2:3: error: the peer has LID 0, which tells nothing: no subnet manager had run; expected iblinkinfo -l, whose "
       "lines carry GUIDs"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.dump);
    const auto imported = import_view(refusal.view, source_of(refusal.dump));
    ASSERT_FALSE(imported);
    const std::string text = imported.error().to_string();
    EXPECT_EQ(text.substr(0, text.find('\n')), "dump.txt" + refusal.error);
  }
}

// Versions that list switches only name hosts as peers.
TEST(IbImport, LinkinfoOfSwitchesAloneKnowsHostsByLidAndName) {
  const std::string dump =
      "Switch: 0x1 MF0;leaf:MQM8700/U1:\n"
      "  1 1[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  7 1[  ] \"h mlx5_0\" ( )\n"
      "  1 2[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  8 1[  ] \"h mlx5_1\" ( )\n"
      "  1 3[  ] ==( 4X 53.125 Gbps   Init/  LinkUp)==>  9 1[  ] \"MF0;spine:MQM8700/U1\" ( )\n"
      "  1 4[  ] ==( Down/Disabled)==>  [  ] \"\" ( )\n";
  const std::string text = told(import_iblinkinfo(source_of(dump), {}));
  EXPECT_EQ(text.substr(0, text.find("dump.txt")),
            "h:0 - leaf 200Gb/s x1\nh:1 - leaf 200Gb/s x1\nleaf - spine 200Gb/s x1 down\nport is not Active\n");
  // Before a subnet manager runs no port is Active, which says nothing; an unknown speed still does.
  const std::string early =
      "Switch: 0x1 leaf:\n"
      "  1 1[  ] ==( 4X 53.125 Gbps Init/ LinkUp)==>  7 1[  ] \"h mlx5_0\" ( )\n"
      "  1 2[  ] ==( 4X undefined (8) Init/ LinkUp)==>  8 1[  ] \"h mlx5_1\" ( )\n";
  const std::string started = told(import_iblinkinfo(source_of(early), {}));
  EXPECT_EQ(started.substr(0, started.find(": link of unknown")),
            "h:0 - leaf 200Gb/s x1\nh:1 - leaf 200Gb/s x1 down\nspeed is unknown\n"
            "dump.txt:2: warning: 2 links are told by one of their ends only (first: S-0000000000000001[1] (leaf) - "
            "H-ffff000000000007[1] (h mlx5_0))\n"
            "dump.txt:2: warning: no port is Active (no subnet manager?); all links count as up\n"
            "dump.txt:3: warning");
}

}  // namespace
}  // namespace weft::topology::test
