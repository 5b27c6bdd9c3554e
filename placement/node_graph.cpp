// SPDX-License-Identifier: BSD-3-Clause
#include "node_graph.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace weft::placement {
namespace {

// Longest path counted in hops when sums are kept below 2^62.
constexpr double kMostHops = 64;

// One flow between nodes, kept under its lower vertex.
struct Record {
  std::uint32_t high = 0;
  std::uint32_t lane = 0;
  std::int64_t bytes = 0;
};

class Builder {
 public:
  explicit Builder(const Traffic& traffic) : traffic_(traffic), per_node_(traffic.ranks_per_node) {
    out_.nodes = traffic.ranks() / per_node_;
    seat_.reserve(traffic.ranks());
    for (std::uint32_t node = 0; node < out_.nodes; ++node)
      for (std::uint32_t gpu = 0; gpu < per_node_; ++gpu) seat_.push_back({node, gpu});
  }

  NodeGraph build() {
    choose_scale();
    bucket();
    fold();
    connect();
    return std::move(out_);
  }

 private:
  template <typename Visit>
  void each_flow(Visit&& visit) const {
    std::vector<std::uint32_t> members;
    std::vector<std::int64_t> bytes;
    for (const TrafficTermFlows& term : traffic_.terms) {
      const config::Dim dim = term.term.dim;
      const Shape* known = nullptr;
      for (std::uint32_t g = 0; g < traffic_.grid.group_count(dim); ++g) {
        const Shape& shape = term.shape(g);
        if (shape.edges.empty()) continue;
        if (known != &shape) {
          known = &shape;
          bytes.clear();
          for (const ShapeEdge& e : shape.edges)
            bytes.push_back(units(edge_bytes(e.units, term.term.bytes, shape.denominator)));
        }
        traffic_.grid.members(dim, g, members);
        for (std::size_t i = 0; i < shape.edges.size(); ++i)
          visit(members[shape.edges[i].from], members[shape.edges[i].to], bytes[i]);
      }
    }
    for (const RankFlow& f : traffic_.direct) visit(f.from, f.to, units(static_cast<double>(f.bytes)));
  }

  [[nodiscard]] std::int64_t units(double bytes) const { return std::llround(bytes * out_.scale); }

  void choose_scale() {
    double total = 0;
    for (const TrafficTermFlows& term : traffic_.terms)
      for (const Shape& s : term.shapes) {
        double one = 0;
        for (const ShapeEdge& e : s.edges) one += edge_bytes(e.units, term.term.bytes, s.denominator);
        total += one * traffic_.grid.group_count(term.term.dim);
      }
    for (const RankFlow& f : traffic_.direct) total += static_cast<double>(f.bytes);
    out_.scale = 256;
    while (total * kMostHops * out_.scale >= 0x1p61) out_.scale /= 2;
  }

  // A lane's provisional number; build() keeps only those in use.
  [[nodiscard]] std::uint32_t lane_of(std::uint32_t low, std::uint32_t high, bool up) const {
    return (low * per_node_ + high) * 2 + (up ? 0 : 1);
  }

  void bucket() {
    at_.assign(out_.nodes + std::size_t{1}, 0);
    each_flow([&](std::uint32_t from, std::uint32_t to, std::int64_t) {
      const std::uint32_t a = seat_[from].node;
      const std::uint32_t b = seat_[to].node;
      if (a != b) ++at_[std::min(a, b) + std::size_t{1}];
    });
    for (std::size_t v = 1; v < at_.size(); ++v) at_[v] += at_[v - 1];
    records_.resize(at_.back());
    std::vector<std::size_t> next(at_.begin(), at_.end() - 1);
    each_flow([&](std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
      const auto [a, low] = seat_[std::min(from, to)];
      const auto [b, high] = seat_[std::max(from, to)];
      if (a == b) return;
      records_[next[a]++] = {b, lane_of(low, high, from < to), bytes};
    });
  }

  struct Edge {
    std::uint32_t low = 0, high = 0, pattern = 0;
    std::int64_t bytes = 0;
  };

  void fold() {
    out_.pattern_at.push_back(0);
    std::vector<LaneBytes> pattern;
    for (std::uint32_t v = 0; v < out_.nodes; ++v) {
      const auto first = records_.begin() + static_cast<std::ptrdiff_t>(at_[v]);
      const auto last = records_.begin() + static_cast<std::ptrdiff_t>(at_[v + std::size_t{1}]);
      std::sort(first, last,
                [](const Record& a, const Record& b) { return a.high != b.high ? a.high < b.high : a.lane < b.lane; });
      for (auto r = first; r != last;) {
        Edge edge{v, r->high, 0, 0};
        pattern.clear();
        for (; r != last && r->high == edge.high; ++r) {
          if (pattern.empty() || pattern.back().lane != r->lane) pattern.push_back({r->lane, 0});
          pattern.back().bytes += r->bytes;
          edge.bytes += r->bytes;
        }
        edge.pattern = intern(pattern);
        edges_.push_back(edge);
      }
    }
    records_ = {};
    number_lanes();
  }

  std::uint32_t intern(const std::vector<LaneBytes>& pattern) {
    std::uint64_t hash = pattern.size();
    for (const LaneBytes& l : pattern) {
      hash = (hash ^ l.lane) * 0x9e3779b97f4a7c15ULL;
      hash = (hash ^ static_cast<std::uint64_t>(l.bytes)) * 0xbf58476d1ce4e5b9ULL;
      hash ^= hash >> 31;
    }
    auto& same = known_[hash];
    for (const std::uint32_t p : same) {
      const auto have = out_.pattern(p);
      if (std::equal(have.begin(), have.end(), pattern.begin(), pattern.end())) return p;
    }
    const auto p = static_cast<std::uint32_t>(out_.pattern_count());
    same.push_back(p);
    out_.pattern_lanes.insert(out_.pattern_lanes.end(), pattern.begin(), pattern.end());
    out_.pattern_at.push_back(out_.pattern_lanes.size());
    return p;
  }

  void number_lanes() {
    std::vector<std::uint32_t> used;
    for (const LaneBytes& l : out_.pattern_lanes) used.push_back(l.lane);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const std::uint32_t lane : used)
      out_.lanes.push_back({lane / 2 / per_node_, lane / 2 % per_node_, lane % 2 == 0});
    for (LaneBytes& l : out_.pattern_lanes)
      l.lane = static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), l.lane) - used.begin());
  }

  void connect() {
    out_.begin.assign(out_.nodes + std::size_t{1}, 0);
    for (const Edge& e : edges_) {
      ++out_.begin[e.low + std::size_t{1}];
      ++out_.begin[e.high + std::size_t{1}];
    }
    for (std::size_t v = 1; v < out_.begin.size(); ++v) out_.begin[v] += out_.begin[v - 1];
    out_.halves.resize(edges_.size() * 2);
    std::vector<std::size_t> next(out_.begin.begin(), out_.begin.end() - 1);
    // Edges ascend by (low, high): each vertex first meets its lower neighbours, then its higher ones, in order.
    for (const Edge& e : edges_) out_.halves[next[e.high]++] = {e.low, e.pattern, e.bytes};
    for (const Edge& e : edges_) out_.halves[next[e.low]++] = {e.high, e.pattern, e.bytes};
  }

  // Where a rank sits: divisions of every flow's ends would cost more than the look-ups.
  struct Seat {
    std::uint32_t node = 0, gpu = 0;
  };

  const Traffic& traffic_;
  std::uint32_t per_node_;
  std::vector<Seat> seat_;  // by rank
  NodeGraph out_;
  std::vector<std::size_t> at_;
  std::vector<Record> records_;
  std::vector<Edge> edges_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known_;  // looked up only
};

}  // namespace

NodeGraph build_node_graph(const Traffic& traffic) { return Builder(traffic).build(); }

}  // namespace weft::placement
