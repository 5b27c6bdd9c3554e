// SPDX-License-Identifier: BSD-3-Clause
// Bytes are not bits a second, although both are a number inside.
// refused: no match for|invalid operands
#include <weft/config.hpp>

#ifdef WEFT_MISTAKE
bool fits(weft::Bytes amount, weft::Bandwidth rate) { return amount < rate; }
#else
bool fits(weft::Bytes amount, weft::Bytes room) { return amount < room; }
#endif
