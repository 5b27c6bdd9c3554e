// SPDX-License-Identifier: BSD-3-Clause
//
// `scontrol show topology`: a listing that owns its texts, so that it outlives the bridge.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge.hpp"

namespace weft::bridge {

class Listing {
 public:
  /// All switches; or those above a node; or one switch. Null where the filter names nothing that is bound.
  [[nodiscard]] static std::unique_ptr<Listing> make(const Bridge& bridge, const Binding& binding,
                                                     std::optional<std::string_view> node,
                                                     std::optional<std::string_view> sw);
  [[nodiscard]] const std::vector<weft_topology_record>& records() const { return records_; }
  [[nodiscard]] const std::string& headline() const { return headline_; }

 private:
  struct Texts {
    std::string name, plane, nodes, switches, faults;
  };
  std::vector<Texts> texts_;
  std::vector<weft_topology_record> records_;
  std::string headline_;
};

}  // namespace weft::bridge
