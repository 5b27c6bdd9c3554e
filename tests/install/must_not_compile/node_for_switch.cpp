// SPDX-License-Identifier: BSD-3-Clause
// A node's id where a switch's belongs: an index into the wrong array.
// refused: cannot convert|no matching|no viable|cannot initialize
#include <weft/topology.hpp>

bool up(const weft::topology::Fabric& fabric, weft::topology::NodeId node, weft::topology::SwitchId sw) {
#ifdef WEFT_MISTAKE
  (void)sw;
  return fabric.switch_up(node);
#else
  (void)node;
  return fabric.switch_up(sw);
#endif
}
