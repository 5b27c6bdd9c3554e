// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/import_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = weft::topology::fuzz;
  fuzz::check_import(weft::topology::import_slurm_topology_yaml(fuzz::source_of(data, size), {}), true);
  return 0;
}
