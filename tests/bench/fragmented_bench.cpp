// SPDX-License-Identifier: BSD-3-Clause
//
// Choice of nodes on fragmented clusters: place() against the best of many random choices, each with the rank order
// that place() finds when it may use those nodes alone.
//
// Six domains (leaves of 16 nodes under one spine layer, or pods of 4 leaves of 8), each with a random number of free
// nodes; DP x PP x CP jobs with random volumes. A random choice takes whole groups of a random length from the domains
// in random order, then fills up. Counters: beaten (cases in which a random choice moves fewer bytes over the spines),
// mean and worst of place()'s cross-spine bytes over the best of all.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "brute_force.hpp"
#include "placement_fixtures.hpp"
#include "take.hpp"
#include "weft/placement.hpp"
#include "weft/placement/score.hpp"

namespace weft::placement {
namespace {

using brute::Dice;
using config::Collective;
using config::Dim;
using topology::NodeId;

constexpr std::uint32_t kDomains = 6;
constexpr int kCases = 60;
constexpr int kDraws = 200;

struct Trial {
  config::JobSpec job;
  std::vector<std::vector<std::uint32_t>> free;  // nodes, by domain
};

Trial random_trial(Dice& dice, std::uint32_t in_domain) {
  Trial out;
  std::uint32_t nodes = 0, pp = 1, cp = 1;
  do {
    nodes = in_domain * dice.roll(2, 6) / 2;
    pp = 1U << dice.roll(0, 3);
    cp = dice.roll(0, 2) == 0 ? 2 : 1;
  } while (nodes % (pp * cp) != 0 || nodes / (pp * cp) < 2);
  out.job = fixtures::laid_out(nodes, pp, cp);
  const auto volume = [&] { return Bytes{std::uint64_t{1} << (28 + 2 * dice.roll(0, 2))}; };
  out.job.traffic = {{Dim::dp, Collective::reduce_scatter, volume()}};
  if (pp > 1) out.job.traffic.push_back({Dim::pp, Collective::neighbour, volume()});
  if (cp > 1) out.job.traffic.push_back({Dim::cp, Collective::allgather, volume()});
  std::size_t free = 0;
  while (free < out.job.nodes) {
    free = 0;
    out.free.assign(kDomains, {});
    for (std::uint32_t d = 0; d < kDomains; ++d) {
      const std::uint32_t count = dice.roll(in_domain / 8, in_domain);
      for (std::uint32_t n = 0; n < in_domain; ++n)
        if (dice.roll(1, in_domain - n) <= count - out.free[d].size()) out.free[d].push_back(d * in_domain + n);
      free += out.free[d].size();
    }
  }
  return out;
}

// How many of its free nodes each domain gives.
std::vector<std::uint32_t> draw(Dice& dice, const Trial& t) {
  const config::Layout& l = *t.job.layout;
  const std::array<std::uint32_t, 6> runs{
      1, 2, l[Dim::pp], l[Dim::cp] * l[Dim::pp], l[Dim::dp], l[Dim::dp] * l[Dim::cp]};
  const std::uint32_t run = runs[dice.roll(0, 5)];
  std::vector<std::uint32_t> order(kDomains);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = kDomains; i-- > 1;) std::swap(order[i], order[dice.roll(0, i)]);
  std::vector<std::uint32_t> out(kDomains, 0);
  std::uint32_t left = t.job.nodes;
  for (const std::uint32_t d : order) {
    std::uint32_t groups = std::min<std::uint32_t>(static_cast<std::uint32_t>(t.free[d].size()), left) / run;
    if (groups > 0 && dice.roll(0, 2) == 0) groups -= dice.roll(0, groups);
    out[d] = groups * run;
    left -= out[d];
  }
  for (const std::uint32_t d : order) {
    const std::uint32_t more = std::min(left, static_cast<std::uint32_t>(t.free[d].size()) - out[d]);
    out[d] += more;
    left -= more;
  }
  return out;
}

void against_draws(benchmark::State& state) {
  const bool pods = state.range(0) == 3;
  const std::uint32_t in_domain = pods ? 32 : 16;
  const auto fabric = fixtures::fat_tree(kDomains * in_domain, pods ? 8 : 16, pods ? 4 : 0);
  double sum = 0, worst = 1, beaten = 0;
  for (auto _ : state) {
    Dice dice(static_cast<std::uint64_t>(state.range(0)));
    for (int i = 0; i < kCases; ++i) {
      const Trial t = random_trial(dice, in_domain);
      const ResolvedJob resolved = take(resolve_job(fabric, t.job));
      const Traffic traffic = take(build_traffic(t.job, resolved.layout));
      const auto cost = [&](const std::vector<std::uint32_t>& counts) {
        Request request{&t.job, resolved.layout, resolved.ranks_per_node, &traffic,
                        NodeMask(fabric.node_count(), false)};
        for (std::uint32_t d = 0; d < kDomains; ++d)
          for (std::uint32_t n = 0; n < counts[d]; ++n) request.free[t.free[d][n]] = true;
        return take(score(fabric, take(place(fabric, request)), traffic)).tier_bytes.back();
      };
      std::vector<std::uint32_t> all;
      for (const auto& free : t.free) all.push_back(static_cast<std::uint32_t>(free.size()));
      const double ours = cost(all);
      double best = ours;
      for (int k = 0; k < kDraws; ++k) best = std::min(best, cost(draw(dice, t)));
      beaten += best < ours * (1 - 1e-9) ? 1 : 0;
      const double ratio = best > 0 ? ours / best : 1;
      sum += ratio;
      worst = std::max(worst, ratio);
    }
  }
  state.counters["cases"] = kCases;
  state.counters["beaten"] = beaten;
  state.counters["mean"] = sum / kCases;
  state.counters["worst"] = worst;
}
BENCHMARK(against_draws)->ArgName("tiers")->Arg(2)->Arg(3)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace weft::placement
