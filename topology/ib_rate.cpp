// SPDX-License-Identifier: BSD-3-Clause
#include "ib_rate.hpp"

#include <fmt/format.h>

#include <array>

namespace weft::topology::ib {
namespace {

struct RateRow {
  Rate rate;
  std::string_view name;
  std::string_view lane_gbps;  // as iblinkinfo prints it
  std::uint64_t lane_bits_per_second;
};

constexpr std::array<RateRow, 9> kRates{{
    {Rate::sdr, "SDR", "2.5", 2'000'000'000},
    {Rate::ddr, "DDR", "5.0", 4'000'000'000},
    {Rate::qdr, "QDR", "10.0", 8'000'000'000},
    {Rate::fdr10, "FDR10", "10.3125", 10'000'000'000},
    {Rate::fdr, "FDR", "14.0625", 13'625'000'000},
    {Rate::edr, "EDR", "25.78125", 25'000'000'000},
    {Rate::hdr, "HDR", "53.125", 50'000'000'000},
    {Rate::ndr, "NDR", "106.25", 100'000'000'000},
    {Rate::xdr, "XDR", "212.5", 200'000'000'000},
}};

}  // namespace

Bandwidth bandwidth_of(Speed speed) {
  for (const RateRow& row : kRates) {
    if (row.rate == speed.rate) return {row.lane_bits_per_second * speed.lanes};
  }
  return {};
}

std::string to_string(Speed speed) {
  std::string_view name = "???";
  for (const RateRow& row : kRates) {
    if (row.rate == speed.rate) name = row.name;
  }
  return speed.lanes == 0 ? fmt::format("??{}", name) : fmt::format("{}x{}", speed.lanes, name);
}

std::optional<std::uint32_t> parse_width(std::string_view text) {
  if (text == "??") return 0;
  static constexpr std::array<std::uint32_t, 5> kWidths{1, 2, 4, 8, 12};
  if (text.empty() || (text.back() != 'x' && text.back() != 'X')) return std::nullopt;
  text.remove_suffix(1);
  for (const std::uint32_t width : kWidths) {
    if (text == fmt::to_string(width)) return width;
  }
  return std::nullopt;
}

std::optional<Rate> parse_rate(std::string_view text) {
  if (text == "???") return Rate::unknown;
  for (const RateRow& row : kRates) {
    if (row.name == text) return row.rate;
  }
  return std::nullopt;
}

Rate rate_of_lane(std::string_view gbps, bool fdr10) {
  if (fdr10) return Rate::fdr10;
  for (const RateRow& row : kRates) {
    if (row.lane_gbps == gbps) return row.rate;
  }
  return Rate::unknown;
}

std::optional<Speed> parse_speed(std::string_view word) {
  const std::size_t split = word.starts_with("??") ? 2 : word.find('x') + 1;
  if (split == 0 || split > word.size()) return std::nullopt;
  const auto lanes = parse_width(word.substr(0, split));
  const auto rate = parse_rate(word.substr(split));
  if (!lanes || !rate) return std::nullopt;
  return Speed{*lanes, *rate};
}

}  // namespace weft::topology::ib
