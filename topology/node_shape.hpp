// SPDX-License-Identifier: BSD-3-Clause
//
// The entry of a node type that is the same all over a fabric, as generators and importers of trees have it.
#pragma once

#include "weft/config/fabric_spec.hpp"

namespace weft::topology {

/// `Shape`: NodeShape or AssumedShape. NVLink joins the node or nothing.
template <typename Shape>
[[nodiscard]] config::NodeTypeSpec node_type_of(const Shape& shape) {
  config::NodeTypeSpec type;
  type.name.value = shape.type_name;
  type.gpus = shape.gpus;
  type.nics = shape.nics;
  type.nvlink = shape.nvlink ? config::NvlinkScope::node : config::NvlinkScope::none;
  if (shape.nvlink) type.nvlink_bandwidth = shape.nvlink_bandwidth;
  return type;
}

}  // namespace weft::topology
