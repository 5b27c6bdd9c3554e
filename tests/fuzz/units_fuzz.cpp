// SPDX-License-Identifier: BSD-3-Clause
//
// What is read must be written so that it reads back as the same value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "weft/config/units.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto value = parse_bandwidth(text)) {
    if (parse_bandwidth(to_string(*value)) != *value) std::abort();
    if (parse_bandwidth(to_byte_rate_string(*value)) != *value) std::abort();
  }
  if (const auto value = parse_bytes(text)) {
    if (parse_bytes(to_string(*value)) != *value) std::abort();
  }
  if (const auto value = parse_seconds(text)) {
    const auto again = parse_seconds(to_string(*value));
    if (!again || again->value != value->value) std::abort();
  }
  return 0;
}
