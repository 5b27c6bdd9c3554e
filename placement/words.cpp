// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/placement.hpp"

namespace weft::placement {

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::weft: return "weft";
    case Policy::tree: return "tree";
    case Policy::block: return "block";
    case Policy::first_fit: return "first-fit";
    case Policy::random: return "random";
  }
  return "unknown";
}

}  // namespace weft::placement
