// SPDX-License-Identifier: BSD-3-Clause
//
// Which NIC each GPU uses: optimal semi-matching over each GPU's nearest NICs, by cost-reducing paths (Harvey et al.,
// "Semi-matchings for bipartite graphs and load balancing", 2006, algorithm ASM2).
#include <algorithm>
#include <queue>
#include <tuple>

#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

using Choices = std::vector<std::vector<std::uint32_t>>;  // of each GPU: its nearest NICs, ascending

// How near a NIC is, smaller is nearer; the path class first.
std::tuple<std::uint32_t, std::uint32_t, bool, bool> nearness(const NodeAffinity& node, std::uint32_t gpu,
                                                              std::uint32_t nic) {
  const auto path = node.path(gpu, nic);
  const AffinityGpu& g = node.gpus[gpu];
  const AffinityNic& n = node.nics[nic];
  return {path ? static_cast<std::uint32_t>(*path) : 99U, node.gpu_nic_bridges[gpu * node.nics.size() + nic],
          !(g.numa && n.numa && *g.numa == *n.numa), !(g.socket && n.socket && *g.socket == *n.socket)};
}

Choices nearest_nics(const NodeAffinity& node) {
  Choices out(node.gpus.size());
  for (std::uint32_t g = 0; g < out.size(); ++g) {
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
      if (!out[g].empty() && nearness(node, g, n) < nearness(node, g, out[g].front())) out[g].clear();
      if (out[g].empty() || nearness(node, g, n) == nearness(node, g, out[g].front())) out[g].push_back(n);
    }
  }
  return out;
}

class Matching {
 public:
  Matching(const Choices& choices, std::size_t nics) : choices_(choices), users_(nics), nic_(choices.size()) {
    for (std::uint32_t g = 0; g < choices.size(); ++g) {
      const auto least = std::min_element(choices[g].begin(), choices[g].end(), [&](std::uint32_t a, std::uint32_t b) {
        return users_[a].size() < users_[b].size();
      });
      put(g, *least);
    }
    for (std::uint32_t n = 0; n < nics; ++n) {
      while (reduce(n)) {
      }
    }
  }
  [[nodiscard]] std::uint32_t nic(std::uint32_t gpu) const { return nic_[gpu]; }

 private:
  void put(std::uint32_t gpu, std::uint32_t nic) {
    nic_[gpu] = nic;
    auto& users = users_[nic];
    users.insert(std::lower_bound(users.begin(), users.end(), gpu), gpu);
  }
  void take(std::uint32_t gpu) {
    auto& users = users_[nic_[gpu]];
    users.erase(std::lower_bound(users.begin(), users.end(), gpu));
  }

  // Breadth first from a NIC over its users to the NICs that they could use instead; where one is found with at least
  // two users fewer, every user on the way moves one on.
  bool reduce(std::uint32_t from) {
    constexpr std::uint32_t kNone = ~0U;
    std::vector<std::uint32_t> by(users_.size(), kNone);  // the GPU over which a NIC was reached
    std::queue<std::uint32_t> open;
    std::vector<bool> seen(users_.size(), false);
    open.push(from);
    seen[from] = true;
    while (!open.empty()) {
      const std::uint32_t nic = open.front();
      open.pop();
      if (users_[nic].size() + 2 <= users_[from].size()) {
        for (std::uint32_t to = nic; to != from;) {
          const std::uint32_t gpu = by[to];
          const std::uint32_t previous = nic_[gpu];
          take(gpu);
          put(gpu, to);
          to = previous;
        }
        return true;
      }
      for (const std::uint32_t gpu : users_[nic]) {
        for (const std::uint32_t next : choices_[gpu]) {
          if (seen[next]) continue;
          seen[next] = true;
          by[next] = gpu;
          open.push(next);
        }
      }
    }
    return false;
  }

  const Choices& choices_;
  std::vector<std::vector<std::uint32_t>> users_;  // of each NIC, ascending
  std::vector<std::uint32_t> nic_;
};

}  // namespace

std::vector<std::uint32_t> compute_nics(const NodeAffinity& node) {
  std::vector<bool> near(node.nics.size(), node.nic_by_order || node.gpus.empty());
  if (!node.nic_by_order && !node.nics.empty()) {
    for (const auto& choices : nearest_nics(node)) {
      for (const std::uint32_t nic : choices) near[nic] = true;
    }
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t n = 0; n < near.size(); ++n) {
    if (near[n]) out.push_back(n);
  }
  return out;
}

void derive_nics(NodeAffinity& node) {
  const auto gpus = static_cast<std::uint32_t>(node.gpus.size());
  const auto nics = static_cast<std::uint32_t>(node.nics.size());
  node.nic_of_gpu.assign(gpus, std::nullopt);
  node.nic_by_order = false;
  node.gpu_nic_bridges.resize(node.gpu_nic.size(), 0);
  if (nics == 0 || gpus == 0) return;
  node.nic_by_order =
      std::none_of(node.gpu_nic.begin(), node.gpu_nic.end(), [](const auto& p) { return p.has_value(); });
  if (node.nic_by_order) {
    for (std::uint32_t g = 0; g < gpus; ++g) node.nic_of_gpu[g] = g * nics / gpus;
    return;
  }
  const Choices choices = nearest_nics(node);
  const Matching matching(choices, nics);
  for (std::uint32_t g = 0; g < gpus; ++g) node.nic_of_gpu[g] = matching.nic(g);
}

}  // namespace weft::topology
