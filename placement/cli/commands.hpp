// SPDX-License-Identifier: BSD-3-Clause
//
// One struct of arguments and one function a command. The functions know nothing of the command-line parser.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric_input.hpp"
#include "link_input.hpp"
#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"

namespace weft::cli {

struct CheckArgs {
  std::vector<std::string> files;
  FabricArgs fabric;  ///< its path is not used
  bool quiet = false;
};
/// Says "FILE: ok: …" or "FILE: bad" for each file; returns the exit code, kExitUsage where any is bad.
[[nodiscard]] Result<int> run_check(const CheckArgs& args);

struct ShowArgs {
  FabricArgs fabric;
  std::string format = "text";
};
[[nodiscard]] Result<int> run_show(const ShowArgs& args);

struct ImportArgs {
  FabricArgs fabric;
  std::string output;
  bool quiet = false;
};
[[nodiscard]] Result<int> run_import(const ImportArgs& args);

/// Writes a spec as fabric.yaml; `comments` go on top, a line each.
[[nodiscard]] Result<void> deliver_fabric(const config::FabricSpec& spec, const std::vector<std::string>& comments,
                                          const std::string& output);

/// What place, score and compare share.
struct JobArgs {
  FabricArgs fabric;
  std::string job;
  bool quiet = false;
};

/// Which nodes are free, as the user says it: at most one of the two.
struct FreeArgs {
  std::string free;
  std::string busy;
  std::string state;  ///< what Slurm says, on top of the others
  bool has_free = false;
  bool has_busy = false;
};

struct TrafficArgs {
  JobArgs common;  ///< the fabric's path may be empty
  std::string format = "text";
  std::string output;
};
[[nodiscard]] Result<int> run_traffic(const TrafficArgs& args);

/// How to choose: what `place` and `compare` share.
struct ChoiceArgs {
  std::string objective = "traffic";
  std::string node_weight = "tie";
  std::uint64_t budget_steps = 0;
  std::uint64_t seed = 1;
};

struct PlaceArgs {
  JobArgs common;
  FreeArgs nodes;
  LinkArgs links;
  std::string policy = "weft";
  ChoiceArgs choice;
  std::string format = "text";
  std::string output;
};
[[nodiscard]] Result<int> run_place(const PlaceArgs& args);

struct ScoreArgs {
  JobArgs common;
  FreeArgs nodes;
  LinkArgs links;
  std::string placement;
  std::string format = "text";
  std::string output;
};
[[nodiscard]] Result<int> run_score(const ScoreArgs& args);

struct CompareArgs {
  JobArgs common;
  FreeArgs nodes;
  LinkArgs links;
  std::vector<std::string> policies;  ///< empty = all
  ChoiceArgs choice;
  std::string format = "text";
  std::string output;
};
[[nodiscard]] Result<int> run_compare(const CompareArgs& args);

}  // namespace weft::cli
