// SPDX-License-Identifier: BSD-3-Clause
#include "free_gpus.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace weft::bridge {
namespace {

using topology::index;
using topology::NodeId;

constexpr std::uint32_t kWordGpus = 64;

std::uint64_t all_of(std::uint32_t gpus) { return gpus >= kWordGpus ? ~0ULL : (1ULL << gpus) - 1; }

// GPUs that each node gives; 0 where the job leaves that open.
std::uint32_t gpus_a_node(const Ask& ask) {
  if (ask.gpus_per_node > 0) return ask.gpus_per_node;
  const std::uint64_t gpus = std::uint64_t{ask.gpus_per_task} * ask.tasks_per_node;
  return gpus <= kWordGpus ? static_cast<std::uint32_t>(gpus) : 0;
}

// A set that is about the GPUs of the node's type, and enough of them.
bool is_sound(std::uint64_t set, std::uint32_t gpus, std::uint32_t wanted) {
  return (set & ~all_of(gpus)) == 0 && static_cast<std::uint32_t>(std::popcount(set)) >= wanted;
}

}  // namespace

std::optional<Sized> with_gpus(const topology::Fabric& fabric, const Ask& ask, const Sized& sized) {
  const std::uint32_t gpus = gpus_a_node(ask);
  if (gpus == 0 || gpus > kWordGpus || ask.free_gpus.empty()) return std::nullopt;
  if (sized.laid_out && sized.ranks_per_node != gpus) return std::nullopt;
  bool parts = false;
  for (std::size_t i = 0; i < ask.usable.size(); ++i) {
    const std::uint32_t has = fabric.type_of(ask.usable[i]).gpus;
    if (has > kWordGpus || has < gpus) return std::nullopt;
    parts = parts || has > gpus;
  }
  if (!parts) return std::nullopt;
  Sized out = sized;
  if (out.laid_out) return out;
  out.ranks_per_node = gpus;
  out.layout[config::Dim::tp] = gpus;
  return out;
}

std::vector<std::vector<bool>> free_gpus(const topology::Fabric& fabric, const Ask& ask, std::uint32_t gpus_per_node) {
  std::vector<std::vector<bool>> out;
  out.reserve(fabric.node_count());
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) out.emplace_back(fabric.type_of(NodeId{n}).gpus, true);
  for (std::size_t i = 0; i < ask.usable.size(); ++i) {
    std::vector<bool>& free = out[index(ask.usable[i])];
    const std::uint64_t set = ask.free_gpus[i];
    if (!is_sound(set, static_cast<std::uint32_t>(free.size()), gpus_per_node)) continue;
    for (std::size_t g = 0; g < free.size(); ++g) free[g] = (set >> g & 1U) != 0;
  }
  return out;
}

std::vector<std::uint64_t> gpus_of(const placement::Placement& placed, const std::vector<std::vector<bool>>& free,
                                   std::uint32_t gpus_per_node) {
  std::vector<std::size_t> place(free.size(), placed.nodes.size());
  for (std::size_t i = 0; i < placed.nodes.size(); ++i) place[index(placed.nodes[i])] = i;
  std::vector<std::uint64_t> out(placed.nodes.size(), 0);
  for (const placement::Slot& slot : placed.ranks) {
    const std::size_t node = index(slot.node);
    if (place[node] == placed.nodes.size() || slot.gpu >= free[node].size() || !free[node][slot.gpu])
      throw std::logic_error("the engine chose GPUs that it may not choose");
    out[place[node]] |= 1ULL << slot.gpu;
  }
  for (const std::uint64_t set : out)
    if (static_cast<std::uint32_t>(std::popcount(set)) != gpus_per_node)
      throw std::logic_error("the engine chose another number of GPUs than was asked for");
  return out;
}

}  // namespace weft::bridge
