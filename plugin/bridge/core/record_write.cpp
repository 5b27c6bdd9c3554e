// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "record.hpp"
#include "record_words.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/topology/affinity.hpp"
#include "weft_spec.h"

namespace weft::bridge {
namespace {

using Json = nlohmann::ordered_json;
using topology::Fabric;
using topology::NodeId;

std::string hostlist(const Fabric& fabric, std::span<const NodeId> nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const NodeId n : nodes) names.push_back(fabric.node_name(n));
  return config::compress_hostlist(names);
}

// Equal values side by side as [value, how many].
Json runs(const std::vector<std::uint32_t>& values) {
  Json out = Json::array();
  for (std::size_t i = 0; i < values.size();) {
    std::size_t end = i + 1;
    while (end < values.size() && values[end] == values[i]) ++end;
    out.push_back({values[i], end - i});
    i = end;
  }
  return out;
}

// Numbers that count up as [first, how many].
Json table_runs(const std::vector<std::uint32_t>& table) {
  Json out = Json::array();
  for (std::size_t i = 0; i < table.size();) {
    std::size_t end = i + 1;
    while (end < table.size() && table[end] == table[end - 1] + 1) ++end;
    out.push_back({table[i], end - i});
    i = end;
  }
  return out;
}

// Sets of GPUs side by side as [list, how many]; "" is a node of which nothing is known.
Json gpu_runs(const std::vector<std::uint64_t>& sets) {
  Json out = Json::array();
  for (std::size_t i = 0; i < sets.size();) {
    std::size_t end = i + 1;
    while (end < sets.size() && sets[end] == sets[i]) ++end;
    std::vector<std::uint32_t> gpus;
    for (std::uint32_t g = 0; g < 64; ++g)
      if ((sets[i] >> g & 1U) != 0) gpus.push_back(g);
    out.push_back({topology::CpuSet(std::move(gpus)).list(), end - i});
    i = end;
  }
  return out;
}

template <typename T>
void put(Json& to, const char* key, T value) {
  if (value != 0) to[key] = value;
}

Json settings_json(const Settings& settings) {
  Json out;
  out["objective"] = kObjectives[static_cast<std::size_t>(settings.objective)];
  put(out, "budget_steps", settings.budget_steps);
  if (settings.default_layout) {
    Json layout;
    std::string order;
    for (std::size_t d = 0; d < config::kDims; ++d) {
      const auto dim = static_cast<config::Dim>(d);
      if (dim != config::Dim::dp) layout[std::string(config::to_string(dim))] = settings.default_layout->size[d];
      order += (d > 0 ? "-" : "") + std::string(config::to_string(settings.default_layout->order[d]));
    }
    layout["order"] = order;
    out["default_layout"] = std::move(layout);
  }
  out["node_weight"] = kNodeWeights[static_cast<std::size_t>(settings.node_weight)];
  out["on_error"] = kOnError[static_cast<std::size_t>(settings.on_error)];
  put(out, "patience", settings.patience);
  return out;
}

Json job_json(const Ask& ask) {
  Json out;
  out["id"] = ask.by.job_id;
  if (ask.by.array_job_id != 0) out["array"] = {ask.by.array_job_id, ask.by.array_task_id};
  if (ask.by.het_job_id != 0) out["het"] = {ask.by.het_job_id, ask.by.het_offset};
  out["mode"] = kModes[ask.by.mode < kModes.size() ? ask.by.mode : 0];
  Json flags = Json::array();
  for (std::size_t f = 0; f < kFlags.size(); ++f)
    if ((ask.flags & (1U << f)) != 0) flags.push_back(kFlags[f]);
  if (!flags.empty()) out["flags"] = std::move(flags);
  if (ask.spec) out["spec"] = escape(*ask.spec);
  out["nodes"] = {ask.min_nodes, ask.req_nodes, ask.max_nodes};
  put(out, "tasks", ask.tasks);
  put(out, "tasks_per_node", ask.tasks_per_node);
  put(out, "gpus", ask.total_gpus);
  put(out, "gpus_per_node", ask.gpus_per_node);
  put(out, "gpus_per_task", ask.gpus_per_task);
  put(out, "need_cpus", ask.need_cpus);
  put(out, "need_gpus", ask.need_gpus);
  put(out, "max_switches", ask.max_switches);
  put(out, "segment", ask.segment);
  return out;
}

Json free_json(const Fabric& fabric, const Ask& ask) {
  Json out;
  out["usable"] = hostlist(fabric, ask.usable);
  if (!ask.required.empty()) out["required"] = hostlist(fabric, ask.required);
  if (ask.possible) out["possible"] = hostlist(fabric, *ask.possible);
  if (ask.reach) out["reach"] = hostlist(fabric, *ask.reach);
  if (!ask.cpus.empty()) out["cpus"] = runs(ask.cpus);
  if (!ask.gpus.empty()) out["gpus"] = runs(ask.gpus);
  if (!ask.weights.empty()) out["weights"] = runs(ask.weights);
  if (!ask.free_gpus.empty()) out["free_gpus"] = gpu_runs(ask.free_gpus);
  if (!ask.table.empty()) out["table"] = table_runs(ask.table);
  put(out, "foreign_usable", ask.foreign_usable);
  put(out, "foreign_required", ask.foreign_required);
  return out;
}

Json choice_json(const Fabric& fabric, const Decision& d) {
  Json out;
  out["verdict"] = to_string(d.verdict);
  out["cause"] = to_string(d.cause);
  if (d.verdict == WEFT_PLACED) {
    out["nodes"] = hostlist(fabric, d.nodes);
    out["node_count"] = d.nodes.size();
    if (!d.gpus.empty()) out["gpus"] = gpu_runs(d.gpus);
    out["ranks_per_node"] = d.ranks_per_node;
    out["leaves"] = d.leaves;
    out["pods"] = d.pods;
    if (d.switches_exceeded) out["switches_exceeded"] = true;
    if (d.worth_waiting) out["worth_waiting"] = true;
    if (d.cross_spine_bytes) out["cross_spine_bytes"] = *d.cross_spine_bytes;
    if (d.hop_bytes) out["hop_bytes"] = *d.hop_bytes;
    if (d.bound) out["bound"] = *d.bound;
    if (d.gap) out["gap"] = *d.gap;
    out["summary"] = escape(d.summary);
  }
  if (!d.reason.empty()) out["reason"] = escape(d.reason);
  return out;
}

}  // namespace

std::string write_choice(const Fabric& fabric, const Decision& decision) {
  return choice_json(fabric, decision).dump();
}

std::string write_record(const Fabric& fabric, const Record& record) {
  const Circumstances& about = record.about;
  Json out;
  out["weft"] = 1;
  out["decision"] = about.decision;
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(about.time.time_since_epoch()).count();
  out["time"] =
      fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(millis / 1000)), millis % 1000);
  out["config"] = escape(about.config);
  out["fabric"] = {{"name", escape(fabric.name())}, {"digest", about.digest}};
  out["settings"] = settings_json(about.settings);
  put(out, "budget_steps", about.budget_steps);
  if (about.overran) out["overran_after_checks"] = about.checks;
  out["job"] = job_json(record.ask);
  out["free"] = free_json(fabric, record.ask);
  out["choice"] = choice_json(fabric, record.decision);
  out["elapsed_us"] = about.elapsed_us;
  if (about.repeated) out["repeated"] = true;
  return out.dump() + '\n';
}

std::string write_outcome(const Outcome& outcome) {
  Json out;
  out["weft"] = 1;
  out["outcome_of"] = outcome.decision;
  out["taken"] = outcome.taken;
  if (!outcome.reason.empty()) out["reason"] = escape(outcome.reason);
  return out.dump() + '\n';
}

std::string_view to_string(weft_verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }
std::string_view to_string(weft_cause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

std::string escape(std::string_view bytes) {
  std::string out(bytes.size() * 4 + 4, '\0');
  out.resize(weft_spec_escape(bytes.data(), bytes.size(), bytes.size(), out.data(), out.size()));
  return out;
}

std::string unescape(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 3 < text.size() && text[i] == '\\' && text[i + 1] == 'x' && digit(text[i + 2]) >= 0 &&
        digit(text[i + 3]) >= 0) {
      out.push_back(static_cast<char>(digit(text[i + 2]) * 16 + digit(text[i + 3])));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace weft::bridge
