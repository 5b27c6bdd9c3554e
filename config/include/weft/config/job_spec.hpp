// SPDX-License-Identifier: BSD-3-Clause
//
// A training job as its file says it: rank layout, traffic per step, constraints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::config {

/// The parallel dimensions of training.
enum class Dim : std::uint8_t { tp, cp, ep, pp, dp };
inline constexpr std::size_t kDims = 5;
[[nodiscard]] std::string_view to_string(Dim dim);

/// Sizes and order of the rank grid. tp*cp*pp*dp ranks; ep divides dp*cp, its groups are runs of that product.
struct Layout {
  std::array<std::uint32_t, kDims> size{1, 1, 1, 1, 1};  ///< indexed by Dim
  /// Innermost (fastest) first; Megatron's order by default.
  std::array<Dim, kDims> order{Dim::tp, Dim::cp, Dim::ep, Dim::dp, Dim::pp};
  [[nodiscard]] std::uint32_t operator[](Dim d) const { return size[static_cast<std::size_t>(d)]; }
  [[nodiscard]] std::uint32_t& operator[](Dim d) { return size[static_cast<std::size_t>(d)]; }
  [[nodiscard]] std::uint64_t ranks() const { return std::uint64_t{size[0]} * size[1] * size[3] * size[4]; }
};

enum class Collective : std::uint8_t { allreduce, reduce_scatter, allgather, broadcast, alltoall, neighbour };
[[nodiscard]] std::string_view to_string(Collective collective);
enum class Algorithm : std::uint8_t { ring, tree, hierarchical, automatic };
[[nodiscard]] std::string_view to_string(Algorithm algorithm);

/// One collective of a training step: every group of `dim` runs it once with `bytes` put in by each rank.
struct TrafficTerm {
  Dim dim = Dim::dp;
  Collective collective = Collective::allreduce;
  Bytes bytes;
  Algorithm algorithm = Algorithm::ring;
};

/// `model:`; volumes are derived from it by placement::derive_traffic. Absent numbers take the documented defaults
/// there.
struct ModelSpec {
  std::optional<double> parameters;
  std::optional<std::uint64_t> layers, hidden, ffn_hidden, heads, kv_heads, vocab, seq;
  std::optional<std::string> precision;  ///< fp32 | bf16 | fp16 | fp8
  std::optional<std::uint64_t> microbatch, global_batch;
  std::optional<std::uint64_t> zero;  ///< 0..3
  std::optional<bool> sequence_parallel;
  std::optional<std::uint64_t> interleave, experts, experts_per_token;
  Position at;
};

/// A level of locality that constraints name.
enum class LevelName : std::uint8_t { nvlink, leaf, pod };
[[nodiscard]] std::string_view to_string(LevelName level);

struct Constraints {
  std::optional<std::uint32_t> segment;  ///< nodes in whole groups of this many, each inside one domain
  LevelName segment_level = LevelName::leaf;
  std::optional<std::uint32_t> max_leaves;  ///< max_spread.leaf
  std::optional<std::uint32_t> max_pods;    ///< max_spread.pod
  std::optional<LevelName> exclusive;       ///< whole domains of this level, shared with nobody
  std::optional<Text> required_nodes;       ///< hostlist
  std::optional<Text> excluded_nodes;       ///< hostlist
};

/// GPUs of different index talk over the receiver's rail by NVLink forwarding (pxn), or across switches (fabric).
enum class CrossRail : std::uint8_t { pxn, fabric };

struct JobSpec {
  std::string name;
  std::uint32_t nodes = 0;
  std::optional<std::uint32_t> ranks_per_node;  ///< default: GPUs of the node type
  std::optional<Layout> layout;                 ///< absent sizes 1; dp, where absent, is what is left
  bool dp_given = false;                        ///< layout names dp
  std::vector<TrafficTerm> traffic;
  std::optional<ModelSpec> model;
  std::optional<Text> matrix;  ///< file of bytes between ranks
  /// `algorithm:` of the job: what terms that name none take (already filled in), and terms derived from a model.
  Algorithm algorithm = Algorithm::ring;
  std::optional<CrossRail> cross_rail;  ///< default pxn where the node has NVLink
  Constraints constraints;
  Source source;
  Position nodes_at, layout_at;  ///< of the number; of the key
};

/// Parses `job.yaml`. Errors as parse_fabric_yaml's. Checks everything that needs no fabric: sizes, ep | dp*cp where dp
/// is given, segment divides nodes, one of traffic/model/matrix at most.
[[nodiscard]] Result<JobSpec> parse_job_yaml(const Source& source);

/// Largest job taken, in ranks.
inline constexpr std::uint64_t kMaxRanks = 1ULL << 24;

/// The layout for `ranks` ranks: dp filled in where the job did not give it, products checked with the arithmetic in
/// the message. A job without a layout is pure data parallelism.
[[nodiscard]] Result<Layout> resolve_layout(const JobSpec& job, std::uint64_t ranks);

}  // namespace weft::config
