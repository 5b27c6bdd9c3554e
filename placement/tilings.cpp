// SPDX-License-Identifier: BSD-3-Clause
#include "tilings.hpp"

#include <algorithm>
#include <numeric>

namespace weft::placement {
namespace {

using Box = std::vector<std::uint32_t>;

std::uint32_t volume(const Box& box) { return std::accumulate(box.begin(), box.end(), 1U, std::multiplies<>()); }

std::vector<std::uint32_t> divisors(std::uint32_t n) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t d = 1; d <= n; ++d)
    if (n % d == 0) out.push_back(d);
  return out;
}

class Tiler {
 public:
  Tiler(const NodeGrid& grid, std::span<const std::uint32_t> fills, std::uint32_t run, std::size_t limit)
      : grid_(grid), fills_(fills.begin(), fills.end()), run_(run), limit_(limit) {}

  std::vector<std::vector<std::uint32_t>> all() {
    std::vector<std::uint32_t> plain(volume(grid_.extent));
    std::iota(plain.begin(), plain.end(), 0U);
    out_.push_back(std::move(plain));
    if (grid_.extent.size() > 1) {
      add_lines();
      choose_level(0);
    }
    return std::move(out_);
  }

 private:
  // Boxes for level `at`, given those below it; then the tilings that they make.
  void choose_level(std::size_t at) {
    if (out_.size() >= limit_) return;
    if (at == fills_.size()) {
      add_orders();
      return;
    }
    const Box inner = boxes_.empty() ? Box(grid_.extent.size(), 1) : boxes_.back();
    std::vector<Box> fitting;
    Box box = inner;
    extend(inner, box, 0, fills_[at], fitting);
    // Fullest first, then those with the least surface.
    std::stable_sort(fitting.begin(), fitting.end(), [](const Box& a, const Box& b) {
      if (volume(a) != volume(b)) return volume(a) > volume(b);
      return std::accumulate(a.begin(), a.end(), 0U) < std::accumulate(b.begin(), b.end(), 0U);
    });
    for (const Box& b : fitting) {
      boxes_.push_back(b);
      choose_level(at + 1);
      boxes_.pop_back();
    }
  }

  // Boxes that are multiples of `inner`, divide the grid and hold from half of `fill` (exclusive) up to `fill`.
  void extend(const Box& inner, Box& box, std::size_t d, std::uint32_t fill, std::vector<Box>& out) const {
    if (d == box.size()) {
      if (volume(box) * 2 > fill) out.push_back(box);
      return;
    }
    for (const std::uint32_t factor : divisors(grid_.extent[d] / inner[d])) {
      box[d] = inner[d] * factor;
      // What follows holds at least `inner`.
      if (volume(box) > fill) break;
      extend(inner, box, d + 1, fill, out);
    }
    box[d] = inner[d];
  }

  // The chosen boxes, the ones of each level counted with the innermost dimension fastest, and with it slowest.
  void add_orders() {
    for (const bool reversed : {false, true}) {
      if (out_.size() >= limit_) return;
      add(positions(reversed));
    }
  }

  // Groups of one dimension, or of all but one, one after the other: for places that are counted in such groups.
  void add_lines() {
    std::vector<std::size_t> dims(grid_.extent.size());
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    for (std::size_t d = 0; d < dims.size(); ++d)
      for (const bool first : {true, false}) {
        std::vector<std::size_t> turned = dims;
        turned.erase(turned.begin() + static_cast<std::ptrdiff_t>(d));
        turned.insert(first ? turned.begin() : turned.end(), d);
        std::vector<std::vector<std::uint32_t>> adds(dims.size());
        std::uint32_t stride = 1;
        for (const std::size_t k : turned) {
          for (std::uint32_t at = 0; at < grid_.extent[k]; ++at) adds[k].push_back(at * stride);
          stride *= grid_.extent[k];
        }
        add(summed(adds));
      }
  }

  void add(std::vector<std::uint32_t> order) {
    if (out_.size() >= limit_ || (run_ > 1 && !keeps_runs(order))) return;
    if (std::find(out_.begin(), out_.end(), order) == out_.end()) out_.push_back(std::move(order));
  }

  // A position is a sum over the dimensions: of each, what its coordinate adds at every level.
  [[nodiscard]] std::vector<std::uint32_t> positions(bool reversed) const {
    const std::size_t dims = grid_.extent.size();
    std::vector<std::vector<std::uint32_t>> adds(dims);
    for (std::size_t d = 0; d < dims; ++d) adds[d].assign(grid_.extent[d], 0);
    std::uint32_t stride = 1;  // places in a box of the level below
    for (std::size_t level = 0; level <= boxes_.size(); ++level) {
      const Box& outer = level == boxes_.size() ? grid_.extent : boxes_[level];
      for (std::size_t i = 0; i < dims; ++i) {
        const std::size_t d = reversed && level == boxes_.size() ? dims - 1 - i : i;
        const std::uint32_t inner = level == 0 ? 1 : boxes_[level - 1][d];
        for (std::uint32_t at = 0; at < grid_.extent[d]; ++at) adds[d][at] += at % outer[d] / inner * stride;
        stride *= outer[d] / inner;
      }
    }
    return summed(adds);
  }

  // Of each node of the grid: what its coordinates add.
  [[nodiscard]] std::vector<std::uint32_t> summed(const std::vector<std::vector<std::uint32_t>>& adds) const {
    std::vector<std::uint32_t> out(1, 0);
    out.reserve(volume(grid_.extent));
    for (std::size_t d = 0; d < adds.size(); ++d) {
      const std::size_t below = out.size();
      for (std::uint32_t at = 1; at < grid_.extent[d]; ++at)
        for (std::size_t v = 0; v < below; ++v) out.push_back(out[v] + adds[d][at]);
    }
    return out;
  }

  [[nodiscard]] bool keeps_runs(const std::vector<std::uint32_t>& order) const {
    for (std::size_t v = 0; v < order.size(); ++v)
      if (order[v] / run_ != order[v / run_ * run_] / run_) return false;
    return true;
  }

  const NodeGrid& grid_;
  std::vector<std::uint32_t> fills_;
  std::uint32_t run_;
  std::size_t limit_;
  std::vector<Box> boxes_;
  std::vector<std::vector<std::uint32_t>> out_;
};

}  // namespace

std::optional<NodeGrid> node_grid(const config::Layout& layout, std::uint32_t ranks_per_node) {
  NodeGrid out;
  std::uint32_t inside = ranks_per_node;
  for (const config::Dim d : layout.order) {
    if (d == config::Dim::ep) continue;
    const std::uint32_t size = layout[d];
    const std::uint32_t here = std::min(inside, size);
    if (size % here != 0 || inside % here != 0) return std::nullopt;
    inside /= here;
    if (size == here) continue;
    out.extent.push_back(size / here);
    out.dim.push_back(d);
    out.whole.push_back(size);
  }
  return out;
}

std::vector<std::vector<std::uint32_t>> tilings(const NodeGrid& grid, std::span<const std::uint32_t> fills,
                                                std::uint32_t run, std::size_t limit) {
  return Tiler(grid, fills, run, limit).all();
}

}  // namespace weft::placement
