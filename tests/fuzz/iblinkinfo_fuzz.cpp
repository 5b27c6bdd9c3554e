// SPDX-License-Identifier: BSD-3-Clause
#include "ib_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::topology::check_import(data, size, weft::topology::import_iblinkinfo);
  return 0;
}
