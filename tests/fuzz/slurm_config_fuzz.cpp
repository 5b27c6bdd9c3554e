// SPDX-License-Identifier: BSD-3-Clause
//
// weft.yaml: what is read keeps its ranges, what is refused prints safely.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "weft/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const auto source =
      std::make_shared<const SourceText>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  static_cast<void>(config::looks_like_slurm_config(source->text()));
  const auto config = config::parse_slurm_config(source);
  if (!config) {
    for (const char c : config.error().to_string()) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n') std::abort();
    }
    return 0;
  }
  if (config->fabric.value.empty() || config->budget_steps > config::kMaxBudgetSteps) std::abort();
  if (config->deadline < config::kMinDeadline || config->deadline > config::kMaxDeadline) std::abort();
  if (config->decision_log && !config->decision_log->starts_with('/')) std::abort();
  if (config->default_layout && config->default_layout->ranks() > config::kMaxRanks) std::abort();
  return 0;
}
