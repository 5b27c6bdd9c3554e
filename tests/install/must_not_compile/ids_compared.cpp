// SPDX-License-Identifier: BSD-3-Clause
// Ids of different kinds are not equal or unequal; they have nothing to do with each other.
// refused: no match for|invalid operands
#include <weft/topology.hpp>

bool same(weft::topology::DomainId a, weft::topology::DomainId b, weft::topology::ClassId c) {
#ifdef WEFT_MISTAKE
  return a == c || a == b;
#else
  return a == b || index(c) == 0;
#endif
}
