// SPDX-License-Identifier: BSD-3-Clause
//
// From what a user and Slurm say about a job to the engine's JobSpec, for each number of nodes that it may get.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decision.hpp"
#include "weft_spec.h"

namespace weft::bridge {

/// Why a job cannot be as it is asked for.
struct Refusal {
  weft_cause cause = WEFT_CAUSE_SPEC;
  std::string reason;
};

/// A job on a number of nodes.
struct Sized {
  std::uint32_t nodes = 0;
  std::uint32_t ranks_per_node = 1;
  config::Layout layout;
  bool laid_out = false;  ///< the layout is somebody's word, not mere nearness
};

/// The user's word read, Slurm's options merged in.
class Job {
 public:
  /// Errors: a malformed SPEC; --segment against the SPEC's.
  [[nodiscard]] static tl::expected<Job, Refusal> read(const Settings& settings, const Ask& ask);

  /// The layout on `nodes` nodes of `node_gpus` GPUs: the SPEC's, else the default layout where it divides, else nodes
  /// side by side. Errors: the arithmetic.
  [[nodiscard]] tl::expected<Sized, Refusal> on_nodes(std::uint32_t nodes, std::uint32_t node_gpus) const;

  /// The engine's job, without required nodes. Traffic is the SPEC's or the defaults'.
  [[nodiscard]] config::JobSpec spec_for(const Sized& sized) const;

  /// The user said something: an answer of "no" is about what he said.
  [[nodiscard]] bool has_spec() const { return has_spec_; }
  /// Segment, caps or exclusive domains are asked for.
  [[nodiscard]] bool constrained() const;
  [[nodiscard]] const weft_spec& spec() const { return spec_; }
  [[nodiscard]] placement::Objective objective(const Settings& settings) const;
  /// The SPEC's, else weft.yaml's; 0: none.
  [[nodiscard]] double patience(const Settings& settings) const;

 private:
  Job(const Settings& settings, const Ask& ask) : settings_(&settings), ask_(&ask) {}
  [[nodiscard]] weft_spec_job size_on(std::uint32_t nodes, std::uint32_t node_gpus) const;

  const Settings* settings_;
  const Ask* ask_;
  weft_spec spec_{};
  bool has_spec_ = false;
};

/// Numbers of nodes to try, in order. Errors: capacity (the usable nodes cannot hold the job), with the numbers.
[[nodiscard]] tl::expected<std::vector<std::uint32_t>, Refusal> node_counts(const Ask& ask, std::uint32_t segment);

/// More attempts than this are not made for one decision.
inline constexpr std::size_t kMaxCounts = 64;

}  // namespace weft::bridge
