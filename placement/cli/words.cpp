// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace weft::cli {

std::string counted(std::uint64_t number, std::string_view noun) {
  if (number == 1) return fmt::format("1 {}", noun);
  return fmt::format("{} {}{}", number, noun, noun.ends_with("ch") ? "es" : "s");
}

std::string byte_rate(Bandwidth rate) {
  constexpr std::uint64_t kGigabyte = 8'000'000'000;
  if (rate.bits_per_second % kGigabyte != 0) return to_string(rate);
  return fmt::format("{}GB/s", rate.bits_per_second / kGigabyte);
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return short_number(seconds) + " s";
  if (seconds >= 1e-3) return short_number(seconds * 1e3) + " ms";
  return short_number(seconds * 1e6) + " us";
}

std::string ratio(double down_over_up) {
  if (down_over_up >= 1 || down_over_up <= 0) return short_number(down_over_up) + ":1";
  return "1:" + short_number(1 / down_over_up);
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

}  // namespace weft::cli
