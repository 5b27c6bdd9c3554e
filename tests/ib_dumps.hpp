// SPDX-License-Identifier: BSD-3-Clause
//
// Reads dumps for tests: from the tree, from the shared data (also .xz), and counts what a spec holds.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "weft/topology/fabric.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology::test {

enum class View : std::uint8_t { topology, ports, linkinfo };

inline Result<Imported> import_view(View view, const Source& source, const ImportOptions& options = {}) {
  switch (view) {
    case View::topology: return import_ibnetdiscover(source, options);
    case View::ports: return import_ibnetdiscover_ports(source, options);
    case View::linkinfo: return import_iblinkinfo(source, options);
  }
  return fail(error(ErrorCode::usage, "no such view"));
}

inline Source source_of(std::string text, std::string file = "dump.txt") {
  return std::make_shared<const SourceText>(std::move(file), std::move(text));
}

/// Where the shared data is; empty where it is not.
inline std::string shared_data() {
  const char* given = std::getenv("WEFT_SHARED");
  const std::string root = std::string(given != nullptr ? given : WEFT_SHARED_DIR) + "/data";
  return std::filesystem::exists(root) ? root : std::string();
}

/// A whole file, unpacked by xz where its name ends in .xz; null where it cannot be read.
inline Source load(const std::string& path) {
  if (!path.ends_with(".xz")) {
    auto source = read_source(path);
    return source ? *source : nullptr;
  }
  const std::string command = "xz -dc '" + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return nullptr;
  std::string text;
  std::array<char, 65536> chunk{};
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe.get())) text.append(chunk.data(), n);
  return source_of(std::move(text), path.substr(0, path.size() - 3));
}

/// The parts of a spec in one text each, without names of files and places: equal specs give equal texts.
inline std::string spec_text(config::FabricSpec spec) {
  spec.name = "fabric";
  return config::write_fabric_yaml(spec);
}

/// What can be counted in a dump without Weft.
struct Counts {
  std::uint32_t nodes = 0;
  std::uint64_t nics = 0;
  std::uint32_t switches = 0;
  std::uint64_t cables = 0;
  std::uint64_t slow_cables = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << c.nodes << " nodes, " << c.nics << " NICs, " << c.switches << " switches, " << c.cables << " cables, "
               << c.slow_cables << " slow";
  }
};

inline Counts count(const Fabric& fabric) {
  Counts out{fabric.node_count(), 0, fabric.switch_count(), 0, 0};
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) out.nics += fabric.type_of(NodeId{n}).nics;
  for (const Link& link : fabric.links()) {
    out.cables += link.cables;
    if (link.slowed) out.slow_cables += link.cables;
  }
  return out;
}

}  // namespace weft::topology::test
