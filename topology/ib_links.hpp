// SPDX-License-Identifier: BSD-3-Clause
//
// Cables from what their two ends say, and the judgement whether a cable runs slower than it should.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ib_dump.hpp"
#include "weft/config/error.hpp"
#include "weft/config/units.hpp"

namespace weft::topology::ib {

/// One cable. `a` is the adapter's end where there is one.
struct Link {
  PortRef a;
  PortRef b;
  Speed speed;                     ///< the slower end's
  Bandwidth bandwidth;             ///< that it runs at; 0 where no end knows
  Bandwidth nominal;               ///< that it should run at; set by judge_speeds
  std::optional<Speed> other_end;  ///< where the two ends disagree: the faster end's
  bool down = false;
  std::string reason;  ///< for a down or slow link
  Position at;
};

/// Pairs the half links of devices that `keep` marks. Drops, with warnings: loops on one switch, adapters joined back
/// to back. Errors: conflict, where two lines cannot both be true; missing, where no link has a speed and none is
/// given. Links come in the order of the dump's lines. O(n log n).
[[nodiscard]] Result<std::vector<Link>> pair_links(const Dump& dump, const std::vector<bool>& keep,
                                                   const Source& source, std::optional<Bandwidth> bandwidth,
                                                   Notes& notes);

/// Where an adapter sits: its host, and its number among the host's adapters.
struct Seat {
  std::uint32_t host = 0;
  std::uint32_t nic = 0;
};

/// Sets `nominal` of every link, and `reason` where it runs slower. A link is slow where
/// 1. it runs one lane: InfiniBand ports have four, so one is what training fell back to;
/// 2. it joins two switches and a parallel cable of the same two is faster;
/// 3. it joins two switches that both show a faster link elsewhere, unless a quarter of the fabric's switch links run
/// at
///    just that speed: then it is the design;
/// 4. its host's other adapters run faster and outnumber it, unless in most hosts the adapter of that number is slower
///    than its neighbours: then it is the design (a storage adapter, say).
/// A whole host, leaf or tier of an older generation is therefore nominal: nothing in a dump tells it from a fault.
/// "Could be" remarks of iblinkinfo are not used: they compare with what a port supports, cable and peer apart.
void judge_speeds(std::span<Link> links, const Dump& dump, std::span<const Seat> seats);

/// "leaf-3[12]" for messages: what the dump calls the device, and the port.
[[nodiscard]] std::string port_text(const Dump& dump, PortRef port);

}  // namespace weft::topology::ib
