// SPDX-License-Identifier: BSD-3-Clause
#include "policies.hpp"

#include <array>

namespace weft::cli {
namespace {

using placement::Policy;
constexpr std::array kAll{Policy::weft, Policy::tree, Policy::block, Policy::first_fit, Policy::random};

}  // namespace

std::span<const Policy> all_policies() { return kAll; }

placement::PlaceOptions place_options(std::string_view policy, std::string_view objective, std::uint64_t seed) {
  placement::PlaceOptions out;
  for (const Policy each : kAll) {
    if (to_string(each) == policy) out.policy = each;
  }
  out.objective = objective == "time" ? placement::Objective::time : placement::Objective::traffic;
  out.seed = seed;
  return out;
}

}  // namespace weft::cli
