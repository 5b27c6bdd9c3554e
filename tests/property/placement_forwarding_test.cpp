// SPDX-License-Identifier: BSD-3-Clause
//
// Forwarding tables: whatever form a dump has, and whatever order its switches, the same tables are read; a dump that
// ends early is refused or holds no more than the whole one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "weft/placement/forwarding.hpp"

namespace weft::placement {
namespace {

constexpr std::uint64_t kPortGuid = 0x1000;  // of LID 0; those of the others follow

struct Table {
  std::uint64_t guid = 0;
  std::map<std::uint32_t, std::uint8_t> port_of_lid;
};

std::vector<Table> random_tables() {
  const auto count = *rc::gen::inRange<std::uint32_t>(1, 6);
  const auto lids = *rc::gen::inRange<std::uint32_t>(1, 40);
  std::vector<Table> out;
  for (std::uint32_t s = 0; s < count; ++s) {
    Table t;
    t.guid = 0xb00 + s;
    for (std::uint32_t lid = 1; lid <= lids; ++lid)
      if (*rc::gen::inRange(0, 4) > 0) t.port_of_lid[lid] = static_cast<std::uint8_t>(*rc::gen::inRange(0, 65));
    if (t.port_of_lid.empty()) t.port_of_lid[lids] = 1;
    out.push_back(std::move(t));
  }
  return out;
}

std::string fdbs(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& t : tables) {
    out += fmt::format("dump_ucast_routes: Switch {:#018x}\nLID    : Port : Hops : Optimal\n", t.guid);
    for (std::uint32_t lid = 1; lid <= t.port_of_lid.rbegin()->first; ++lid) {
      const auto at = t.port_of_lid.find(lid);
      out += at == t.port_of_lid.end() ? fmt::format("{:#06x} : UNREACHABLE\n", lid)
                                       : fmt::format("{:#06x} : {:03}  : 02   : yes\n", lid, at->second);
    }
    out += "\n";
  }
  return out;
}

std::string lfts(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& t : tables) {
    out += fmt::format("Unicast lids [0-{}] of switch Lid 1 guid {:#018x} ('a switch'):\n",
                       t.port_of_lid.rbegin()->first, t.guid);
    for (const auto& [lid, port] : t.port_of_lid)
      out += fmt::format("{:#06x} {:03} # Channel Adapter portguid {:#018x}: 'n{} mlx5_0'\n", lid, port,
                         kPortGuid + lid, lid);
    out += fmt::format("{} lids dumped\n", t.port_of_lid.size());
  }
  return out;
}

std::string dump_fts(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& t : tables) {
    out += fmt::format(
        "Unicast lids [0x0-{:#x}] of switch DR path slid 0; dlid 0; 0,1 guid {:#018x} (a switch):\n  Lid  Out   "
        "Destination\n       Port     Info \n",
        t.port_of_lid.rbegin()->first, t.guid);
    for (const auto& [lid, port] : t.port_of_lid)
      out += fmt::format("{:#06x} {:03} : (Channel Adapter portguid {:#018x}: 'n{} mlx5_0')\n", lid, port,
                         kPortGuid + lid, lid);
    out += fmt::format("{} valid lids dumped \n", t.port_of_lid.size());
  }
  return out;
}

Result<ForwardingTables> parse(std::string text) {
  return parse_forwarding_tables(std::make_shared<const SourceText>("tables", std::move(text)));
}

void says(const std::vector<Table>& wanted, const Result<ForwardingTables>& got, bool guids) {
  if (!got) RC_FAIL(got.error().to_string());
  RC_ASSERT(got->switches.size() == wanted.size());
  std::map<std::uint64_t, std::uint32_t> lids;
  for (const Table& t : wanted) {
    const ForwardingTables::Switch* at = got->find(t.guid);
    RC_ASSERT(at != nullptr);
    for (std::uint32_t lid = 1; lid < 64; ++lid) {
      const auto port = t.port_of_lid.find(lid);
      RC_ASSERT(at->port(lid) == (port == t.port_of_lid.end() ? ForwardingTables::kNoPort : port->second));
      if (port != t.port_of_lid.end()) lids[kPortGuid + lid] = lid;
    }
  }
  RC_ASSERT(got->lid_of_port_guid == (guids ? lids : decltype(lids){}));
}

TEST(ForwardingProperty, EveryFormSaysTheSame) {
  rc::check([] {
    const std::vector<Table> tables = random_tables();
    says(tables, parse(fdbs(tables)), false);
    says(tables, parse(lfts(tables)), true);
    says(tables, parse(dump_fts(tables)), true);
  });
}

TEST(ForwardingProperty, TheOrderOfSwitchesDoesNotMatter) {
  rc::check([] {
    std::vector<Table> tables = random_tables();
    const auto first = parse(lfts(tables));
    std::reverse(tables.begin(), tables.end());
    const auto second = parse(lfts(tables));
    RC_ASSERT(first.has_value() && second.has_value());
    RC_ASSERT(*first == *second);
  });
}

TEST(ForwardingProperty, ADumpThatEndsEarlyHoldsNoMore) {
  rc::check([] {
    const std::vector<Table> tables = random_tables();
    const std::string whole = *rc::gen::element(fdbs(tables), lfts(tables), dump_fts(tables));
    const auto part = parse(whole.substr(0, *rc::gen::inRange<std::size_t>(0, whole.size())));
    if (!part) return;
    for (const ForwardingTables::Switch& s : part->switches) {
      const auto at = std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.guid == s.guid; });
      // The last head itself may be cut.
      if (at == tables.end()) continue;
      std::size_t known = 0;
      for (const std::uint8_t p : s.ports) known += p != ForwardingTables::kNoPort ? 1 : 0;
      RC_ASSERT(known <= at->port_of_lid.size());
    }
  });
}

}  // namespace
}  // namespace weft::placement
