// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/model.hpp"

#include <fmt/format.h>

#include "model_numbers.hpp"
#include "shapes.hpp"

namespace weft::placement {
namespace {

using config::Algorithm;
using config::Collective;
using config::Dim;
using config::Layout;

constexpr std::uint64_t kMaxTermBytes = 1ULL << 55;

// A volume as a fraction, with the words it came from.
struct Volume {
  BigCount above = 1;
  BigCount below = 1;
  std::string words;

  Volume& times(BigCount factor, std::string_view text) {
    above = above * factor;
    return say("x", text);
  }
  Volume& by(BigCount divisor, std::string_view text) {
    below = below * divisor;
    return say("/", text);
  }
  Volume& say(std::string_view sign, std::string_view text) {
    if (text.empty()) return *this;
    words += words.empty() ? std::string(text) : fmt::format(" {} {}", sign, text);
    return *this;
  }
};

class Deriver {
 public:
  Deriver(const ModelNumbers& n, const Layout& layout, Algorithm algorithm, const Source& source, Position at,
          ModelTraffic& out)
      : n_(n), layout_(layout), algorithm_(algorithm), source_(source), at_(at), out_(out) {}

  Result<void> run() {
    for (const auto step : {&Deriver::tensor, &Deriver::context, &Deriver::expert, &Deriver::pipeline, &Deriver::data})
      if (auto ok = (this->*step)(); !ok) return ok;
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t size(Dim d) const { return layout_[d]; }

  Result<void> add(Dim dim, Collective collective, const Volume& volume, std::string what, std::string source) {
    const BigCount bytes = volume.above.divided_up(volume.below);
    if (!bytes.fits(kMaxTermBytes))
      return fail(error_at(ErrorCode::limit, source_, at_, 1,
                           fmt::format("{} of {} come to {:.3g} bytes a step and rank", what, to_string(dim),
                                       volume.above.approximate() / volume.below.approximate()),
                           fmt::format("at most {}", to_string(Bytes{kMaxTermBytes}))));
    if (bytes.value() == 0) return {};
    const Algorithm algorithm = algorithm_or_ring(algorithm_, collective);
    out_.terms.push_back(
        {{dim, collective, Bytes{bytes.value()}, algorithm}, std::move(what), volume.words, std::move(source)});
    return {};
  }

  // Bytes of a microbatch's activations on one rank, before sequence parallelism.
  [[nodiscard]] Volume activation() const {
    Volume v;
    v.times(n_.seq, fmt::format("seq {}", n_.seq));
    if (size(Dim::cp) > 1) v.by(size(Dim::cp), fmt::format("cp {}", size(Dim::cp)));
    v.times(n_.microbatch, fmt::format("microbatch {}", n_.microbatch));
    v.times(n_.hidden, fmt::format("hidden {}", n_.hidden));
    v.times(n_.activation_bytes, fmt::format("{} bytes", n_.activation_bytes));
    return v;
  }
  void times_layers(Volume& v) const {
    v.times(n_.layers, fmt::format("layers {}", n_.layers));
    if (size(Dim::pp) > 1) v.by(size(Dim::pp), fmt::format("pp {}", size(Dim::pp)));
  }
  void times_microbatches(Volume& v) const {
    v.times(n_.microbatches, fmt::format("microbatches {}", n_.microbatches));
  }

  Result<void> tensor() {
    if (size(Dim::tp) == 1) return {};
    Volume v;
    if (size(Dim::ep) > 1) {
      v.times(BigCount(2) + BigCount(2) * n_.experts_per_token,
              fmt::format("(2 + 2 x experts_per_token {})", n_.experts_per_token));
    } else {
      v.times(4, "4");
    }
    const Volume a = activation();
    v.times(a.above, a.words).by(a.below, "");
    times_layers(v);
    times_microbatches(v);
    if (!n_.sequence_parallel)
      return add(Dim::tp, Collective::allreduce, v, "activations, 2 forward and 2 backward a layer",
                 "Shoeybi 2019, section 3");
    if (auto ok = add(Dim::tp, Collective::allgather, v, "activations, 2 forward and 2 backward a layer",
                      "Korthikanti 2022, section 4.2");
        !ok)
      return ok;
    return add(Dim::tp, Collective::reduce_scatter, v, "activations, 2 forward and 2 backward a layer",
               "Korthikanti 2022, section 4.2");
  }

  Result<void> context() {
    if (size(Dim::cp) == 1) return {};
    Volume v;
    v.times(n_.seq, fmt::format("seq {}", n_.seq)).times(n_.microbatch, fmt::format("microbatch {}", n_.microbatch));
    v.times(2 * BigCount(n_.kv_width), fmt::format("2 x width of keys {}", n_.kv_width));
    if (size(Dim::tp) > 1) v.by(n_.kv_shards, fmt::format("{} tensor shards of them", n_.kv_shards));
    v.times(n_.activation_bytes, fmt::format("{} bytes", n_.activation_bytes));
    times_layers(v);
    times_microbatches(v);
    Volume both = v;
    both.above = both.above * 2;
    both.words = "2 x " + both.words;
    if (auto ok =
            add(Dim::cp, Collective::allgather, both, "keys and values, forward and backward", "Liu 2023, section 3");
        !ok)
      return ok;
    return add(Dim::cp, Collective::reduce_scatter, v, "gradients of keys and values", "Liu 2023, section 3");
  }

  Result<void> expert() {
    if (size(Dim::ep) == 1) return {};
    Volume v;
    v.times(4, "4").times(n_.experts_per_token, fmt::format("experts_per_token {}", n_.experts_per_token));
    const Volume a = activation();
    v.times(a.above, a.words).by(a.below, "");
    if (n_.token_shards > 1) v.by(n_.token_shards, fmt::format("tp {}", n_.token_shards));
    times_layers(v);
    times_microbatches(v);
    return add(Dim::ep, Collective::alltoall, v, "tokens, dispatch and combine, forward and backward",
               "Lepikhin 2020, section 3; Fedus 2021, section 2.2");
  }

  Result<void> pipeline() {
    if (size(Dim::pp) == 1) return {};
    Volume v = activation();
    if (n_.token_shards > 1) v.by(n_.token_shards, fmt::format("tp {}", n_.token_shards));
    times_microbatches(v);
    if (n_.interleave > 1) v.times(n_.interleave, fmt::format("interleave {}", n_.interleave));
    return add(Dim::pp, Collective::neighbour, v, "activations to the next stage, gradients back",
               "Narayanan 2021, sections 2.2 and 4.1");
  }

  // Parameters of one rank.
  [[nodiscard]] Volume rank_parameters(BigCount all, std::uint64_t expert_shards, std::string_view name) const {
    Volume v;
    v.times(all, fmt::format("{} {:.0f}", name, all.approximate()));
    if (size(Dim::tp) > 1) v.by(size(Dim::tp), fmt::format("tp {}", size(Dim::tp)));
    if (size(Dim::pp) > 1) v.by(size(Dim::pp), fmt::format("pp {}", size(Dim::pp)));
    if (expert_shards > 1) v.by(expert_shards, fmt::format("ep {}", expert_shards));
    return v;
  }

  Result<void> data() {
    const std::uint64_t dp = size(Dim::dp);
    const std::uint64_t cp = size(Dim::cp);
    if (dp * cp == 1) return {};
    const Volume shared =
        rank_parameters(n_.shared_parameters, 1, n_.experts > 1 ? "parameters but experts'" : "parameters");
    if (cp > 1)
      if (auto ok = synchronise(Dim::cp, shared, "parameters"); !ok) return ok;
    if (dp > 1) {
      Volume outer = shared;
      if (cp > 1) outer.by(cp, fmt::format("cp {}", cp));
      if (auto ok = synchronise(Dim::dp, outer, "parameters"); !ok) return ok;
    }
    if (n_.experts == 1) return {};
    const std::uint64_t replicas = dp * cp / size(Dim::ep);
    if (replicas == 1) {
      out_.notes.push_back(fmt::format("experts are not replicated: dp {} x cp {} / ep {} = 1", dp, cp, size(Dim::ep)));
      return {};
    }
    // P (r-1)/r * g/(g-1): as many bytes from each rank over g as in its own ring of r.
    Volume experts = rank_parameters(n_.expert_parameters, size(Dim::ep), "parameters of experts");
    const std::uint64_t g = dp > 1 ? dp : cp;
    if (g != replicas)
      experts
          .times(BigCount(replicas - 1) * g,
                 fmt::format("({}/{} of a ring of {} on one of {})", replicas - 1, replicas, replicas, g))
          .by(BigCount(replicas) * (g - 1), "");
    return synchronise(dp > 1 ? Dim::dp : Dim::cp, experts, "experts");
  }

  // What keeps replicas of `parameters` equal, by ZeRO stage.
  Result<void> synchronise(Dim dim, const Volume& parameters, std::string_view whose) {
    const auto part = [&](std::uint64_t bytes, std::uint64_t passes, bool each_microbatch) {
      Volume v = parameters;
      v.times(bytes, fmt::format("{} bytes", bytes));
      if (passes > 1) v.times(passes, fmt::format("{}", passes));
      if (each_microbatch) times_microbatches(v);
      return v;
    };
    const std::string zero = "Rajbhandari 2020, section 7";
    const std::string gradients = fmt::format("gradients of {}", whose);
    const std::string weights = fmt::format("weights of {}", whose);
    if (n_.zero == 0)
      return add(dim, Collective::allreduce, part(n_.gradient_bytes, 1, false), gradients,
                 "Narayanan 2021, section 2.1");
    if (auto ok = add(dim, Collective::reduce_scatter, part(n_.gradient_bytes, 1, n_.zero > 1), gradients, zero); !ok)
      return ok;
    const bool sharded = n_.zero == 3;
    return add(dim, Collective::allgather, part(n_.weight_bytes, sharded ? 2 : 1, sharded),
               sharded ? weights + ", forward and backward" : weights, zero);
  }

  const ModelNumbers& n_;
  const Layout& layout_;
  Algorithm algorithm_;
  const Source& source_;
  Position at_;
  ModelTraffic& out_;
};

}  // namespace

Result<ModelTraffic> derive_traffic(const config::ModelSpec& model, const Layout& layout, Algorithm algorithm,
                                    const Source& source) {
  ModelTraffic out;
  auto numbers = resolve_model(model, layout, source, out);
  if (!numbers) return fail(numbers.error());
  if (auto ok = Deriver(*numbers, layout, algorithm, source, model.at, out).run(); !ok) return fail(ok.error());
  return out;
}

}  // namespace weft::placement
