// SPDX-License-Identifier: BSD-3-Clause
#include "topology_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace weft::cli {
namespace {

constexpr const char* kLeastRadix = "the least of 64, 128, 256, 512 that will do";

// A number with its default in the help.
template <typename Number>
void number(CLI::App& app, const char* flag, Number& value, const char* what, const char* zero = nullptr) {
  const std::string shown = value == 0 && zero != nullptr ? zero : fmt::format("{}", value);
  app.add_option(flag, value, fmt::format("{}; default {}", what, shown))->type_name("N");
}

}  // namespace

void declare_fat_tree(CLI::App& app, topology::FatTreeOptions& options) {
  number(app, "--nodes", options.nodes, "nodes in all", "as many as the tree holds");
  number(app, "--gpus", options.gpus, "GPUs in all, in place of --nodes", "as many as the tree holds");
  number(app, "--tiers", options.tiers, "tiers of switches");
  number(app, "--radix", options.radix, "ports of a switch at the cables' rate", kLeastRadix);
  number(app, "--nodes-per-leaf", options.nodes_per_leaf, "nodes on one leaf", "as many as the radix allows");
  number(app, "--leaves-per-pod", options.leaves_per_pod,
         "leaves of a pod, and pods of each higher group but the topmost (three tiers and up)",
         "as many as the radix allows");
  app.add_option(
         "--taper", options.taper,
         "capacity down : capacity up, a whole number for each tier below the top, leaf first, comma-separated; "
         "default 1 (full bisection)")
      ->type_name("N,N")
      ->delimiter(',')
      ->allow_extra_args(false);
  number(app, "--spines", options.spines, "tier-2 switches of a pod (in all, of two tiers)", "from radix and taper");
  number(app, "--cables", options.cables, "parallel cables from a leaf to each of them", "from radix and taper");
}

void declare_rail(CLI::App& app, topology::RailOptions& options) {
  number(app, "--nodes", options.nodes, "nodes in all");
  number(app, "--nodes-per-unit", options.nodes_per_unit,
         "nodes of a scalable unit (that share their rail leaves); divides --nodes");
  number(app, "--tiers", options.tiers, "tiers of switches; 3 = spines of one rail each, cores over them");
  number(app, "--radix", options.radix, "ports of a switch", kLeastRadix);
  number(app, "--taper", options.taper, "capacity down : capacity up of a rail leaf");
  number(app, "--spines", options.spines, "spines in all of two tiers, else a rail", "from radix and taper");
  app.add_flag("--rail-only", options.rail_only, "spines per rail: no path between rails but over NVLink");
}

void declare_multi_plane(CLI::App& app, topology::MultiPlaneOptions& options) {
  number(app, "--gpus", options.gpus, "GPUs in all");
  number(app, "--planes", options.planes, "planes; every NIC has one port in each");
  number(app, "--gpus-per-leaf", options.gpus_per_leaf, "GPUs on a leaf of each plane");
  number(app, "--spines", options.spines, "spines of a plane", "as many as a leaf has ports down (full bisection)");
}

void declare_nvl72(CLI::App& app, topology::Nvl72Options& options) {
  number(app, "--racks", options.racks, "racks, each one NVLink domain");
  number(app, "--nodes-per-rack", options.nodes_per_rack, "nodes of a rack");
  number(app, "--racks-per-unit", options.racks_per_unit, "racks under the same rail leaves; divides --racks");
  number(app, "--radix", options.radix, "ports of a switch");
  number(app, "--taper", options.taper, "capacity down : capacity up of a rail leaf");
  number(app, "--spines", options.spines, "spines", "from radix and taper");
}

void declare_dragonfly(CLI::App& app, topology::DragonflyOptions& options) {
  number(app, "--groups", options.groups, "groups", "routers x global links + 1, the balanced maximum");
  number(app, "--routers", options.routers, "routers of a group");
  number(app, "--nodes-per-router", options.nodes_per_router, "nodes on a router");
  number(app, "--global-links", options.global_links, "links of a router to other groups");
}

void declare_dragonfly_plus(CLI::App& app, topology::DragonflyPlusOptions& options) {
  number(app, "--groups", options.groups, "groups");
  number(app, "--leaves", options.leaves, "leaves of a group");
  number(app, "--spines", options.spines, "spines of a group");
  number(app, "--nodes-per-leaf", options.nodes_per_leaf, "nodes on a leaf");
  number(app, "--global-cables", options.global_cables, "cables between each pair of groups");
}

void declare_torus(CLI::App& app, topology::TorusOptions& options) {
  app.add_option("--dims", options.dims, "switches along each dimension, such as 8x8x4; default 4x4x4")
      ->type_name("AxBxC")
      ->delimiter('x')
      ->allow_extra_args(false);
  number(app, "--nodes-per-switch", options.nodes_per_switch, "nodes on a switch");
  app.add_flag("!--mesh", options.wrap, "no links around the edges");
}

}  // namespace weft::cli
