// SPDX-License-Identifier: BSD-3-Clause
//
// Static routing: against loads worked out by hand, and against an independent walk over dumps of a real subnet
// manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "link_fixtures.hpp"
#include "weft/placement/io.hpp"
#include "weft/topology/import.hpp"

namespace weft::placement {
namespace {

using namespace links_test;
using testing::HasSubstr;

// A fat tree: `leaves` leaves of `nodes` nodes (n0, n1, …; one NIC of 8 Gb/s), each leaf with one cable to each spine.
// Port i+1 of a leaf is its i-th node's, port nodes+1+s goes to spine s; port l+1 of a spine goes to leaf l. Node d has
// LID d+1 and port GUID 0x1000+d; leaf l has GUID 0x100+l, spine s 0x200+s.
struct Tree {
  std::uint32_t leaves = 4, nodes = 4, spines = 2;

  [[nodiscard]] std::uint32_t count() const { return leaves * nodes; }
  [[nodiscard]] topology::Fabric fabric(const std::string& health = "") const {
    std::string yaml = "weft: 1\nname: t\nnode_types:\n  t: {gpus: 1, nics: 1, nvlink: {domain: node}}\nswitches:\n";
    yaml += fmt("  - {name: \"l[0-%u]\"}\n  - {name: \"s[0-%u]\"}\nnodes:\n", leaves - 1, spines - 1);
    yaml += fmt("  - {name: \"n[0-%u]\", type: t}\nlinks:\n", count() - 1);
    yaml +=
        fmt("  - {from: \"n[0-%u]\", to: \"l[0-%u]\", pattern: split, bandwidth: 8Gb/s}\n", count() - 1, leaves - 1);
    yaml += fmt("  - {from: \"l[0-%u]\", to: \"s[0-%u]\", pattern: all, bandwidth: 8Gb/s}\n", leaves - 1, spines - 1);
    return build(yaml + health);
  }
  [[nodiscard]] std::vector<topology::SwitchPort> ports() const {
    std::vector<topology::SwitchPort> out;
    const Bandwidth rate{8'000'000'000};
    for (std::uint32_t l = 0; l < leaves; ++l) {
      const std::string leaf = fmt("l%u", l);
      for (std::uint32_t i = 0; i < nodes; ++i)
        out.push_back(
            {0x100 + l, leaf, i + 1, false, fmt("n%u", l * nodes + i), 0x1000ULL + l * nodes + i, 1, 0, rate});
      for (std::uint32_t s = 0; s < spines; ++s)
        out.push_back({0x100 + l, leaf, nodes + 1 + s, true, fmt("s%u", s), 0x200 + s, l + 1, 0, rate});
    }
    for (std::uint32_t s = 0; s < spines; ++s)
      for (std::uint32_t l = 0; l < leaves; ++l)
        out.push_back({0x200 + s, fmt("s%u", s), l + 1, true, fmt("l%u", l), 0x100 + l, nodes + 1 + s, 0, rate});
    return out;
  }
  // A leaf sends destination d to spine d mod spines (d-mod-k). As lfts text, so that errors have lines.
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::uint32_t l = 0; l < leaves; ++l) {
      out += fmt("Unicast lids [0-99] of switch Lid %u guid 0x%x ('l'):\n", 1000 + l, 0x100 + l);
      for (std::uint32_t d = 0; d < count(); ++d)
        out += entry(d, d / nodes == l ? d % nodes + 1 : nodes + 1 + d % spines);
    }
    for (std::uint32_t s = 0; s < spines; ++s) {
      out += fmt("Unicast lids [0-99] of switch Lid %u guid 0x%x ('s'):\n", 2000 + s, 0x200 + s);
      for (std::uint32_t d = 0; d < count(); ++d) out += entry(d, d / nodes + 1);
    }
    return out;
  }
  static std::string entry(std::uint32_t d, std::uint32_t port) {
    return fmt("0x%04x %03u # Channel Adapter portguid 0x%x: 'n'\n", d + 1, port, 0x1000 + d);
  }
  [[nodiscard]] StaticTables tables(const std::string& lfts) const {
    auto read = parse_forwarding_tables(std::make_shared<SourceText>("t.lfts", lfts));
    EXPECT_TRUE(read.has_value()) << read.error().to_string();
    StaticTables out;
    out.subnets.push_back(std::move(*read));
    out.ports = ports();
    return out;
  }
  template <typename... Args>
  static std::string fmt(const char* form, Args... args) {
    std::array<char, 256> buffer{};
    EXPECT_LT(std::snprintf(buffer.data(), buffer.size(), form, args...), 256);
    return buffer.data();
  }
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(StaticRouting, LoadsOfDModKAreThoseOfTheFormula) {
  for (const Tree tree : {Tree{4, 4, 2}, Tree{3, 5, 4}, Tree{2, 7, 3}, Tree{5, 3, 1}}) {
    const auto f = tree.fabric();
    std::vector<NicFlow> flows;  // everybody to everybody else, 1 byte each
    for (std::uint32_t a = 0; a < tree.count(); ++a)
      for (std::uint32_t b = 0; b < tree.count(); ++b)
        if (a != b) flows.push_back(flow(f, Tree::fmt("n%u", a).c_str(), Tree::fmt("n%u", b).c_str(), 1));
    const auto got = static_loads(f, flows, tree.tables(tree.text()));
    ASSERT_TRUE(got.has_value()) << got.error().to_string();
    std::map<std::string, double> want;
    for (std::uint32_t n = 0; n < tree.count(); ++n) {
      const std::string leaf = Tree::fmt("l%u", n / tree.nodes);
      want[Tree::fmt("n%u>", n) + leaf] = want[leaf + Tree::fmt(">n%u", n)] = tree.count() - 1;
    }
    for (std::uint32_t l = 0; l < tree.leaves; ++l)
      for (std::uint32_t s = 0; s < tree.spines; ++s) {
        // Of node numbers n with n mod spines = s, those under leaf l and all.
        const auto of_residue = [&](std::uint32_t below) { return (below + tree.spines - 1 - s) / tree.spines; };
        const double here = of_residue((l + 1) * tree.nodes) - of_residue(l * tree.nodes);
        const double all = of_residue(tree.count());
        const std::string leaf = Tree::fmt("l%u", l);
        const std::string spine = Tree::fmt("s%u", s);
        if (all > here) want[leaf + ">" + spine] = tree.nodes * (all - here);
        if (here > 0) want[spine + ">" + leaf] = here * (tree.count() - tree.nodes);
      }
    EXPECT_EQ(named(f, *got), want);
  }
}

TEST(StaticRouting, ScoreWaitsForTheCableThatTheTablesOverload) {
  const Tree tree;
  const auto f = tree.fabric();
  const StaticTables tables = tree.tables(tree.text());
  const Job j = job(f, "nodes: 4\nranks_per_node: 1\ntraffic: {dp: {collective: alltoall, bytes: 4GB}}\n");
  ScoreOptions options;
  options.links.routing = Routing::forwarding_tables;
  options.links.tables = &tables;
  const Placement p = on(f, {"n0", "n1", "n4", "n6"});
  const auto s = score(f, p, j.traffic, options);
  ASSERT_TRUE(s.has_value()) << s.error().to_string();
  // 1 GB for each pair. n4 and n6 are even, so that all four flows to them from n0 and n1 go over s0.
  EXPECT_EQ(end_names(f, s->links->bottleneck->link), (std::pair<std::string, std::string>{"l0", "s0"}));
  EXPECT_EQ(s->links->bottleneck->bytes, 4e9);
  EXPECT_EQ(s->links->bottleneck->seconds, 4);
  EXPECT_EQ(s->links->dimensions.at(0).slowest, s->links->bottleneck);
  // Spread evenly it would be the NICs: 3 GB each way.
  options.links.routing = Routing::spray;
  EXPECT_EQ(score(f, p, j.traffic, options)->links->bottleneck->seconds, 3);
}

TEST(StaticRouting, RunningJobsTakeTheTablesToo) {
  const Tree tree;
  const auto f = tree.fabric();
  const StaticTables tables = tree.tables(tree.text());
  const Job j = job(f, "nodes: 2\nranks_per_node: 1\ntraffic: {dp: {collective: allreduce, bytes: 1GB}}\n");
  const Placement other = on(f, {"n1", "n6"});
  ScoreOptions options;
  options.links.routing = Routing::forwarding_tables;
  options.links.tables = &tables;
  options.links.running = {{"other", &other, &j.traffic}};
  const auto s = score(f, on(f, {"n0", "n4"}), j.traffic, options);
  ASSERT_TRUE(s.has_value()) << s.error().to_string();
  // n0 > n4 and n1 > n6 share l0 > s0.
  EXPECT_EQ(s->links->shared->bytes, 2e9);
  EXPECT_EQ(s->links->running.at(0).before->bytes, 1e9);
  EXPECT_EQ(s->links->running.at(0).after->bytes, 2e9);
}

TEST(StaticRouting, FaultsOfTablesAreSaidWithTheirPlace) {
  const Tree tree{2, 2, 2};
  const auto f = tree.fabric();
  const std::vector<NicFlow> flows{flow(f, "n0", "n3", 1)};  // LID 4, over s1
  const auto say = [&](const std::string& text) {
    const auto got = static_loads(f, flows, tree.tables(text));
    return got ? "accepted" : got.error().to_string();
  };
  const std::string text = tree.text();
  EXPECT_EQ(say(text), "accepted");
  const std::string leaf_entry = Tree::entry(3, 4);
  const std::string end = "; expected tables and dump of one time, and no health file that is newer than the tables\n";
  EXPECT_EQ(say(replaced(text, leaf_entry, Tree::entry(3, 9))),
            "t.lfts:5:1: error: l0 sends to port 9, where no cable is, LID 0x0004 (n3:0)" + end +
                "  0x0004 009 # Channel Adapter portguid 0x1003: 'n'\n  ^^^^^^");
  EXPECT_EQ(say(replaced(text, leaf_entry, "")), "t.lfts:1:45: error: l0 has no way to LID 0x0004 (n3:0)" + end +
                                                     "  Unicast lids [0-99] of switch Lid 1000 guid 0x100 ('l'):\n" +
                                                     std::string(46, ' ') + "^");
  EXPECT_THAT(say(replaced(text, leaf_entry, Tree::entry(3, 2))),
              HasSubstr("t.lfts:5:1: error: l0 sends to n1:0 LID 0x0004 (n3:0)"));
  EXPECT_THAT(say(replaced(text, leaf_entry, Tree::entry(3, 0))),
              HasSubstr("t.lfts:5:1: error: l0 keeps for itself LID 0x0004 (n3:0)"));
  // s1 sends it back to l0: the last head is s1's.
  const std::size_t s1 = text.find("guid 0x201");
  EXPECT_THAT(say(text.substr(0, s1) + replaced(text.substr(s1), Tree::entry(3, 2), Tree::entry(3, 1))),
              HasSubstr("error: s1 sends round s1 > l0 > s1, with LID 0x0004 (n3:0)"));
  EXPECT_THAT(say(text.substr(0, text.find("Unicast lids [0-99] of switch Lid 2001"))),
              HasSubstr("error: there is no forwarding table of s1; expected the tables of every switch"));
  EXPECT_THAT(say(std::regex_replace(text, std::regex("Channel.*0x1003:"), "Channel Adapter portguid 0x9999:")),
              HasSubstr("t.lfts: error: the tables know no LID of n3:0 (port 0x0000000000001003); expected tables that "
                        "name the ports, or the same subnet manager's guid2lid file after them"));
  EXPECT_EQ(
      say(std::regex_replace(text, std::regex(" guid 0x"), " guid 0x7")),
      "t.lfts: error: none of the tables' switches is in the fabric; expected the dump and the tables of one fabric");
}

TEST(StaticRouting, FaultsOfTheFabricAreSaid) {
  const Tree tree{2, 2, 2};
  const auto down = tree.fabric("health:\n  - {link: [l0, s1], state: down}\n");
  const auto got = static_loads(down, std::vector<NicFlow>{flow(down, "n0", "n3", 1)}, tree.tables(tree.text()));
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().to_string(),
              HasSubstr("t.lfts:5:1: error: l0 sends over l0 - s1, which is down, LID 0x0004"));
  const auto f = tree.fabric();
  StaticTables none = tree.tables(tree.text());
  none.ports.clear();
  EXPECT_EQ(static_loads(f, {}, none).error().to_string(),
            "error: the fabric's file does not say which cable is on which switch port; expected an ibnetdiscover or "
            "iblinkinfo dump for static routing");
  StaticTables twice = tree.tables(tree.text());
  twice.subnets.push_back(twice.subnets.front());
  EXPECT_THAT(static_loads(f, {}, twice).error().to_string(),
              HasSubstr("t.lfts:1:45: error: l0 (0x0000000000000100) has a table in t.lfts already"));
}

// --- against dumps of a real subnet manager, walked by a program that shares nothing with the router ---

std::string unpacked(const std::string& path) {
  std::string command = std::filesystem::exists(path) ? "cat '" + path + "'" : "xz -dc '" + path + ".xz'";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string out;
  std::array<char, 65536> chunk{};
  for (std::size_t n = 0; (n = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) out.append(chunk.data(), n);
  pclose(pipe);
  return out;
}

// Text of ibnetdiscover and lfts to who is behind each switch port, and each switch's table.
struct Reference {
  std::map<std::string, std::map<int, std::string>> peer;  // switch GUID, port: "S-guid", or "H-port guid"
  std::map<std::string, std::map<int, int>> table;         // switch GUID, LID: port
  std::map<std::string, int> lid;                          // of a port GUID
  std::map<std::string, std::string> leaf;                 // port GUID: switch GUID

  Reference(const std::string& dump, const std::string& lfts) {
    std::string now;
    std::istringstream in(dump);
    for (std::string text; std::getline(in, text);) {
      if (text.starts_with("switchguid=0x")) now = hex_after(text, "switchguid=0x");
      if (text.starts_with("caguid")) now.clear();
      if (now.empty() || !text.starts_with('[')) continue;  // [12]  "H-guid"[1](port guid) or "S-guid"[3]
      const bool to_switch = text.find("\"S-") != std::string::npos;
      const std::string guid = hex_after(text, to_switch ? "\"S-" : "](");
      peer[now][std::stoi(text.substr(1))] = (to_switch ? "S-" : "H-") + guid;
      if (!to_switch) leaf[guid] = now;
    }
    std::istringstream tables(lfts);
    for (std::string text; std::getline(tables, text);) {
      if (text.starts_with("Unicast")) now = hex_after(text, " guid 0x");
      if (!text.starts_with("0x") || text.find(" portguid 0x") == std::string::npos) continue;
      const int number = std::stoi(text.substr(2, 4), nullptr, 16);
      table[now][number] = std::stoi(text.substr(7, 3));
      lid.emplace(hex_after(text, " portguid 0x"), number);
    }
  }
  static std::string hex_after(const std::string& text, const std::string& mark) {
    const std::size_t begin = text.find(mark) + mark.size();
    return text.substr(begin, text.find_first_not_of("0123456789abcdef", begin) - begin);
  }
  // Bytes by "S-guid>S-guid", "H-guid>S-guid", "S-guid>H-guid".
  void walk(const std::string& from, const std::string& to, double bytes, std::map<std::string, double>& loads) const {
    std::string at = leaf.at(from);
    loads["H-" + from + ">S-" + at] += bytes;
    for (int steps = 0; steps < 16; ++steps) {
      const std::string& next = peer.at(at).at(table.at(at).at(lid.at(to)));
      loads["S-" + at + ">" + next] += bytes;
      if (next[0] == 'H') {
        EXPECT_EQ(next, "H-" + to);
        return;
      }
      at = next.substr(2);
    }
    ADD_FAILURE() << "a circle";
  }
};

std::string hex(std::uint64_t guid) { return Tree::fmt("%llx", static_cast<unsigned long long>(guid)); }

void agrees_with_reference(const std::string& dump_path, const std::string& lfts_path, std::size_t least_flows) {
  SCOPED_TRACE(dump_path);
  const std::string dump = unpacked(dump_path);
  const std::string lfts = unpacked(lfts_path);
  ASSERT_FALSE(dump.empty() || lfts.empty());
  auto imported = topology::read_fabric(std::make_shared<SourceText>("dump", dump));
  ASSERT_TRUE(imported.has_value()) << imported.error().to_string();
  auto fabric = topology::Fabric::build(imported->spec);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().to_string();
  StaticTables tables;
  tables.ports = imported->ports;
  auto read = parse_forwarding_tables(std::make_shared<SourceText>("lfts", lfts));
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  tables.subnets.push_back(std::move(*read));
  // NIC to port GUID, names to GUIDs.
  std::map<std::pair<std::string, std::uint32_t>, std::string> nic_guid;
  std::map<std::string, std::string> end_guid;
  for (const topology::SwitchPort& p : tables.ports) {
    end_guid[p.switch_name] = "S-" + hex(p.switch_guid);
    if (p.to_switch) continue;
    nic_guid[{p.peer, p.nic}] = hex(p.peer_guid);
    end_guid[p.peer + ":" + std::to_string(p.nic)] = end_guid[p.peer] = "H-" + hex(p.peer_guid);
  }
  const Reference reference(dump, lfts);
  std::vector<NicFlow> flows;
  std::map<std::string, double> want;
  std::uint32_t draw = 12345;
  const std::uint32_t nodes = fabric->node_count();
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const auto next = [&](std::uint32_t below) { return (draw = draw * 1664525U + 1013904223U) / 65536U % below; };
    const topology::NodeId from{next(nodes)};
    const topology::NodeId to{next(nodes)};
    const std::uint32_t nic = next(fabric->type_of(from).nics);
    // NICs with several ports share by ports; the reference knows one port a NIC.
    if (from == to || fabric->ports(from, nic).size() != 1 || fabric->ports(to, nic).size() != 1) continue;
    const double bytes = 1 + next(100);
    flows.push_back({from, nic, to, nic, bytes});
    reference.walk(nic_guid.at({fabric->node_name(from), nic}), nic_guid.at({fabric->node_name(to), nic}), bytes, want);
  }
  EXPECT_GE(flows.size(), least_flows);
  const auto got = static_loads(*fabric, flows, tables);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  std::map<std::string, double> seen;
  for (const auto& [ends, bytes] : named(*fabric, *got)) {
    const std::size_t middle = ends.find('>');
    seen[end_guid.at(ends.substr(0, middle)) + ">" + end_guid.at(ends.substr(middle + 1))] += bytes;
  }
  EXPECT_EQ(seen, want);
}

TEST(StaticRouting, AgreesWithAWalkOverRealTables) {
  const char* given = std::getenv("WEFT_SHARED");
  const std::string data = std::string(given != nullptr ? given : WEFT_SHARED_DIR) + "/data/fabric/";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no shared data at " << data;
  for (const char* name : {"sim_ft2_128h", "sim_rail_128h_x8", "sim_dragonflyplus_192h_x2", "sim_messy_56h"})
    agrees_with_reference(data + "ibnetdiscover/" + name + ".txt", data + "opensm/" + name + ".opensm-lfts.dump", 1000);
}

TEST(StaticRouting, AgreesWithAWalkOverTheExamplesTables) {
  const std::string examples = WEFT_SOURCE_DIR "/config/examples/ib/";
  agrees_with_reference(examples + "fat-tree.ibnetdiscover.txt", examples + "fat-tree.opensm-lfts.dump", 3000);
}

}  // namespace
}  // namespace weft::placement
