// SPDX-License-Identifier: BSD-3-Clause
//
// Small jobs are placed as well as can be: against brute force. tests/bench/optimal_bench.cpp does the same by
// thousands.
#include <gtest/gtest.h>

#include "brute_force.hpp"

namespace weft::placement {
namespace {

class Optimal : public testing::TestWithParam<brute::Kind> {};

TEST_P(Optimal, EqualsBruteForce) {
  constexpr std::uint64_t kCases = 40;
  std::uint64_t equal = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    const brute::Outcome o = brute::compare(brute::random_trial(seed, GetParam(), 8, 6));
    equal += o.equal ? 1 : 0;
    EXPECT_LE(o.excess, 0.02);
  }
  EXPECT_GE(equal, kCases * 99 / 100);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Optimal, testing::ValuesIn(brute::kKinds), [](const auto& kind) {
  std::string name(brute::name_of(kind.param));
  std::erase(name, ' ');
  return name;
});

}  // namespace
}  // namespace weft::placement
