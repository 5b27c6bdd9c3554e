// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string>

#include "generate_common.hpp"

namespace weft::topology {

Result<config::FabricSpec> generate_multi_plane(const MultiPlaneOptions& options) {
  using config::LinkPattern;
  using generate::Numbers;
  const NodeShape& node = options.node;
  if (auto ok = generate::check_shape(node); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.gpus, "gpus"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.planes, "planes"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.gpus_per_leaf, "gpus_per_leaf"); !ok) return fail(ok.error());
  if (auto ok = generate::check_divides(options.gpus_per_leaf, "GPUs of a leaf", node.gpus, "nodes"); !ok) {
    return fail(ok.error());
  }
  if (auto ok = generate::check_divides(options.gpus, "GPUs", options.gpus_per_leaf, "leaves"); !ok) {
    return fail(ok.error());
  }
  const std::uint64_t nodes = options.gpus / node.gpus;
  const std::uint64_t leaves = options.gpus / options.gpus_per_leaf;
  const std::uint64_t ports = generate::times(options.gpus_per_leaf / node.gpus, node.nics);  // of a leaf, down and up
  const std::uint64_t spines = options.spines > 0 ? options.spines : ports;
  if (auto ok = generate::check_count(nodes, "nodes"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(generate::times(options.planes, leaves + spines), "switches"); !ok) {
    return fail(ok.error());
  }
  if (auto ok = generate::check_divides(ports, "cables up of a leaf", spines, "spines"); !ok) return fail(ok.error());

  config::FabricSpec spec = generate::start(fmt::format("multi-plane-{}x{}", options.gpus, options.planes), node);
  const std::string gpus = "gpu" + Numbers(nodes).range(1, nodes);
  const Numbers planes(options.planes);
  const std::string leaf_range = Numbers(leaves).range(1, leaves);
  const std::string spine_range = Numbers(spines).range(1, spines);
  const std::string all_planes = planes.range(1, options.planes);
  generate::add_switches(spec, fmt::format("leaf-p{}-{}", all_planes, leaf_range), 1);
  generate::add_switches(spec, fmt::format("spine-p{}-{}", all_planes, spine_range), 2);
  generate::add_nodes(spec, gpus);
  for (std::uint32_t i = 1; i <= options.planes; ++i) {
    const std::string plane = planes.one(i);
    const std::string plane_leaves = fmt::format("leaf-p{}-{}", plane, leaf_range);
    const std::string plane_spines = fmt::format("spine-p{}-{}", plane, spine_range);
    const config::Text name{"plane" + plane, {}};
    generate::add_link(spec, gpus, plane_leaves, leaves == 1 ? LinkPattern::all : LinkPattern::split, node.bandwidth)
        .plane = name;
    generate::add_link(spec, plane_leaves, plane_spines, LinkPattern::all, node.bandwidth, ports / spines).plane = name;
  }
  return spec;
}

}  // namespace weft::topology
