// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/import_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = weft::topology::fuzz;
  if (fuzz::has_wide_range(data, size)) return 0;
  fuzz::check_import(weft::topology::import_slurm_topology_conf(fuzz::source_of(data, size), {}), true);
  return 0;
}
