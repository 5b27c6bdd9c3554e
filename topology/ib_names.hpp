// SPDX-License-Identifier: BSD-3-Clause
//
// From node descriptions to names. A description is free text of up to 64 bytes that the host's own tools set ("gpu-04
// mlx5_5", "gpu-04 HCA-6"), that a switch's firmware makes ("MF0;leaf-3:MQM8700/U1"), or that nobody ever set ("MT4129
// ConnectX7   Mellanox Technologies").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "weft/config/error.hpp"

namespace weft::topology::ib {

/// What an adapter's description says. `host` is empty where it names no host: a vendor's default text, "localhost".
struct AdapterName {
  std::string host;
  std::string device;                   ///< "mlx5_5", "HCA-6", "ibp24s0"; empty where not said
  std::optional<std::uint32_t> number;  ///< of the device among its host's, from 0: mlx5_5 and HCA-6 are both 5
};
[[nodiscard]] AdapterName parse_adapter_name(std::string_view description);

/// What a switch's description says. Both empty for a vendor's default text.
struct SwitchName {
  std::string name;
  std::string chip;  ///< "L01-U1" of "MF0;core:CS7520/L01/U1": tells the chips of a chassis apart
};
[[nodiscard]] SwitchName parse_switch_name(std::string_view description);

/// True where only a switch would describe itself so: "MF0;…", "SwitchIB Mellanox Technologies", "Voltaire 4036 …".
[[nodiscard]] bool is_switch_text(std::string_view description);

/// True for the pseudo-adapters that switches show for in-network reduction (SHARP): no hosts.
[[nodiscard]] bool is_aggregation_node(std::string_view description);

/// Only bytes that may stand in a name: runs of others become one '-', none at the ends. Comes out
/// empty where nothing is left, and where it is longer than any description.
[[nodiscard]] std::string clean_name(std::string_view text);

/// "a9" before "a10": digit runs compare as numbers. A total order: texts of equal value compare by their bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);

/// GUID to name, from a file of lines "H-guid name", "S-guid name", "0xguid name" or OpenSM's `0xguid "name"`.
class NameMap {
 public:
  /// Empty map for a null source. Errors: syntax, duplicate (a GUID with two names).
  [[nodiscard]] static Result<NameMap> parse(const Source& source);
  /// The name of a GUID, null where it has none. Remembers that it was asked for.
  [[nodiscard]] const std::string* find(std::uint64_t guid);
  [[nodiscard]] bool empty() const { return names_.empty(); }
  /// Entries that no find() ever hit.
  [[nodiscard]] std::size_t unused() const { return names_.size() - used_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::string> names_;
  std::unordered_set<std::uint64_t> used_;
};

}  // namespace weft::topology::ib
