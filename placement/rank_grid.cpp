// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "weft/placement/traffic.hpp"

namespace weft::placement {

using config::Dim;
using config::Layout;

Result<void> check_layout(const Layout& layout) {
  std::array<bool, config::kDims> seen{};
  for (const Dim d : layout.order) seen[static_cast<std::size_t>(d)] = true;
  if (!std::all_of(seen.begin(), seen.end(), [](bool s) { return s; }))
    return fail(
        error(ErrorCode::bad_value, "layout order does not name every dimension once", "tp, cp, ep, pp and dp"));
  std::uint64_t ranks = 1;
  for (const Dim d : layout.order) {
    if (layout[d] == 0) return fail(error(ErrorCode::bad_value, fmt::format("{} is 0", to_string(d)), "1 or more"));
    if (d != Dim::ep) ranks *= layout[d];
    if (ranks > kMaxRanks)
      return fail(error(ErrorCode::limit, fmt::format("layout has more than {} ranks", kMaxRanks)));
  }
  const std::uint64_t product = std::uint64_t{layout[Dim::dp]} * layout[Dim::cp];
  if (product % layout[Dim::ep] != 0)
    return fail(error(ErrorCode::bad_value, fmt::format("ep {} does not divide dp*cp = {}*{} = {}", layout[Dim::ep],
                                                        layout[Dim::dp], layout[Dim::cp], product)));
  return {};
}

RankGrid::RankGrid(const Layout& layout) : layout_(layout), ranks_(static_cast<std::uint32_t>(layout.ranks())) {
  std::uint32_t stride = 1;
  for (const Dim d : layout_.order) {
    if (d == Dim::ep) continue;
    stride_[static_cast<std::size_t>(d)] = stride;
    stride *= layout_[d];
  }
  const std::uint32_t ep = layout_[Dim::ep];
  if (ep == 1) return;

  // The dp*cp product runs with whichever of the two the order names first as its fast digit; ep groups are its runs.
  const auto dp_at = std::find(layout_.order.begin(), layout_.order.end(), Dim::dp);
  const auto cp_at = std::find(layout_.order.begin(), layout_.order.end(), Dim::cp);
  const Dim fast = dp_at < cp_at ? Dim::dp : Dim::cp;
  const Dim slow = fast == Dim::dp ? Dim::cp : Dim::dp;
  const std::uint32_t product = layout_[fast] * layout_[slow];
  const auto offset = [&](std::uint32_t j) {
    return j % layout_[fast] * stride_[static_cast<std::size_t>(fast)] +
           j / layout_[fast] * stride_[static_cast<std::size_t>(slow)];
  };
  std::vector<std::uint32_t> firsts;  // first rank of every group
  firsts.reserve(ranks_ / ep);
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    if (coordinate(r, Dim::dp) != 0 || coordinate(r, Dim::cp) != 0) continue;
    for (std::uint32_t j = 0; j < product; j += ep) firsts.push_back(r + offset(j));
  }
  std::sort(firsts.begin(), firsts.end());
  ep_members_.reserve(ranks_);
  ep_place_.resize(ranks_);
  for (const std::uint32_t first : firsts) {
    const std::uint32_t j0 = coordinate(first, fast) + coordinate(first, slow) * layout_[fast];
    const std::uint32_t base = first - offset(j0);
    for (std::uint32_t i = 0; i < ep; ++i) {
      const std::uint32_t rank = base + offset(j0 + i);
      ep_place_[rank] = static_cast<std::uint32_t>(ep_members_.size());
      ep_members_.push_back(rank);
    }
  }
}

std::uint32_t RankGrid::coordinate(std::uint32_t rank, Dim dim) const {
  if (layout_[dim] == 1) return 0;
  if (dim == Dim::ep) return ep_place_[rank] % layout_[dim];
  return rank / stride_[static_cast<std::size_t>(dim)] % layout_[dim];
}

std::uint32_t RankGrid::group_of(std::uint32_t rank, Dim dim) const {
  if (layout_[dim] == 1) return rank;
  if (dim == Dim::ep) return ep_place_[rank] / layout_[dim];
  const std::uint32_t stride = stride_[static_cast<std::size_t>(dim)];
  return rank / (stride * layout_[dim]) * stride + rank % stride;
}

std::uint32_t RankGrid::member(Dim dim, std::uint32_t group, std::uint32_t i) const {
  if (layout_[dim] == 1) return group;
  if (dim == Dim::ep) return ep_members_[group * layout_[dim] + i];
  const std::uint32_t stride = stride_[static_cast<std::size_t>(dim)];
  return group / stride * (stride * layout_[dim]) + group % stride + i * stride;
}

void RankGrid::members(Dim dim, std::uint32_t group, std::vector<std::uint32_t>& out) const {
  out.resize(group_size(dim));
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = member(dim, group, i);
}

}  // namespace weft::placement
