// SPDX-License-Identifier: BSD-3-Clause
#include "candidates.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "eligible.hpp"
#include "spread.hpp"

namespace weft::bridge {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

// One flag a place in Ask::usable.
std::vector<bool> required_places(const Ask& ask) {
  std::vector<NodeId> required = ask.required;
  std::sort(required.begin(), required.end());
  std::vector<bool> out(ask.usable.size(), false);
  if (required.empty()) return out;
  for (std::size_t i = 0; i < ask.usable.size(); ++i)
    out[i] = std::binary_search(required.begin(), required.end(), ask.usable[i]);
  return out;
}

// Domains that a window over a sequence of nodes touches, kept up to date as it slides.
class Touched {
 public:
  Touched(const Fabric& fabric, Level level)
      : fabric_(fabric), level_(level), members_(fabric.domain_count(level), 0) {}
  void add(NodeId n) { distinct_ += members_[at(n)]++ == 0 ? 1 : 0; }
  void remove(NodeId n) { distinct_ -= --members_[at(n)] == 0 ? 1 : 0; }
  [[nodiscard]] std::uint32_t distinct() const { return distinct_; }

 private:
  [[nodiscard]] std::uint32_t at(NodeId n) const { return index(fabric_.domain_of(level_, n)); }
  const Fabric& fabric_;
  Level level_;
  std::vector<std::uint32_t> members_;
  std::uint32_t distinct_ = 0;
};

}  // namespace

Pool whole_pool(const Fabric& fabric, const Ask& ask, std::optional<Level> exclusive) {
  Pool out(ask.usable.size());
  std::iota(out.begin(), out.end(), 0U);
  if (!exclusive) return out;
  std::vector<bool> usable(fabric.node_count(), false);
  for (const NodeId n : ask.usable) usable[index(n)] = true;
  std::vector<bool> shared(fabric.domain_count(*exclusive), false);
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    if (fabric.usable(NodeId{n}) && !usable[n]) shared[index(fabric.domain_of(*exclusive, NodeId{n}))] = true;
  std::erase_if(out, [&](std::uint32_t i) { return shared[index(fabric.domain_of(*exclusive, ask.usable[i]))]; });
  return out;
}

std::vector<Pool> by_weight(const Ask& ask, const Pool& pool, std::uint32_t nodes) {
  if (ask.weights.empty()) return {pool};
  std::vector<std::uint32_t> weights;
  for (const std::uint32_t i : pool) weights.push_back(ask.weights[i]);
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  const std::vector<bool> required = required_places(ask);
  std::vector<Pool> out;
  for (const std::uint32_t most : weights) {
    Pool part;
    for (const std::uint32_t i : pool)
      if (ask.weights[i] <= most || required[i]) part.push_back(i);
    if (part.size() >= nodes) out.push_back(std::move(part));
  }
  return out;
}

Pool able_alone(const Ask& ask, const Pool& pool, std::uint32_t nodes) {
  const std::vector<bool> required = required_places(ask);
  const auto able = [&](const std::vector<std::uint32_t>& share, std::uint64_t need, std::uint32_t i) {
    return share.empty() || std::uint64_t{share[i]} * nodes >= need;
  };
  Pool out;
  for (const std::uint32_t i : pool)
    if (required[i] || (able(ask.cpus, ask.need_cpus, i) && able(ask.gpus, ask.need_gpus, i))) out.push_back(i);
  return out;
}

std::vector<Pool> windows(const Fabric& fabric, const Ask& ask, const Pool& pool, std::uint32_t nodes,
                          std::size_t limit) {
  struct Window {
    std::uint32_t pods, leaves;
    std::size_t begin;
  };
  const std::vector<bool> required = required_places(ask);
  std::vector<Window> found;
  Touched pods(fabric, placement::level_of(fabric, config::LevelName::pod)), leaves(fabric, topology::kLeafLevel);
  std::size_t begin = 0, held = 0;  // [begin, i] is a run of the table of at most `nodes` nodes
  std::uint64_t cpus = 0, gpus = 0;
  const auto share = [](const std::vector<std::uint32_t>& of, std::uint32_t i) { return of.empty() ? 0U : of[i]; };
  const auto drop = [&] {
    const std::uint32_t gone = pool[begin++];
    cpus -= share(ask.cpus, gone);
    gpus -= share(ask.gpus, gone);
    pods.remove(ask.usable[gone]);
    leaves.remove(ask.usable[gone]);
    held -= required[gone] ? 1 : 0;
  };
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const bool gap = i > 0 && ask.table[pool[i]] != ask.table[pool[i - 1]] + 1;
    while (begin < i && (gap || i - begin == nodes)) drop();
    pods.add(ask.usable[pool[i]]);
    leaves.add(ask.usable[pool[i]]);
    cpus += share(ask.cpus, pool[i]);
    gpus += share(ask.gpus, pool[i]);
    held += required[pool[i]] ? 1 : 0;
    const bool enough = (ask.cpus.empty() || cpus >= ask.need_cpus) && (ask.gpus.empty() || gpus >= ask.need_gpus);
    if (i + 1 - begin == nodes && held == ask.required.size() && enough)
      found.push_back({pods.distinct(), leaves.distinct(), begin});
  }
  const std::size_t kept = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    [](const Window& a, const Window& b) {
                      return std::tie(a.pods, a.leaves, a.begin) < std::tie(b.pods, b.leaves, b.begin);
                    });
  std::vector<Pool> out;
  for (std::size_t w = 0; w < kept; ++w) {
    const auto from = pool.begin() + static_cast<std::ptrdiff_t>(found[w].begin);
    out.emplace_back(from, from + nodes);
  }
  return out;
}

std::uint32_t count_domains(const Fabric& fabric, Level level, const std::vector<NodeId>& nodes) {
  if (level >= fabric.level_count()) return 0;
  Touched touched(fabric, level);
  for (const NodeId n : nodes) touched.add(n);
  return touched.distinct();
}

std::uint32_t fewest_domains(const Fabric& fabric, Level level, const Ask& ask, const Pool& pool, std::uint32_t nodes) {
  std::vector<std::uint32_t> held(fabric.domain_count(level), 0);
  for (const std::uint32_t i : pool) ++held[index(fabric.domain_of(level, ask.usable[i]))];
  std::sort(held.begin(), held.end(), std::greater<>());
  return placement::fewest_domains(held, nodes);
}

}  // namespace weft::bridge
