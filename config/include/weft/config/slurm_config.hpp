// SPDX-License-Identifier: BSD-3-Clause
//
// weft.yaml: how Weft works inside slurmctld. It stands next to slurm.conf; config/examples/weft.yaml explains each
// key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::config {

/// How Slurm's node weights count: as in Slurm (a heavier node only where the lighter ones cannot hold the job), only
/// between placements that are equal otherwise, or not at all.
enum class NodeWeight : std::uint8_t { strict, tie, ignore };
[[nodiscard]] std::string_view to_string(NodeWeight weight);

/// What becomes of a job when the engine fails (a fault, the deadline): Slurm's own selection, or it waits.
enum class OnError : std::uint8_t { stock, refuse };
[[nodiscard]] std::string_view to_string(OnError on_error);

/// What a choice of nodes minimises first.
enum class ObjectiveWord : std::uint8_t { traffic, time, spread };
[[nodiscard]] std::string_view to_string(ObjectiveWord objective);

inline constexpr std::uint64_t kMaxBudgetSteps = 1'000'000'000;
inline constexpr Seconds kMinDeadline{1e-6};
inline constexpr Seconds kMaxDeadline{1.0};
inline constexpr double kMaxPatience = 1000;
inline constexpr Seconds kMaxPatienceLimit{365 * 86400.0};

struct SlurmConfig {
  Text fabric;                         ///< file of any kind that Weft reads
  std::optional<Text> names;           ///< GUID to host name map
  std::optional<Text> health;          ///< health file
  std::optional<Text> node_type;       ///< as `--node-type`
  std::optional<Bandwidth> bandwidth;  ///< per cable, for fabrics without speeds
  std::optional<Text> topology;        ///< which topology of a topology.yaml
  ObjectiveWord objective = ObjectiveWord::traffic;
  std::uint64_t budget_steps = 0;  ///< 0: the engine's default
  Seconds deadline{0.01};
  double patience = 0;                   ///< times the bytes of an idle cluster; 0: no job waits for better nodes
  Seconds patience_limit{3600};          ///< at most so long
  std::optional<Layout> default_layout;  ///< dp is always what is left
  NodeWeight node_weight = NodeWeight::strict;
  std::optional<std::string> decision_log;  ///< absolute path
  OnError on_error = OnError::stock;
  Source source;
};

/// Parses weft.yaml. Errors as parse_fabric_yaml's; the files that it names are not opened.
[[nodiscard]] Result<SlurmConfig> parse_slurm_config(const Source& source);

/// The text of a file's keys, not its values: `weft: 1` and `fabric:` at the start of lines, and no `nodes:`.
[[nodiscard]] bool looks_like_slurm_config(std::string_view text);

}  // namespace weft::config
