// SPDX-License-Identifier: BSD-3-Clause
//
// Disjoint sets of small numbers.
//
// SOURCE
//   Tarjan, van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM 31 (1984): path halving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weft::placement {

class DisjointSets {
 public:
  /// 0 .. n - 1, each alone.
  explicit DisjointSets(std::size_t n) : up_(n) { std::iota(up_.begin(), up_.end(), 0U); }
  std::uint32_t find(std::uint32_t x) {
    while (up_[x] != x) x = up_[x] = up_[up_[x]];
    return x;
  }
  /// Whether the two were apart.
  bool join(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t from = find(a);
    const std::uint32_t to = find(b);
    up_[from] = to;
    return from != to;
  }

 private:
  std::vector<std::uint32_t> up_;
};

}  // namespace weft::placement
