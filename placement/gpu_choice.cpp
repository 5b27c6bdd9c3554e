// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_choice.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "weft/topology/affinity.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;
using topology::NodeType;

using Rails = std::vector<std::uint32_t>;  // ascending, with repeats

// How far a GPU's NIC is: the path class, 0 where it is not known.
std::uint32_t detour(const NodeType& type, std::uint32_t gpu) {
  if (!type.affinity || !type.affinity->nic_of_gpu[gpu]) return 0;
  const auto path = type.affinity->path(gpu, *type.affinity->nic_of_gpu[gpu]);
  return path ? static_cast<std::uint32_t>(*path) : 0;
}

// GPUs of one node for a rail set, and what they cost.
struct Pick {
  std::vector<std::uint32_t> gpus;  // by local index
  std::uint32_t off = 0;
  std::uint32_t shared = 0;
  std::uint32_t detours = 0;
};

// Nodes of one type with the same free GPUs.
struct NodeKind {
  const NodeType* type = nullptr;
  std::vector<bool> free;
  std::uint32_t free_count = 0;
  std::vector<std::size_t> members;  // places in candidates, ascending
};

// On-rail ranks take the free GPU of their rail that is nearest to its NIC; the others what is left, NICs that nobody
// uses first.
Pick pick_gpus(const NodeType& type, const std::vector<bool>& free, const Rails& rails) {
  constexpr std::uint32_t kNone = ~0U;
  Pick out;
  out.gpus.assign(rails.size(), kNone);
  std::vector<bool> taken(type.gpus, false);
  std::vector<std::uint32_t> users(type.nics, 0);
  const auto take = [&](std::size_t slot, std::uint32_t gpu) {
    out.gpus[slot] = gpu;
    taken[gpu] = true;
    if (users[type.nic_of_gpu[gpu]]++ > 0) ++out.shared;
    out.detours += detour(type, gpu);
  };
  for (std::size_t slot = 0; slot < rails.size(); ++slot) {
    std::uint32_t best = kNone;
    for (std::uint32_t g = 0; g < type.gpus; ++g) {
      if (!free[g] || taken[g] || type.nic_of_gpu[g] != rails[slot]) continue;
      if (best == kNone || detour(type, g) < detour(type, best)) best = g;
    }
    if (best != kNone) take(slot, best);
  }
  for (std::size_t slot = 0; slot < rails.size(); ++slot) {
    if (out.gpus[slot] != kNone) continue;
    ++out.off;
    std::uint32_t best = kNone;
    for (std::uint32_t g = 0; g < type.gpus; ++g) {
      if (!free[g] || taken[g]) continue;
      const auto key = [&](std::uint32_t gpu) {
        return std::tuple(users[type.nic_of_gpu[gpu]], detour(type, gpu), gpu);
      };
      if (best == kNone || key(g) < key(best)) best = g;
    }
    take(slot, best);
  }
  return out;
}

// A rail set, what each kind of node gives for it, and what the best nodes come to.
struct Plan {
  Rails rails;
  std::vector<Pick> picks;         // of each kind
  std::vector<std::size_t> order;  // kinds, best first
  std::uint64_t off = 0, shared = 0, detours = 0, left = 0;
  [[nodiscard]] auto key() const { return std::tie(off, shared, detours, left, rails); }
};

class Chooser {
 public:
  Chooser(const Fabric& fabric, const GpuRequest& request) : fabric_(fabric), request_(request) {
    using Key = std::pair<std::uint32_t, std::vector<bool>>;
    std::map<Key, NodeKind> kinds;
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
      const NodeId node = request.candidates[i];
      const std::vector<bool>& free = request.free[index(node)];
      const auto count = static_cast<std::uint32_t>(std::count(free.begin(), free.end(), true));
      if (count < request.gpus_per_node) continue;
      NodeKind& kind = kinds[{index(fabric.type_id(node)), free}];
      kind.type = &fabric.type_of(node);
      kind.free = free;
      kind.free_count = count;
      kind.members.push_back(i);
      ++able_;
    }
    for (auto& [key, kind] : kinds) kinds_.push_back(std::move(kind));
  }

  GpuChoice run() {
    GpuChoice out;
    if (able_ < request_.nodes || request_.nodes == 0 || request_.gpus_per_node == 0) return out;
    out.exact = collect_sets();
    std::optional<Plan> best;
    for (const Rails& rails : sets_) {
      Plan plan = plan_for(rails);
      note_aligned(plan);
      if (!best || plan.key() < best->key()) best = std::move(plan);
    }
    return finish(*best, std::move(out));
  }

 private:
  // Every multiset of rails that some node can serve whole; true where these were few enough to list.
  bool collect_sets() {
    std::vector<std::uint32_t> most;  // free GPUs on a rail of any one kind
    for (const NodeKind& kind : kinds_) {
      std::vector<std::uint32_t> here(kind.type->nics, 0);
      for (std::uint32_t g = 0; g < kind.type->gpus; ++g) here[kind.type->nic_of_gpu[g]] += kind.free[g] ? 1 : 0;
      most.resize(std::max(most.size(), here.size()), 0);
      for (std::size_t r = 0; r < here.size(); ++r) most[r] = std::max(most[r], here[r]);
    }
    Rails rails;
    if (list_sets(most, 0, rails)) return true;
    sets_.clear();
    for (const NodeKind& kind : kinds_) grow_set(kind);
    std::sort(sets_.begin(), sets_.end());
    sets_.erase(std::unique(sets_.begin(), sets_.end()), sets_.end());
    return false;
  }

  // Depth is at most gpus_per_node.
  bool list_sets(const std::vector<std::uint32_t>& most, std::uint32_t first,
                 Rails& rails) {  // NOLINT(misc-no-recursion)
    if (rails.size() == request_.gpus_per_node) {
      sets_.push_back(rails);
      return sets_.size() <= kMaxRailSets;
    }
    for (std::uint32_t rail = first; rail < most.size(); ++rail) {
      if (static_cast<std::uint32_t>(std::count(rails.begin(), rails.end(), rail)) >= most[rail]) continue;
      rails.push_back(rail);
      const bool more = list_sets(most, rail, rails);
      rails.pop_back();
      if (!more) return false;
    }
    return true;
  }

  // From one kind's free GPUs, the rails that most candidates have free too.
  void grow_set(const NodeKind& kind) {
    std::vector<std::uint64_t> nodes_with(kind.type->nics, 0);
    for (const NodeKind& other : kinds_) {
      std::vector<bool> seen(other.type->nics, false);
      for (std::uint32_t g = 0; g < other.type->gpus; ++g) {
        const std::uint32_t rail = other.type->nic_of_gpu[g];
        if (!other.free[g] || seen[rail] || rail >= nodes_with.size()) continue;
        seen[rail] = true;
        nodes_with[rail] += other.members.size();
      }
    }
    std::vector<std::uint32_t> gpus;
    std::vector<std::uint32_t> uses(kind.type->nics, 0);
    for (std::uint32_t g = 0; g < kind.type->gpus; ++g) {
      if (kind.free[g]) gpus.push_back(g);
    }
    Rails rails;
    while (rails.size() < request_.gpus_per_node) {
      const auto best = std::min_element(gpus.begin(), gpus.end(), [&](std::uint32_t a, std::uint32_t b) {
        const std::uint32_t ra = kind.type->nic_of_gpu[a];
        const std::uint32_t rb = kind.type->nic_of_gpu[b];
        return std::tuple(uses[ra], ~nodes_with[ra], a) < std::tuple(uses[rb], ~nodes_with[rb], b);
      });
      rails.push_back(kind.type->nic_of_gpu[*best]);
      ++uses[rails.back()];
      gpus.erase(best);
    }
    std::sort(rails.begin(), rails.end());
    sets_.push_back(std::move(rails));
  }

  Plan plan_for(const Rails& rails) const {
    Plan plan;
    plan.rails = rails;
    for (const NodeKind& kind : kinds_) plan.picks.push_back(pick_gpus(*kind.type, kind.free, rails));
    for (std::size_t k = 0; k < kinds_.size(); ++k) plan.order.push_back(k);
    std::sort(plan.order.begin(), plan.order.end(), [&](std::size_t a, std::size_t b) {
      const auto key = [&](std::size_t k) {
        const Pick& pick = plan.picks[k];
        return std::tuple(pick.off, pick.shared, pick.detours, kinds_[k].free_count, kinds_[k].members.front());
      };
      return key(a) < key(b);
    });
    std::uint64_t need = request_.nodes;
    for (const std::size_t k : plan.order) {
      const std::uint64_t taken = std::min<std::uint64_t>(need, kinds_[k].members.size());
      plan.off += taken * plan.picks[k].off;
      plan.shared += taken * plan.picks[k].shared;
      plan.detours += taken * plan.picks[k].detours;
      plan.left += taken * (kinds_[k].free_count - request_.gpus_per_node);
      need -= taken;
      if (need == 0) break;
    }
    return plan;
  }

  [[nodiscard]] std::vector<NodeId> nodes_of(const std::vector<bool>& kinds) const {
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds[k]) places.insert(places.end(), kinds_[k].members.begin(), kinds_[k].members.end());
    }
    std::sort(places.begin(), places.end());
    std::vector<NodeId> out;
    out.reserve(places.size());
    for (const std::size_t place : places) out.push_back(request_.candidates[place]);
    return out;
  }

  // Which kinds a rail set suits, where they have enough nodes.
  void note_aligned(const Plan& plan) {
    if (plan.off != 0) return;
    std::vector<bool> kinds;
    std::size_t nodes = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      kinds.push_back(plan.picks[k].off == 0);
      if (kinds.back()) nodes += kinds_[k].members.size();
    }
    aligned_.try_emplace(std::move(kinds), nodes);
  }

  void add_other_aligned(const Plan& best, GpuChoice& out) const {
    std::vector<std::pair<std::size_t, const std::vector<bool>*>> others;
    for (const auto& [kinds, nodes] : aligned_) {
      bool is_best = true;
      for (std::size_t k = 0; k < kinds.size(); ++k) is_best = is_best && kinds[k] == (best.picks[k].off == 0);
      if (!is_best) others.emplace_back(nodes, &kinds);
    }
    std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [nodes, kinds] : others) {
      if (out.other_aligned.size() == kMaxOtherAligned) return;
      out.other_aligned.push_back(nodes_of(*kinds));
    }
  }

  GpuChoice finish(const Plan& plan, GpuChoice out) const {
    std::vector<std::pair<std::size_t, std::size_t>> chosen;  // place in candidates, kind
    std::vector<std::size_t> aligned;
    for (const std::size_t k : plan.order) {
      for (const std::size_t place : kinds_[k].members) {
        if (chosen.size() < request_.nodes) chosen.emplace_back(place, k);
        if (plan.picks[k].off == 0) aligned.push_back(place);
      }
    }
    std::sort(chosen.begin(), chosen.end());
    std::sort(aligned.begin(), aligned.end());
    for (const auto& [place, kind] : chosen) {
      out.nodes.push_back(request_.candidates[place]);
      out.gpus.push_back(plan.picks[kind].gpus);
    }
    for (const std::size_t place : aligned) out.aligned.push_back(request_.candidates[place]);
    add_other_aligned(plan, out);
    out.rails = plan.rails;
    out.off_rail = plan.off;
    out.shared_nics = plan.shared;
    return out;
  }

  const Fabric& fabric_;
  const GpuRequest& request_;
  std::vector<NodeKind> kinds_;
  std::uint64_t able_ = 0;
  std::vector<Rails> sets_;
  std::map<std::vector<bool>, std::size_t> aligned_;  // kinds that some rail set suits whole, and their nodes
};

}  // namespace

GpuChoice choose_gpus(const Fabric& fabric, const GpuRequest& request) { return Chooser(fabric, request).run(); }

std::vector<std::uint32_t> lowest_gpus(const std::vector<bool>& free, std::uint32_t count) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t g = 0; g < free.size() && out.size() < count; ++g) {
    if (free[g]) out.push_back(g);
  }
  return out;
}

GpuCost gpu_cost(const Fabric& fabric, std::span<const NodeId> nodes,
                 std::span<const std::vector<std::uint32_t>> gpus) {
  GpuCost out;
  if (nodes.empty()) return out;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::map<std::uint32_t, std::uint32_t> users;
    for (const std::uint32_t g : gpus[n]) {
      if (users[fabric.type_of(nodes[n]).nic_of_gpu[g]]++ > 0) ++out.shared_nics;
    }
  }
  for (std::size_t slot = 0; slot < gpus.front().size(); ++slot) {
    std::map<std::uint32_t, std::uint64_t> count;
    std::uint64_t most = 0;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      most = std::max(most, ++count[fabric.type_of(nodes[n]).nic_of_gpu[gpus[n][slot]]]);
    }
    out.off_rail += nodes.size() - most;
  }
  return out;
}

}  // namespace weft::placement
