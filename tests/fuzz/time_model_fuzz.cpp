// SPDX-License-Identifier: BSD-3-Clause
//
// Time model files: numbers are in range, and what is read, written again, reads equal.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/placement/time_model.hpp"

namespace {

using weft::placement::TimeModel;

weft::Source source(std::string text) { return std::make_shared<const weft::SourceText>("fuzz", std::move(text)); }

std::string written(const TimeModel& m) {
  const auto& e = m.efficiency;
  return fmt::format(
      "weft: 1\nlatency: {{launch: {}, nvlink_step: {}, network_step: {}, hop: {}}}\n"
      "efficiency: {{ring: {:.17f}, tree: {:.17f}, hierarchical: {:.17f}, alltoall: {:.17f}, neighbour: {:.17f}}}\n"
      "nvlink_bandwidth: {}\npcie_bandwidth: {}\nalltoall_batch: {}\n",
      to_string(m.launch), to_string(m.nvlink_step), to_string(m.network_step), to_string(m.hop), e.ring, e.tree,
      e.hierarchical, e.alltoall, e.neighbour, to_string(m.nvlink_bandwidth), to_string(m.pcie_bandwidth),
      m.alltoall_batch);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model =
      weft::placement::parse_time_model_yaml(source(std::string(reinterpret_cast<const char*>(data), size)));
  if (!model) {
    if (model.error().to_string().empty()) std::abort();
    return 0;
  }
  const auto& e = model->efficiency;
  bool sizeable = true;
  for (const double part : {e.ring, e.tree, e.hierarchical, e.alltoall, e.neighbour}) {
    if (!(part > 0 && part <= 1)) std::abort();
    sizeable = sizeable && part > 0.01;  // 17 decimals say such a number exactly
  }
  for (const double part : model->overlap)
    if (!(part >= 0 && part <= 1)) std::abort();
  if (model->alltoall_batch == 0) std::abort();
  for (const auto time : {model->launch, model->nvlink_step, model->network_step, model->hop})
    if (!(time.value >= 0)) std::abort();
  if (!sizeable) return 0;
  TimeModel want = *model;
  want.overlap = {};
  const auto again = weft::placement::parse_time_model_yaml(source(written(want)));
  if (!again || *again != want) std::abort();
  return 0;
}
