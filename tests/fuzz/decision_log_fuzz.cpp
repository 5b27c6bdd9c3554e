// SPDX-License-Identifier: BSD-3-Clause
//
// Lines of the decision log: any bytes are refused or read; what is read and decided is written as a line that is read
// again and decided the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "placement_fixtures.hpp"
#include "record.hpp"
#include "replay.hpp"

namespace {

using namespace weft;
namespace fixtures = placement::fixtures;

bool small(const bridge::Ask& ask) { return ask.usable.size() <= 64 && ask.max_nodes <= 64; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topology::Fabric fabric = fixtures::fabric(fixtures::two_tiers(4, 2, 2));
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(bridge::stats({std::make_shared<const SourceText>("log", text + "\n")}));
  auto line = bridge::read_line(fabric, text);
  if (!line || !std::holds_alternative<bridge::Record>(*line)) return 0;
  auto& record = std::get<bridge::Record>(*line);
  const std::string first = bridge::write_record(fabric, record);
  for (const char c : first)
    if (c != '\n' && (c < 0x20 || c >= 0x7f)) std::abort();
  const auto again = bridge::read_line(fabric, std::string_view(first).substr(0, first.size() - 1));
  if (!again || !std::holds_alternative<bridge::Record>(*again)) std::abort();
  const auto& back = std::get<bridge::Record>(*again);
  if (!(back.ask == record.ask) || !(back.about.settings == record.about.settings)) std::abort();
  if (small(record.ask)) {
    const auto choose = [&](const bridge::Record& r) {
      bridge::DecideOptions options;
      options.budget_steps = 1000;
      return bridge::write_choice(fabric, bridge::decide(fabric, fabric, r.about.settings, r.ask, options));
    };
    if (choose(record) != choose(back)) std::abort();
  }
  return 0;
}
