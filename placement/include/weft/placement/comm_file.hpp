// SPDX-License-Identifier: BSD-3-Clause
//
// Files that say what a job moves: what stands behind `matrix:` in a job file.
//
// DESCRIPTION
//   Recognised by content, never by name:
//
//   matrix   N lines of N numbers, separated by commas or blanks, no header: bytes a step from the line's rank to the
//            column's. What MapLib and most MPI profilers write. Files of message *counts* look exactly alike: Weft
//            takes every number as bytes and says so.
//   list     a header "from,to,bytes" and a line for each pair of ranks that talk; pairs named twice add up.
//   AICB     the physical workload log of Alibaba's AI communication benchmark:
//   "comm_type,comm_group,comm_group_size,…"
//            a line a collective, as one rank of each pipeline stage sees it. The last training step is taken; rows of
//            stage "init…" (model set-up, before the first step) are left out.
//   SimAI    the layer file of SimAI and ASTRA-sim 1 (HYBRID_TRANSFORMER_FWD_IN_BCKWD): each layer's collective of the
//            forward, input-gradient and weight-gradient pass. As SimAI runs them: the first two on tp, the third on
//            dp, suffix _EP on ep, _DP_EP on the replicas of an expert. pp_comm goes over each stage boundary ga times.
//
//   In all of these `#` starts a comment line, and blank lines are passed over. AICB and SimAI know the sizes of their
//   groups: they must be the layout's. Their sizes are those of whole buffers, as FORMATS.md's volumes are. Where
//   pipeline stages differ, the busiest stage stands for all. Collectives among an expert's replicas are put on dp as
//   model.hpp says.
//
//   Other files of the trade are refused with what they are and what would be right: Chakra traces, htsim connection
//   matrices, MPI traces, nccl-tests logs, compressed files.
//
// SOURCES
//   AICB: github.com/aliyun/aicb, log_analyzer/log.py and utils/utils.py. SimAI: github.com/aliyun/SimAI,
//   astra-sim/workload/Workload.cc. MapLib: github.com/unibas-dmi-hpc/MapLib.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {

enum class CommKind : std::uint8_t { matrix, list, aicb, simai };
[[nodiscard]] std::string_view to_string(CommKind kind);

/// What a file says, before any job. Either flows or terms.
struct CommFile {
  CommKind kind = CommKind::matrix;
  /// Ranks of the job: a matrix's lines, the workload's GPUs; of a list the least that it needs. 0 where unknown.
  std::uint64_t ranks = 0;
  std::vector<RankFlow> flows;  ///< as in Traffic::direct
  Position last_rank;           ///< list: where its largest rank stands
  /// Volumes of one step; algorithm ring. In Dim order, then by collective.
  std::vector<config::TrafficTerm> terms;
  /// Group sizes, by Dim; 0 where the file does not say.
  std::array<std::uint32_t, config::kDims> size{};
  Notes notes;
  Source source;
};

/// Most lines of a dense matrix.
inline constexpr std::uint32_t kMaxMatrixRanks = 1U << 14;

/// Reads any of them. Errors: syntax, missing, bad_value (not a number, negative, not whole), conflict (ragged rows,
/// sizes that disagree), unsupported (another kind of file, a collective or group that Weft has no term for), limit;
/// each with line and column. O(bytes).
[[nodiscard]] Result<CommFile> parse_comm_file(const Source& source);

/// Whether a file is of this job: as many ranks, groups of the layout's sizes. Errors: conflict, with the arithmetic.
[[nodiscard]] Result<void> check_comm_file(const CommFile& file, const config::JobSpec& job,
                                           const config::Layout& layout);

/// Reads and checks the job's `matrix` file; a relative path starts at the job file's directory. Precondition:
/// job.matrix. Errors: io, and those of the two above.
[[nodiscard]] Result<CommFile> load_comm_file(const config::JobSpec& job, const config::Layout& layout);

}  // namespace weft::placement
