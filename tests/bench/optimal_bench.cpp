// SPDX-License-Identifier: BSD-3-Clause
//
// How often place() finds the best of all placements, against brute force, on small fabrics of each kind: up to 10 free
// nodes, jobs of up to 8 with DP, PP, EP and CP. Counters: cases, optimal (per cent), worst (per cent above the best).
#include <benchmark/benchmark.h>

#include "brute_force.hpp"

namespace weft::placement {
namespace {

constexpr std::uint64_t kCases = 600;

void optimal(benchmark::State& state) {
  const brute::Kind kind = brute::kKinds[static_cast<std::size_t>(state.range(0))];
  state.SetLabel(std::string(brute::name_of(kind)));
  double equal = 0;
  double worst = 0;
  double cases = 0;
  for (auto _ : state) {
    for (std::uint64_t seed = 1000; seed < 1000 + kCases; ++seed) {
      const brute::Outcome o = brute::compare(brute::random_trial(seed, kind, 10, 8));
      equal += o.equal ? 1 : 0;
      worst = std::max(worst, o.excess);
      ++cases;
    }
  }
  state.counters["cases"] = cases;
  state.counters["optimal_%"] = 100 * equal / cases;
  state.counters["worst_%"] = 100 * worst;
}
BENCHMARK(optimal)->DenseRange(0, static_cast<int>(brute::kKinds.size()) - 1)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace weft::placement
