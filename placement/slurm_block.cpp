// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "slurm_policies.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

class BlockChoice {
 public:
  BlockChoice(const Fabric& fabric, const Eligible& eligible) : required_(eligible.required) {
    level_ = fabric.domain_count(topology::kNvlinkLevel) < fabric.node_count() ? topology::kNvlinkLevel
                                                                               : topology::kLeafLevel;
    blocks_.resize(fabric.domain_count(level_));
    std::vector<std::uint32_t> size(blocks_.size(), 0);
    for (std::uint32_t n = 0; n < fabric.node_count(); ++n) {
      const std::uint32_t b = index(fabric.domain_of(level_, NodeId{n}));
      ++size[b];
      if (eligible.mask[n]) blocks_[b].push_back(NodeId{n});
    }
    block_size_ = *std::min_element(size.begin(), size.end());
    for (const NodeId n : required_) required_block_.push_back(index(fabric.domain_of(level_, n)));
  }

  [[nodiscard]] std::uint32_t block_size() const { return block_size_; }

  // Takes `nodes` nodes; false where Slurm would find none.
  bool choose(std::uint32_t nodes) {
    left_ = nodes;
    if (nodes <= block_size_) return in_one_block(nodes);
    std::uint32_t most = (nodes + block_size_ - 1) / block_size_;
    if (!fits_in(most, nodes)) return false;
    std::vector<bool> used(blocks_.size(), false);
    for (const std::uint32_t b : required_block_)
      if (!used[b]) {
        used[b] = true;
        if (most-- == 0) return false;
      }
    take_required();
    for (std::uint32_t b = 0; b < blocks_.size(); ++b)
      if (used[b]) take(b);
    while (left_ > 0) {
      const auto best = best_block(used);
      if (!best || most == 0) return false;
      used[*best] = true;
      --most;
      take(*best);
    }
    return true;
  }

  std::vector<NodeId> taken;  // in the order of the segments, each in node number order

  void finish_segment(std::size_t begin) { std::sort(taken.begin() + static_cast<std::ptrdiff_t>(begin), taken.end()); }

 private:
  bool in_one_block(std::uint32_t nodes) {
    std::optional<std::uint32_t> best;
    if (!required_block_.empty()) {
      best = required_block_.front();
      const bool same =
          std::all_of(required_block_.begin(), required_block_.end(), [&](std::uint32_t b) { return b == *best; });
      if (!same || blocks_[*best].size() < nodes) return false;
    }
    for (std::uint32_t b = 0; required_block_.empty() && b < blocks_.size(); ++b)
      if (blocks_[b].size() >= nodes && (!best || blocks_[b].size() <= blocks_[*best].size())) best = b;
    if (!best) return false;
    take_required();
    take(*best);
    return left_ == 0;
  }

  [[nodiscard]] bool fits_in(std::uint32_t most, std::uint32_t nodes) const {
    std::vector<std::size_t> counts;
    for (const auto& b : blocks_) counts.push_back(b.size());
    std::sort(counts.begin(), counts.end(), std::greater<>());
    std::uint64_t held = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(most, counts.size()); ++i) held += counts[i];
    return held >= nodes || !required_.empty();
  }

  // The tightest block that holds the rest, else the fullest; the last of equals.
  [[nodiscard]] std::optional<std::uint32_t> best_block(const std::vector<bool>& used) const {
    std::optional<std::uint32_t> best;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (used[b]) continue;
      if (!best) {
        best = b;
        continue;
      }
      const bool fit = blocks_[b].size() >= left_;
      const bool best_fit = blocks_[*best].size() >= left_;
      if (fit != best_fit ? fit
          : fit           ? blocks_[b].size() <= blocks_[*best].size()
                          : blocks_[b].size() >= blocks_[*best].size())
        best = b;
    }
    return best;
  }

  void take_required() {
    for (const NodeId n : required_) {
      taken.push_back(n);
      --left_;
      for (auto& b : blocks_) b.erase(std::remove(b.begin(), b.end(), n), b.end());
    }
  }
  void take(std::uint32_t block) {
    auto& nodes = blocks_[block];
    const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(left_, nodes.size()));
    taken.insert(taken.end(), nodes.begin(), nodes.begin() + count);
    nodes.erase(nodes.begin(), nodes.begin() + count);
    left_ -= static_cast<std::uint32_t>(count);
  }

  std::vector<NodeId> required_;
  std::vector<std::uint32_t> required_block_;
  Level level_ = topology::kLeafLevel;
  std::vector<std::vector<NodeId>> blocks_;  // free nodes, ascending
  std::uint32_t block_size_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace

Result<std::vector<NodeId>> slurm_block(const Fabric& fabric, const Eligible& eligible, std::uint32_t nodes,
                                        std::uint32_t segment) {
  BlockChoice choice(fabric, eligible);
  if (segment > choice.block_size())
    return fail(error(ErrorCode::unsupported, fmt::format("topology/block takes no segments of {} nodes: the smallest "
                                                          "block has {}",
                                                          segment, choice.block_size())));
  if (segment > 0 && segment < nodes && !eligible.required.empty())
    return fail(error(ErrorCode::unsupported, "topology/block does not take required nodes together with segments"));
  const std::uint32_t step = segment > 0 ? segment : nodes;
  for (std::uint32_t done = 0; done < nodes; done += step) {
    const std::size_t begin = choice.taken.size();
    if (!choice.choose(step))
      return fail(error(ErrorCode::infeasible,
                        fmt::format("topology/block finds no {} nodes in {} blocks of {}", step,
                                    (step + choice.block_size() - 1) / choice.block_size(), choice.block_size())));
    choice.finish_segment(begin);
  }
  return std::move(choice.taken);
}

}  // namespace weft::placement
