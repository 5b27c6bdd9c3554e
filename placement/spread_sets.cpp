// SPDX-License-Identifier: BSD-3-Clause
#include "spread_sets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>

#include "spread.hpp"

namespace weft::placement {
namespace {

using Pods = std::uint32_t;  // a set of pods, a bit each
constexpr std::size_t kMostPods = 8;

// Deals out cells, so many of each set of pods that they may lie in.
class Deal {
 public:
  Deal(const std::vector<std::uint32_t>& cells, std::vector<std::uint32_t> capacity)
      : capacity_(std::move(capacity)), cells_(cells.size(), std::vector<std::uint32_t>(capacity_.size(), 0)) {
    for (Pods set = 0; set < cells.size(); ++set)
      for (std::uint32_t n = 0; n < cells[set]; ++n) whole_ = whole_ && augment(set);
  }
  [[nodiscard]] bool whole() const { return whole_; }
  /// The pod of the next cell of `set`.
  std::uint32_t next(Pods set) {
    std::uint32_t pod = 0;
    while (cells_[set][pod] == 0) ++pod;
    --cells_[set][pod];
    return pod;
  }

 private:
  // One more cell of `set`, if need be by moving a cell of another set on, and so on.
  bool augment(Pods set) {
    constexpr std::uint32_t kNone = ~0U;
    struct Step {
      std::uint32_t from_pod = kNone;
      Pods of = 0;
      bool seen = false;
    };
    std::vector<Step> step(capacity_.size());
    std::vector<std::uint32_t> queue;
    const auto reach = [&](Pods of, std::uint32_t from_pod) {
      for (std::uint32_t pod = 0; pod < capacity_.size(); ++pod)
        if ((of >> pod & 1U) != 0 && !step[pod].seen) {
          step[pod] = {from_pod, of, true};
          queue.push_back(pod);
        }
    };
    reach(set, kNone);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      std::uint32_t pod = queue[head];
      if (capacity_[pod] > 0) {
        --capacity_[pod];
        for (; pod != kNone; pod = step[pod].from_pod) {
          ++cells_[step[pod].of][pod];
          if (step[pod].from_pod != kNone) --cells_[step[pod].of][step[pod].from_pod];
        }
        return true;
      }
      for (Pods other = 0; other < cells_.size(); ++other)
        if (cells_[other][pod] > 0) reach(other, pod);
    }
    return false;
  }

  std::vector<std::uint32_t> capacity_;
  std::vector<std::vector<std::uint32_t>> cells_;  // by set and pod
  bool whole_ = true;
};

// Rows are side 0, columns side 1.
class SetSearch {
 public:
  SetSearch(const SpreadProblem& problem, std::array<std::uint32_t, 2> most) : lines_{problem.rows, problem.columns} {
    pods_ = largest_first(problem.capacity);
    pods_.resize(std::min(pods_.size(), kMostPods));
    for (const std::uint32_t p : pods_) capacity_.push_back(problem.capacity[p]);
    for (const std::size_t side : {0, 1}) {
      const auto size = std::min<std::size_t>(most[side], pods_.size());
      for (Pods set = 0; set < sets(); ++set)
        if (std::popcount(set) == static_cast<int>(size)) choices_[side].push_back(set);
    }
  }

  std::optional<std::vector<std::uint32_t>> run(std::uint32_t steps) {
    if (std::accumulate(capacity_.begin(), capacity_.end(), std::uint64_t{0}) < std::uint64_t{lines_[0]} * lines_[1])
      return std::nullopt;
    start();
    for (std::uint32_t step = 0; step < steps && excess_ > 0; ++step) {
      const std::uint32_t drawn = below(lines_[0] + lines_[1]);
      const std::size_t side = drawn < lines_[0] ? 0 : 1;
      improve(side, side == 0 ? drawn : drawn - lines_[0]);
    }
    if (excess_ > 0) return std::nullopt;
    return deal();
  }

 private:
  [[nodiscard]] Pods sets() const { return Pods{1} << pods_.size(); }
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void start() {
    over_.assign(sets(), 0);
    for (Pods within = 0; within < sets(); ++within)
      for (std::size_t p = 0; p < pods_.size(); ++p)
        if ((within >> p & 1U) != 0) over_[within] -= static_cast<std::int32_t>(capacity_[p]);
    for (const std::size_t side : {0, 1}) {
      set_of_[side].resize(lines_[side]);
      for (Pods& set : set_of_[side]) set = choices_[side][below(choices_[side].size())];
      confined_[side].assign(choices_[side].size(), std::vector<std::int32_t>(sets(), 0));
    }
    for (const Pods row : set_of_[0]) count(1, row, 1);
    for (const Pods column : set_of_[1]) {
      count(0, column, 1);
      for (const Pods row : set_of_[0]) confine(row & column, 1, over_);
    }
    excess_ = excess_with(over_);
  }

  // Adds to every set of pods around `inside`.
  void confine(Pods inside, std::int32_t cells, std::vector<std::int32_t>& to) const {
    for (Pods within = 0; within < sets(); ++within) to[within] += (inside & ~within) == 0 ? cells : 0;
  }
  // A line of the other side has `set`, or has it no more: what that means to the choices of `side`.
  void count(std::size_t side, Pods set, std::int32_t cells) {
    for (std::size_t i = 0; i < choices_[side].size(); ++i) confine(choices_[side][i] & set, cells, confined_[side][i]);
  }
  static std::int64_t excess_with(const std::vector<std::int32_t>& over) {
    std::int64_t sum = 0;
    for (const std::int32_t o : over) sum += std::max(o, 0);
    return sum;
  }

  void improve(std::size_t side, std::uint32_t line) {
    const auto& choices = choices_[side];
    const Pods now = set_of_[side][line];
    const auto at = static_cast<std::size_t>(std::lower_bound(choices.begin(), choices.end(), now) - choices.begin());
    std::size_t best = at;
    std::int64_t least = 0;
    if (below(kNoise) == 0) {
      best = below(choices.size());
    } else {
      std::uint32_t ties = 0;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (i == at) continue;
        std::int64_t sum = 0;
        for (Pods s = 0; s < sets(); ++s) sum += std::max(over_[s] + confined_[side][i][s] - confined_[side][at][s], 0);
        if (ties > 0 && sum > least) continue;
        ties = ties > 0 && sum == least ? ties + 1 : 1;
        if (ties == 1 || below(ties) == 0) best = i;
        least = sum;
      }
      if (ties == 0 || least > excess_) return;
    }
    for (Pods s = 0; s < sets(); ++s) over_[s] += confined_[side][best][s] - confined_[side][at][s];
    excess_ = excess_with(over_);
    count(1 - side, now, -1);
    count(1 - side, choices[best], 1);
    set_of_[side][line] = choices[best];
  }

  std::optional<std::vector<std::uint32_t>> deal() const {
    std::vector<std::uint32_t> cells(sets(), 0);
    for (const Pods row : set_of_[0])
      for (const Pods column : set_of_[1]) ++cells[row & column];
    Deal dealt(cells, capacity_);
    if (!dealt.whole()) return std::nullopt;
    std::vector<std::uint32_t> out;
    for (const Pods row : set_of_[0])
      for (const Pods column : set_of_[1]) out.push_back(pods_[dealt.next(row & column)]);
    return out;
  }

  static constexpr std::uint32_t kNoise = 50;

  std::array<std::uint32_t, 2> lines_;
  std::vector<std::uint32_t> pods_, capacity_;                      // fullest first
  std::array<std::vector<Pods>, 2> choices_, set_of_;               // by side: the sets of a line, the set of each line
  std::array<std::vector<std::vector<std::int32_t>>, 2> confined_;  // by side, choice, set around: cells of such a line
  std::vector<std::int32_t> over_;  // by set of pods: cells confined to it, less what it holds
  std::int64_t excess_ = 0;
  std::mt19937_64 random_{1};
};

}  // namespace

std::optional<std::vector<std::uint32_t>> spread_by_sets(const SpreadProblem& problem, std::uint32_t most_in_row,
                                                         std::uint32_t most_in_column, std::uint32_t steps) {
  return SetSearch(problem, {most_in_row, most_in_column}).run(steps);
}

}  // namespace weft::placement
