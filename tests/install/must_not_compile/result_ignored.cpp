// SPDX-License-Identifier: BSD-3-Clause
// A file that was refused must not go unnoticed.
// refused: nodiscard|unused-result
#include <weft/topology.hpp>

void read(const weft::Source& source) {
#ifdef WEFT_MISTAKE
  weft::topology::read_fabric(source);
#else
  if (!weft::topology::read_fabric(source)) return;
#endif
}
