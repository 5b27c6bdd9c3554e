// SPDX-License-Identifier: BSD-3-Clause
//
// Traffic of a training step from a description of the model.
//
// DESCRIPTION
//   Operators know a job's layers and batch, not its bytes. Here the one becomes the other, every number with the
//   formula and the paper or program it is from, so that an expert can check it on paper.
//
// THE MODEL
//   A decoder of equal layers: attention with grouped key/value heads, then a gated MLP (three matrices of
//   hidden * ffn_hidden) or `experts` of them with a router. Where ffn_hidden is absent an MLP has 8 hidden^2
//   parameters: 4 hidden wide with two matrices (GPT), or 8/3 hidden wide with three. Input embedding and output layer
//   are two matrices of vocab * hidden. `parameters`, where given, is the total and wins; experts are then the part
//   that the formula says. Pipeline stages are taken as equal: the average stage stands for all.
//
// ABSENT NUMBERS
//   precision bf16, microbatch 1, zero 0, sequence_parallel false, interleave 1, kv_heads = heads, experts_per_token 2
//   (1 of 1). global_batch is one microbatch a data-parallel rank where the layout is pure data parallelism, and needed
//   otherwise. Any other number that a term needs is an error naming the number and the term.
//
// VOLUMES a step and rank (what one rank puts in, FORMATS.md). A = seq/cp * microbatch * hidden * bytes of an
// activation, L = layers/pp, m = microbatches = global_batch / (microbatch * dp), s = tp with sequence_parallel and
// else 1.
//
//   tp  4 A L m allreduce (2 forward, 2 backward a layer); with sequence_parallel as much allgather and as much
//       reduce_scatter. Where experts are spread (ep > 1) the MLP's half counts experts_per_token times, because each
//       copy of a token is gathered over tp where its expert is. [Shoeybi 2019; Korthikanti 2022]
//   cp  keys and values go round the ring: allgather 2 K L m (forward, and again backward), reduce_scatter K L m of
//       their gradients; K = seq * microbatch * 2 * kv width / tp * bytes, the buffer of the whole sequence. An
//       allgather's ring moves what Ring Attention's does: (cp-1)/cp of it from each rank to the next. [Liu 2023]
//   ep  alltoall 4 k A/s L m: dispatch and combine, forward and backward, k = experts_per_token. Every layer is a
//       mixture. [Lepikhin 2020; Fedus 2021]
//   pp  neighbour A/s m interleave: activations to the next stage, as many gradients back, once a chunk. The wrap from
//       the last stage to the first (interleave - 1 times) is not counted: a neighbour exchange has none.
//       [Narayanan 2021, sections 2.2 and 4.1]
//   dp  P = parameters of a rank, experts and the rest apart; G bytes of gradient, W bytes of weight a parameter.
//       zero 0  allreduce G P, once a step
//       zero 1  reduce_scatter G P and allgather W P, once a step
//       zero 2  reduce_scatter G P each microbatch (gradients are kept only in shards), allgather W P once
//       zero 3  allgather 2 W P m (forward, backward) and reduce_scatter G P m  [Rajbhandari 2020]
//       With cp > 1 the replicas of a parameter are the dp * cp ranks. That group's collective is split in two, over cp
//       with P and over dp with P/cp, which moves the same bytes from each rank as one ring over all.
//       An expert's replicas are r = dp*cp/ep ranks. There is no such dimension, so its bytes are put on dp (on cp
//       where dp is 1), scaled so that each rank sends what it would in its ring of r: P (r-1)/r * g/(g-1) for a group
//       of g. Where r = 1 there is nothing to reduce.
//
// BYTES    fp32: A 4, W 4, G 4; fp16: 2, 2, 2; bf16 and fp8: 2, 2, 4. Megatron-LM adds up and reduces bf16 gradients in
//          fp32, as does Llama 3 (2024, section 3.3); fp8 is the precision of products, not of what travels
//          (Transformer Engine's default).
//
// NOT COUNTED  embedding and loss under tp, layer norm gradients, the embedding that first and last stage may share,
//          Korthikanti's second allgather of the backward pass (overlapped with the weight gradient), norms and flags
//          of the optimiser: all small against the rest, or hidden.
//
// SOURCES  Shoeybi et al., Megatron-LM, 2019 (arXiv 1909.08053); Narayanan et al., Efficient large-scale language model
//          training on GPU clusters, SC 2021; Korthikanti et al., Reducing activation recomputation in large
//          transformer models, 2022 (arXiv 2205.05198); Rajbhandari et al., ZeRO, SC 2020; Lepikhin et al., GShard,
//          2020 (arXiv 2006.16668); Fedus et al., Switch transformers, 2021 (arXiv 2101.03961); Liu et al., Ring
//          attention, 2023 (arXiv 2310.01889); Grattafiori et al., The Llama 3 herd of models, 2024 (arXiv 2407.21783).
#pragma once

#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"

namespace weft::placement {

/// A number on the way, for people: "microbatches", "32", "global_batch 512 / (microbatch 1 x dp 16)", "definition".
struct DerivedNumber {
  std::string name;
  std::string value;
  std::string formula;  ///< with the numbers filled in
  std::string source;   ///< paper, program or "job file"
  friend bool operator==(const DerivedNumber&, const DerivedNumber&) = default;
};

/// A term, and how it came about.
struct DerivedTerm {
  config::TrafficTerm term;
  std::string what;     ///< "gradients", "activations to the next stage"
  std::string formula;  ///< with the numbers filled in
  std::string source;
};

/// What a model moves. Terms in the order tp, cp, ep, pp, dp; dimensions of one rank have none.
struct ModelTraffic {
  std::vector<DerivedNumber> numbers;
  std::vector<DerivedTerm> terms;
  std::vector<std::string> notes;  ///< what was assumed or left out, one sentence each
};

/// Derives the terms. `layout` as RankGrid wants it; `source` shows the line of `model` in errors and may be null.
/// Terms take `algorithm` where their collective has it, else ring. Fractions of bytes are rounded up, once a term.
/// Errors: missing (a number that a term needs), conflict (numbers that do not divide, with the arithmetic), limit (a
/// volume above 2^55 bytes). Pure; O(1).
[[nodiscard]] Result<ModelTraffic> derive_traffic(const config::ModelSpec& model, const config::Layout& layout,
                                                  config::Algorithm algorithm = config::Algorithm::ring,
                                                  const Source& source = nullptr);

}  // namespace weft::placement
