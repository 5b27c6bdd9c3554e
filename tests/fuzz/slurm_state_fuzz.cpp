// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/import_properties.hpp"
#include "weft/placement/slurm_state.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = weft::topology::fuzz;
  if (fuzz::has_wide_range(data, size)) return 0;
  const auto state = weft::placement::parse_slurm_state(fuzz::source_of(data, size));
  if (!state) {
    fuzz::check_error(state.error());
    return 0;
  }
  if (state->nodes.empty()) fuzz::broken("read, and no node in it");
  for (const auto& node : state->nodes) {
    if (node.name.empty() || node.state.empty()) fuzz::broken("a node without name or state");
    if (node.open && node.state.find("DRAIN") != std::string::npos)
      fuzz::broken("a drained node takes jobs: " + node.state);
    if (node.used_known && node.used.size() != node.used_gpus) fuzz::broken("used GPUs miscounted");
  }
  return 0;
}
