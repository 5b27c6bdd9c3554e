// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as people read them. Deterministic, no locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/config/units.hpp"

namespace weft::cli {

/// "1 node", "32 nodes", "0 switches".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

/// A ratio such as "4:1", "1.33:1", "1:2".
[[nodiscard]] std::string ratio(double down_over_up);

/// Bytes with a binary prefix, as job files say them: "512 B", "12.88 GiB".
[[nodiscard]] std::string bytes_text(double bytes);

/// "1.5 s", "10.74 ms", "22.7 us".
[[nodiscard]] std::string seconds_text(double seconds);

/// NVLink is sold in bytes: "450GB/s" where that is exact, else as to_string.
[[nodiscard]] std::string byte_rate(Bandwidth rate);

/// Up to two decimals, trailing zeros dropped: "3", "2.5", "1.33".
[[nodiscard]] std::string short_number(double value);

}  // namespace weft::cli
