// SPDX-License-Identifier: BSD-3-Clause
#include "spread_repair.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace weft::placement {
namespace {

class Repairer {
 public:
  Repairer(const SpreadProblem& problem, std::vector<std::uint32_t> cells, std::uint32_t most_in_row,
           std::uint32_t most_in_column)
      : problem_(problem),
        cells_(std::move(cells)),
        pods_(static_cast<std::uint32_t>(problem.capacity.size())),
        most_{most_in_row, most_in_column},
        free_(problem.capacity),
        count_{std::vector<std::uint32_t>(std::size_t{problem.rows} * pods_, 0),
               std::vector<std::uint32_t>(std::size_t{problem.columns} * pods_, 0)},
        spread_{std::vector<std::uint32_t>(problem.rows, 0), std::vector<std::uint32_t>(problem.columns, 0)} {
    for (std::uint32_t cell = 0; cell < cells_.size(); ++cell) {
      --free_[cells_[cell]];
      for (const std::size_t side : {0, 1}) enter(side, line(side, cell), cells_[cell]);
    }
  }

  std::optional<std::vector<std::uint32_t>> run(std::uint32_t steps) {
    std::mt19937_64 random(1);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (std::uint32_t step = 0; step < steps && excess_ > 0; ++step) {
      const std::uint32_t cell = below(cells_.size());
      if (spread_[0][line(0, cell)] <= most_[0] && spread_[1][line(1, cell)] <= most_[1]) continue;
      // One time in a hundred the step may cost.
      const std::int64_t slack = below(100) == 0 ? 1 : 0;
      const std::int64_t before = excess_;
      const std::uint32_t pod = cells_[cell];
      if (const std::uint32_t to = below(pods_); free_[to] > 0 && to != pod) {
        put(cell, to);
        if (excess_ > before + slack) put(cell, pod);
        continue;
      }
      const std::uint32_t other = below(cells_.size());
      const std::uint32_t its = cells_[other];
      if (its == pod) continue;
      put(cell, its);
      put(other, pod);
      if (excess_ <= before + slack) continue;
      put(other, its);
      put(cell, pod);
    }
    if (excess_ > 0) return std::nullopt;
    return std::move(cells_);
  }

 private:
  // Row (side 0) or column (side 1) of a cell.
  [[nodiscard]] std::uint32_t line(std::size_t side, std::uint32_t cell) const {
    return side == 0 ? cell / problem_.columns : cell % problem_.columns;
  }
  [[nodiscard]] std::int64_t over(std::size_t side, std::uint32_t l) const {
    return std::max<std::int64_t>(0, std::int64_t{spread_[side][l]} - most_[side]);
  }
  void enter(std::size_t side, std::uint32_t l, std::uint32_t pod) {
    if (count_[side][std::size_t{l} * pods_ + pod]++ > 0) return;
    excess_ -= over(side, l);
    ++spread_[side][l];
    excess_ += over(side, l);
  }
  void leave(std::size_t side, std::uint32_t l, std::uint32_t pod) {
    if (--count_[side][std::size_t{l} * pods_ + pod] > 0) return;
    excess_ -= over(side, l);
    --spread_[side][l];
    excess_ += over(side, l);
  }
  void put(std::uint32_t cell, std::uint32_t pod) {
    for (const std::size_t side : {0, 1}) {
      leave(side, line(side, cell), cells_[cell]);
      enter(side, line(side, cell), pod);
    }
    ++free_[cells_[cell]];
    --free_[pod];
    cells_[cell] = pod;
  }

  const SpreadProblem& problem_;
  std::vector<std::uint32_t> cells_;
  std::uint32_t pods_;
  std::array<std::uint32_t, 2> most_;
  std::vector<std::uint32_t> free_;
  std::array<std::vector<std::uint32_t>, 2> count_;  // cells of a line in a pod
  std::array<std::vector<std::uint32_t>, 2> spread_;
  std::int64_t excess_ = 0;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> repair_spread(const SpreadProblem& problem, std::vector<std::uint32_t> cells,
                                                        std::uint32_t most_in_row, std::uint32_t most_in_column,
                                                        std::uint32_t steps) {
  return Repairer(problem, std::move(cells), most_in_row, most_in_column).run(steps);
}

}  // namespace weft::placement
