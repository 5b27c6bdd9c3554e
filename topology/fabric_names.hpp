// SPDX-License-Identifier: BSD-3-Clause
//
// Names of a fabric file: hostlists to ids, and errors that point at the very item of a hostlist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fabric_impl.hpp"

namespace weft::topology {

/// An error on the whole of `text`.
[[nodiscard]] Error text_error(const config::FabricSpec& spec, ErrorCode code, const config::Text& text,
                               std::string message, std::string expected = {});
/// An error on the item of hostlist `text` that holds its `index`-th name.
[[nodiscard]] Error item_error(const config::FabricSpec& spec, ErrorCode code, const config::Text& text,
                               std::size_t index, std::string message, std::string expected = {});
/// "on line 12" of the same file, or "earlier" where no line is known.
[[nodiscard]] std::string where(Position at);
/// Expands a hostlist; its faults become errors with their place.
[[nodiscard]] Result<std::vector<std::string>> expand(const config::FabricSpec& spec, const config::Text& text);

/// The ids that a name may mean.
struct NameRef {
  bool is_switch = false;
  std::uint32_t id = 0;
};

/// All of one hostlist: nodes only or switches only.
struct ResolvedList {
  bool is_switch = false;
  std::vector<std::uint32_t> ids;
  std::optional<std::size_t> repeat;  ///< index of the first name that was there before
};

/// Looks names up. Views into FabricData's name vectors, which must not change meanwhile.
class NameIndex {
 public:
  NameIndex(const config::FabricSpec& spec, const FabricData& data) : spec_(spec), data_(data) {}
  /// Fills from the data's names. Errors: duplicate (also of a node with a switch), both places named.
  [[nodiscard]] Done fill();
  [[nodiscard]] const NameRef* find(std::string_view name) const;
  /// Resolves a hostlist; the answer is kept, so that repeated lists cost one lookup. Errors: those of the hostlist,
  /// dangling, bad_value (nodes and switches mixed).
  [[nodiscard]] Result<const ResolvedList*> list(const config::Text& text);
  /// Refuses a list with a name twice.
  [[nodiscard]] Done check_distinct(const config::Text& text, const ResolvedList& list) const;
  /// "dangling" for a name, with the nearest that exists. `kind`: "node", "switch", "node or switch".
  [[nodiscard]] Error dangling(const config::Text& text, std::size_t index, std::string_view name,
                               std::string_view kind) const;

 private:
  [[nodiscard]] std::string nearest(std::string_view name) const;
  [[nodiscard]] std::optional<std::size_t> first_repeat(const ResolvedList& list) const;
  const config::FabricSpec& spec_;
  const FabricData& data_;
  std::unordered_map<std::string_view, NameRef> by_name_;
  std::unordered_map<std::string, ResolvedList> lists_;
};

}  // namespace weft::topology
