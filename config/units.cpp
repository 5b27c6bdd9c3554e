// SPDX-License-Identifier: BSD-3-Clause
//
// Everything is exact: integers are scaled as integers, and times keep their decimal digits until one correctly rounded
// conversion, so that text -> value -> text loses nothing.
#include "weft/config/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace weft {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t scale;  // in bits per second or bytes
};

constexpr std::uint64_t kPow10[] = {1,        10,        100,        1000,        10000,        100000,       1000000,
                                    10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000};
constexpr std::uint64_t kKibi = 1ULL << 10, kMebi = 1ULL << 20, kGibi = 1ULL << 30, kTebi = 1ULL << 40;

// Largest first, as the writers look for the largest that fits.
constexpr Unit kBitRates[] = {
    {"Tb/s", kPow10[12]}, {"Gb/s", kPow10[9]}, {"Mb/s", kPow10[6]}, {"kb/s", kPow10[3]}, {"b/s", 1}};
constexpr Unit kByteRates[] = {
    {"TB/s", 8 * kPow10[12]}, {"GB/s", 8 * kPow10[9]}, {"MB/s", 8 * kPow10[6]}, {"kB/s", 8 * kPow10[3]}, {"B/s", 8},
    {"TiB/s", 8 * kTebi},     {"GiB/s", 8 * kGibi},    {"MiB/s", 8 * kMebi},    {"KiB/s", 8 * kKibi}};
constexpr Unit kBinaryBitRates[] = {{"Tib/s", kTebi}, {"Gib/s", kGibi}, {"Mib/s", kMebi}, {"Kib/s", kKibi}};
constexpr Unit kAmounts[] = {{"TB", kPow10[12]}, {"GB", kPow10[9]}, {"MB", kPow10[6]}, {"kB", kPow10[3]}, {"B", 1},
                             {"TiB", kTebi},     {"GiB", kGibi},    {"MiB", kMebi},    {"KiB", kKibi}};

constexpr std::string_view kRateExpected = "a rate with its unit, such as 400Gb/s (bits) or 50GB/s (bytes)";
constexpr std::string_view kAmountExpected = "an amount with its unit, such as 512MiB, 4GB or 100B";
constexpr std::string_view kTimeExpected = "a time with its unit: ns, us, ms, s, min or h";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A text cut into its number and its unit.
struct Quantity {
  std::string_view whole;     // digits before the point
  std::string_view fraction;  // digits after it, without trailing zeros
  std::string_view unit;
};

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return text.size() <= kShown ? fmt::format("\"{}\"", text) : fmt::format("\"{}...\"", text.substr(0, kShown));
}

tl::unexpected<UnitError> refuse(std::string message, std::string_view expected) {
  return tl::unexpected<UnitError>({std::move(message), std::string(expected)});
}

tl::expected<Quantity, UnitError> split(std::string_view text, std::string_view expected) {
  Quantity out;
  std::size_t i = 0;
  while (i < text.size() && is_digit(text[i])) ++i;
  out.whole = text.substr(0, i);
  if (i < text.size() && text[i] == '.') {
    const std::size_t begin = ++i;
    while (i < text.size() && is_digit(text[i])) ++i;
    out.fraction = text.substr(begin, i - begin);
    if (out.fraction.empty()) return refuse(fmt::format("{} has no digit after the point", shown(text)), expected);
  }
  if (out.whole.empty()) return refuse(fmt::format("{} does not begin with a number", shown(text)), expected);
  while (out.fraction.ends_with('0')) out.fraction.remove_suffix(1);
  if (i < text.size() && text[i] == ' ') ++i;
  out.unit = text.substr(i);
  if (out.unit.empty()) return refuse(fmt::format("{} has no unit", shown(text)), expected);
  return out;
}

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == units.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> to_integer(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

enum class Scaled : std::uint8_t { ok, too_large, not_whole };

// number * scale as a whole number.
Scaled scale_exactly(const Quantity& number, std::uint64_t scale, std::uint64_t& out) {
  if (number.fraction.size() >= std::size(kPow10)) return Scaled::not_whole;
  const std::optional<std::uint64_t> digits = to_integer(std::string(number.whole) + std::string(number.fraction));
  if (!digits) return Scaled::too_large;
  std::uint64_t divisor = kPow10[number.fraction.size()];
  const std::uint64_t common = std::gcd(scale, divisor);
  scale /= common;
  divisor /= common;
  if (*digits % divisor != 0) return Scaled::not_whole;
  const std::uint64_t value = *digits / divisor;
  if (value > std::numeric_limits<std::uint64_t>::max() / scale) return Scaled::too_large;
  out = value * scale;
  return Scaled::ok;
}

// value / scale in decimal, where that takes at most 12 places.
std::optional<std::string> decimal(std::uint64_t value, std::uint64_t scale) {
  std::string out = std::to_string(value / scale);
  std::uint64_t rest = value % scale;
  if (rest == 0) return out;
  out += '.';
  for (std::size_t places = 0; rest != 0; ++places) {
    if (places == 12 || rest > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
    rest *= 10;
    out += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
  return out;
}

// The shortest text over `units` in which the value is at least one unit; the first of equals.
std::string shortest(std::uint64_t value, std::span<const Unit> units, std::string_view smallest) {
  std::string best = fmt::format("{}{}", value / (smallest == "B/s" ? 8 : 1), smallest);
  for (const Unit& unit : units) {
    if (value < unit.scale) continue;
    const std::optional<std::string> number = decimal(value, unit.scale);
    if (number && number->size() + unit.name.size() < best.size()) best = *number + std::string(unit.name);
  }
  return best;
}

struct TimeUnit {
  std::string_view name;
  int exponent;  // of ten
  double factor;
};
constexpr TimeUnit kTimes[] = {{"s", 0, 1},   {"ms", -3, 1},  {"us", -6, 1},
                               {"ns", -9, 1}, {"min", 0, 60}, {"h", 0, 3600}};

}  // namespace

tl::expected<Bandwidth, UnitError> parse_bandwidth(std::string_view text) {
  const auto number = split(text, kRateExpected);
  if (!number) return tl::unexpected<UnitError>(number.error());
  const Unit* unit = find_unit(kBitRates, number->unit);
  if (unit == nullptr) unit = find_unit(kByteRates, number->unit);
  if (unit == nullptr) unit = find_unit(kBinaryBitRates, number->unit);
  if (unit == nullptr) return refuse(fmt::format("unknown unit {}", shown(number->unit)), kRateExpected);
  Bandwidth out;
  switch (scale_exactly(*number, unit->scale, out.bits_per_second)) {
    case Scaled::too_large: return refuse(fmt::format("{} is too large", shown(text)), "less than 2^64 bits a second");
    case Scaled::not_whole: return refuse(fmt::format("{} is no whole number of bits a second", shown(text)), {});
    case Scaled::ok: break;
  }
  if (out.bits_per_second == 0) return refuse(fmt::format("{} is zero", shown(text)), "a rate above zero");
  return out;
}

tl::expected<Bytes, UnitError> parse_bytes(std::string_view text) {
  const auto number = split(text, kAmountExpected);
  if (!number) return tl::unexpected<UnitError>(number.error());
  const Unit* unit = find_unit(kAmounts, number->unit);
  if (unit == nullptr) return refuse(fmt::format("unknown unit {}", shown(number->unit)), kAmountExpected);
  Bytes out;
  switch (scale_exactly(*number, unit->scale, out.value)) {
    case Scaled::too_large: return refuse(fmt::format("{} is too large", shown(text)), "less than 2^64 bytes");
    case Scaled::not_whole: return refuse(fmt::format("{} is no whole number of bytes", shown(text)), {});
    case Scaled::ok: break;
  }
  return out;
}

tl::expected<Seconds, UnitError> parse_seconds(std::string_view text) {
  const auto number = split(text, kTimeExpected);
  if (!number) return tl::unexpected<UnitError>(number.error());
  for (const TimeUnit& unit : kTimes) {
    if (unit.name != number->unit) continue;
    // Digits and exponent go through one conversion: 5us is 5e-6, which 5 * 1e-6 is not.
    const std::string digits = fmt::format("{}.{}0e{}", number->whole, number->fraction, unit.exponent);
    Seconds out;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), out.value);
    out.value *= unit.factor;
    if (fault != std::errc() || !std::isfinite(out.value)) {
      return refuse(fmt::format("{} is out of range", shown(text)), kTimeExpected);
    }
    return out;
  }
  return refuse(fmt::format("unknown unit {}", shown(number->unit)), kTimeExpected);
}

std::string to_string(Bandwidth value) { return shortest(value.bits_per_second, kBitRates, "b/s"); }

std::string to_byte_rate_string(Bandwidth value) {
  if (value.bits_per_second % 8 != 0) return to_string(value);
  return shortest(value.bits_per_second, std::span(kByteRates).first(5), "B/s");
}

std::string to_string(Bytes value) { return shortest(value.value, kAmounts, "B"); }

std::string to_string(Seconds value) {
  if (!(value.value > 0) || !std::isfinite(value.value)) return "0s";
  char buffer[32];  // d.ddde-xxx: at most 17 digits
  const auto [end, fault] = std::to_chars(buffer, buffer + sizeof buffer, value.value, std::chars_format::scientific);
  static_cast<void>(fault);
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  int exponent = std::stoi(std::string(text.substr(e + 1)));  // of the first digit
  std::string_view unit = "s";
  for (const TimeUnit& candidate : std::span(kTimes).first(4)) {
    unit = candidate.name;
    if (exponent >= candidate.exponent) break;
  }
  exponent += unit == "ms" ? 3 : unit == "us" ? 6 : unit == "ns" ? 9 : 0;
  const int count = static_cast<int>(digits.size());
  if (exponent < 0)
    return fmt::format("0.{}{}{}", std::string(static_cast<std::size_t>(-exponent - 1), '0'), digits, unit);
  if (exponent + 1 >= count) digits.append(static_cast<std::size_t>(exponent + 1 - count), '0');
  const std::size_t point = static_cast<std::size_t>(exponent) + 1;
  std::string out = digits.substr(0, point);
  if (point < digits.size()) out += '.' + digits.substr(point);
  return out + std::string(unit);
}

}  // namespace weft
