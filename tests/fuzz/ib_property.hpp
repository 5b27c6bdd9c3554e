// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold of any bytes that an InfiniBand importer is given: it refuses them with a place and words, or makes a
// spec that can be written and re-read and is the same then.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "weft/config/fabric_spec.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {

inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

template <typename Import>
void check_import(const std::uint8_t* data, std::size_t size, Import import) {
  const auto source =
      std::make_shared<const SourceText>("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  const auto imported = import(source, ImportOptions{});
  if (!imported) {
    demand(!imported.error().message.empty(), "a refusal has words");
    demand(imported.error().at.line != 0, "a refusal has a place");
    demand(!imported.error().to_string().empty(), "a refusal prints");
    return;
  }
  for (const Note& note : imported->notes) demand(!note.message.empty(), "a note has words");
  const std::string yaml = config::write_fabric_yaml(imported->spec);
  const auto again = config::parse_fabric_yaml(std::make_shared<const SourceText>("again.yaml", yaml));
  if (!again) std::fprintf(stderr, "%s\n", again.error().to_string().c_str());
  demand(again.has_value(), "what was imported can be re-read");
  demand(config::write_fabric_yaml(*again) == yaml, "what was re-read is the same");
}

}  // namespace weft::topology
