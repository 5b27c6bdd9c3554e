// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_input.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "weft/config/units.hpp"

namespace weft::cli {
namespace {

// Appends the health file.
Result<Source> add_health(const std::string& path, config::FabricSpec& spec) {
  auto source = read_source(path);
  if (!source) return source;
  auto entries = config::parse_health_yaml(*source);
  if (!entries) return fail(std::move(entries.error()));
  spec.health.insert(spec.health.end(), std::make_move_iterator(entries->begin()),
                     std::make_move_iterator(entries->end()));
  return source;
}

}  // namespace

Error option_error(ErrorCode code, const std::string& option, const std::string& value, std::string message,
                   std::string expected, std::size_t offset, std::size_t length) {
  Error e = error(code, std::move(message), std::move(expected));
  e.file = option;
  e.fragment = value;
  e.at.column = static_cast<std::uint32_t>(offset + 1);
  e.width = static_cast<std::uint32_t>(std::max<std::size_t>(1, length == 0 ? value.size() : length));
  return e;
}

Result<topology::ImportOptions> import_options(const FabricArgs& args) {
  topology::ImportOptions out;
  if (!args.node_type.empty()) {
    auto parsed = topology::parse_node_type(args.node_type);
    if (!parsed) {
      Error e = std::move(parsed.error());
      if (e.file.empty()) e.file = "--node-type";
      return fail(std::move(e));
    }
    out = std::move(*parsed);
  }
  if (!args.bandwidth.empty()) {
    const auto parsed = parse_bandwidth(args.bandwidth);
    if (!parsed) {
      return fail(option_error(ErrorCode::bad_unit, "--bandwidth", args.bandwidth, parsed.error().message,
                               parsed.error().expected));
    }
    out.bandwidth = *parsed;
  }
  if (!args.names.empty()) {
    auto names = read_source(args.names);
    if (!names) return fail(std::move(names.error()));
    out.names = std::move(*names);
  }
  out.node_file = args.node_file;
  if (!args.topology.empty()) out.topology = args.topology;
  return out;
}

Result<LoadedFabric> build_fabric(const Source& source, const FabricArgs& args) {
  auto options = import_options(args);
  if (!options) return fail(std::move(options.error()));
  auto imported = topology::read_fabric(source, *options);
  if (!imported) return fail(std::move(imported.error()));
  config::FabricSpec& spec = imported->spec;
  const std::size_t own_health = spec.health.size();
  Source health;
  if (!args.health.empty()) {
    auto read = add_health(args.health, spec);
    if (!read) return fail(std::move(read.error()));
    health = std::move(*read);
  }
  auto fabric = topology::Fabric::build(spec);
  if (!fabric && health) {
    // Whose fault is it? Where the fabric alone is sound, the position means the health file.
    spec.health.resize(own_health);
    const auto alone = topology::Fabric::build(spec);
    if (!alone) return fail(alone.error());
    const Error& e = fabric.error();
    return fail(error_at(e.code, health, e.at, e.width, e.message, e.expected));
  }
  if (!fabric) return fail(std::move(fabric.error()));
  Notes notes = std::move(imported->notes);
  notes.insert(notes.end(), fabric->notes().begin(), fabric->notes().end());
  return LoadedFabric{imported->kind, std::move(spec), std::move(*fabric), std::move(notes),
                      std::move(imported->ports)};
}

Result<LoadedFabric> load_fabric(const FabricArgs& args) {
  const auto source = read_source(args.path);
  if (!source) return fail(source.error());
  return build_fabric(*source, args);
}

}  // namespace weft::cli
