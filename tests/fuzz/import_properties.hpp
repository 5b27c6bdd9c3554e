// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold of every importer whatever the bytes: an error can be shown; what was read builds, survives writing
// and reading as fabric.yaml, and is the same fabric after it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "same_fabric.hpp"
#include "weft/topology.hpp"

namespace weft::topology::fuzz {

[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "property broken: %s\n", what.c_str());
  std::abort();
}

inline Source source_of(const std::uint8_t* data, std::size_t size) {
  return std::make_shared<const SourceText>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
}

/// Whether the text has a bracket with a number of four digits and more. Hostlists of a million names are legal and
/// take a second each under a sanitizer; a fuzzer that finds them does nothing else any more.
inline bool has_wide_range(const std::uint8_t* data, std::size_t size) {
  bool inside = false;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '[') inside = true;
    if (data[i] == ']' || data[i] == '\n') inside = false;
    digits = inside && data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

inline void check_error(const Error& error) {
  if (error.message.empty()) broken("an error without a message");
  for (const char c : error.to_string()) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) broken("control bytes in: " + error.message);
  }
}

/// `must_build`: the importer promises a spec that Fabric::build takes, limits aside.
inline void check_import(const Result<Imported>& imported, bool must_build) {
  if (!imported) return check_error(imported.error());
  for (const Note& note : imported->notes) {
    if (note.message.empty()) broken("an empty note");
  }
  const auto fabric = Fabric::build(imported->spec);
  if (!fabric) {
    check_error(fabric.error());
    if (must_build && fabric.error().code != ErrorCode::limit) broken("no fabric: " + fabric.error().to_string());
    return;
  }
  if (fabric->node_count() > 500 || fabric->switch_count() > 200) return;  // the checks below are cubic
  if (const auto fault = fabric->check_invariants()) broken(*fault);
  const std::string text = config::write_fabric_yaml(imported->spec);
  const auto again = config::parse_fabric_yaml(std::make_shared<const SourceText>("again", text));
  if (!again) broken("written, not read: " + again.error().to_string());
  if (config::write_fabric_yaml(*again) != text) broken("written twice, not the same");
  const auto rebuilt = Fabric::build(*again);
  if (!rebuilt) broken("read again, not built: " + rebuilt.error().to_string());
  if (const auto d = test::difference(*fabric, *rebuilt)) broken("not the same fabric: " + *d);
}

}  // namespace weft::topology::fuzz
