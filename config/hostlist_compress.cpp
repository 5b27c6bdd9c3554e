// SPDX-License-Identifier: BSD-3-Clause
//
// Folding names into brackets, in two greedy passes over neighbours. Names keep their order, so only neighbours may
// fold; and since the last bracket of a hostlist runs fastest, the second pass may only add a bracket before the first.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "weft/config/hostlist.hpp"

namespace weft::config {
namespace {

constexpr std::size_t kMaxDigits = 18;  // longer runs of digits stay literal: expand_hostlist refuses them in brackets

struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A name and its runs of digits.
struct Split {
  std::string_view name;
  std::vector<Run> runs;
  [[nodiscard]] std::string_view run(std::size_t i) const {
    return name.substr(runs[i].begin, runs[i].end - runs[i].begin);
  }
  // The literal before run i, or after the last.
  [[nodiscard]] std::string_view gap(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : runs[i - 1].end;
    return name.substr(begin, (i == runs.size() ? name.size() : runs[i].begin) - begin);
  }
};

void split(std::string_view name, Split& out) {
  out.name = name;
  out.runs.clear();
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9') continue;
    const std::size_t begin = i;
    while (i < name.size() && name[i] >= '0' && name[i] <= '9') ++i;
    if (i - begin <= kMaxDigits) out.runs.push_back({begin, i});
  }
}

// Whether the names are the same but for run numbers; `differ` collects the runs that are not equal, at most two.
bool same_shape(const Split& a, const Split& b, std::vector<std::size_t>& differ) {
  differ.clear();
  if (a.runs.size() != b.runs.size()) return false;
  for (std::size_t i = 0; i <= a.runs.size(); ++i) {
    if (a.gap(i) != b.gap(i)) return false;
    if (i == a.runs.size() || a.run(i) == b.run(i)) continue;
    if (differ.size() == 2) return false;
    differ.push_back(i);
  }
  return true;
}

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

// "1-3,7,09-12" from numbers as they come.
class Ranges {
 public:
  explicit Ranges(std::string_view first) { start(first); }
  void add(std::string_view digits) {
    const std::uint64_t value = number(digits);
    if (value == high_ + 1 && pads_to(digits, value)) {
      high_ = value;
      last_ = digits;
      return;
    }
    flush();
    text_ += ',';
    start(digits);
  }
  [[nodiscard]] std::string text() {
    flush();
    return text_;
  }

 private:
  void start(std::string_view digits) {
    low_ = last_ = digits;
    high_ = number(digits);
  }
  void flush() {
    text_ += low_;
    if (last_ != low_) {
      text_ += '-';
      text_ += last_;
    }
  }
  // Whether `digits` is how `value` looks when padded to the width of the low end.
  [[nodiscard]] bool pads_to(std::string_view digits, std::uint64_t value) const {
    return digits.size() == std::max(low_.size(), std::to_string(value).size());
  }

  std::string text_;
  std::string_view low_;
  std::string_view last_;
  std::uint64_t high_ = 0;
};

// Neighbours folded by one run: `first` stands for all but that run.
struct Folded {
  Split first;
  std::optional<std::size_t> run;
  std::string bracket;  // without the brackets
};

// Whether `next` differs from `first` in at most the run `only`.
bool differs_only_in(const Split& first, const Split& next, std::size_t only, std::vector<std::size_t>& differ) {
  return same_shape(first, next, differ) && (differ.empty() || (differ.size() == 1 && differ[0] == only));
}

std::vector<Folded> fold_neighbours(std::span<const std::string> names) {
  std::vector<Folded> out;
  std::vector<std::size_t> differ;
  Split next;
  for (std::size_t i = 0; i < names.size();) {
    Folded item;
    split(names[i++], item.first);
    if (i < names.size()) split(names[i], next);
    const bool foldable =
        i < names.size() && !item.first.runs.empty() && same_shape(item.first, next, differ) && differ.size() <= 1;
    if (foldable) {
      const std::size_t run = differ.empty() ? item.first.runs.size() - 1 : differ[0];
      Ranges ranges(item.first.run(run));
      while (i < names.size()) {
        split(names[i], next);
        if (!differs_only_in(item.first, next, run, differ)) break;
        ranges.add(next.run(run));
        ++i;
      }
      item.run = run;
      item.bracket = ranges.text();
    }
    out.push_back(std::move(item));
  }
  return out;
}

void append(std::string& out, const Folded& item, std::optional<std::size_t> outer, const std::string& outer_ranges) {
  if (!out.empty()) out += ',';
  const Split& name = item.first;
  for (std::size_t i = 0; i <= name.runs.size(); ++i) {
    out += name.gap(i);
    if (i == name.runs.size()) break;
    if (outer && i == *outer) {
      out += '[' + outer_ranges + ']';
    } else if (item.run && i == *item.run) {
      out += '[' + item.bracket + ']';
    } else {
      out += name.run(i);
    }
  }
}

// The run in which b differs from a where that is the only one besides the folded run and stands before it.
std::optional<std::size_t> outer_run(const Folded& a, const Folded& b, std::vector<std::size_t>& differ) {
  if (!a.run || a.run != b.run || a.bracket != b.bracket || !same_shape(a.first, b.first, differ)) return std::nullopt;
  std::optional<std::size_t> outer;
  for (const std::size_t run : differ) {
    if (run == *a.run) continue;
    if (outer || run > *a.run) return std::nullopt;
    outer = run;
  }
  return outer;
}

}  // namespace

std::string compress_hostlist(std::span<const std::string> names) {
  const std::vector<Folded> items = fold_neighbours(names);
  std::string out;
  std::vector<std::size_t> differ;
  for (std::size_t i = 0; i < items.size();) {
    const Folded& first = items[i++];
    const std::optional<std::size_t> outer = i < items.size() ? outer_run(first, items[i], differ) : std::nullopt;
    if (!outer) {
      append(out, first, std::nullopt, {});
      continue;
    }
    Ranges ranges(first.first.run(*outer));
    while (i < items.size() && outer_run(first, items[i], differ) == outer) ranges.add(items[i++].first.run(*outer));
    append(out, first, outer, ranges.text());
  }
  return out;
}

}  // namespace weft::config
