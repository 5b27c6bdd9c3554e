// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace weft::topology {

/// Disjoint sets of switches; a set is called by its smallest member. Tarjan 1975, with path halving.
class Components {
 public:
  explicit Components(std::uint32_t count) : parent_(count) {
    for (std::uint32_t i = 0; i < count; ++i) parent_[i] = i;
  }
  [[nodiscard]] std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a < b) parent_[b] = a;
    if (b < a) parent_[a] = b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace weft::topology
