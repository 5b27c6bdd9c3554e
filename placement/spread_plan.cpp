// SPDX-License-Identifier: BSD-3-Clause
#include "spread_plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "spread.hpp"
#include "spread_repair.hpp"
#include "spread_sets.hpp"

namespace weft::placement {
namespace {

constexpr std::uint32_t kNobody = ~0U;

struct Pair {
  double cost = 0;
  std::uint32_t rows = 0, columns = 0;  // most pods in a row, in a column
};

constexpr std::uint64_t kMostBoundSteps = 4'000'000;

// Whether pods can hold the grid at all: pod p on r_p rows and c_p columns holds at most min(capacity, r_p c_p) cells,
// the r_p add up to at most a times the rows, the c_p to at most b times the columns. The integral form of the product
// bound, by dynamic programming; true where that would take too long.
bool can_hold(const SpreadProblem& problem, std::uint32_t a, std::uint32_t b) {
  const std::size_t most_r = std::size_t{a} * problem.rows;
  const std::size_t most_c = std::size_t{b} * problem.columns;
  std::uint64_t shapes = 0;
  for (const std::uint32_t n : problem.capacity)
    for (std::uint32_t r = 1; r <= std::min(problem.rows, n); ++r) shapes += std::min(problem.columns, (n + r - 1) / r);
  if (shapes * most_r * most_c > kMostBoundSteps) return true;
  std::vector<std::uint32_t> held((most_r + 1) * (most_c + 1), 0);
  for (const std::uint32_t n : problem.capacity)
    for (std::size_t x = most_r; x > 0; --x)
      for (std::size_t y = most_c; y > 0; --y) {
        std::uint32_t& here = held[x * (most_c + 1) + y];
        for (std::uint32_t r = 1; r <= std::min<std::size_t>({problem.rows, n, x}); ++r)
          for (std::uint32_t c = 1; c <= std::min<std::size_t>({problem.columns, (n + r - 1) / r, y}); ++c)
            here = std::max(here, held[(x - r) * (most_c + 1) + y - c] + std::min(n, r * c));
      }
  return held.back() >= std::uint64_t{problem.rows} * problem.columns;
}

// Pairs of spreads that no bound rules out, cheapest first.
std::vector<Pair> pairs(const SpreadProblem& problem) {
  std::vector<std::uint32_t> sorted = problem.capacity;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double cells = static_cast<double>(problem.rows) * problem.columns;
  double sum = 0;
  double left = cells;
  for (const std::uint32_t c : sorted) {
    const double here = std::min<double>(left, c);
    sum += std::sqrt(here);
    left -= here;
  }
  const double product = sum * sum / cells;
  const auto pods =
      static_cast<std::uint32_t>(std::count_if(sorted.begin(), sorted.end(), [](std::uint32_t c) { return c > 0; }));
  std::vector<Pair> out;
  for (std::uint32_t a = fewest_domains(sorted, problem.columns); a <= std::min(pods, problem.columns); ++a)
    for (std::uint32_t b = fewest_domains(sorted, problem.rows); b <= std::min(pods, problem.rows); ++b)
      if (static_cast<double>(a) * b >= product * (1 - 1e-12))
        out.push_back({problem.row_weight * a + problem.column_weight * b, a, b});
  std::stable_sort(out.begin(), out.end(), [](const Pair& x, const Pair& y) {
    return std::tuple(x.cost, x.rows + x.columns, x.rows) < std::tuple(y.cost, y.rows + y.columns, y.rows);
  });
  return out;
}

// One band: rows [first, first + height), its pods in order, and how many cells each gives.
struct Band {
  std::uint32_t first = 0, height = 0;
  std::vector<std::uint32_t> pods;
};

// Bands over the rows of a grid of `rows` by `columns`.
class Bands {
 public:
  Bands(std::uint32_t rows, std::uint32_t columns, const std::vector<std::uint32_t>& capacity)
      : rows_(rows), columns_(columns), left_(capacity) {}

  // `count` bands of at most `most` pods; with `steps` borders may be stepped. Pod of each cell column + columns * row.
  std::optional<std::vector<std::uint32_t>> build(std::uint32_t count, std::uint32_t most, bool steps) {
    if (count == 0 || count > rows_) return std::nullopt;
    std::vector<Band> bands;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      // What is left, shared evenly, or as much as the pods at hand can give, whichever is more.
      const std::uint32_t rows = rows_ - first;
      if (rows == 0) break;
      const std::uint32_t even = (rows + count - i - 1) / (count - i);
      auto band = fill(even, most, steps);
      for (std::uint32_t h = even; h-- > 1 && !band;) band = fill(h, most, steps);
      if (!band) return std::nullopt;
      band->first = first;
      band->height = std::min(stretch(*band, steps), rows);
      first += band->height;
      take(*band, steps);
      bands.push_back(std::move(*band));
    }
    if (first < rows_) return std::nullopt;
    return paint(bands, steps);
  }

 private:
  // Cells that a pod gives to a band of some height.
  [[nodiscard]] std::uint64_t gives(std::uint32_t pod, std::uint32_t height, bool steps) const {
    const std::uint64_t free = left_[pod];
    return steps ? std::min<std::uint64_t>(free, std::uint64_t{height} * columns_) : free / height * height;
  }

  // At most `most` pods that fill a band with the least left over: all but the last the fullest that are not too much,
  // the last the smallest that does.
  [[nodiscard]] std::optional<Band> fill(std::uint32_t height, std::uint32_t most, bool steps) const {
    const std::uint64_t need = std::uint64_t{height} * columns_;
    std::vector<std::uint32_t> order(left_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(gives(a, height, steps), b) > std::tuple(gives(b, height, steps), a);
    });
    std::optional<Band> best;
    std::uint64_t least = 0;
    // The fewest pods first; among the starts in the order of size, the one that wastes least.
    for (std::uint32_t used = 1; used <= most && !best; ++used) {
      for (std::size_t start = 0; start + used <= order.size(); ++start) {
        std::uint64_t sum = 0;
        for (std::size_t i = start; i + 1 < start + used; ++i) sum += gives(order[i], height, steps);
        // The last: the smallest after them that completes the band.
        std::size_t last = kNobody;
        for (std::size_t i = start + used - 1; i < order.size(); ++i)
          if (sum + gives(order[i], height, steps) >= need) last = i;
        if (last == kNobody) break;
        std::uint64_t held = left_[order[last]];
        for (std::size_t i = start; i + 1 < start + used; ++i) held += left_[order[i]];
        if (best && held >= least) continue;
        least = held;
        best = Band{0, height, {}};
        for (std::size_t i = start; i + 1 < start + used; ++i) best->pods.push_back(order[i]);
        best->pods.push_back(order[last]);
      }
    }
    return best;
  }

  // The most rows that a band's pods can fill.
  [[nodiscard]] std::uint32_t stretch(const Band& band, bool steps) const {
    std::uint32_t h = band.height;
    const auto fits = [&](std::uint32_t height) {
      std::uint64_t sum = 0;
      for (const std::uint32_t p : band.pods) sum += gives(p, height, steps);
      return sum >= std::uint64_t{height} * columns_;
    };
    while (h < rows_ && fits(h + 1)) ++h;
    return h;
  }

  // Cells of each pod of a band, those of the last cut to what is needed.
  [[nodiscard]] std::vector<std::uint64_t> shares(const Band& band, bool steps,
                                                  const std::vector<std::uint32_t>& free) const {
    std::vector<std::uint64_t> out;
    std::uint64_t need = std::uint64_t{band.height} * columns_;
    for (const std::uint32_t p : band.pods) {
      const std::uint64_t whole = steps ? free[p] : free[p] / band.height * band.height;
      out.push_back(std::min(need, whole));
      need -= out.back();
    }
    return out;
  }

  void take(Band& band, bool steps) {
    band_shares_.push_back(shares(band, steps, left_));
    for (std::size_t i = 0; i < band.pods.size(); ++i)
      left_[band.pods[i]] -= static_cast<std::uint32_t>(band_shares_.back()[i]);
  }

  // Down the columns of each band, pod after pod. Where borders step, each band starts at another column, so that no
  // column is cut by two of them; nullopt where the columns do not suffice for that.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> paint(const std::vector<Band>& bands, bool steps) const {
    std::vector<std::uint32_t> out(std::size_t{rows_} * columns_, kNobody);
    std::vector<bool> cut(columns_, false);
    for (std::size_t b = 0; b < bands.size(); ++b) {
      const Band& band = bands[b];
      std::uint32_t shift = 0;
      if (steps) {
        std::vector<std::uint32_t> at;  // columns with a step, unshifted
        std::uint64_t cells = 0;
        for (std::size_t i = 0; i + 1 < band.pods.size(); ++i) {
          cells += band_shares_[b][i];
          if (cells % band.height != 0 && cells / band.height < columns_)
            at.push_back(static_cast<std::uint32_t>(cells / band.height));
        }
        const auto clash = [&] {
          return std::any_of(at.begin(), at.end(), [&](std::uint32_t c) { return cut[(c + shift) % columns_]; });
        };
        while (shift < columns_ && clash()) ++shift;
        if (shift == columns_) return std::nullopt;
        for (const std::uint32_t c : at) cut[(c + shift) % columns_] = true;
      }
      std::uint64_t cell = 0;
      for (std::size_t i = 0; i < band.pods.size(); ++i)
        for (std::uint64_t n = 0; n < band_shares_[b][i]; ++n, ++cell) {
          const auto column = static_cast<std::uint32_t>((cell / band.height + shift) % columns_);
          const auto row = static_cast<std::uint32_t>(band.first + cell % band.height);
          out[column + std::size_t{columns_} * row] = band.pods[i];
        }
    }
    return out;
  }

  std::uint32_t rows_, columns_;
  std::vector<std::uint32_t> left_;
  std::vector<std::vector<std::uint64_t>> band_shares_;
};

std::vector<std::uint32_t> turned(const std::vector<std::uint32_t>& cells, std::uint32_t rows, std::uint32_t columns) {
  std::vector<std::uint32_t> out(cells.size());
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t c = 0; c < columns; ++c) out[c + std::size_t{columns} * r] = cells[r + std::size_t{rows} * c];
  return out;
}

// A block of the grid that is still to be shared, and the spreads that are left for it.
struct Block {
  std::uint32_t row = 0, column = 0, rows = 0, columns = 0;
  std::uint32_t most_in_row = 0, most_in_column = 0;
};

// Cuts single pods off a block, as whole columns or whole rows, until bands fill what is left.
class Cutter {
 public:
  Cutter(const SpreadProblem& problem, std::uint32_t most_in_row, std::uint32_t most_in_column)
      : problem_(problem),
        left_(problem.capacity),
        cells_(std::size_t{problem.rows} * problem.columns, kNobody),
        whole_{0, 0, problem.rows, problem.columns, most_in_row, most_in_column} {}

  std::optional<std::vector<std::uint32_t>> run() {
    if (!share(whole_)) return std::nullopt;
    return std::move(cells_);
  }

 private:
  bool share(const Block& b) {
    const std::uint64_t need = std::uint64_t{b.rows} * b.columns;
    if (need == 0) return true;
    if (b.most_in_row == 0 || b.most_in_column == 0 || ++tried_ > kMostTried) return false;
    const std::vector<std::uint32_t> order = largest_first(left_);
    std::uint64_t held = 0;
    const std::size_t usable = std::min<std::size_t>(order.size(), std::size_t{b.most_in_row} * b.most_in_column);
    for (std::size_t i = 0; i < usable; ++i) held += left_[order[i]];
    if (held < need) return false;
    if (bands(b)) return true;
    std::uint32_t before = 0;
    std::uint32_t branches = 0;
    for (const std::uint32_t p : order) {
      if (left_[p] == before || branches == kMostBranches) continue;
      before = left_[p];
      ++branches;
      if (columns_of(b, p) || rows_of(b, p)) return true;
    }
    return false;
  }

  bool bands(const Block& b) {
    using Cells = std::optional<std::vector<std::uint32_t>>;
    const auto across = [&](std::uint32_t count, bool steps) -> Cells {
      return Bands(b.rows, b.columns, left_).build(count, b.most_in_row, steps);
    };
    const auto down = [&](std::uint32_t count, bool steps) -> Cells {
      auto cells = Bands(b.columns, b.rows, left_).build(count, b.most_in_column, steps);
      if (cells) cells = turned(*cells, b.rows, b.columns);
      return cells;
    };
    Cells found = across(b.most_in_column, false);
    if (!found) found = down(b.most_in_row, false);
    if (!found && b.most_in_column > 1) found = across(b.most_in_column - 1, true);
    if (!found && b.most_in_row > 1) found = down(b.most_in_row - 1, true);
    if (!found) return false;
    for (std::uint32_t r = 0; r < b.rows; ++r)
      for (std::uint32_t c = 0; c < b.columns; ++c) {
        const std::uint32_t pod = (*found)[c + std::size_t{b.columns} * r];
        cells_[b.column + c + std::size_t{problem_.columns} * (b.row + r)] = pod;
      }
    return true;
  }

  // Pod `p` takes as many whole columns of the block as it can.
  bool columns_of(const Block& b, std::uint32_t p) {
    const std::uint32_t width = std::min(b.columns, left_[p] / b.rows);
    if (width == 0) return false;
    left_[p] -= width * b.rows;
    Block rest = b;
    rest.column += width;
    rest.columns -= width;
    --rest.most_in_row;
    const std::uint32_t spare = std::exchange(left_[p], 0);  // a second block of it would count again
    const bool done = share(rest);
    left_[p] = spare + width * b.rows;
    if (done) paint({b.row, b.column, b.rows, width, 0, 0}, p);
    return done;
  }
  bool rows_of(const Block& b, std::uint32_t p) {
    const std::uint32_t height = std::min(b.rows, left_[p] / b.columns);
    if (height == 0) return false;
    Block rest = b;
    rest.row += height;
    rest.rows -= height;
    --rest.most_in_column;
    const std::uint32_t all = std::exchange(left_[p], 0);
    const bool done = share(rest);
    left_[p] = all;
    if (done) paint({b.row, b.column, height, b.columns, 0, 0}, p);
    return done;
  }
  void paint(const Block& b, std::uint32_t pod) {
    for (std::uint32_t r = 0; r < b.rows; ++r)
      for (std::uint32_t c = 0; c < b.columns; ++c)
        cells_[b.column + c + std::size_t{problem_.columns} * (b.row + r)] = pod;
  }

  static constexpr std::uint32_t kMostTried = 600;
  static constexpr std::uint32_t kMostBranches = 8;

  const SpreadProblem& problem_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint32_t> cells_;
  Block whole_;
  std::uint32_t tried_ = 0;
};

constexpr std::uint32_t kRepairSteps = 300'000;
constexpr std::uint32_t kSetSteps = 5'000;
constexpr std::size_t kMostRepaired = 4096;  // cells

void measure(const SpreadProblem& problem, SpreadPlan& plan) {
  plan.row_spread = plan.column_spread = 0;
  std::set<std::uint32_t> seen;
  for (std::uint32_t r = 0; r < problem.rows; ++r) {
    seen.clear();
    for (std::uint32_t c = 0; c < problem.columns; ++c) seen.insert(plan.pod_of[c + std::size_t{problem.columns} * r]);
    plan.row_spread = std::max(plan.row_spread, static_cast<std::uint32_t>(seen.size()));
  }
  for (std::uint32_t c = 0; c < problem.columns; ++c) {
    seen.clear();
    for (std::uint32_t r = 0; r < problem.rows; ++r) seen.insert(plan.pod_of[c + std::size_t{problem.columns} * r]);
    plan.column_spread = std::max(plan.column_spread, static_cast<std::uint32_t>(seen.size()));
  }
  plan.cost = problem.row_weight * plan.row_spread + problem.column_weight * plan.column_spread;
}

}  // namespace

double spread_bound(const SpreadProblem& problem) {
  for (const Pair& p : pairs(problem))
    if (can_hold(problem, p.rows, p.columns)) return p.cost;
  return 0;
}

SpreadPlan plan_spread(const SpreadProblem& problem) {
  SpreadPlan best;
  bool found = false;
  const auto offer = [&](std::optional<std::vector<std::uint32_t>> cells) {
    if (!cells) return;
    SpreadPlan plan;
    plan.pod_of = std::move(*cells);
    measure(problem, plan);
    if (found && plan.cost >= best.cost) return;
    best = std::move(plan);
    found = true;
  };
  for (const Pair& p : pairs(problem)) {
    if (found && p.cost >= best.cost) break;
    if (!can_hold(problem, p.rows, p.columns)) continue;
    offer(Cutter(problem, p.rows, p.columns).run());
  }
  best.bound = spread_bound(problem);
  if (found && best.pod_of.size() <= kMostRepaired) {
    const SpreadPlan start = best;
    for (const Pair& p : pairs(problem)) {
      if (p.cost >= best.cost) break;
      if (!can_hold(problem, p.rows, p.columns)) continue;
      offer(spread_by_sets(problem, p.rows, p.columns, kSetSteps));
      if (p.cost < best.cost) offer(repair_spread(problem, start.pod_of, p.rows, p.columns, kRepairSteps));
    }
    best.bound = start.bound;
  }
  if (found) return best;
  // Row by row over the pods, fullest first: always possible.
  const std::size_t cells = std::size_t{problem.rows} * problem.columns;
  for (const std::uint32_t p : largest_first(problem.capacity))
    for (std::uint32_t n = 0; n < problem.capacity[p] && best.pod_of.size() < cells; ++n) best.pod_of.push_back(p);
  measure(problem, best);
  return best;
}

}  // namespace weft::placement
