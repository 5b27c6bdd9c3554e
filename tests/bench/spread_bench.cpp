// SPDX-License-Identifier: BSD-3-Clause
//
// Group spread: plan_spread() against the exact integer program (CBC), and against best fit in node order.
//
// against_program: jobs of 16 to 256 nodes, DP by PP, on pods with random free capacities and random weights. The
// program: x[cell, pod], y[row, pod], z[column, pod] binary; each cell one pod; capacities; x <= y, x <= z; row sums of
// y at most A, column sums of z at most B; least row_weight A + column_weight B, A and B whole. CBC has 10 s a case;
// where it does not finish, its own lower bound stands in for the optimum, so that gaps are at most overstated.
// Counters: proven (cases solved to the end), gap_median_%, gap_p95_%.
//
// against_best_fit: fragmented clusters of 1,024 to 10,240 GPUs, pods of 16 nodes half free at random, jobs of a
// quarter of the free nodes, DP by PP 8; best fit takes the fullest pods and ranks follow the nodes. Counters: fold
// (best fit's weighted maximum over plan_spread's, mean), bound_fold (over the bound's: what could be reached).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "brute_force.hpp"
#include "spread_plan.hpp"

#ifdef WEFT_HAVE_CBC
#include <coin/CbcModel.hpp>
#include <coin/OsiClpSolverInterface.hpp>
#endif

namespace weft::placement {
namespace {

using brute::Dice;

SpreadProblem random_problem(Dice& dice, std::uint32_t nodes) {
  SpreadProblem p;
  const std::array<std::uint32_t, 3> depths{2, 4, 8};
  p.rows = depths[dice.roll(0, 2)];
  p.columns = nodes / p.rows;
  p.row_weight = dice.roll(1, 4);
  p.column_weight = dice.roll(1, 4);
  const std::uint32_t pods = dice.roll(3, 8);
  const std::uint32_t mean = nodes * dice.roll(11, 20) / 10 / pods + 1;
  while (p.capacity.size() < pods || std::accumulate(p.capacity.begin(), p.capacity.end(), 0U) < nodes)
    p.capacity.push_back(dice.roll(std::max(1U, mean / 3), mean * 5 / 3));
  return p;
}

#ifdef WEFT_HAVE_CBC

struct Exact {
  double bound = 0;
  bool proven = false;
};

class Program {
 public:
  explicit Program(const SpreadProblem& p) : p_(p), pods_(static_cast<int>(p.capacity.size())) {
    cells_ = static_cast<int>(p.rows * p.columns);
    y_ = cells_ * pods_;
    z_ = y_ + static_cast<int>(p.rows) * pods_;
    a_ = z_ + static_cast<int>(p.columns) * pods_;
  }

  Exact solve(const SpreadPlan& known) {
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    load(solver);
    CbcModel model(solver);
    model.setLogLevel(0);
    model.setMaximumSeconds(10);
    model.setCutoff(known.cost + 1e-3);
    model.branchAndBound();
    Exact out;
    out.proven = model.isProvenOptimal() || model.isProvenInfeasible();
    out.bound = model.isProvenInfeasible() ? known.cost : std::min(known.cost, model.getBestPossibleObjValue());
    // Costs are sums of the weights: a bound between two of them rounds up to the next.
    double up = known.cost;
    for (std::uint32_t a = 1; a <= p_.columns; ++a)
      for (std::uint32_t b = 1; b <= p_.rows; ++b) {
        const double cost = p_.row_weight * a + p_.column_weight * b;
        if (cost >= out.bound - 1e-6) up = std::min(up, cost);
      }
    out.bound = std::max(up, spread_bound(p_));
    return out;
  }

 private:
  void load(OsiClpSolverInterface& solver) const {
    CoinPackedMatrix empty;
    empty.setDimensions(0, a_ + 2);
    std::vector<double> low(static_cast<std::size_t>(a_) + 2, 0);
    std::vector<double> high(low.size(), 1);
    std::vector<double> cost(low.size(), 0);
    high[static_cast<std::size_t>(a_)] = high[static_cast<std::size_t>(a_) + 1] = pods_;
    cost[static_cast<std::size_t>(a_)] = p_.row_weight;
    cost[static_cast<std::size_t>(a_) + 1] = p_.column_weight;
    solver.loadProblem(empty, low.data(), high.data(), cost.data(), nullptr, nullptr);
    for (int i = 0; i < a_ + 2; ++i) solver.setInteger(i);
    const double inf = solver.getInfinity();
    const int columns = static_cast<int>(p_.columns);
    for (int cell = 0; cell < cells_; ++cell) {
      CoinPackedVector one;
      for (int k = 0; k < pods_; ++k) {
        one.insert(cell * pods_ + k, 1);
        CoinPackedVector in_row;
        in_row.insert(cell * pods_ + k, 1);
        in_row.insert(y_ + cell / columns * pods_ + k, -1);
        solver.addRow(in_row, -inf, 0);
        CoinPackedVector in_column;
        in_column.insert(cell * pods_ + k, 1);
        in_column.insert(z_ + cell % columns * pods_ + k, -1);
        solver.addRow(in_column, -inf, 0);
      }
      solver.addRow(one, 1, 1);
    }
    for (int k = 0; k < pods_; ++k) {
      CoinPackedVector all;
      for (int cell = 0; cell < cells_; ++cell) all.insert(cell * pods_ + k, 1);
      solver.addRow(all, -inf, p_.capacity[static_cast<std::size_t>(k)]);
    }
    for (int r = 0; r < static_cast<int>(p_.rows); ++r) spread(solver, y_ + r * pods_, a_);
    for (int c = 0; c < columns; ++c) spread(solver, z_ + c * pods_, a_ + 1);
  }

  void spread(OsiClpSolverInterface& solver, int first, int limit) const {
    CoinPackedVector sum;
    for (int k = 0; k < pods_; ++k) sum.insert(first + k, 1);
    sum.insert(limit, -1);
    solver.addRow(sum, -solver.getInfinity(), 0);
  }

  const SpreadProblem& p_;
  int pods_, cells_, y_, z_, a_;
};

void against_program(benchmark::State& state) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  std::vector<double> gaps;
  double proven = 0;
  for (auto _ : state) {
    Dice dice(nodes);
    for (int i = 0; i < state.range(1); ++i) {
      const SpreadProblem p = random_problem(dice, nodes);
      const SpreadPlan plan = plan_spread(p);
      // Where the bound is met there is nothing to prove.
      Exact exact{plan.cost, true};
      if (plan.cost > plan.bound + 1e-9) exact = Program(p).solve(plan);
      gaps.push_back(100 * (plan.cost / exact.bound - 1));
      proven += exact.proven ? 1 : 0;
    }
  }
  std::sort(gaps.begin(), gaps.end());
  state.counters["cases"] = static_cast<double>(gaps.size());
  state.counters["proven"] = proven;
  state.counters["gap_median_%"] = gaps[gaps.size() / 2];
  state.counters["gap_p95_%"] = gaps[gaps.size() * 95 / 100];
  state.counters["gap_max_%"] = gaps.back();
}
BENCHMARK(against_program)
    ->Args({16, 40})
    ->Args({32, 40})
    ->Args({64, 40})
    ->Args({128, 20})
    ->Args({256, 20})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

#endif

double cost_of(const SpreadProblem& p, const std::vector<std::uint32_t>& pod_of) {
  std::size_t rows = 0;
  std::size_t columns = 0;
  for (std::uint32_t r = 0; r < p.rows; ++r) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t c = 0; c < p.columns; ++c) seen.insert(pod_of[c + p.columns * r]);
    rows = std::max(rows, seen.size());
  }
  for (std::uint32_t c = 0; c < p.columns; ++c) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t r = 0; r < p.rows; ++r) seen.insert(pod_of[c + p.columns * r]);
    columns = std::max(columns, seen.size());
  }
  return p.row_weight * static_cast<double>(rows) + p.column_weight * static_cast<double>(columns);
}

void against_best_fit(benchmark::State& state) {
  const auto gpus = static_cast<std::uint32_t>(state.range(0));
  double fold = 0;
  double bound = 0;
  double cases = 0;
  for (auto _ : state) {
    Dice dice(gpus);
    for (int i = 0; i < 40; ++i) {
      SpreadProblem p;
      std::uint32_t free = 0;
      for (std::uint32_t pod = 0; pod < gpus / 128; ++pod) {
        std::uint32_t here = 0;
        for (int n = 0; n < 16; ++n) here += dice.roll(0, 1);
        p.capacity.push_back(here);
        free += here;
      }
      p.rows = 8;
      p.columns = std::max(2U, free / 4 / 8);
      p.row_weight = 1;
      p.column_weight = 1;
      std::vector<std::uint32_t> order(p.capacity.size());
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return p.capacity[a] > p.capacity[b]; });
      std::vector<std::uint32_t> in_order;
      std::vector<std::uint32_t> used;
      std::uint32_t held = 0;
      for (std::size_t k = 0; held < p.rows * p.columns; ++k) {
        used.push_back(order[k]);
        held += p.capacity[order[k]];
      }
      std::sort(used.begin(), used.end());
      for (const std::uint32_t pod : used)
        for (std::uint32_t n = 0; n < p.capacity[pod] && in_order.size() < p.rows * p.columns; ++n)
          in_order.push_back(pod);
      const double theirs = cost_of(p, in_order);
      fold += theirs / plan_spread(p).cost;
      bound += theirs / spread_bound(p);
      ++cases;
    }
  }
  state.counters["cases"] = cases;
  state.counters["fold"] = fold / cases;
  state.counters["bound_fold"] = bound / cases;
}
BENCHMARK(against_best_fit)->Arg(1024)->Arg(2048)->Arg(4096)->Arg(10240)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::placement
