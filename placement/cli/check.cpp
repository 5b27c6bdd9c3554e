// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app.hpp"
#include "commands.hpp"
#include "model.hpp"  // plugin/bridge/core
#include "output.hpp"
#include "replay.hpp"  // plugin/bridge/core
#include "weft/config/fabric_spec.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/config/slurm_config.hpp"
#include "weft/placement/comm_file.hpp"
#include "weft/placement/forwarding.hpp"
#include "weft/placement/io.hpp"
#include "weft/placement/slurm_state.hpp"
#include "weft/placement/time_model.hpp"
#include "weft/topology/affinity.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

std::string job_verdict(const config::JobSpec& job) {
  std::string out = fmt::format("job.yaml, {}", counted(job.nodes, "node"));
  if (job.ranks_per_node) out += fmt::format(", {} a node", counted(*job.ranks_per_node, "rank"));
  if (!job.traffic.empty()) out += fmt::format(", {}", counted(job.traffic.size(), "traffic term"));
  if (job.model) out += ", a model";
  if (job.matrix) out += ", a matrix";
  return out;
}

std::string fabric_verdict(const LoadedFabric& loaded) {
  const topology::Fabric& fabric = loaded.fabric;
  std::uint64_t cables = 0;
  for (const topology::Link& link : fabric.links()) cables += link.cables;
  std::string out = fmt::format("{}, {}, {}, {}, {}", topology::to_string(loaded.kind),
                                counted(fabric.node_count(), "node"), counted(fabric.gpu_count(), "GPU"),
                                counted(fabric.switch_count(), "switch"), counted(cables, "link"));
  if (!fabric.faults().empty()) out += fmt::format(", {}", counted(fabric.faults().size(), "fault"));
  return out;
}

// A key at the start of a line, as block style has it.
bool has_top_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

// Files of the house that are no fabric and that topology::recognise does not tell apart.
bool is_health_file(std::string_view text) {
  return has_top_key(text, "weft:") && has_top_key(text, "health:") && !has_top_key(text, "nodes:");
}

bool is_placement_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' && text.find("\"weft\"") != std::string_view::npos &&
         text.find("\"nodes\"") != std::string_view::npos;
}

bool is_time_model(std::string_view text) {
  return has_top_key(text, "weft:") && !has_top_key(text, "nodes:") &&
         (has_top_key(text, "latency:") || has_top_key(text, "efficiency:") || has_top_key(text, "overlap:"));
}

// `scontrol show nodes`, and Slurm's JSON, which says what it is of.
bool is_slurm_state(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text[first] == '{')
    return text.find("\"nodes\"") != std::string_view::npos && text.find("\"gres_used\"") != std::string_view::npos;
  return text.substr(first).starts_with("NodeName=") && text.find("CPUAlloc=") != std::string_view::npos;
}

bool is_decision_log(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("{\"weft\":") && (line.find("\"decision\":") != std::string_view::npos ||
                                            line.find("\"outcome_of\":") != std::string_view::npos);
}

// Numbers from the first line that says something: a matrix, or a list under its head.
bool looks_like_numbers(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("from,")) return true;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && line.front() != '#')
      return line.find_first_not_of("0123456789.eE+-,; \t\r") == std::string_view::npos;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

// Files that stand beside fabrics and jobs; nullopt: none of them.
std::optional<Result<std::string>> verdict_beside(const Source& source, const CheckArgs& args) {
  const std::string_view text = source->text();
  const auto said = [](auto&& read, auto words) -> Result<std::string> {
    if (!read) return fail(read.error());
    return words(*read);
  };
  if (is_time_model(text))
    return said(placement::parse_time_model_yaml(source), [](const auto&) { return std::string("time model"); });
  if (placement::is_forwarding_tables(text))
    return said(placement::parse_forwarding_tables(source), [](const placement::ForwardingTables& tables) {
      return fmt::format("forwarding tables, {}", counted(tables.switches.size(), "switch"));
    });
  if (is_slurm_state(text))
    return said(placement::parse_slurm_state(source), [&](const placement::SlurmState& state) {
      say_notes(state.notes, args.quiet);
      const auto open = std::count_if(state.nodes.begin(), state.nodes.end(), [](const auto& n) { return n.open; });
      return fmt::format("nodes of Slurm, {}, {} open to jobs", counted(state.nodes.size(), "node"), open);
    });
  if (is_decision_log(text))
    return said(bridge::stats({source}), [](const std::string&) { return std::string("decision log"); });
  if (topology::recognise_affinity(text))
    return said(topology::read_affinity(source), [&](const topology::NodeAffinity& node) {
      say_notes(node.notes, args.quiet);
      return fmt::format("{}, {}, {}", topology::to_string(node.kind), counted(node.gpus.size(), "GPU"),
                         counted(node.nics.size(), "NIC"));
    });
  if (topology::recognise(text) != topology::FileKind::unknown) return std::nullopt;
  auto comm = placement::parse_comm_file(source);
  if (!comm && !looks_like_numbers(text)) return std::nullopt;
  return said(comm, [&](const placement::CommFile& file) {
    say_notes(file.notes, args.quiet);
    return fmt::format(
        "{}, {}", placement::to_string(file.kind),
        file.flows.empty() ? counted(file.terms.size(), "traffic term") : counted(file.flows.size(), "flow"));
  });
}

// The words after "ok: ".
Result<std::string> verdict(const std::string& path, const CheckArgs& args) {
  const auto source = read_source(path);
  if (!source) return fail(source.error());
  if (topology::recognise((*source)->text()) == topology::FileKind::job_yaml) {
    const auto job = config::parse_job_yaml(*source);
    if (!job) return fail(job.error());
    return job_verdict(*job);
  }
  if (config::looks_like_slurm_config((*source)->text())) {
    const auto model = bridge::load_model(path);
    if (!model) return fail(model.error());
    say_notes(model->notes, args.quiet);
    return fmt::format("weft.yaml, {}, {}", counted(model->fabric.node_count(), "node"),
                       counted(model->fabric.faults().size(), "fault"));
  }
  if (auto beside = verdict_beside(*source, args)) return *beside;
  if (is_health_file((*source)->text())) {
    const auto health = config::parse_health_yaml(*source);
    if (!health) return fail(health.error());
    return fmt::format("health file, {}", counted(health->size(), "fault"));
  }
  if (is_placement_json((*source)->text())) {
    const auto doc = placement::parse_placement_json(*source);
    if (!doc) return fail(doc.error());
    return fmt::format("placement.json, {}, {}", counted(doc->nodes.size(), "node"),
                       counted(doc->ranks.size(), "rank"));
  }
  const auto loaded = build_fabric(*source, args.fabric);
  if (!loaded) return fail(loaded.error());
  say_notes(loaded->notes, args.quiet);
  return fabric_verdict(*loaded);
}

}  // namespace

Result<int> run_check(const CheckArgs& args) {
  int code = kExitDone;
  for (const std::string& path : args.files) {
    const auto words = verdict(path, args);
    if (!words) {
      say(words.error().to_string());
      code = kExitUsage;
    }
    // A line a file at once, so that stdout and stderr stay in step on a terminal.
    auto written = deliver(fmt::format("{}: {}\n", path, words ? "ok: " + *words : "bad"));
    if (!written) return fail(std::move(written.error()));
  }
  return code;
}

}  // namespace weft::cli
