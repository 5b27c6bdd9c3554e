// SPDX-License-Identifier: BSD-3-Clause
#include "policies.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

using topology::index;
using topology::NodeId;

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<unsigned __int128>(next()) * bound;
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  std::uint64_t state_;
};

// Required nodes, then the other eligible ones, each part by number.
std::vector<NodeId> required_first(const Eligible& eligible) {
  std::vector<NodeId> out = eligible.required;
  std::sort(out.begin(), out.end());
  NodeMask others = eligible.mask;
  for (const NodeId n : out) others[index(n)] = false;
  for (std::uint32_t n = 0; n < others.size(); ++n)
    if (others[n]) out.push_back(NodeId{n});
  return out;
}

}  // namespace

std::vector<NodeId> first_fit(const Eligible& eligible, std::uint32_t nodes) {
  std::vector<NodeId> out = required_first(eligible);
  out.resize(nodes);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<NodeId> random_nodes(const Eligible& eligible, std::uint32_t nodes, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<NodeId> out = required_first(eligible);
  const std::size_t fixed = eligible.required.size();
  for (std::size_t i = fixed; i < nodes; ++i) std::swap(out[i], out[i + random.below(out.size() - i)]);
  out.resize(nodes);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) std::swap(out[i], out[i + random.below(out.size() - i)]);
  return out;
}

}  // namespace weft::placement
