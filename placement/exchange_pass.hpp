// SPDX-License-Identifier: BSD-3-Clause
//
// Kernighan and Lin's exchanges among several parts of one set of vertices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node_graph.hpp"
#include "rank_search.hpp"

namespace weft::placement {

/// Part of each of `vertices` (ascending), changed by exchanges so that fewer bytes cross parts; part sizes stay.
/// `local` is scratch of graph.nodes entries, all ~0, and is left so. O(passes * exchanges * vertices * parts).
void exchange_passes(const NodeGraph& graph, std::span<const std::uint32_t> vertices, std::uint32_t parts,
                     std::vector<std::uint32_t>& part_of, std::vector<std::uint32_t>& local, Budget& budget);

/// Bytes of edges among `vertices` that cross parts. `local` as above.
[[nodiscard]] std::int64_t crossing(const NodeGraph& graph, std::span<const std::uint32_t> vertices,
                                    const std::vector<std::uint32_t>& part_of, std::vector<std::uint32_t>& local);

}  // namespace weft::placement
