// SPDX-License-Identifier: BSD-3-Clause
//
// A decision as a line of the decision log: everything that decide() saw and everything that it said, so that
// `weft replay` can ask it again and compare to the byte.
//
// FORMAT
//   JSON, one object a line (JSON Lines). Nodes stand as hostlists, numbers a node as runs [[value, nodes], ...] over
//   the usable nodes. What users wrote is escaped (\xNN), so that every line is printable ASCII.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "decision.hpp"

namespace weft::bridge {

/// What stands beside the question and the answer.
struct Circumstances {
  std::uint64_t decision = 0;  ///< from 1, since slurmctld started
  std::chrono::system_clock::time_point time;
  std::string config;  ///< weft.yaml's path
  std::string digest;  ///< of the fabric
  Settings settings;
  std::uint64_t budget_steps = 0;  ///< the request's own; 0: the settings'
  bool overran = false;            ///< the deadline had passed: no replay can time the same, so it is told to
  std::uint64_t checks = 0;        ///< of the clock, before it said so
  std::uint64_t elapsed_us = 0;
  bool repeated = false;  ///< the answer to an earlier question that was the same
};

struct Record {
  Circumstances about;
  Ask ask;
  Decision decision;
};

/// What Slurm's own code made of a choice.
struct Outcome {
  std::uint64_t decision = 0;
  bool taken = true;
  std::string reason;  ///< as logged: escaped
};

using LogLine = std::variant<Record, Outcome>;

/// One line with its line end.
[[nodiscard]] std::string write_record(const topology::Fabric& fabric, const Record& record);
[[nodiscard]] std::string write_outcome(const Outcome& outcome);
/// The part of a record's line that a replay must reproduce: the object under "choice".
[[nodiscard]] std::string write_choice(const topology::Fabric& fabric, const Decision& decision);

/// Reads a line back. Names are looked up in `fabric`. Errors (without a place; the caller knows file and line):
/// syntax, missing, bad_value, dangling.
[[nodiscard]] Result<LogLine> read_line(const topology::Fabric& fabric, std::string_view line);

/// What `weft stats` needs of a line, without a fabric.
struct Glance {
  bool outcome = false;  ///< else a decision
  bool taken = true;
  std::uint64_t decision = 0;
  std::string verdict, cause, mode, digest, config;
  double elapsed_seconds = 0;
  std::uint64_t nodes = 0, leaves = 0, pods = 0;
  double cross_spine_bytes = 0;
  bool worth_waiting = false, repeated = false;
  std::string choice;  ///< the text under "choice", as written
};
[[nodiscard]] Result<Glance> glance(std::string_view line);

[[nodiscard]] std::string_view to_string(weft_verdict verdict);
[[nodiscard]] std::string_view to_string(weft_cause cause);

/// Printable ASCII of any bytes, reversible, and back.
[[nodiscard]] std::string escape(std::string_view bytes);
[[nodiscard]] std::string unescape(std::string_view text);

}  // namespace weft::bridge
