// SPDX-License-Identifier: BSD-3-Clause
#include "policies.hpp"

#include <array>

namespace weft::cli {
namespace {

using placement::Policy;
constexpr std::array kAll{Policy::weft, Policy::tree, Policy::block, Policy::first_fit, Policy::random};

}  // namespace

std::span<const Policy> all_policies() { return kAll; }

placement::PlaceOptions place_options(std::string_view policy, const ChoiceArgs& choice,
                                      const placement::LinkOptions& links) {
  placement::PlaceOptions out;
  for (const Policy each : kAll) {
    if (to_string(each) == policy) out.policy = each;
  }
  out.objective = choice.objective == "time"     ? placement::Objective::time
                  : choice.objective == "spread" ? placement::Objective::spread
                                                 : placement::Objective::traffic;
  out.node_weight = choice.node_weight == "strict"   ? placement::NodeWeight::strict
                    : choice.node_weight == "ignore" ? placement::NodeWeight::ignore
                                                     : placement::NodeWeight::tie;
  out.links = &links;
  out.budget_steps = choice.budget_steps;
  out.seed = choice.seed;
  return out;
}

}  // namespace weft::cli
