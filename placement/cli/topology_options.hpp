// SPDX-License-Identifier: BSD-3-Clause
//
// The command-line options of each kind of generated fabric, named after the field's terms.
#pragma once

#include "weft/topology/generate.hpp"

namespace CLI {
class App;
}

namespace weft::cli {

void declare_fat_tree(CLI::App& app, topology::FatTreeOptions& options);
void declare_rail(CLI::App& app, topology::RailOptions& options);
void declare_multi_plane(CLI::App& app, topology::MultiPlaneOptions& options);
void declare_nvl72(CLI::App& app, topology::Nvl72Options& options);
void declare_dragonfly(CLI::App& app, topology::DragonflyOptions& options);
void declare_dragonfly_plus(CLI::App& app, topology::DragonflyPlusOptions& options);
void declare_torus(CLI::App& app, topology::TorusOptions& options);

}  // namespace weft::cli
