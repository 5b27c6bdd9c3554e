// SPDX-License-Identifier: BSD-3-Clause
//
// Strong ids: dense indices from 0, meaningless across fabrics. `index(id)` gives the raw number for vectors.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft::topology {

enum class NodeId : std::uint32_t {};    ///< in the order of the file's `nodes`
enum class SwitchId : std::uint32_t {};  ///< in the order of the file's `switches`
enum class LinkId : std::uint32_t {};    ///< all cables of one kind between the same two ends
enum class PlaneId : std::uint32_t {};   ///< in the order of their first switch
enum class ClassId : std::uint32_t {};   ///< attachment class: nodes with the same leaves, NIC by NIC
enum class DomainId : std::uint32_t {};  ///< domain within one level, in the order of its first node
enum class TypeId : std::uint32_t {};    ///< node type

template <typename Id>
requires std::is_enum_v<Id>
[[nodiscard]] constexpr std::uint32_t index(Id id) { return static_cast<std::uint32_t>(id); }

}  // namespace weft::topology
