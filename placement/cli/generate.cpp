// SPDX-License-Identifier: BSD-3-Clause
#include "generate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app.hpp"
#include "commands.hpp"
#include "fabric_input.hpp"
#include "topology_options.hpp"
#include "weft/topology/generate.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

// What every kind of fabric takes besides its own shape.
struct CommonArgs {
  std::string name;
  std::string node_type;
  std::string bandwidth;
  std::string output;
};

// `preset_cables`: a preset's cable speed counts too; in a multi-plane fabric it is that of a NIC, not of a plane's
// port.
Result<void> shape_node(const CommonArgs& args, bool preset_cables, topology::NodeShape& shape) {
  FabricArgs given;
  given.node_type = args.node_type;
  given.bandwidth = args.bandwidth;
  const auto options = import_options(given);
  if (!options) return fail(options.error());
  const bool single_nic = shape.nics == 1;
  if (options->type_name) shape.type_name = *options->type_name;
  if (options->gpus_per_node) {
    shape.gpus = *options->gpus_per_node;
    if (!single_nic) shape.nics = shape.gpus;
  }
  if (options->nics_per_node) shape.nics = *options->nics_per_node;
  if (options->nvlink) shape.nvlink = *options->nvlink;
  if (options->nvlink_bandwidth) shape.nvlink_bandwidth = *options->nvlink_bandwidth;
  const bool said = !args.bandwidth.empty() || args.node_type.find("bandwidth=") != std::string::npos;
  if (options->bandwidth && (said || preset_cables)) shape.bandwidth = *options->bandwidth;
  return {};
}

// Adds one kind: `Options` holds the shape, `generate` turns it into a spec, `declare` adds its own command-line
// options.
template <typename Options, typename Declare>
void add_kind(CLI::App& parent, Chosen& chosen, const char* kind, const char* what, const char* example,
              Result<config::FabricSpec> (*generate)(const Options&), Declare declare) {
  CLI::App* app = parent.add_subcommand(kind, what);
  auto options = std::make_shared<Options>();
  auto common = std::make_shared<CommonArgs>();
  declare(*app, *options);
  const topology::NodeShape& node = options->node;
  app->add_option("--node-type", common->node_type,
                  fmt::format("GPUs, NICs and NVLink of a node: a preset (h100, h200, b200, gb200, ...) or "
                              "gpus=8,nics=8,nvlink=450GB/s; default {}, {}, NVLink {}",
                              counted(node.gpus, "GPU"), counted(node.nics, "NIC"), byte_rate(node.nvlink_bandwidth)))
      ->type_name("TYPE");
  app->add_option("--bandwidth", common->bandwidth,
                  fmt::format("of each cable, one direction; default {}", to_string(node.bandwidth)))
      ->type_name("RATE");
  app->add_option("--name", common->name, "the fabric's name; default: after its kind and size")->type_name("NAME");
  app->add_option("-o,--output", common->output, "write here, atomically; default: standard output")->type_name("FILE");
  app->footer(fmt::format("Example:\n{}", example));
  app->callback([options, common, generate, &chosen] {
    chosen = [options, common, generate]() -> Result<int> {
      const auto shaped = shape_node(*common, !std::is_same_v<Options, topology::MultiPlaneOptions>, options->node);
      if (!shaped) return fail(shaped.error());
      auto spec = generate(*options);
      if (!spec) return fail(std::move(spec.error()));
      if (!common->name.empty()) spec->name = common->name;
      const auto written = deliver_fabric(*spec, {}, common->output);
      if (!written) return fail(written.error());
      return kExitDone;
    };
  });
}

void add_trees(CLI::App& app, Chosen& chosen) {
  add_kind<topology::FatTreeOptions>(
      app, chosen, "fat-tree", "a fat tree (folded Clos) of any depth; all NICs of a node go to one leaf",
      "  weft generate fat-tree --tiers 3 --nodes-per-leaf 4 --leaves-per-pod 32 --nodes 1024 --taper 1,2 -o f.yaml\n"
      "    256 leaves in 8 pods; leaves at full bisection, the spines' links to the cores halved",
      topology::generate_fat_tree, declare_fat_tree);
  add_kind<topology::RailOptions>(app, chosen, "rail",
                                  "rail-optimised: NIC i of every node of a scalable unit on the unit's leaf of rail i",
                                  "  weft generate rail --nodes 128 --nodes-per-unit 32 -o su4.yaml\n"
                                  "    four scalable units of 32 nodes, 8 rail leaves each, spines over all of them",
                                  topology::generate_rail, declare_rail);
  add_kind<topology::MultiPlaneOptions>(
      app, chosen, "multi-plane", "parallel disjoint planes of two tiers; every NIC has a port in each plane",
      "  weft generate multi-plane --gpus 131072 --planes 8 -o mp.yaml\n"
      "    512 leaves of 256 GPUs in each of eight planes; the longest path has 3 switches",
      topology::generate_multi_plane, declare_multi_plane);
  add_kind<topology::Nvl72Options>(
      app, chosen, "nvl72", "racks that are one NVLink domain (18 nodes of 4 GPUs), rail leaves over units of racks",
      "  weft generate nvl72 --racks 16 --racks-per-unit 8 -o nvl.yaml\n"
      "    16 racks, 288 nodes, 1152 GPUs in two units",
      topology::generate_nvl72, declare_nvl72);
}

void add_direct(CLI::App& app, Chosen& chosen) {
  add_kind<topology::DragonflyOptions>(
      app, chosen, "dragonfly", "groups of routers, all joined within the group, global links between groups",
      "  weft generate dragonfly --routers 4 --nodes-per-router 2 --global-links 2 -o df.yaml\n"
      "    the balanced maximum: 4 x 2 + 1 = 9 groups, 72 nodes",
      topology::generate_dragonfly, declare_dragonfly);
  add_kind<topology::DragonflyPlusOptions>(
      app, chosen, "dragonfly-plus", "groups that are leaf-spine trees, spines joined between groups",
      "  weft generate dragonfly-plus --groups 6 --leaves 4 --spines 4 --nodes-per-leaf 8 -o dfp.yaml\n"
      "    6 groups of 32 nodes",
      topology::generate_dragonfly_plus, declare_dragonfly_plus);
  add_kind<topology::TorusOptions>(app, chosen, "torus", "a k-ary torus or mesh of any number of dimensions",
                                   "  weft generate torus --dims 4x4x4 -o torus.yaml\n"
                                   "    64 switches with one node each",
                                   topology::generate_torus, declare_torus);
}

}  // namespace

void add_generate(CLI::App& app, Chosen& chosen) {
  CLI::App* generate = app.add_subcommand("generate", "write a fabric.yaml by formula");
  generate->require_subcommand(1);
  generate->footer(
      "Each kind has its own options: weft generate KIND --help\n"
      "Example:\n"
      "  weft generate multi-plane --gpus 131072 --planes 8 -o mp.yaml");
  add_trees(*generate, chosen);
  add_direct(*generate, chosen);
}

}  // namespace weft::cli
