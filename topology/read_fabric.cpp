// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "node_file.hpp"
#include "recognise.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {
namespace {

Error no_fabric(const Recognised& what, const Source& source) {
  // A line of a binary file is not worth showing.
  const bool text = source->text().substr(0, 4096).find('\0') == std::string_view::npos;
  Error e = error_at(ErrorCode::unsupported, text ? source : Source(), what.at, 1, what.reason, what.expected);
  e.file = source->file();
  return e;
}

bool is_dump(FileKind kind) {
  return kind == FileKind::ibnetdiscover || kind == FileKind::ibnetdiscover_ports || kind == FileKind::iblinkinfo;
}

Result<Imported> read_any(const Source& source, const ImportOptions& options) {
  const Recognised what = classify(source->text());
  switch (what.kind) {
    case FileKind::fabric_yaml: {
      auto spec = config::parse_fabric_yaml(source);
      if (!spec) return fail(std::move(spec.error()));
      return Imported{.kind = FileKind::fabric_yaml, .spec = std::move(*spec), .notes = {}};
    }
    case FileKind::ibnetdiscover: return import_ibnetdiscover(source, options);
    case FileKind::ibnetdiscover_ports: return import_ibnetdiscover_ports(source, options);
    case FileKind::iblinkinfo: return import_iblinkinfo(source, options);
    case FileKind::slurm_topology_conf: return import_slurm_topology_conf(source, options);
    case FileKind::slurm_topology_yaml: return import_slurm_topology_yaml(source, options);
    case FileKind::topograph_model: return import_topograph_model(source, options);
    case FileKind::clos_csv: return import_clos_csv(source, options);
    case FileKind::job_yaml:
      return fail(error_at(ErrorCode::unsupported, source, {1, 1}, 1, "a job (job.yaml), not a fabric",
                           std::string(kKnownFabrics)));
    case FileKind::unknown: break;
  }
  return fail(no_fabric(what, source));
}

}  // namespace

Result<Imported> read_fabric(const Source& source, const ImportOptions& options) {
  if (options.node_file.empty()) return read_any(source, options);
  const auto node = read_node_file(options.node_file);
  if (!node) return fail(node.error());
  // Dumps have NICs, and not every host of theirs is such a node.
  const bool has_nics = is_dump(classify(source->text()).kind);
  auto imported = read_any(source, has_nics ? options : with_counts(options, *node));
  if (!imported) return imported;
  if (auto used = use_node_file(options.node_file, *node, *imported); !used) return fail(std::move(used.error()));
  return imported;
}

}  // namespace weft::topology
