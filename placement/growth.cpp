// SPDX-License-Identifier: BSD-3-Clause
#include "growth.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

constexpr std::size_t kSeeds = 12;
constexpr std::size_t kSampledClasses = 128;  // of a ball, for its sum of distances
constexpr std::uint32_t kFar = 1U << 20;      // no path

// Eligible nodes of one attachment class, required ones first.
struct Cluster {
  std::vector<NodeId> nodes;
  std::uint32_t required = 0;
};

struct Ball {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;  // cluster, nodes of it
  bool whole = false;
};

class Grower {
 public:
  Grower(const Fabric& fabric, const Eligible& eligible, std::uint32_t nodes)
      : fabric_(fabric), nodes_(nodes), required_left_(static_cast<std::uint32_t>(eligible.required.size())) {
    std::vector<std::uint32_t> slot(fabric.class_count(), ~0U);
    const NodeMask required = required_mask(eligible);
    const auto add = [&](NodeId n) -> Cluster& {
      std::uint32_t& s = slot[index(fabric.class_of(n))];
      if (s == ~0U) {
        s = static_cast<std::uint32_t>(clusters_.size());
        clusters_.emplace_back();
      }
      clusters_[s].nodes.push_back(n);
      return clusters_[s];
    };
    for (const bool want : {true, false})
      for (const NodeId n : fabric.fabric_order())
        if (eligible.mask[index(n)] && required[index(n)] == want) {
          Cluster& c = add(n);
          if (want) ++c.required;
        }
  }

  std::vector<NodeId> best() {
    std::optional<std::pair<std::uint64_t, std::size_t>> least;
    std::vector<Ball> balls;
    for (const std::uint32_t seed : seeds()) {
      Ball ball = grow(seed);
      if (!ball.whole) continue;
      const std::pair cost(sum_of_distances(ball), balls.size());
      if (!least || cost < *least) least = cost;
      balls.push_back(std::move(ball));
    }
    std::vector<NodeId> out;
    if (!least) return out;
    for (const auto& [cluster, count] : balls[least->second].taken) {
      const auto& from = clusters_[cluster].nodes;
      out.insert(out.end(), from.begin(), from.begin() + count);
    }
    return out;
  }

 private:
  // Clusters with required nodes if any; else evenly over the clusters in fabric order.
  [[nodiscard]] std::vector<std::uint32_t> seeds() const {
    std::vector<std::uint32_t> from;
    for (std::uint32_t c = 0; c < clusters_.size(); ++c)
      if (required_left_ == 0 || clusters_[c].required > 0) from.push_back(c);
    std::vector<std::uint32_t> out;
    const std::size_t count = std::min(kSeeds, from.size());
    for (std::size_t i = 0; i < count; ++i) out.push_back(from[i * from.size() / count]);
    return out;
  }

  [[nodiscard]] std::uint32_t distance(std::uint32_t a, std::uint32_t b) const {
    const NodeId x = clusters_[a].nodes.front();
    const NodeId y = clusters_[b].nodes.front();
    const topology::NodeType& from = fabric_.type_of(x);
    const topology::NodeType& to = fabric_.type_of(y);
    if (from.nic_of_gpu.empty() || to.nic_of_gpu.empty()) return kFar;
    const auto path = fabric_.nic_path(x, from.nic_of_gpu.front(), y, to.nic_of_gpu.front());
    return path ? path->hops : kFar;
  }

  [[nodiscard]] Ball grow(std::uint32_t seed) const {
    std::vector<std::tuple<std::uint32_t, std::uint32_t>> order;  // distance, cluster
    for (std::uint32_t c = 0; c < clusters_.size(); ++c) {
      const std::uint32_t d = c == seed ? 0 : distance(seed, c);
      if (d < kFar) order.emplace_back(d, c);
    }
    std::sort(order.begin(), order.end());
    Ball out;
    std::uint32_t left = nodes_;
    std::uint32_t required = required_left_;
    for (const auto& [d, c] : order) {
      // Room is kept for required nodes further out.
      const std::uint32_t here = clusters_[c].required;
      required -= here;
      const auto size = static_cast<std::uint32_t>(clusters_[c].nodes.size());
      const std::uint32_t count = std::min(size, left - std::min(left, required));
      if (count == 0) continue;
      out.taken.emplace_back(c, count);
      left -= count;
    }
    out.whole = left == 0 && required == 0;
    return out;
  }

  [[nodiscard]] std::uint64_t sum_of_distances(const Ball& ball) const {
    const std::size_t step = (ball.taken.size() + kSampledClasses - 1) / kSampledClasses;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < ball.taken.size(); i += step)
      for (std::size_t k = i + step; k < ball.taken.size(); k += step)
        sum += std::uint64_t{distance(ball.taken[i].first, ball.taken[k].first)} * ball.taken[i].second *
               ball.taken[k].second;
    return sum;
  }

  const Fabric& fabric_;
  std::uint32_t nodes_;
  std::uint32_t required_left_;
  std::vector<Cluster> clusters_;
};

}  // namespace

std::vector<NodeId> grow_ball(const Fabric& fabric, const Eligible& eligible, std::uint32_t nodes) {
  return Grower(fabric, eligible, nodes).best();
}

}  // namespace weft::placement
