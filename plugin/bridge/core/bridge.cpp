// SPDX-License-Identifier: BSD-3-Clause
#include "bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include "weft/config/hostlist.hpp"

namespace weft::bridge {

using std::chrono::steady_clock;
using topology::index;
using topology::NodeId;

/// What the clock had to do with a decision.
struct Bridge::Timed {
  steady_clock::time_point start;
  bool overran = false;
  std::uint64_t checks = 0;  // of the clock, before it said enough
  std::uint64_t elapsed_us = 0;
  bool repeated = false;  // answered before
};

void copy_text(const std::string& text, char* to, std::size_t size) noexcept {
  if (to == nullptr || size == 0) return;
  const std::size_t n = std::min(text.size(), size - 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    to[i] = (c >= 0x20 && c < 0x7f) || c == '\n' ? text[i] : '?';
  }
  if (n < text.size() && n >= 3) std::memcpy(to + n - 3, "...", 3);
  to[n] = '\0';
}

Bridge::Bridge(Model model, std::string path, Log log, Hooks hooks)
    : model_(std::make_shared<const Model>(std::move(model))),
      path_(std::move(path)),
      log_(std::move(log)),
      hooks_(std::move(hooks)) {}

Result<std::unique_ptr<Bridge>> Bridge::open(const std::string& weft_yaml, Log log, Hooks hooks) {
  auto model = load_model(weft_yaml);
  if (!model) return fail(model.error());
  std::unique_ptr<Bridge> out(new Bridge(std::move(*model), weft_yaml, std::move(log), std::move(hooks)));
  for (const Note& note : out->model_->notes) out->log(WEFT_LOG_INFO, note.to_string());
  if (const auto& path = out->model_->config.decision_log)
    out->decisions_ = std::make_unique<DecisionLog>(
        *path, [say = out->log_](const std::string& message) { say(WEFT_LOG_ERROR, message); });
  const topology::Fabric& fabric = out->model_->fabric;
  out->log(WEFT_LOG_INFO,
           fmt::format("{}: fabric {} (digest {}): {} nodes, {} switches, {} faults", weft_yaml, fabric.name(),
                       out->model_->digest, fabric.node_count(), fabric.switch_count(), fabric.faults().size()));
  return out;
}

std::shared_ptr<const Binding> Bridge::binding() const {
  const std::lock_guard lock(binding_mutex_);
  return binding_;
}

void Bridge::bind(std::span<const char* const> names, weft_bind_report* report) {
  const topology::Fabric& fabric = model_->fabric;
  auto made = std::make_shared<Binding>();
  made->node.resize(names.size());
  made->table.assign(fabric.node_count(), WEFT_NO_NODE);
  std::vector<std::string> only_slurm, only_fabric;
  std::uint32_t bound = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == nullptr) continue;
    const auto node = fabric.find_node(names[i]);
    if (!node) {
      only_slurm.emplace_back(names[i]);
    } else if (made->table[index(*node)] == WEFT_NO_NODE) {
      made->node[i] = node;
      made->table[index(*node)] = static_cast<std::uint32_t>(i);
      ++bound;
    }
  }
  for (const NodeId n : fabric.fabric_order())
    if (made->table[index(n)] == WEFT_NO_NODE) only_fabric.push_back(fabric.node_name(n));
  {
    const std::lock_guard lock(binding_mutex_);
    binding_ = std::move(made);
  }
  const std::string slurm_list = config::compress_hostlist(only_slurm);
  const std::string fabric_list = config::compress_hostlist(only_fabric);
  const auto tell = [&](std::size_t count, const std::string& list, std::string_view who, std::string_view then) {
    if (count > 0)
      log(WEFT_LOG_ERROR,
          fmt::format("{} node{} known to {} alone{}: {}", count, count == 1 ? "" : "s", who, then, list));
  };
  tell(only_slurm.size(), slurm_list, "Slurm", " (left to stock selection)");
  tell(only_fabric.size(), fabric_list, "the fabric", " (never chosen)");
  if (report == nullptr) return;
  *report = {};
  report->bound = bound;
  report->only_slurm = static_cast<std::uint32_t>(only_slurm.size());
  report->only_fabric = static_cast<std::uint32_t>(only_fabric.size());
  copy_text(slurm_list, report->only_slurm_list, sizeof(report->only_slurm_list));
  copy_text(fabric_list, report->only_fabric_list, sizeof(report->only_fabric_list));
}

void Bridge::node_ranks(std::span<const char* const> names, std::uint32_t* rank) const {
  const topology::Fabric& fabric = model_->fabric;
  std::vector<std::size_t> of_node(fabric.node_count(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    rank[i] = 0;
    if (names[i] == nullptr) continue;
    const auto node = fabric.find_node(names[i]);
    if (node && of_node[index(*node)] == names.size()) of_node[index(*node)] = i;
  }
  std::uint32_t next = 1;
  for (const NodeId n : fabric.fabric_order())
    if (of_node[index(n)] < names.size()) rank[of_node[index(n)]] = next++;
  for (const bool hole : {false, true})
    for (std::size_t i = 0; i < names.size(); ++i)
      if (rank[i] == 0 && (names[i] == nullptr) == hole) rank[i] = next++;
}

void Bridge::internal_fault(const char* where, const char* what) noexcept {
  const std::uint64_t nth = faults_.fetch_add(1) + 1;
  if ((nth & (nth - 1)) != 0) return;
  try {
    log_(WEFT_LOG_ERROR, fmt::format("internal fault {} in {}: {}", nth, where, what));
  } catch (...) {  // not even room for a message
    static_cast<void>(0);
  }
}

Decision Bridge::decide_timed(const Ask& ask, const weft_request& request, Timed& timed) {
  const auto limit = request.deadline_us != 0
                         ? std::chrono::microseconds(request.deadline_us)
                         : std::chrono::microseconds(std::llround(model_->config.deadline.value * 1e6));
  DecideOptions options;
  options.place = hooks_.place;
  options.budget_steps = request.budget_steps;
  options.traffic = &traffic_;
  options.least = &least_;
  options.overran = [&] {
    timed.overran = timed.overran || hooks_.now() - timed.start >= limit;
    timed.checks += timed.overran ? 0 : 1;
    return timed.overran;
  };
  try {
    return decide(model_->fabric, model_->sound(), model_->settings, ask, options);
  } catch (const std::exception& e) {
    internal_fault("choose", e.what());
    return engine_failed(model_->settings, WEFT_CAUSE_INTERNAL, "internal fault");
  } catch (...) {
    internal_fault("choose", "unknown exception");
    return engine_failed(model_->settings, WEFT_CAUSE_INTERNAL, "internal fault");
  }
}

// `ask` is as it was in the end.
Decision Bridge::answer(Ask& ask, const weft_request& request, Timed& timed) {
  if (request.budget_steps != 0) return decide_timed(ask, request, timed);
  const Asker who = std::exchange(ask.by, {});
  auto known = answers_.find(ask);
  timed.repeated = known.has_value();
  if (!known) {
    known = decide_timed(ask, request, timed);
    const bool whole = !timed.overran && known->cause != WEFT_CAUSE_INTERNAL && known->cause != WEFT_CAUSE_DEADLINE;
    if (whole) answers_.keep(ask, *known);
  }
  ask.by = who;
  return *std::move(known);
}

void Bridge::record(Ask ask, const Decision& decision, const weft_request& request, const Timed& timed,
                    weft_choice& choice) {
  if (!decisions_) return;
  const std::size_t bytes = sizeof(Record) +
                            4 * (ask.usable.size() + ask.cpus.size() + ask.gpus.size() + ask.weights.size() +
                                 ask.table.size() + ask.required.size() + decision.nodes.size() +
                                 (ask.possible ? ask.possible->size() : 0) + (ask.reach ? ask.reach->size() : 0)) +
                            8 * (ask.free_gpus.size() + decision.gpus.size()) + (ask.spec ? ask.spec->size() : 0);
  auto record = std::make_shared<Record>();
  record->about.decision = next_decision_.fetch_add(1);
  record->about.time = std::chrono::system_clock::now();
  record->about.config = path_;
  record->about.digest = model_->digest;
  record->about.settings = model_->settings;
  record->about.budget_steps = request.budget_steps;
  record->about.overran = timed.overran;
  record->about.checks = timed.checks;
  record->about.elapsed_us = timed.elapsed_us;
  record->about.repeated = timed.repeated;
  record->ask = std::move(ask);
  record->decision = decision;
  const std::uint64_t number = record->about.decision;
  if (decisions_->push([model = model_, record] { return write_record(model->fabric, *record); }, bytes))
    choice.decision = number;
}

void Bridge::count(const Decision& decision, const Timed& timed) {
  verdicts_[static_cast<std::size_t>(decision.verdict)].fetch_add(1);
  total_us_.fetch_add(timed.elapsed_us);
  std::uint64_t most = max_us_.load();
  while (timed.elapsed_us > most && !max_us_.compare_exchange_weak(most, timed.elapsed_us)) continue;
  const auto limit = std::llround(model_->config.deadline.value * 1e6);
  if (!timed.overran && timed.elapsed_us <= static_cast<std::uint64_t>(limit)) return;
  const std::uint64_t nth = overruns_.fetch_add(1) + 1;
  if ((nth & (nth - 1)) == 0)
    log(WEFT_LOG_ERROR,
        fmt::format("deadline overrun {}: a choice took {} us, the deadline is {} us", nth, timed.elapsed_us, limit));
}

void Bridge::choose(const weft_request& request, weft_choice& choice) {
  Timed timed;
  timed.start = hooks_.now();
  const auto binding = this->binding();
  Decision decision;
  std::optional<Ask> ask;
  if (!binding) {
    decision.cause = WEFT_CAUSE_UNBOUND;
    decision.reason = "no node table yet";
  } else if (auto made = ask_of(*binding, request); !made) {
    decision.cause = WEFT_CAUSE_REQUEST;
    decision.reason = made.error().message;
    internal_fault("request", made.error().message.c_str());
  } else {
    ask = std::move(*made);
    if (!may_be_patient(model_->settings, ask->spec.value_or(""))) ask->reach.reset();
    decision = answer(*ask, request, timed);
    if (decision.nodes.size() > choice.nodes_size || (choice.nodes == nullptr && !decision.nodes.empty())) {
      decision = Decision();
      decision.cause = WEFT_CAUSE_REQUEST;
      decision.reason = "the caller's array of nodes is too small";
    }
  }
  for (std::size_t i = 0; i < decision.nodes.size(); ++i) choice.nodes[i] = binding->table[index(decision.nodes[i])];
  choice.node_count = static_cast<std::uint32_t>(decision.nodes.size());
  if (choice.gpus != nullptr && !decision.gpus.empty()) {
    std::copy(decision.gpus.begin(), decision.gpus.end(), choice.gpus);
    choice.gpus_said = 1;
  }
  choice.verdict = decision.verdict;
  choice.cause = decision.cause;
  choice.ranks_per_node = decision.ranks_per_node;
  choice.leaves = decision.leaves;
  choice.pods = decision.pods;
  choice.switches_exceeded = decision.switches_exceeded ? 1 : 0;
  choice.worth_waiting = decision.worth_waiting ? 1 : 0;
  choice.patience_seconds = static_cast<std::uint32_t>(std::llround(model_->config.patience_limit.value));
  choice.cross_spine_bytes = decision.cross_spine_bytes.value_or(0);
  choice.gap = decision.gap.value_or(-1);
  copy_text(decision.reason, choice.reason, sizeof(choice.reason));
  copy_text(decision.summary, choice.summary, sizeof(choice.summary));
  timed.elapsed_us = static_cast<std::uint64_t>(std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::microseconds>(hooks_.now() - timed.start).count()));
  choice.elapsed_us = timed.elapsed_us;
  count(decision, timed);
  if (ask) record(std::move(*ask), decision, request, timed, choice);
}

void Bridge::outcome(std::uint64_t decision, bool taken, const char* reason) {
  if (!decisions_ || decision == 0) return;
  const Outcome out{decision, taken, reason == nullptr ? "" : std::string(reason, strnlen(reason, WEFT_TEXT_MAX))};
  static_cast<void>(decisions_->push([out] { return write_outcome(out); }, sizeof(out) + out.reason.size()));
}

weft_counters Bridge::counters() const {
  weft_counters out{};
  out.placed = verdicts_[WEFT_PLACED];
  out.delegated = verdicts_[WEFT_DELEGATE];
  out.not_now = verdicts_[WEFT_NOT_NOW];
  out.never = verdicts_[WEFT_NEVER];
  out.deadline_overruns = overruns_;
  out.internal_faults = faults_;
  out.log_written = decisions_ ? decisions_->written() : 0;
  out.log_dropped = decisions_ ? decisions_->dropped() : 0;
  out.total_us = total_us_;
  out.max_us = max_us_;
  return out;
}

}  // namespace weft::bridge
