// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app.hpp"
#include "commands.hpp"
#include "output.hpp"

namespace weft::cli {

Result<void> deliver_fabric(const config::FabricSpec& spec, const std::vector<std::string>& comments,
                            const std::string& output) {
  std::string text;
  for (const std::string& comment : comments) text += fmt::format("# {}\n", comment);
  text += config::write_fabric_yaml(spec);
  return deliver(text, output);
}

Result<int> run_import(const ImportArgs& args) {
  // Built too, so that what is written is known to be read again.
  const auto loaded = load_fabric(args.fabric);
  if (!loaded) return fail(loaded.error());
  say_notes(loaded->notes, args.quiet);
  std::vector<std::string> comments{fmt::format("Imported by weft from {}.", topology::to_string(loaded->kind))};
  // Note::to_string shows control bytes as '?', so a note cannot leave its comment.
  for (const Note& note : loaded->notes) comments.push_back(note.to_string());
  config::FabricSpec spec = loaded->spec;
  const bool to_file = !args.output.empty() && args.output != "-";
  topology::move_node_files(spec, to_file ? std::filesystem::path(args.output).parent_path().string() : std::string());
  const auto written = deliver_fabric(spec, comments, args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

}  // namespace weft::cli
