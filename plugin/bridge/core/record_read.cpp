// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "record.hpp"
#include "record_words.hpp"
#include "weft/config/hostlist.hpp"
#include "weft/topology/affinity.hpp"

namespace weft::bridge {
namespace {

using Json = nlohmann::ordered_json;
using topology::Fabric;
using topology::NodeId;

// The first fault sticks; reads after it do nothing.
class Reader {
 public:
  [[nodiscard]] bool ok() const { return !fault_; }
  [[nodiscard]] const Error& fault() const { return *fault_; }
  void set(ErrorCode code, std::string message) {
    if (!fault_) fault_ = error(code, std::move(message));
  }

  const Json* find(const Json& in, const char* key) {
    if (!ok() || !in.is_object()) return nullptr;
    const auto found = in.find(key);
    return found == in.end() ? nullptr : &*found;
  }
  const Json& need(const Json& in, const char* key) {
    static const Json kNull;
    if (const Json* found = find(in, key)) return *found;
    set(ErrorCode::missing, fmt::format("no \"{}\"", key));
    return kNull;
  }

  template <typename T>
  void number(const Json& value, const char* key, T& out) {
    if (!ok()) return;
    const std::uint64_t most = std::numeric_limits<T>::max();
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      return set(ErrorCode::bad_value, fmt::format("\"{}\" is no whole number up to {}", key, most));
    out = static_cast<T>(value.get<std::uint64_t>());
  }
  template <typename T>
  void number_if(const Json& in, const char* key, T& out) {
    if (const Json* value = find(in, key)) number(*value, key, out);
  }
  void text(const Json& value, const char* key, std::string& out) {
    if (!ok()) return;
    if (!value.is_string()) return set(ErrorCode::bad_value, fmt::format("\"{}\" is no text", key));
    out = value.get<std::string>();
  }
  template <typename Words>
  std::size_t word(const Json& value, const char* key, const Words& words) {
    std::string said;
    text(value, key, said);
    if (!ok()) return 0;
    const auto found = std::find(words.begin(), words.end(), said);
    if (found == words.end()) set(ErrorCode::bad_value, fmt::format("\"{}\" is an unknown word", key));
    return ok() ? static_cast<std::size_t>(found - words.begin()) : 0;
  }
  // [a, b, ...] of exactly out.size() numbers
  void numbers(const Json& value, const char* key, std::span<std::uint32_t* const> out) {
    if (!ok()) return;
    if (!value.is_array() || value.size() != out.size())
      return set(ErrorCode::bad_value, fmt::format("\"{}\" is no list of {} numbers", key, out.size()));
    for (std::size_t i = 0; i < out.size(); ++i) number(value[i], key, *out[i]);
  }
  // [[value, count], ...]; with `up` the values of a run count up.
  void runs(const Json& in, const char* key, std::size_t total, bool up, std::vector<std::uint32_t>& out) {
    const Json* value = find(in, key);
    if (value == nullptr) return;
    if (!value->is_array()) return set(ErrorCode::bad_value, fmt::format("\"{}\" is no list", key));
    for (const Json& run : *value) {
      std::uint32_t first = 0, count = 0;
      numbers(run, key, std::array{&first, &count});
      if (!ok()) return;
      if (count > total - out.size()) break;
      for (std::uint32_t i = 0; i < count; ++i) out.push_back(up ? first + i : first);
    }
    if (out.size() != total) set(ErrorCode::bad_value, fmt::format("\"{}\" does not count {} nodes", key, total));
  }
  // [[list of GPUs, count], ...]
  void gpu_runs(const Json& in, const char* key, std::size_t total, std::vector<std::uint64_t>& out) {
    const Json* value = find(in, key);
    if (value == nullptr) return;
    if (!value->is_array()) return set(ErrorCode::bad_value, fmt::format("\"{}\" is no list", key));
    for (const Json& run : *value) {
      if (!run.is_array() || run.size() != 2)
        return set(ErrorCode::bad_value, fmt::format("\"{}\" is no list of GPUs and a number of nodes", key));
      std::uint64_t gpus = 0;
      std::uint32_t count = 0;
      gpu_set(run[0], key, gpus);
      number(run[1], key, count);
      if (!ok()) return;
      if (count > total - out.size()) break;
      out.insert(out.end(), count, gpus);
    }
    if (out.size() != total) set(ErrorCode::bad_value, fmt::format("\"{}\" does not count {} nodes", key, total));
  }
  void nodes(const Fabric& fabric, const Json& value, const char* key, std::vector<NodeId>& out) {
    std::string list;
    text(value, key, list);
    if (!ok()) return;
    const auto names = config::expand_hostlist(list);
    if (!names) return set(names.error().code, fmt::format("\"{}\": {}", key, names.error().message));
    for (const std::string& name : *names) {
      const auto node = fabric.find_node(name);
      if (!node)
        return set(ErrorCode::dangling, fmt::format("\"{}\": the fabric has no node \"{}\"", key, escape(name)));
      out.push_back(*node);
    }
  }

 private:
  // "0-3,7"; "" is none.
  void gpu_set(const Json& value, const char* key, std::uint64_t& out) {
    std::string list;
    text(value, key, list);
    if (!ok() || list.empty()) return;
    const auto gpus = topology::parse_cpu_list(list);
    if (!gpus || gpus->empty() || gpus->cpus().back() >= 64)
      return set(ErrorCode::bad_value, fmt::format("\"{}\" is no list of GPUs below 64", key));
    for (const std::uint32_t gpu : gpus->cpus()) out |= 1ULL << gpu;
  }

  std::optional<Error> fault_;
};

config::Layout read_layout(Reader& r, const Json& in) {
  config::Layout out;
  for (std::size_t d = 0; d < config::kDims; ++d)
    r.number_if(in, std::string(config::to_string(static_cast<config::Dim>(d))).c_str(), out.size[d]);
  std::string order;
  r.text(r.need(in, "order"), "order", order);
  std::size_t at = 0, begin = 0;
  while (r.ok() && at < config::kDims && begin <= order.size()) {
    const std::size_t end = std::min(order.find('-', begin), order.size());
    const std::string_view word = std::string_view(order).substr(begin, end - begin);
    for (std::size_t d = 0; d < config::kDims; ++d)
      if (word == config::to_string(static_cast<config::Dim>(d))) out.order[at] = static_cast<config::Dim>(d);
    ++at;
    begin = end + 1;
  }
  if (const auto good = placement::check_layout(out); r.ok() && !good)
    r.set(ErrorCode::bad_value, good.error().message);
  return out;
}

void read_about(Reader& r, const Json& in, Circumstances& out) {
  r.number(r.need(in, "decision"), "decision", out.decision);
  r.text(r.need(in, "config"), "config", out.config);
  out.config = unescape(out.config);
  r.text(r.need(r.need(in, "fabric"), "digest"), "digest", out.digest);
  const Json& settings = r.need(in, "settings");
  out.settings.objective =
      static_cast<placement::Objective>(r.word(r.need(settings, "objective"), "objective", kObjectives));
  r.number_if(settings, "budget_steps", out.settings.budget_steps);
  if (const Json* layout = r.find(settings, "default_layout")) out.settings.default_layout = read_layout(r, *layout);
  out.settings.node_weight =
      static_cast<config::NodeWeight>(r.word(r.need(settings, "node_weight"), "node_weight", kNodeWeights));
  out.settings.on_error = static_cast<config::OnError>(r.word(r.need(settings, "on_error"), "on_error", kOnError));
  if (const Json* patience = r.find(settings, "patience")) {
    out.settings.patience = patience->is_number() ? patience->get<double>() : -1;
    if (!(out.settings.patience >= 0) || out.settings.patience > config::kMaxPatience)
      r.set(ErrorCode::bad_value, fmt::format("\"patience\" is no number from 0 to {}", config::kMaxPatience));
  }
  r.number_if(in, "budget_steps", out.budget_steps);
  out.overran = r.find(in, "overran_after_checks") != nullptr;
  r.number_if(in, "overran_after_checks", out.checks);
  r.number(r.need(in, "elapsed_us"), "elapsed_us", out.elapsed_us);
  out.repeated = r.find(in, "repeated") != nullptr;
}

void read_job(Reader& r, const Json& in, Ask& out) {
  r.number(r.need(in, "id"), "id", out.by.job_id);
  if (const Json* array = r.find(in, "array"))
    r.numbers(*array, "array", std::array{&out.by.array_job_id, &out.by.array_task_id});
  if (const Json* het = r.find(in, "het")) r.numbers(*het, "het", std::array{&out.by.het_job_id, &out.by.het_offset});
  out.by.mode = static_cast<std::uint32_t>(r.word(r.need(in, "mode"), "mode", kModes));
  if (const Json* flags = r.find(in, "flags")) {
    if (!flags->is_array()) r.set(ErrorCode::bad_value, "\"flags\" is no list");
    for (const Json& flag : *flags) out.flags |= r.ok() ? 1U << r.word(flag, "flags", kFlags) : 0U;
  }
  if (const Json* spec = r.find(in, "spec")) {
    std::string text;
    r.text(*spec, "spec", text);
    out.spec = unescape(text);
  }
  r.numbers(r.need(in, "nodes"), "nodes", std::array{&out.min_nodes, &out.req_nodes, &out.max_nodes});
  r.number_if(in, "tasks", out.tasks);
  r.number_if(in, "tasks_per_node", out.tasks_per_node);
  r.number_if(in, "gpus", out.total_gpus);
  r.number_if(in, "gpus_per_node", out.gpus_per_node);
  r.number_if(in, "gpus_per_task", out.gpus_per_task);
  r.number_if(in, "need_cpus", out.need_cpus);
  r.number_if(in, "need_gpus", out.need_gpus);
  r.number_if(in, "max_switches", out.max_switches);
  r.number_if(in, "segment", out.segment);
}

void read_free(Reader& r, const Fabric& fabric, const Json& in, Ask& out) {
  r.nodes(fabric, r.need(in, "usable"), "usable", out.usable);
  if (const Json* required = r.find(in, "required")) r.nodes(fabric, *required, "required", out.required);
  if (const Json* possible = r.find(in, "possible")) r.nodes(fabric, *possible, "possible", out.possible.emplace());
  if (const Json* reach = r.find(in, "reach")) r.nodes(fabric, *reach, "reach", out.reach.emplace());
  r.runs(in, "cpus", out.usable.size(), false, out.cpus);
  r.runs(in, "gpus", out.usable.size(), false, out.gpus);
  r.runs(in, "weights", out.usable.size(), false, out.weights);
  r.gpu_runs(in, "free_gpus", out.usable.size(), out.free_gpus);
  r.runs(in, "table", out.usable.size(), true, out.table);
  if ((out.flags & WEFT_REQ_CONTIGUOUS) != 0 && out.table.size() != out.usable.size())
    r.set(ErrorCode::missing, "no \"table\", and the job is contiguous");
  r.number_if(in, "foreign_usable", out.foreign_usable);
  r.number_if(in, "foreign_required", out.foreign_required);
}

Result<Json> parse_line(std::string_view line) {
  Json out = Json::parse(line, nullptr, false);
  if (out.is_discarded() || !out.is_object())
    return fail(error(ErrorCode::syntax, "no JSON object", "a line of the decision log"));
  const auto version = out.find("weft");
  if (version == out.end() || *version != 1)
    return fail(error(ErrorCode::unsupported, "no \"weft\": 1", "a line of the decision log"));
  return out;
}

}  // namespace

Result<LogLine> read_line(const Fabric& fabric, std::string_view line) {
  const auto json = parse_line(line);
  if (!json) return fail(json.error());
  Reader r;
  if (r.find(*json, "outcome_of") != nullptr) {
    Outcome out;
    r.number(r.need(*json, "outcome_of"), "outcome_of", out.decision);
    const Json& taken = r.need(*json, "taken");
    if (r.ok() && !taken.is_boolean()) r.set(ErrorCode::bad_value, "\"taken\" is neither true nor false");
    if (!r.ok()) return fail(r.fault());
    out.taken = taken.get<bool>();
    return out;
  }
  Record out;
  read_about(r, *json, out.about);
  read_job(r, r.need(*json, "job"), out.ask);
  read_free(r, fabric, r.need(*json, "free"), out.ask);
  if (!r.ok()) return fail(r.fault());
  return out;
}

Result<Glance> glance(std::string_view line) {
  const auto json = parse_line(line);
  if (!json) return fail(json.error());
  Reader r;
  Glance out;
  if (r.find(*json, "outcome_of") != nullptr) {
    out.outcome = true;
    const Json& taken = r.need(*json, "taken");
    if (r.ok() && !taken.is_boolean()) r.set(ErrorCode::bad_value, "\"taken\" is neither true nor false");
    if (!r.ok()) return fail(r.fault());
    out.taken = taken.get<bool>();
    r.number(r.need(*json, "outcome_of"), "outcome_of", out.decision);
    if (!r.ok()) return fail(r.fault());
    return out;
  }
  r.number(r.need(*json, "decision"), "decision", out.decision);
  const Json& choice = r.need(*json, "choice");
  out.verdict = kVerdicts[r.word(r.need(choice, "verdict"), "verdict", kVerdicts)];
  out.cause = kCauses[r.word(r.need(choice, "cause"), "cause", kCauses)];
  out.mode = kModes[r.word(r.need(r.need(*json, "job"), "mode"), "mode", kModes)];
  r.text(r.need(r.need(*json, "fabric"), "digest"), "digest", out.digest);
  r.text(r.need(*json, "config"), "config", out.config);
  out.config = unescape(out.config);
  std::uint64_t elapsed = 0;
  r.number(r.need(*json, "elapsed_us"), "elapsed_us", elapsed);
  out.elapsed_seconds = static_cast<double>(elapsed) * 1e-6;
  r.number_if(choice, "node_count", out.nodes);
  r.number_if(choice, "leaves", out.leaves);
  r.number_if(choice, "pods", out.pods);
  if (const Json* bytes = r.find(choice, "cross_spine_bytes")) {
    if (bytes->is_number())
      out.cross_spine_bytes = bytes->get<double>();
    else
      r.set(ErrorCode::bad_value, "\"cross_spine_bytes\" is no number");
  }
  out.worth_waiting = r.find(choice, "worth_waiting") != nullptr;
  out.repeated = r.find(*json, "repeated") != nullptr;
  if (!r.ok()) return fail(r.fault());
  out.choice = choice.dump();
  return out;
}

}  // namespace weft::bridge
