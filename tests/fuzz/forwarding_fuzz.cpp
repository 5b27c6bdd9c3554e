// SPDX-License-Identifier: BSD-3-Clause
//
// Forwarding tables in any form: what is read, written again as opensm.fdbs, reads equal.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/placement/forwarding.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weft::placement::ForwardingTables;
  const auto source =
      std::make_shared<weft::SourceText>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  ForwardingTables lids;
  (void)weft::placement::read_guid2lid(source, lids);
  const auto tables = weft::placement::parse_forwarding_tables(source);
  if (!tables) return tables.error().to_string().empty() ? std::abort(), 0 : 0;
  if (!weft::placement::is_forwarding_tables(source->text())) std::abort();
  for (const std::uint32_t lid : {1U, 2U, 0xbfffU}) {
    const auto fault = weft::placement::entry_error(*tables, tables->switches.front(), lid, weft::ErrorCode::conflict,
                                                    "wrong", "right");
    if (fault.at.line < tables->switches.front().at.line || fault.to_string().empty()) std::abort();
  }
  std::string again;
  for (const auto& s : tables->switches) {
    again += fmt::format("dump_ucast_routes: Switch 0x{:016x}\nLID    : Port : Hops : Optimal\n", s.guid);
    for (std::size_t lid = 0; lid < s.ports.size(); ++lid)
      if (s.ports[lid] != ForwardingTables::kNoPort)
        again += fmt::format("0x{:04X} : {:03}  : 00   : yes\n", lid, s.ports[lid]);
  }
  const auto second = weft::placement::parse_forwarding_tables(std::make_shared<weft::SourceText>("again", again));
  if (!second || second->switches != tables->switches) std::abort();
  return 0;
}
