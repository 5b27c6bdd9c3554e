// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "weft/config/job_spec.hpp"

namespace weft::config {
namespace {

// "60 nodes x 8 ranks = 480", or "480" where the ranks are not the same on every node.
std::string rank_arithmetic(const JobSpec& job, std::uint64_t ranks) {
  if (job.nodes == 0 || ranks % job.nodes != 0) return fmt::format("the job has {}", ranks);
  return fmt::format("{} node{} x {} rank{} = {}", job.nodes, job.nodes == 1 ? "" : "s", ranks / job.nodes,
                     ranks == job.nodes ? "" : "s", ranks);
}

tl::unexpected<Error> refuse(const JobSpec& job, std::string message, std::string expected) {
  constexpr std::uint32_t kLayoutKey = 6;  // bytes of "layout"
  return fail(
      error_at(ErrorCode::conflict, job.source, job.layout_at, kLayoutKey, std::move(message), std::move(expected)));
}

}  // namespace

Result<Layout> resolve_layout(const JobSpec& job, std::uint64_t ranks) {
  if (ranks == 0 || ranks > kMaxRanks) {
    return fail(error_at(ErrorCode::limit, job.source, job.nodes_at, 1, fmt::format("{} ranks", ranks),
                         fmt::format("1 to {}", kMaxRanks)));
  }
  Layout out = job.layout.value_or(Layout());
  const std::string sizes = fmt::format("tp {} x cp {} x pp {}", out[Dim::tp], out[Dim::cp], out[Dim::pp]);
  if (job.layout && job.dp_given) {
    if (out.ranks() != ranks) {
      return refuse(
          job,
          fmt::format("{} x dp {} = {} ranks, but {}", sizes, out[Dim::dp], out.ranks(), rank_arithmetic(job, ranks)),
          "sizes whose product is the number of ranks");
    }
  } else {
    out[Dim::dp] = 1;
    const std::uint64_t inner = out.ranks();
    if (ranks % inner != 0) {
      return refuse(job,
                    fmt::format("{} = {} does not divide the ranks: {}", sizes, inner, rank_arithmetic(job, ranks)),
                    "sizes that leave a whole dp");
    }
    out[Dim::dp] = static_cast<std::uint32_t>(ranks / inner);
  }
  const std::uint64_t experts_grid = std::uint64_t{out[Dim::dp]} * out[Dim::cp];
  if (experts_grid % out[Dim::ep] != 0) {
    return refuse(
        job,
        fmt::format("ep {} does not divide dp {} x cp {} = {}", out[Dim::ep], out[Dim::dp], out[Dim::cp], experts_grid),
        "an ep that cuts dp x cp into equal runs");
  }
  return out;
}

std::string_view to_string(Dim dim) {
  switch (dim) {
    case Dim::tp: return "tp";
    case Dim::cp: return "cp";
    case Dim::ep: return "ep";
    case Dim::pp: return "pp";
    case Dim::dp: return "dp";
  }
  return "unknown";
}

std::string_view to_string(Collective collective) {
  switch (collective) {
    case Collective::allreduce: return "allreduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::allgather: return "allgather";
    case Collective::broadcast: return "broadcast";
    case Collective::alltoall: return "alltoall";
    case Collective::neighbour: return "neighbour";
  }
  return "unknown";
}

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring: return "ring";
    case Algorithm::tree: return "tree";
    case Algorithm::hierarchical: return "hierarchical";
    case Algorithm::automatic: return "auto";
  }
  return "unknown";
}

std::string_view to_string(LevelName level) {
  switch (level) {
    case LevelName::nvlink: return "nvlink";
    case LevelName::leaf: return "leaf";
    case LevelName::pod: return "pod";
  }
  return "unknown";
}

}  // namespace weft::config
