// SPDX-License-Identifier: BSD-3-Clause
//
// What is read must hold what JobSpec promises; what is refused must print safely.
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
  const auto job = config::parse_job_yaml(source);
  if (!job) {
    for (const char c : job.error().to_string()) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n') std::abort();
    }
    return 0;
  }
  if (job->nodes == 0) std::abort();
  const int tellings = (job->traffic.empty() ? 0 : 1) + (job->model ? 1 : 0) + (job->matrix ? 1 : 0);
  if (tellings > 1) std::abort();
  if (job->constraints.segment && job->nodes % *job->constraints.segment != 0) std::abort();
  unsigned seen = 0;
  for (const config::Dim dim : job->layout.value_or(config::Layout()).order) seen |= 1U << static_cast<unsigned>(dim);
  if (seen != 31) std::abort();
  for (const std::uint64_t per_node : {1U, 4U, 8U}) {
    const std::uint64_t ranks = job->nodes * per_node;
    const auto layout = config::resolve_layout(*job, ranks);
    if (layout && layout->ranks() != ranks) std::abort();
  }
  return 0;
}
