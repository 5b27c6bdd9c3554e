// SPDX-License-Identifier: BSD-3-Clause
//
// What is read must be written so that it reads back the same; what is refused must print safely.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/config.hpp"

namespace {

// An error's text may hold no control bytes but its own line ends.
void check_error(const weft::Error& error) {
  for (const char c : error.to_string()) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const auto source =
      std::make_shared<const SourceText>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  if (const auto health = config::parse_health_yaml(source); !health) check_error(health.error());
  const auto spec = config::parse_fabric_yaml(source);
  if (!spec) {
    check_error(spec.error());
    return 0;
  }
  if (spec->health.size() > 5000) return 0;  // legal, but slow to check over and over
  const std::string text = config::write_fabric_yaml(*spec);
  const auto again = config::parse_fabric_yaml(std::make_shared<const SourceText>("again", text));
  if (!again || config::write_fabric_yaml(*again) != text) std::abort();
  return 0;
}
