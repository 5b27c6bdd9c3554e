// SPDX-License-Identifier: BSD-3-Clause
//
// Equal things get one number, in the order of their first appearance.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fabric_impl.hpp"

namespace weft::topology {

struct Interned {
  std::vector<std::uint32_t> id_of;  // by thing
  std::vector<std::uint32_t> first;  // by id: the first such thing
};

[[nodiscard]] inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

[[nodiscard]] inline std::uint64_t hash_of(const std::vector<std::uint32_t>& items) {
  std::uint64_t hash = items.size();
  for (const std::uint32_t item : items) hash = mix(hash, item);
  return hash;
}

/// Numbers `count` things by their `hash` and `equal`. O(count) calls of each where hashes are good.
template <typename Hash, typename Equal>
[[nodiscard]] Interned intern(std::uint32_t count, Hash hash, Equal equal) {
  Interned out;
  out.id_of.reserve(count);
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> ids;  // by hash
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t>& same_hash = ids[hash(i)];
    std::uint32_t id = FabricData::kNone;
    for (const std::uint32_t candidate : same_hash) {
      if (equal(out.first[candidate], i)) id = candidate;
    }
    if (id == FabricData::kNone) {
      id = static_cast<std::uint32_t>(out.first.size());
      out.first.push_back(i);
      same_hash.push_back(id);
    }
    out.id_of.push_back(id);
  }
  return out;
}

}  // namespace weft::topology
