// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <string>

#include "generate_common.hpp"

namespace weft::topology {
namespace {

using config::LinkPattern;
using generate::Numbers;

constexpr std::size_t kMaxDims = 16;

// Switches whose coordinate along `dim` runs from `first` to `last`, all others in full.
std::string slab(const TorusOptions& options, std::size_t dim, std::uint32_t first, std::uint32_t last) {
  std::string names = "switch";
  for (std::size_t i = 0; i < options.dims.size(); ++i) {
    const std::uint32_t highest = options.dims[i] - 1;
    names += '-';
    names += i == dim ? Numbers(highest).range(first, last) : Numbers(highest).range(0, highest);
  }
  return names;
}

}  // namespace

Result<config::FabricSpec> generate_torus(const TorusOptions& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return fail(ok.error());
  if (options.dims.empty() || options.dims.size() > kMaxDims) {
    return fail(error(ErrorCode::bad_value, fmt::format("a torus of {} dimensions", options.dims.size()),
                      fmt::format("1 to {} dimensions, such as 4x4x4", kMaxDims)));
  }
  std::uint64_t switches = 1;
  for (const std::uint32_t size : options.dims) {
    if (auto ok = generate::check_positive(size, "a dimension"); !ok) return fail(ok.error());
    switches = generate::times(switches, size);
  }
  if (auto ok = generate::check_positive(options.nodes_per_switch, "nodes_per_switch"); !ok) return fail(ok.error());
  const std::uint64_t nodes = generate::times(switches, options.nodes_per_switch);
  if (auto ok = generate::check_count(switches, "switches"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(nodes, "nodes"); !ok) return fail(ok.error());

  std::string shape;
  for (const std::uint32_t size : options.dims) shape += fmt::format("{}{}", shape.empty() ? "" : "x", size);
  config::FabricSpec spec = generate::start(fmt::format("{}-{}", options.wrap ? "torus" : "mesh", shape), options.node);
  const Bandwidth bandwidth = options.node.bandwidth;
  const std::string all = slab(options, 0, 0, options.dims[0] - 1);
  const std::string gpus = "gpu" + Numbers(nodes).range(1, nodes);
  generate::add_switches(spec, all, 1);
  generate::add_nodes(spec, gpus);
  generate::add_link(spec, gpus, all, switches == 1 ? LinkPattern::all : LinkPattern::split, bandwidth);
  for (std::size_t dim = 0; dim < options.dims.size(); ++dim) {
    const std::uint32_t last = options.dims[dim] - 1;
    if (last == 0) continue;
    generate::add_link(spec, slab(options, dim, 0, last - 1), slab(options, dim, 1, last), LinkPattern::zip, bandwidth);
    if (!options.wrap || last < 2) continue;
    generate::add_link(spec, slab(options, dim, last, last), slab(options, dim, 0, 0), LinkPattern::zip, bandwidth);
  }
  return spec;
}

}  // namespace weft::topology
