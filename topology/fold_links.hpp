// SPDX-License-Identifier: BSD-3-Clause
//
// The link half of to_spec(): cables into few, readable `links` entries of exactly the same meaning.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "raw_fabric.hpp"
#include "weft/config/fabric_spec.hpp"

namespace weft::topology::fold {

/// A text of names longer than this is cut into several entries where the pattern allows it.
inline constexpr std::size_t kLongText = 400;

/// What cables must share to stand in one entry.
struct Kind {
  Bandwidth bandwidth;
  std::string_view plane;  ///< of the RawFabric, which outlives the folding
  std::uint32_t cables = 1;
  friend auto operator<=>(const Kind&, const Kind&) = default;
};

/// A `links` entry before it is put into words. Ids index the RawFabric's nodes or switches.
struct Entry {
  bool from_nodes = false;
  config::LinkPattern pattern = config::LinkPattern::all;
  Kind kind;
  std::vector<std::uint32_t> nics;  ///< of a node entry; empty = all
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> to;
  std::uint32_t cable = 0;  ///< index of its first cable: its place in the text
};

/// Cables of equal ends as one, the first of them, that counts them. `ends`: what must be equal; `cable` is the order.
template <typename Cable, typename Ends>
[[nodiscard]] std::vector<Cable> merge_parallel(std::vector<Cable> all, Ends ends) {
  std::sort(all.begin(), all.end(), [&](const Cable& a, const Cable& b) {
    return std::tuple(ends(a), a.cable) < std::tuple(ends(b), b.cable);
  });
  std::vector<Cable> merged;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && ends(all[end]) == ends(all[i])) ++end;
    merged.push_back(all[i]);
    merged.back().kind.cables = static_cast<std::uint32_t>(end - i);
    i = end;
  }
  return merged;
}

/// Entries for the cables between nodes and switches.
[[nodiscard]] std::vector<Entry> fold_node_cables(const RawFabric& raw);

/// Entries for the cables between switches, the end nearer to the nodes as `from`.
[[nodiscard]] std::vector<Entry> fold_switch_cables(const RawFabric& raw);

/// Joins entries of one `to` each whose `from` are equally long runs, one after the other, into `split` (`zip` where
/// the runs are of one). Others stay as they are.
[[nodiscard]] std::vector<Entry> join_runs(std::vector<Entry> entries);

/// In words, over-long lists cut.
[[nodiscard]] std::vector<config::LinkSpec> to_links(const RawFabric& raw, const std::vector<Entry>& entries);

/// "0-3,6" of ascending numbers.
[[nodiscard]] std::string index_list(const std::vector<std::uint32_t>& numbers);

}  // namespace weft::topology::fold
