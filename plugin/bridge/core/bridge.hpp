// SPDX-License-Identifier: BSD-3-Clause
//
// The object behind weft_bridge.h: a model, the node table that it is bound to, counters, the decision log. May throw;
// the C functions (c_api.cpp) stand before it and let nothing out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decision.hpp"
#include "decision_log.hpp"
#include "model.hpp"
#include "record.hpp"
#include "traffic_cache.hpp"
#include "weft_bridge.h"

namespace weft::bridge {

/// The node table of one bind: which index is which node. Immutable; calls hold the one they began with.
struct Binding {
  std::vector<std::optional<topology::NodeId>> node;  ///< by table index
  std::vector<std::uint32_t> table;                   ///< by NodeId; WEFT_NO_NODE where the table has none
};

/// Where tests put faults, and the clock.
struct Hooks {
  DecideOptions::Place place = DecideOptions().place;
  std::function<std::chrono::steady_clock::time_point()> now = [] { return std::chrono::steady_clock::now(); };
};

using Log = std::function<void(weft_log_level, const std::string&)>;

class Bridge {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Bridge>> open(const std::string& weft_yaml, Log log, Hooks hooks);

  void bind(std::span<const char* const> names, weft_bind_report* report);
  void node_ranks(std::span<const char* const> names, std::uint32_t* rank) const;
  void choose(const weft_request& request, weft_choice& choice);
  void outcome(std::uint64_t decision, bool taken, const char* reason);
  [[nodiscard]] weft_counters counters() const;

  [[nodiscard]] const Model& model() const { return *model_; }
  /// Null before the first bind.
  [[nodiscard]] std::shared_ptr<const Binding> binding() const;
  void log(weft_log_level level, const std::string& message) const { log_(level, message); }
  /// An internal fault: counted, and logged at the 1st, 2nd, 4th, 8th ... so that a bug does not fill the disk.
  void internal_fault(const char* where, const char* what) noexcept;

 private:
  Bridge(Model model, std::string path, Log log, Hooks hooks);
  struct Timed;
  static constexpr std::size_t kMemo = 16;  ///< questions, of about 200 kB each on 12,500 nodes
  [[nodiscard]] Decision answer(Ask& ask, const weft_request& request, Timed& timed);
  [[nodiscard]] Decision decide_timed(const Ask& ask, const weft_request& request, Timed& timed);
  void record(Ask ask, const Decision& decision, const weft_request& request, const Timed& timed, weft_choice& choice);
  void count(const Decision& decision, const Timed& timed);

  std::shared_ptr<const Model> model_;
  std::string path_;
  Log log_;
  Hooks hooks_;
  TrafficCache traffic_;
  AskMemo<Decision> answers_{kMemo};
  AskMemo<Least> least_{kMemo};
  mutable std::mutex binding_mutex_;
  std::shared_ptr<const Binding> binding_;
  std::unique_ptr<DecisionLog> decisions_;
  std::atomic<std::uint64_t> next_decision_{1};
  std::atomic<std::uint64_t> verdicts_[4]{};
  std::atomic<std::uint64_t> overruns_{0}, faults_{0}, total_us_{0}, max_us_{0};
};

/// The request in the fabric's terms. Errors: usage, what is wrong with it.
[[nodiscard]] Result<Ask> ask_of(const Binding& binding, const weft_request& request);

/// Text into a C buffer: printable ASCII, cut.
void copy_text(const std::string& text, char* to, std::size_t size) noexcept;

}  // namespace weft::bridge
