// SPDX-License-Identifier: BSD-3-Clause
#include "objective.hpp"

namespace weft::placement {

bool better_traffic(const Score& a, const Score& b) {
  for (std::size_t t = a.tier_bytes.size(); t-- > 2;)
    if (a.tier_bytes[t] != b.tier_bytes[t]) return a.tier_bytes[t] < b.tier_bytes[t];
  if (a.hop_bytes != b.hop_bytes) return a.hop_bytes < b.hop_bytes;
  for (std::size_t l = a.fragmentation_after.size(); l-- > 0;)
    if (a.fragmentation_after[l] != b.fragmentation_after[l])
      return a.fragmentation_after[l] > b.fragmentation_after[l];
  return false;
}

}  // namespace weft::placement
