// SPDX-License-Identifier: BSD-3-Clause
//
// The forwarding tables of an InfiniBand subnet manager, as its dumps show them: at each switch, the port out for each
// destination (LID).
//
// FORMS (told apart by their first line)
//   opensm.fdbs (ibdiagnet's .fdbs too)  "dump_ucast_routes: Switch 0x…", then "0x0001 : 061  : 02   : yes"
//   opensm-lfts.dump (ibroute)           "Unicast lids [0-695] of switch Lid 28 guid 0x… ('…'):", then
//                                        "0x0001 061 # Channel Adapter portguid 0x…: '…'", at the end "696 lids dumped"
//   dump_fts                             "Unicast lids [0x0-0x90] of switch DR path … guid 0x… (…):", then
//                                        "0x0001 021 : (Channel Adapter portguid 0x…: '…')", "144 valid lids dumped"
// The first has no GUIDs of destinations: they come from the subnet manager's guid2lid file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::placement {

/// The highest unicast LID (InfiniBand Architecture 1.4, 4.1.1).
inline constexpr std::uint32_t kMaxUnicastLid = 0xBFFF;

struct ForwardingTables {
  static constexpr std::uint8_t kNoPort = 255;

  struct Switch {
    std::uint64_t guid = 0;
    std::vector<std::uint8_t> ports;  ///< by LID; kNoPort where the switch has no way; 0 is the switch itself
    Position at;
    friend bool operator==(const Switch& a, const Switch& b) { return a.guid == b.guid && a.ports == b.ports; }
    /// The port for a LID; kNoPort where there is none.
    [[nodiscard]] std::uint8_t port(std::uint32_t lid) const { return lid < ports.size() ? ports[lid] : kNoPort; }
  };
  std::vector<Switch> switches;                             ///< ascending by GUID
  std::map<std::uint64_t, std::uint32_t> lid_of_port_guid;  ///< a port's (lowest) LID
  Source source;
  friend bool operator==(const ForwardingTables& a, const ForwardingTables& b) {
    return a.switches == b.switches && a.lid_of_port_guid == b.lid_of_port_guid;
  }

  /// nullptr where there is none. O(log switches).
  [[nodiscard]] const Switch* find(std::uint64_t guid) const;
};

/// Whether a text is forwarding tables of some form, by the first head in it; a guid2lid file is not.
[[nodiscard]] bool is_forwarding_tables(std::string_view text);

/// An error about a switch's entry for a LID, at its line; at the switch's head where it has no entry. O(text).
[[nodiscard]] Error entry_error(const ForwardingTables& tables, const ForwardingTables::Switch& at, std::uint32_t lid,
                                ErrorCode code, std::string message, std::string expected);

/// Reads any of the three forms. Errors: syntax (with the form that is expected), bad_value (a LID or port out of
/// range), duplicate (a switch, or a LID of one switch, twice), conflict (a port GUID under two LIDs; a count at the
/// end that is not the number of lines), missing (no switch).
[[nodiscard]] Result<ForwardingTables> parse_forwarding_tables(const Source& source);

/// Adds the LIDs of a guid2lid file: "0x… 0x011d 0x011d" a line, the last two the lowest and highest LID of the port.
/// Errors: syntax, bad_value, conflict.
[[nodiscard]] Result<void> read_guid2lid(const Source& source, ForwardingTables& tables);

}  // namespace weft::placement
