// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/affinity_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace fuzz = weft::topology::fuzz;
  const weft::Source source = fuzz::source_of(data, size);
  fuzz::check_affinity(weft::topology::read_rocm_smi_topo(source), weft::topology::read_rocm_smi_topo(source));
  return 0;
}
