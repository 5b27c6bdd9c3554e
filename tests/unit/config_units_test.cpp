// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "weft/config/units.hpp"

namespace weft {
namespace {

std::uint64_t bits(std::string_view text) {
  const auto value = parse_bandwidth(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? value->bits_per_second : 0;
}
std::uint64_t bytes(std::string_view text) {
  const auto value = parse_bytes(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? value->value : 0;
}
double seconds(std::string_view text) {
  const auto value = parse_seconds(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? value->value : -1;
}
template <typename T>
std::string refusal(const tl::expected<T, UnitError>& value) {
  if (value) return "accepted";
  return value.error().expected.empty() ? value.error().message
                                        : value.error().message + " | " + value.error().expected;
}

TEST(Units, BandwidthsAreExact) {
  EXPECT_EQ(bits("400Gb/s"), 400'000'000'000U);
  EXPECT_EQ(bits("400 Gb/s"), 400'000'000'000U);
  EXPECT_EQ(bits("2.5Tb/s"), 2'500'000'000'000U);
  EXPECT_EQ(bits("450GB/s"), 3'600'000'000'000U);
  EXPECT_EQ(bits("1KiB/s"), 8192U);
  EXPECT_EQ(bits("1Gib/s"), 1U << 30);
  EXPECT_EQ(bits("0.1kB/s"), 800U);
  EXPECT_EQ(bits("8b/s"), 8U);
  EXPECT_EQ(bits("18446744073709551615b/s"), 18446744073709551615U);
}

TEST(Units, BandwidthRefusals) {
  const std::string expected = " | a rate with its unit, such as 400Gb/s (bits) or 50GB/s (bytes)";
  EXPECT_EQ(refusal(parse_bandwidth("400")), "\"400\" has no unit" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("400Gbps")), "unknown unit \"Gbps\"" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("400gb/s")), "unknown unit \"gb/s\"" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("-1Gb/s")), "\"-1Gb/s\" does not begin with a number" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("")), "\"\" does not begin with a number" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("1.Gb/s")), "\"1.Gb/s\" has no digit after the point" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("1e3Gb/s")), "unknown unit \"e3Gb/s\"" + expected);
  EXPECT_EQ(refusal(parse_bandwidth("0Gb/s")), "\"0Gb/s\" is zero | a rate above zero");
  EXPECT_EQ(refusal(parse_bandwidth("0.5b/s")), "\"0.5b/s\" is no whole number of bits a second");
  EXPECT_EQ(refusal(parse_bandwidth("18446744073709551616b/s")),
            "\"18446744073709551616b/s\" is too large | less than 2^64 bits a second");
  EXPECT_EQ(refusal(parse_bandwidth("99999999Tb/s")), "\"99999999Tb/s\" is too large | less than 2^64 bits a second");
}

TEST(Units, BytesAreExact) {
  EXPECT_EQ(bytes("12GiB"), 12U * (1ULL << 30));
  EXPECT_EQ(bytes("4GB"), 4'000'000'000U);
  EXPECT_EQ(bytes("1.5GiB"), 1'610'612'736U);
  EXPECT_EQ(bytes("0B"), 0U);
  EXPECT_EQ(bytes("100B"), 100U);
  EXPECT_EQ(bytes("0.001kB"), 1U);
  EXPECT_EQ(refusal(parse_bytes("0.1GiB")), "\"0.1GiB\" is no whole number of bytes");
  EXPECT_EQ(refusal(parse_bytes("12Gb")), "unknown unit \"Gb\" | an amount with its unit, such as 512MiB, 4GB or 100B");
  EXPECT_EQ(refusal(parse_bytes("16777216TiB")), "\"16777216TiB\" is too large | less than 2^64 bytes");
}

TEST(Units, TimesAreCorrectlyRounded) {
  EXPECT_EQ(seconds("5us"), 5e-6);
  EXPECT_EQ(seconds("10ms"), 0.01);
  EXPECT_EQ(seconds("1.5s"), 1.5);
  EXPECT_EQ(seconds("200ns"), 200e-9);
  EXPECT_EQ(seconds("2min"), 120);
  EXPECT_EQ(seconds("1h"), 3600);
  EXPECT_EQ(seconds("0s"), 0);
  EXPECT_EQ(refusal(parse_seconds("5")), "\"5\" has no unit | a time with its unit: ns, us, ms, s, min or h");
  EXPECT_EQ(refusal(parse_seconds("5d")), "unknown unit \"d\" | a time with its unit: ns, us, ms, s, min or h");
}

TEST(Units, AreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(to_string(Bandwidth{400'000'000'000}), "400Gb/s");
  EXPECT_EQ(to_string(Bandwidth{2'500'000'000}), "2.5Gb/s");
  EXPECT_EQ(to_string(Bandwidth{1'600'000'000'000}), "1.6Tb/s");
  EXPECT_EQ(to_string(Bandwidth{1'234'567}), "1234567b/s");
  EXPECT_EQ(to_string(Bandwidth{1}), "1b/s");
  EXPECT_EQ(to_byte_rate_string(Bandwidth{3'600'000'000'000}), "450GB/s");
  EXPECT_EQ(to_byte_rate_string(Bandwidth{12}), "12b/s");
  EXPECT_EQ(to_string(Bytes{12ULL << 30}), "12GiB");
  EXPECT_EQ(to_string(Bytes{4'000'000'000}), "4GB");
  EXPECT_EQ(to_string(Bytes{0}), "0B");
  EXPECT_EQ(to_string(Bytes{1'610'612'736}), "1.5GiB");
  EXPECT_EQ(to_string(Bytes{4097}), "4097B");
  EXPECT_EQ(to_string(Seconds{5e-6}), "5us");
  EXPECT_EQ(to_string(Seconds{0.01}), "10ms");
  EXPECT_EQ(to_string(Seconds{1.5}), "1.5s");
  EXPECT_EQ(to_string(Seconds{3600}), "3600s");
  EXPECT_EQ(to_string(Seconds{2e-10}), "0.2ns");
  EXPECT_EQ(to_string(Seconds{0}), "0s");
}

}  // namespace
}  // namespace weft
