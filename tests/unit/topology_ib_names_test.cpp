// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "ib_names.hpp"
#include "ib_rate.hpp"

namespace weft::topology::ib {
namespace {

TEST(IbNames, AdaptersSayHostAndDevice) {
  struct Case {
    const char *text, *host, *device;
    int number;  // -1: none
  };
  for (const Case& c : std::vector<Case>{{"gpu-04 mlx5_5", "gpu-04", "mlx5_5", 5},
                                         {"gpu-04 HCA-6", "gpu-04", "HCA-6", 5},
                                         {"gpu-04 HCA-0", "gpu-04", "HCA-0", -1},
                                         {"node7", "node7", "", -1},
                                         {"  node7   ibp24s0 ", "node7", "ibp24s0", -1},
                                         {"n7.example.org mlx5_bond_1", "n7.example.org", "mlx5_bond_1", 1},
                                         {"localhost HCA-1", "", "", -1},
                                         {"MT25408 ConnectX Mellanox Technologies", "", "", -1},
                                         {"MT4119 ConnectX5   Mellanox Technologies", "", "", -1},
                                         {"MT23108 InfiniHost Mellanox Technologies", "", "", -1},
                                         {"mlx5_0", "", "", -1},
                                         {"", "", "", -1}}) {
    SCOPED_TRACE(c.text);
    const AdapterName name = parse_adapter_name(c.text);
    EXPECT_EQ(name.host, c.host);
    EXPECT_EQ(name.device, c.device);
    EXPECT_EQ(name.number ? static_cast<int>(*name.number) : -1, c.number);
  }
}

TEST(IbNames, SwitchesSayTheirNameInTheMiddle) {
  const auto name = [](const char* text) {
    const SwitchName parsed = parse_switch_name(text);
    return parsed.name + "|" + parsed.chip;
  };
  EXPECT_EQ(name("MF0;A09-P1-IBLEAF-04-04:MQM9701/U1"), "A09-P1-IBLEAF-04-04|U1");
  EXPECT_EQ(name("MF0;IB-Leaf.4 (rack #7):MSB7700/U1"), "IB-Leaf.4-rack-7|U1");
  EXPECT_EQ(name("MF0;core:CS7500/L02/U1"), "core|L02-U1");
  EXPECT_EQ(name("MF0;core"), "core|");
  EXPECT_EQ(name("Voltaire 4036 # 4036-8C5C"), "4036-8C5C|");
  EXPECT_EQ(name("Voltaire 4036 - 36 QDR ports switch"), "|");
  EXPECT_EQ(name("SwitchIB Mellanox Technologies"), "|");
  EXPECT_EQ(name("g5-leaf3"), "g5-leaf3|");
  EXPECT_EQ(name(""), "|");
}

TEST(IbNames, NaturalOrderCountsDigits) {
  const std::vector<std::string> sorted{"", "a", "a1", "a01", "a2", "a10", "a10b", "a11", "b", "b1-2", "b1-10"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      // "a01" and "a1" have one value and order by their bytes: '0' before '1'.
      if ((sorted[i] == "a01" && sorted[j] == "a1") || (sorted[i] == "a1" && sorted[j] == "a01")) continue;
      EXPECT_EQ(natural_less(sorted[i], sorted[j]), i < j) << sorted[i] << " " << sorted[j];
    }
  }
  EXPECT_TRUE(natural_less("a01", "a1"));
  EXPECT_FALSE(natural_less("a1", "a01"));
}

TEST(IbRate, WidthsAndRates) {
  EXPECT_EQ(bandwidth_of(*parse_speed("4xSDR")).bits_per_second, 8'000'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("4xQDR")).bits_per_second, 32'000'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("4xFDR10")).bits_per_second, 40'000'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("4xFDR")).bits_per_second, 54'500'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("2xHDR")).bits_per_second, 100'000'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("4xNDR")).bits_per_second, 400'000'000'000U);
  EXPECT_EQ(bandwidth_of(*parse_speed("12xXDR")).bits_per_second, 2'400'000'000'000U);
  EXPECT_FALSE(parse_speed("4x???")->known());
  EXPECT_FALSE(parse_speed("?????")->known());
  EXPECT_FALSE(parse_speed("3xEDR"));
  EXPECT_FALSE(parse_speed("4xedr"));
  EXPECT_FALSE(parse_speed("EDR"));
  EXPECT_EQ(rate_of_lane("53.125", false), Rate::hdr);
  EXPECT_EQ(rate_of_lane("10.0", false), Rate::qdr);
  EXPECT_EQ(rate_of_lane("10.0", true), Rate::fdr10);
  EXPECT_EQ(to_string(Speed{4, Rate::fdr10}), "4xFDR10");
  EXPECT_EQ(to_string(Speed{}), "?????");
}

}  // namespace
}  // namespace weft::topology::ib
