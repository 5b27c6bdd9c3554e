// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_pass.hpp"

#include <algorithm>
#include <limits>

namespace weft::placement {
namespace {

constexpr std::uint32_t kOut = ~0U;
constexpr std::size_t kMostCells = 1U << 18;  // vertices * parts
constexpr std::size_t kFewCells = 2048;       // of which every step looks at all
constexpr std::size_t kHeads = 8;
constexpr int kMostPasses = 5;
constexpr std::size_t kPatience = 8;  // exchanges without a new best before a pass ends

class Passes {
 public:
  Passes(const NodeGraph& graph, std::span<const std::uint32_t> vertices, std::uint32_t parts,
         std::vector<std::uint32_t>& part_of, const std::vector<std::uint32_t>& local, Budget& budget)
      : graph_(graph),
        vertices_(vertices),
        parts_(parts),
        part_of_(part_of),
        local_(local),
        budget_(budget),
        few_(vertices.size() * parts <= kFewCells),
        bytes_(vertices.size() * parts, 0),
        target_(few_ ? 0 : vertices.size()),
        members_(few_ ? 0 : parts),
        place_(few_ ? 0 : vertices.size()),
        best_(std::size_t{parts} * parts) {
    for (std::uint32_t i = 0; i < vertices.size(); ++i)
      for (const NodeGraph::Half& e : graph.edges(vertices[i]))
        if (local_[e.to] != kOut) bytes_[i * std::size_t{parts_} + part_of_[local_[e.to]]] += e.bytes;
    done_.reserve(vertices.size() / 2);
    if (few_) return;
    for (std::uint32_t i = 0; i < vertices.size(); ++i) {
      place_[i] = static_cast<std::uint32_t>(members_[part_of_[i]].size());
      members_[part_of_[i]].push_back(i);
      aim(i);
    }
  }

  void run() {
    for (int pass = 0; pass < kMostPasses && improve(); ++pass) {
    }
  }

 private:
  struct Exchange {
    std::uint32_t a = 0, b = 0;
  };

  // In edges looked at, by the time that it takes.
  [[nodiscard]] std::uint64_t step_cost() const {
    if (few_) return bytes_.size() / 4 + 1;
    return vertices_.size() / 4 + kHeads * vertices_.size() / parts_ / 4 + std::size_t{parts_} * parts_ / 4;
  }

  // What vertex i saves by going to part p.
  [[nodiscard]] std::int64_t gain(std::uint32_t i, std::uint32_t p) const {
    const std::int64_t* row = &bytes_[i * std::size_t{parts_}];
    return row[p] - row[part_of_[i]];
  }

  bool improve() {
    locked_.assign(vertices_.size(), false);
    done_.clear();
    std::int64_t sum = 0;
    std::int64_t most = 0;
    std::size_t keep = 0;
    while (done_.size() < keep + kPatience && budget_.spend(step_cost())) {
      const auto next = pick();
      if (!next) break;
      const std::uint32_t pa = part_of_[next->a];
      const std::uint32_t pb = part_of_[next->b];
      sum += gain(next->a, pb) + gain(next->b, pa) - 2 * between(next->a, next->b);
      exchange(*next);
      locked_[next->a] = locked_[next->b] = true;
      done_.push_back(*next);
      if (sum > most) {
        most = sum;
        keep = done_.size();
      }
    }
    while (done_.size() > keep) {
      exchange(done_.back());
      done_.pop_back();
    }
    return keep > 0;
  }

  // The pair whose gains add up to the most, what they exchange left aside: of all pairs where they are few, else of
  // the best partners of the vertices that gain most between any two parts.
  [[nodiscard]] std::optional<Exchange> pick() {
    for (Best& b : best_) b = {};
    if (few_) {
      for (std::uint32_t i = 0; i < vertices_.size(); ++i)
        if (!locked_[i]) offer_all(i);
      return best_pair();
    }
    for (std::uint32_t i = 0; i < vertices_.size(); ++i)
      if (!locked_[i]) offer(i, target_[i]);
    heads_.clear();
    for (std::uint32_t k = 0; k < best_.size(); ++k)
      if (best_[k].vertex != kOut) heads_.push_back(k);
    const std::size_t count = std::min(kHeads, heads_.size());
    std::partial_sort(heads_.begin(), heads_.begin() + static_cast<std::ptrdiff_t>(count), heads_.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return best_[a].gain != best_[b].gain ? best_[a].gain > best_[b].gain : a < b;
                      });
    heads_.resize(count);
    for (const std::uint32_t k : heads_) {
      const std::uint32_t to = k % parts_;
      for (const std::uint32_t w : members_[to])
        if (!locked_[w]) offer(w, k / parts_);
    }
    return best_pair();
  }

  void offer(std::uint32_t i, std::uint32_t p) {
    Best& b = best_[part_of_[i] * std::size_t{parts_} + p];
    const std::int64_t g = gain(i, p);
    if (g > b.gain || (g == b.gain && i < b.vertex)) b = {g, i};
  }

  // To every part, its own too, which nobody asks for; vertices come in ascending order, so the first of equals stays.
  void offer_all(std::uint32_t i) {
    const std::int64_t* row = &bytes_[i * std::size_t{parts_}];
    const std::int64_t own = row[part_of_[i]];
    Best* best = &best_[part_of_[i] * std::size_t{parts_}];
    for (std::uint32_t p = 0; p < parts_; ++p)
      if (row[p] - own > best[p].gain) best[p] = {row[p] - own, i};
  }

  [[nodiscard]] std::optional<Exchange> best_pair() const {
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    std::optional<Exchange> out;
    for (std::uint32_t p = 0; p < parts_; ++p)
      for (std::uint32_t q = p + 1; q < parts_; ++q) {
        const Best& a = best_[p * std::size_t{parts_} + q];
        const Best& b = best_[q * std::size_t{parts_} + p];
        if (a.vertex == kOut || b.vertex == kOut || a.gain + b.gain <= most) continue;
        most = a.gain + b.gain;
        out = Exchange{a.vertex, b.vertex};
      }
    return out;
  }

  // The part, not its own, to which a vertex gains most.
  void aim(std::uint32_t i) {
    const std::int64_t* row = &bytes_[i * std::size_t{parts_}];
    std::uint32_t best = part_of_[i] == 0 ? 1 : 0;
    for (std::uint32_t p = 0; p < parts_; ++p)
      if (p != part_of_[i] && row[p] > row[best]) best = p;
    target_[i] = best;
  }

  [[nodiscard]] std::int64_t between(std::uint32_t i, std::uint32_t k) const {
    for (const NodeGraph::Half& e : graph_.edges(vertices_[i]))
      if (e.to == vertices_[k]) return e.bytes;
    return 0;
  }

  void exchange(const Exchange& x) {
    const std::uint32_t pa = part_of_[x.a];
    const std::uint32_t pb = part_of_[x.b];
    move(x.a, pa, pb);
    move(x.b, pb, pa);
    if (few_) return;
    std::swap(members_[pa][place_[x.a]], members_[pb][place_[x.b]]);
    std::swap(place_[x.a], place_[x.b]);
    aim(x.a);
    aim(x.b);
  }

  void move(std::uint32_t i, std::uint32_t from, std::uint32_t to) {
    part_of_[i] = to;
    for (const NodeGraph::Half& e : graph_.edges(vertices_[i])) {
      if (local_[e.to] == kOut) continue;
      std::int64_t* row = &bytes_[local_[e.to] * std::size_t{parts_}];
      row[from] -= e.bytes;
      row[to] += e.bytes;
      if (!few_) aim(local_[e.to]);
    }
  }

  struct Best {
    std::int64_t gain = std::numeric_limits<std::int64_t>::min() / 4;
    std::uint32_t vertex = kOut;
  };

  const NodeGraph& graph_;
  std::span<const std::uint32_t> vertices_;
  std::uint32_t parts_;
  std::vector<std::uint32_t>& part_of_;
  const std::vector<std::uint32_t>& local_;
  Budget& budget_;
  bool few_;  // every step looks at all; what only others need is left empty: target_, members_, place_
  std::vector<std::int64_t> bytes_;    // by vertex and part: bytes exchanged
  std::vector<std::uint32_t> target_;  // of each vertex: the part to which it gains most
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::uint32_t> place_;  // of each vertex among its part's members
  std::vector<char> locked_;
  std::vector<Exchange> done_;  // in this pass
  std::vector<Best> best_;      // by part from and part to: whom it gains most
  std::vector<std::uint32_t> heads_;
};

void enter(std::span<const std::uint32_t> vertices, std::vector<std::uint32_t>& local) {
  for (std::uint32_t i = 0; i < vertices.size(); ++i) local[vertices[i]] = i;
}
void leave(std::span<const std::uint32_t> vertices, std::vector<std::uint32_t>& local) {
  for (const std::uint32_t v : vertices) local[v] = kOut;
}

}  // namespace

void exchange_passes(const NodeGraph& graph, std::span<const std::uint32_t> vertices, std::uint32_t parts,
                     std::vector<std::uint32_t>& part_of, std::vector<std::uint32_t>& local, Budget& budget) {
  if (parts < 2 || vertices.size() * parts > kMostCells) return;
  enter(vertices, local);
  Passes(graph, vertices, parts, part_of, local, budget).run();
  leave(vertices, local);
}

std::int64_t crossing(const NodeGraph& graph, std::span<const std::uint32_t> vertices,
                      const std::vector<std::uint32_t>& part_of, std::vector<std::uint32_t>& local) {
  enter(vertices, local);
  std::int64_t out = 0;
  for (std::uint32_t i = 0; i < vertices.size(); ++i)
    for (const NodeGraph::Half& e : graph.edges(vertices[i]))
      if (local[e.to] != kOut && part_of[i] != part_of[local[e.to]]) out += e.bytes;
  leave(vertices, local);
  return out / 2;
}

}  // namespace weft::placement
