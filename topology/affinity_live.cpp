// SPDX-License-Identifier: BSD-3-Clause
//
// This machine. The hwloc library finds it, I/O objects on, and tells it in its own XML, so that the live machine and a
// file of it are read by the same code.
#include <fmt/format.h>
#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};

tl::unexpected<Error> refused(std::string_view what) {
  return fail(error(ErrorCode::unsupported, fmt::format("hwloc cannot {} this machine: {}", what, std::strerror(errno)),
                    "a file made on it, such as `lstopo machine.xml`"));
}

}  // namespace

Result<NodeAffinity> live_affinity() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return refused("start on");
  const std::unique_ptr<hwloc_topology, TopologyDeleter> topology(raw);
  if (hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0) return refused("see devices of");
  if (hwloc_topology_load(raw) != 0) return refused("read");
  char* text = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(raw, &text, &length, 0) != 0) return refused("describe");
  std::string xml(text, length > 0 ? static_cast<std::size_t>(length) - 1 : 0);  // its length counts the final zero
  hwloc_free_xmlbuffer(raw, text);
  auto node = read_hwloc_xml(std::make_shared<const SourceText>("<live>", std::move(xml)));
  if (node) node->kind = AffinityKind::hwloc_live;
  return node;
}

}  // namespace weft::topology
