// SPDX-License-Identifier: BSD-3-Clause
//
// From what the command line says about a fabric to a checked Fabric.
#pragma once

#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/topology/fabric.hpp"
#include "weft/topology/import.hpp"

namespace weft::cli {

/// The fabric options of every command, as given; empty = not given.
struct FabricArgs {
  std::string path;
  std::string node_type;
  std::string bandwidth;
  std::string names;
  std::string node_file;
  std::string topology;
  std::string health;
};

/// An error on the value of an option: "--free: error: …" and the value with a caret at byte `offset`.
[[nodiscard]] Error option_error(ErrorCode code, const std::string& option, const std::string& value,
                                 std::string message, std::string expected = {}, std::size_t offset = 0,
                                 std::size_t length = 0);

/// Options for the importers. Errors: usage and units of the values, io of the names file.
[[nodiscard]] Result<topology::ImportOptions> import_options(const FabricArgs& args);

struct LoadedFabric {
  topology::FileKind kind;
  config::FabricSpec spec;  ///< with the health file's entries
  topology::Fabric fabric;
  Notes notes;                              ///< the importer's, then the fabric's
  std::vector<topology::SwitchPort> ports;  ///< as Imported::ports
};

/// Reads `source` as a fabric of any kind, adds the health file and builds it.
[[nodiscard]] Result<LoadedFabric> build_fabric(const Source& source, const FabricArgs& args);
/// Reads args.path, then build_fabric.
[[nodiscard]] Result<LoadedFabric> load_fabric(const FabricArgs& args);

}  // namespace weft::cli
