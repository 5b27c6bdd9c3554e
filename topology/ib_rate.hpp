// SPDX-License-Identifier: BSD-3-Clause
//
// InfiniBand link speeds. Bandwidths are data rates after line coding, per direction (IBTA Architecture Specification,
// volume 2: 8b/10b up to QDR, 64b/66b from FDR10 on, RS-FEC from HDR on):
//
//   name   lane signal Gb/s  lane data Gb/s  4x Gb/s
//   SDR       2.5               2               8
//   DDR       5                 4              16
//   QDR      10                 8              32
//   FDR10    10.3125           10              40
//   FDR      14.0625           13.625          54.5   (exactly 54.54…; sold as 56)
//   EDR      25.78125          25             100
//   HDR      53.125            50             200
//   NDR     106.25            100             400
//   XDR     212.5             200             800
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/config/units.hpp"

namespace weft::topology::ib {

enum class Rate : std::uint8_t { unknown, sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr, xdr };

/// How a link runs: lanes and rate. Zero lanes or an unknown rate: the tool printed "??" or "???".
struct Speed {
  std::uint32_t lanes = 0;
  Rate rate = Rate::unknown;
  [[nodiscard]] bool known() const { return lanes != 0 && rate != Rate::unknown; }
  friend bool operator==(const Speed&, const Speed&) = default;
};

[[nodiscard]] Bandwidth bandwidth_of(Speed speed);
/// "4xEDR"; "??" and "???" for what is unknown.
[[nodiscard]] std::string to_string(Speed speed);

/// "4x", "12X", "??" (zero lanes). Nothing where the text is no width.
[[nodiscard]] std::optional<std::uint32_t> parse_width(std::string_view text);
/// "EDR", "FDR10", "???" (unknown). Nothing where the text is no rate.
[[nodiscard]] std::optional<Rate> parse_rate(std::string_view text);
/// iblinkinfo's lane speed: "25.78125"; `fdr10` where "(FDR10)" follows. Unknown for a number of no rate.
[[nodiscard]] Rate rate_of_lane(std::string_view gbps, bool fdr10);
/// "4xEDR", "4x???", "??SDR" in one word.
[[nodiscard]] std::optional<Speed> parse_speed(std::string_view word);

}  // namespace weft::topology::ib
