// SPDX-License-Identifier: BSD-3-Clause
//
// One decision: what slurmctld asks about a job, in the fabric's terms, and the answer. Pure but for the clock that the
// options bring, so that a logged decision can be made again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask.hpp"
#include "ask_memo.hpp"
#include "model.hpp"
#include "traffic_cache.hpp"
#include "weft/placement/placement.hpp"
#include "weft_bridge.h"

namespace weft::bridge {

/// What a job would come to if it were alone on the nodes in its reach.
struct Least {
  double cross_spine_bytes = 0;
  std::uint32_t leaves = 0;  ///< the fewest that hold it
};

struct Decision {
  weft_verdict verdict = WEFT_DELEGATE;
  weft_cause cause = WEFT_CAUSE_NONE;
  std::vector<topology::NodeId> nodes;  ///< rank order
  std::vector<std::uint64_t> gpus;      ///< of each node, as Ask::free_gpus; empty where those did not count
  std::uint32_t ranks_per_node = 0;
  std::uint32_t leaves = 0, pods = 0;
  bool switches_exceeded = false;
  bool worth_waiting = false;  ///< nearer nodes will come free: `reason` says so
  /// Modelled, of the layout that the user or weft.yaml gave; nullopt: no layout, or too large to score under the lock.
  std::optional<double> cross_spine_bytes;
  std::optional<double> hop_bytes;
  std::optional<double> bound;  ///< on cross-spine bytes where there are some, else on leaves
  std::optional<double> gap;    ///< (value - bound) / bound
  std::string reason;
  std::string summary;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// What decide() calls and is bounded by; tests put faults here.
struct DecideOptions {
  using Place = std::function<Result<placement::Placement>(const topology::Fabric&, const placement::Request&,
                                                           const placement::PlaceOptions&)>;
  Place place = [](const topology::Fabric& fabric, const placement::Request& request,
                   const placement::PlaceOptions& options) { return placement::place(fabric, request, options); };
  /// True once the wall clock says enough: asked before each attempt, which then is not begun, and now and then in the
  /// engine's search, which then ends with the best found so far. Asked at the same places in every run.
  std::function<bool()> overran = [] { return false; };
  std::uint64_t budget_steps = 0;   ///< 0: the settings'
  TrafficCache* traffic = nullptr;  ///< may be null
  AskMemo<Least>* least = nullptr;  ///< may be null; for one Settings
};

/// Chooses. Throws only what its callees throw (std::bad_alloc, bugs).
///
/// - A malformed SPEC, or one that does not fit the job, is NEVER with the arithmetic.
/// - The number of nodes is the most of req_nodes .. min_nodes that can be placed, or the fewest that hold the job
/// where
///   nothing more is asked; only numbers that the layout and the segment divide.
/// - Node weights, --switches, --contiguous, --exclusive=topo as weft_bridge.h says.
/// - Patience (weft.yaml's, or the SPEC's): a job with a layout that would move more than so many times the bytes over
///   the spines that it would move alone, and that needs more leaves than the fewest that hold it, goes into the fewest
///   leaves where that can be at half as many bytes again at most; where they have no room, its choice is worth waiting
///   for another. Not where the job asks for more than a quarter of its reach, with --contiguous, nor with node weights
///   that count strictly and differ.
/// - Nothing found: with a SPEC or a constraint NOT_NOW, or NEVER where all possible nodes of the sound fabric, free,
/// would
///   not do either; without, DELEGATE.
[[nodiscard]] Decision decide(const topology::Fabric& fabric, const topology::Fabric& sound, const Settings& settings,
                              const Ask& ask, const DecideOptions& options);

/// Whether patience may have a word in the answer: weft.yaml's, or that of a SPEC (raw bytes).
[[nodiscard]] bool may_be_patient(const Settings& settings, std::string_view spec);

/// A DELEGATE or, where weft.yaml says on_error: refuse, a NOT_NOW.
[[nodiscard]] Decision engine_failed(const Settings& settings, weft_cause cause, std::string reason);

}  // namespace weft::bridge
