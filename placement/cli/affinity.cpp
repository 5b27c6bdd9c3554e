// SPDX-License-Identifier: BSD-3-Clause
#include "affinity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <utility>

#include "app.hpp"
#include "fabric_input.hpp"
#include "options.hpp"
#include "output.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/topology/affinity_write.hpp"

namespace weft::cli {
namespace {

using topology::NodeAffinity;

// Each file lies over the ones before it; the live machine comes first.
Result<NodeAffinity> read_views(const AffinityArgs& args) {
  if (!args.live && args.files.empty()) {
    return fail(error(ErrorCode::usage, "`weft affinity` needs a file or --live",
                      "weft affinity FILE, or weft affinity --live"));
  }
  std::optional<NodeAffinity> out;
  if (args.live) {
    auto live = topology::live_affinity();
    if (!live) return live;
    out = std::move(*live);
  }
  for (const std::string& path : args.files) {
    const auto source = read_source(path, topology::kMaxAffinityBytes);
    if (!source) return fail(source.error());
    auto node = topology::read_affinity(*source);
    if (node && out) node = topology::merge_views(*out, *node);
    if (!node) return node;
    out = std::move(*node);
  }
  return std::move(*out);
}

Result<std::vector<std::string>> host_names(const std::string& nodes) {
  if (nodes.empty()) return std::vector<std::string>();
  auto names = config::expand_hostlist(nodes);
  if (names) return std::move(*names);
  const config::HostlistError& e = names.error();
  return fail(option_error(e.code, "--nodes", nodes, e.message, e.expected, e.offset, e.length));
}

// Colours where a person looks at a terminal that has them (no-color.org).
bool wants_colour(const AffinityArgs& args) {
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  return (args.output.empty() || args.output == "-") && ::isatty(STDOUT_FILENO) == 1 && term != nullptr &&
         std::string(term) != "dumb" && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace

Result<int> run_affinity(const AffinityArgs& args) {
  const auto hosts = host_names(args.nodes);
  if (!hosts) return fail(hosts.error());
  const auto node = read_views(args);
  if (!node) return fail(node.error());
  const Notes warnings = topology::affinity_warnings(*node);
  Notes notes = node->notes;
  notes.insert(notes.end(), warnings.begin(), warnings.end());
  say_notes(notes, args.quiet);
  std::string text;
  if (args.format == "json") {
    text = affinity_json(*node, notes);
  } else if (args.format == "gres.conf") {
    text = topology::write_gres_conf(*node, args.nodes);
  } else if (args.format == "env") {
    text = topology::write_affinity_env(*node);
  } else if (args.format == "rankfile") {
    text = topology::write_affinity_rankfile(*node, *hosts);
  } else if (args.format == "srun") {
    text = topology::write_srun_options(*node);
  } else {
    text = affinity_text(*node, wants_colour(args));
  }
  const auto written = deliver(text, args.output);
  if (!written) return fail(written.error());
  return kExitDone;
}

void add_affinity(CLI::App& app, Chosen& chosen) {
  CLI::App* sub = app.add_subcommand("affinity", "GPUs, NICs and the paths between them inside a node");
  auto args = std::make_shared<AffinityArgs>();
  sub->add_option("FILE", args->files,
                  "hwloc XML (lstopo), `nvidia-smi topo -m` or -mp, NCCL or RCCL topology XML, or rocm-smi --showtopo, "
                  "recognised by content; more files are further views, and what they contradict is said");
  sub->add_flag("--live", args->live, "this machine, through hwloc; FILEs are further views of it");
  add_format(*sub, args->format, {"text", "json", "gres.conf", "env", "rankfile", "srun"});
  sub->add_option("--nodes", args->nodes, "the nodes that are so, for gres.conf's NodeName and the rankfile's hosts")
      ->type_name("HOSTS");
  add_output(*sub, args->output);
  add_quiet(*sub, args->quiet);
  sub->footer(
      "Formats: text is a matrix, coloured on a terminal; gres.conf is Slurm's (AutoDetect off; File, Cores, Links); "
      "env "
      "is a\n"
      "shell case on the local rank, to be sourced by each; rankfile is Open MPI's; srun is options for srun.\n"
      "Paths: PIX one PCIe switch, PXB several, PHB a host bridge, NODE several in a NUMA node, SYS between NUMA "
      "nodes.\n"
      "Examples:\n"
      "  weft affinity --live\n"
      "  weft affinity machine.xml topo.txt --format gres.conf --nodes 'gpu[01-32]' -o gres.conf");
  sub->callback([args, &chosen] { chosen = [args] { return run_affinity(*args); }; });
}

}  // namespace weft::cli
