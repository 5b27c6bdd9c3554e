// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "weft/placement/forwarding.hpp"

namespace weft::placement {
namespace {

Source text(std::string body) { return std::make_shared<SourceText>("t", std::move(body)); }

std::string shared(const std::string& name) {
  const char* given = std::getenv("WEFT_SHARED");
  return std::string(given != nullptr ? given : WEFT_SHARED_DIR) + "/data/fabric/opensm/" + name;
}

// A file's text, unpacked where it ends in .xz; null where it is absent.
Source unpacked(const std::string& name) {
  std::string path = shared(name);
  const bool packed = !std::filesystem::exists(path);
  if (packed) path += ".xz";
  if (!std::filesystem::exists(path)) return nullptr;
  FILE* pipe = popen(((packed ? "xz -dc '" : "cat '") + path + "'").c_str(), "r");
  if (pipe == nullptr) return nullptr;
  std::string out;
  std::array<char, 65536> chunk{};
  for (std::size_t n = 0; (n = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) out.append(chunk.data(), n);
  pclose(pipe);
  return text(out);
}

TEST(ForwardingTables, ThreeFormsSayTheSame) {
  if (!std::filesystem::exists(shared(""))) GTEST_SKIP() << "no shared data at " << shared("");
  for (const char* name :
       {"gb200_nvl72", "psmn_x5", "sim_dragonflyplus_192h_x2", "sim_ft2_128h", "sim_messy_56h", "sim_rail_128h_x8"}) {
    SCOPED_TRACE(name);
    const Source fdbs_text = unpacked(std::string(name) + ".opensm.fdbs");
    const Source lfts_text = unpacked(std::string(name) + ".opensm-lfts.dump");
    const Source lids = unpacked(std::string(name) + ".guid2lid");
    ASSERT_TRUE(fdbs_text && lfts_text && lids);
    auto fdbs = parse_forwarding_tables(fdbs_text);
    ASSERT_TRUE(fdbs.has_value()) << fdbs.error().to_string();
    auto lfts = parse_forwarding_tables(lfts_text);
    ASSERT_TRUE(lfts.has_value()) << lfts.error().to_string();
    ASSERT_TRUE(read_guid2lid(lids, *fdbs).has_value());
    ASSERT_EQ(fdbs->switches.size(), lfts->switches.size());
    // ibroute's form leaves out LIDs without a device behind them; all that it has is in the other, and the same.
    for (std::size_t i = 0; i < lfts->switches.size(); ++i) {
      const auto& a = fdbs->switches[i];
      const auto& b = lfts->switches[i];
      ASSERT_EQ(a.guid, b.guid);
      ASSERT_GE(b.ports.size(), 2U);
      for (std::uint32_t lid = 1; lid < b.ports.size(); ++lid)
        if (b.port(lid) != ForwardingTables::kNoPort) {
          ASSERT_EQ(a.port(lid), b.port(lid)) << lid;
        }
    }
    for (const auto& [guid, lid] : lfts->lid_of_port_guid) EXPECT_EQ(fdbs->lid_of_port_guid.at(guid), lid);
  }
}

TEST(ForwardingTables, DumpFtsOfTheSameFabricAgrees) {
  const Source dump = unpacked("sim_ft2_128h.dump_fts.txt");
  if (!dump) GTEST_SKIP() << "no shared data at " << shared("");
  const auto tables = parse_forwarding_tables(dump);
  ASSERT_TRUE(tables.has_value()) << tables.error().to_string();
  EXPECT_EQ(tables->switches.size(), 16U);
  EXPECT_EQ(tables->lid_of_port_guid.size(), 144U);
  const auto other = parse_forwarding_tables(unpacked("sim_ft2_128h.opensm-lfts.dump"));
  ASSERT_TRUE(other.has_value()) << other.error().to_string();
  for (const auto& s : other->switches)
    for (std::uint32_t lid = 1; lid < s.ports.size(); ++lid)
      if (s.port(lid) != ForwardingTables::kNoPort) {
        ASSERT_EQ(tables->find(s.guid)->port(lid), s.port(lid));
      }
}

TEST(ForwardingTables, ReadsEachForm) {
  const auto fdbs = parse_forwarding_tables(
      text("dump_ucast_routes: Switch 0x000b\nLID    : Port : Hops : Optimal\n0x0001 : 003  : 02   : yes\n"
           "0x0002 : UNREACHABLE\ndump_ucast_routes: Switch 0x000a\nLID    : Port : Hops : Optimal\n0x0002 : 254 : 1 : "
           "no\n"));
  ASSERT_TRUE(fdbs.has_value()) << fdbs.error().to_string();
  ASSERT_EQ(fdbs->switches.size(), 2U);
  EXPECT_EQ(fdbs->switches[0].guid, 0xaU);
  EXPECT_EQ(fdbs->find(0xb)->port(1), 3);
  EXPECT_EQ(fdbs->find(0xb)->port(2), ForwardingTables::kNoPort);
  EXPECT_EQ(fdbs->find(0xb)->port(40000), ForwardingTables::kNoPort);
  EXPECT_EQ(fdbs->find(0xa)->port(2), 254);
  EXPECT_EQ(fdbs->find(0xc), nullptr);
}

std::string refusal(const std::string& body) {
  const auto got = parse_forwarding_tables(text(body));
  return got ? "accepted" : got.error().to_string();
}

TEST(ForwardingTables, RefusesWithThePlace) {
  const std::string head = "dump_ucast_routes: Switch 0xb\n";
  EXPECT_EQ(refusal("hello\n").substr(0, 49), "t:1:1: error: this is no forwarding table; expect");
  EXPECT_EQ(refusal(""),
            "t:1:1: error: the file holds no switch's forwarding table; expected \"dump_ucast_routes: Switch "
            "0x…\" or \"Unicast lids [0-695] of switch … guid 0x… (…):\"");
  EXPECT_EQ(refusal(head + "0x0000 : 001 : 1 : yes\n"),
            "t:2:1: error: 0x0000 is no unicast LID; expected 0x0001 to 0xbfff\n  0x0000 : 001 : 1 : yes\n  ^^^^^^");
  EXPECT_EQ(refusal(head + "0x0001 : 255 : 1 : yes\n"),
            "t:2:10: error: 255 is no port; expected 0 to 254\n  0x0001 : 255 : 1 : yes\n           ^^^");
  EXPECT_EQ(refusal(head + "0x0001 : 1 : 1 : yes\n0x0001 : 1 : 1 : yes\n"),
            "t:3:10: error: LID 0x0001 stands twice in this switch's table\n  0x0001 : 1 : 1 : yes\n           ^");
  EXPECT_EQ(refusal(head + head).substr(0, 60), "t:2:27: error: switch 0x000000000000000b has a table already");
  const std::string dump_fts =
      "Unicast lids [0x0-0x1] of switch DR path slid 0; dlid 0; 0 guid 0xb (s):\n"
      "0x0001 000 : (Switch portguid 0xb: 's')\n";
  EXPECT_EQ(refusal(dump_fts + "1 valid lids dumped\n"), "accepted");
  EXPECT_EQ(refusal(dump_fts + "2 valid lids dumped\n"),
            "t:3:1: error: 2 LIDs are said, 1 stand above; expected a whole dump\n  2 valid lids dumped\n  ^");
}

}  // namespace
}  // namespace weft::placement
