// SPDX-License-Identifier: BSD-3-Clause
//
// Quantities with their unit in the type. Files must write the unit ("400Gb/s", "12GiB", "5us"); a bare number is
// refused, because 400 of what has cost people nights.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace weft {

/// A data rate of one link or cable in one direction, in bits per second.
struct Bandwidth {
  std::uint64_t bits_per_second = 0;
  friend auto operator<=>(const Bandwidth&, const Bandwidth&) = default;
  [[nodiscard]] double bytes_per_second() const { return static_cast<double>(bits_per_second) / 8.0; }
};

/// An amount of data, in bytes.
struct Bytes {
  std::uint64_t value = 0;
  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

/// A time span, in seconds.
struct Seconds {
  double value = 0;
  friend auto operator<=>(const Seconds&, const Seconds&) = default;
};

/// A parse's failure: what was wrong and what would be right. The caller adds file and position.
struct UnitError {
  std::string message;
  std::string expected;
};

/// "400Gb/s", "2.5Tb/s", "450GB/s" (k M G T, decimal; b bits, B bytes; also KiB/s … binary). Must be above 0.
[[nodiscard]] tl::expected<Bandwidth, UnitError> parse_bandwidth(std::string_view text);
/// "512MiB", "4GB", "100B" (B, kB MB GB TB decimal, KiB MiB GiB TiB binary); fractions that come to whole bytes
/// allowed. In all three one space may stand before the unit.
[[nodiscard]] tl::expected<Bytes, UnitError> parse_bytes(std::string_view text);
/// "5us", "10ms", "1.5s", "200ns", "2min", "1h".
[[nodiscard]] tl::expected<Seconds, UnitError> parse_seconds(std::string_view text);

/// Shortest exact text in the file syntax: parse_x(to_string(x)) == x.
[[nodiscard]] std::string to_string(Bandwidth value);
/// The same in bytes a second, as NVLink rates are usually told ("450GB/s"); in bits where it is no whole number of
/// bytes.
[[nodiscard]] std::string to_byte_rate_string(Bandwidth value);
[[nodiscard]] std::string to_string(Bytes value);
[[nodiscard]] std::string to_string(Seconds value);

}  // namespace weft
