// SPDX-License-Identifier: BSD-3-Clause
//
// Group spread: plan_spread() against the exact integer program (CBC), and against best fit in node order.
//
// against_program: jobs of 16 to 256 nodes, DP by PP, on 3 to 8 pods with random free capacities and random weights.
// For each pair of spreads (A, B) that is cheaper than the plan's, cheapest first, a program says whether a plan has
// it: y[row, pod] binary, at most A a row; for each set Z of B pods the number of columns n[Z] that keep to it, whole,
// adding up to the columns; x[row, Z, pod] cells, adding up over the pods of Z to n[Z], over all to at most the pod's
// capacity, none where y is 0. (Whole n and y make x a flow, so that it needs not be asked to be whole; the columns of
// one Z may be any.) The first pair that has a plan is the optimum. A pair that CBC does not decide in 30 s counts as
// one that has a plan, so that gaps are at most overstated. Counters: proven (cases decided), gap_median_%, gap_p95_%.
//
// against_best_fit: fragmented clusters of 1,024 to 10,240 GPUs, pods of 16 nodes half free at random, jobs of a
// quarter of the free nodes, DP by PP 8; best fit takes the fullest pods and ranks follow the nodes. Counters: fold
// (best fit's weighted maximum over plan_spread's, mean), bound_fold (over the bound's: what could be reached).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
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
  double cost = 0;
  bool proven = true;
};

// Whether a plan has at most `a` pods a row and `b` a column.
class Program {
 public:
  enum class Answer { no, yes, unknown };

  Program(const SpreadProblem& p, std::uint32_t a, std::uint32_t b)
      : p_(p), pods_(static_cast<int>(p.capacity.size())), rows_(static_cast<int>(p.rows)), a_(a) {
    for (std::uint32_t z = 0; z < 1U << pods_; ++z)
      if (std::popcount(z) == std::min(static_cast<int>(b), pods_)) sets_.push_back(z);
  }

  Answer solve() const {
    OsiClpSolverInterface solver;
    solver.messageHandler()->setLogLevel(0);
    load(solver);
    CbcModel model(solver);
    model.setLogLevel(0);
    model.setMaximumSeconds(30);
    model.setMaximumSolutions(1);
    model.branchAndBound();
    if (model.getSolutionCount() > 0) return Answer::yes;
    return model.isProvenInfeasible() ? Answer::no : Answer::unknown;
  }

 private:
  // Columns of the program: y by row and pod, n by set, x by row, set and pod.
  [[nodiscard]] int y(int row, int pod) const { return row * pods_ + pod; }
  [[nodiscard]] int n(int set) const { return rows_ * pods_ + set; }
  [[nodiscard]] int x(int row, int set, int pod) const {
    const int sets = static_cast<int>(sets_.size());
    return rows_ * pods_ + sets + (row * sets + set) * pods_ + pod;
  }
  [[nodiscard]] bool in(int set, int pod) const { return (sets_[static_cast<std::size_t>(set)] >> pod & 1U) != 0; }

  void load(OsiClpSolverInterface& solver) const {
    const int sets = static_cast<int>(sets_.size());
    const double inf = solver.getInfinity();
    const auto count = static_cast<std::size_t>(x(rows_, 0, 0));
    const std::vector<double> low(count, 0);
    const std::vector<double> cost(count, 0);
    std::vector<double> high(count, p_.columns);
    for (int i = 0; i < n(0); ++i) high[static_cast<std::size_t>(i)] = 1;
    CoinPackedMatrix empty;
    empty.setDimensions(0, static_cast<int>(count));
    solver.loadProblem(empty, low.data(), high.data(), cost.data(), nullptr, nullptr);
    for (int i = 0; i < n(sets); ++i) solver.setInteger(i);
    CoinPackedVector columns;
    for (int s = 0; s < sets; ++s) columns.insert(n(s), 1);
    solver.addRow(columns, p_.columns, p_.columns);
    for (int r = 0; r < rows_; ++r) {
      CoinPackedVector spread;
      for (int k = 0; k < pods_; ++k) spread.insert(y(r, k), 1);
      solver.addRow(spread, 0, a_);
      for (int s = 0; s < sets; ++s) {
        CoinPackedVector cells;
        for (int k = 0; k < pods_; ++k)
          if (in(s, k)) cells.insert(x(r, s, k), 1);
        cells.insert(n(s), -1);
        solver.addRow(cells, 0, 0);
      }
      for (int k = 0; k < pods_; ++k) {
        CoinPackedVector used;
        for (int s = 0; s < sets; ++s)
          if (in(s, k)) used.insert(x(r, s, k), 1);
        used.insert(y(r, k), -std::min<double>(p_.columns, p_.capacity[static_cast<std::size_t>(k)]));
        solver.addRow(used, -inf, 0);
      }
      if (r == 0) continue;
      // Rows are alike: those of larger sets first.
      CoinPackedVector order;
      for (int k = 0; k < pods_; ++k) {
        order.insert(y(r - 1, k), 1U << k);
        order.insert(y(r, k), -static_cast<double>(1U << k));
      }
      solver.addRow(order, 0, inf);
    }
    for (int k = 0; k < pods_; ++k) {
      CoinPackedVector all;
      for (int r = 0; r < rows_; ++r)
        for (int s = 0; s < sets; ++s)
          if (in(s, k)) all.insert(x(r, s, k), 1);
      solver.addRow(all, -inf, p_.capacity[static_cast<std::size_t>(k)]);
    }
  }

  const SpreadProblem& p_;
  int pods_, rows_;
  std::uint32_t a_;
  std::vector<std::uint32_t> sets_;
};

Exact optimum(const SpreadProblem& p, const SpreadPlan& known) {
  struct Pair {
    double cost;
    std::uint32_t a, b;
  };
  std::vector<Pair> pairs;
  const auto pods = static_cast<std::uint32_t>(p.capacity.size());
  for (std::uint32_t a = 1; a <= std::min(pods, p.columns); ++a)
    for (std::uint32_t b = 1; b <= std::min(pods, p.rows); ++b) {
      const double cost = p.row_weight * a + p.column_weight * b;
      if (cost < known.cost - 1e-9 && cost >= known.bound - 1e-9) pairs.push_back({cost, a, b});
    }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.cost < y.cost; });
  for (const Pair& pair : pairs) {
    const Program::Answer answer = Program(p, pair.a, pair.b).solve();
    if (answer != Program::Answer::no) return {pair.cost, answer == Program::Answer::yes};
  }
  return {known.cost, true};
}

void against_program(benchmark::State& state) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  std::vector<double> gaps;
  double proven = 0;
  for (auto _ : state) {
    Dice dice(nodes);
    for (int i = 0; i < state.range(1); ++i) {
      const SpreadProblem p = random_problem(dice, nodes);
      const SpreadPlan plan = plan_spread(p);
      const Exact exact = optimum(p, plan);
      gaps.push_back(100 * (plan.cost / exact.cost - 1));
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
    ->Args({128, 40})
    ->Args({256, 40})
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
