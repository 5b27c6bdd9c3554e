// SPDX-License-Identifier: BSD-3-Clause
//
// Placements and scores as files and as text.
//
// Two stages, as everywhere: a document (names, unchecked against any fabric, with places in its text) and the
// Placement made from it for one fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/score.hpp"
#include "weft/placement/traffic.hpp"
#include "weft/topology/fabric.hpp"

namespace weft::placement {

/// One entry of `ranks`; its rank is its index in PlacementDoc::ranks.
struct RankDoc {
  std::uint32_t node = 0;  ///< index into PlacementDoc::nodes
  std::uint32_t gpu = 0;
  std::optional<std::uint32_t> nic;  ///< default: the node type's NIC of that GPU
  Position at;
  friend bool operator==(const RankDoc& a, const RankDoc& b) {
    return a.node == b.node && a.gpu == b.gpu && a.nic == b.nic;
  }
};

/// What the job of a placement moves, so that it can load links beside other jobs without its job file.
struct TrafficDoc {
  config::Layout layout;
  std::optional<config::CrossRail> cross_rail;  ///< the job's word, if any
  std::vector<config::TrafficTerm> terms;       ///< their algorithms are never `automatic`
  std::vector<RankFlow> direct;                 ///< as in Traffic
  friend bool operator==(const TrafficDoc& a, const TrafficDoc& b);
};

/// A placement as its file says it.
struct PlacementDoc {
  std::string job;                  ///< may be empty
  std::string fabric;               ///< may be empty
  std::vector<config::Text> nodes;  ///< rank order, each once
  std::vector<RankDoc> ranks;       ///< empty: in order on the nodes' GPUs
  std::optional<TrafficDoc> traffic;
  Source source;
  friend bool operator==(const PlacementDoc& a, const PlacementDoc& b) {
    return a.job == b.job && a.fabric == b.fabric && a.nodes == b.nodes && a.ranks == b.ranks && a.traffic == b.traffic;
  }
};

/// Reads `placement.json` (FORMATS.md; a `score` in it is passed over). Errors: syntax, unknown_key, missing,
/// bad_value, bad_name, duplicate, dangling, limit, each with its place.
[[nodiscard]] Result<PlacementDoc> parse_placement_json(const Source& source);

/// Reads a hostfile: node names or hostlists separated by blanks and lines, rank order, a word that starts
/// with `#` begins a comment. Words such as `slots=8` after a name are refused. Errors: bad_name, duplicate, missing,
/// limit.
[[nodiscard]] Result<PlacementDoc> parse_hostfile(const Source& source);

/// Either of the two: JSON where the text starts with `{`.
[[nodiscard]] Result<PlacementDoc> parse_placement(const Source& source);

/// The placement on a fabric. Errors: dangling (no such node), bad_value (GPUs, NICs, numbers of ranks per node).
[[nodiscard]] Result<Placement> resolve_placement(const topology::Fabric& fabric, const PlacementDoc& doc,
                                                  std::uint32_t ranks_per_node);

/// The document of a placement; `traffic` may be null.
[[nodiscard]] PlacementDoc to_doc(const topology::Fabric& fabric, const Placement& placement, std::string job_name,
                                  const Traffic* traffic = nullptr);

/// What a job moves as a document, and back. Errors of the way back: missing (the placement does not say), conflict
/// (ranks and nodes), and those of build_traffic; it reads no file.
[[nodiscard]] TrafficDoc to_doc(const Traffic& traffic);
[[nodiscard]] Result<Traffic> traffic_of(const PlacementDoc& doc);

/// `placement.json`; `score` and its `fabric` may be null. One line a rank; ends with a line end. Reads back equal.
[[nodiscard]] std::string write_placement_json(const PlacementDoc& doc, const topology::Fabric* fabric = nullptr,
                                               const Score* score = nullptr);
/// A node name a line.
[[nodiscard]] std::string write_hostfile(const PlacementDoc& doc);
/// Open MPI's rankfile: "rank 0=gpu01 slot=0", the slot being the rank's place among those of its node.
[[nodiscard]] std::string write_rankfile(const PlacementDoc& doc);
/// Lines of shell assignments: WEFT_JOB, WEFT_NNODES, WEFT_NTASKS, WEFT_NODELIST (a hostlist in rank order).
[[nodiscard]] std::string write_env(const PlacementDoc& doc);

/// FORMATS.md's score object, indented by `indent` spaces a level. Whole numbers are written as integers.
[[nodiscard]] std::string write_score_json(const topology::Fabric& fabric, const Score& score, int indent = 2);
/// The same for people.
[[nodiscard]] std::string write_score_text(const topology::Fabric& fabric, const Score& score);
/// Job, layout, nodes by leaf, for people.
[[nodiscard]] std::string write_placement_text(const topology::Fabric& fabric, const Placement& placement,
                                               const config::JobSpec& job, const config::Layout& layout);

}  // namespace weft::placement
