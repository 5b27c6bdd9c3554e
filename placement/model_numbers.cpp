// SPDX-License-Identifier: BSD-3-Clause
#include "model_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::placement {
namespace {

using config::Dim;
using config::Layout;
using config::ModelSpec;

constexpr unsigned __int128 kPast = static_cast<unsigned __int128>(1) << 120;
constexpr std::uint64_t kMaxParameters = 1ULL << 60;
constexpr std::uint64_t kMaxMicrobatches = 1ULL << 40;

class Resolver {
 public:
  Resolver(const ModelSpec& model, const Layout& layout, const Source& source, ModelTraffic& out)
      : model_(model), layout_(layout), source_(source), out_(out) {}

  Result<ModelNumbers> run() {
    for (const auto step : {&Resolver::sizes, &Resolver::batch, &Resolver::heads, &Resolver::experts,
                            &Resolver::pipeline, &Resolver::bytes, &Resolver::parameters})
      if (auto ok = (this->*step)(); !ok) return fail(ok.error());
    return n_;
  }

 private:
  [[nodiscard]] std::uint64_t size(Dim d) const { return layout_[d]; }

  tl::unexpected<Error> refuse(ErrorCode code, std::string message, std::string expected) const {
    return fail(error_at(code, source_, model_.at, 1, std::move(message), std::move(expected)));
  }
  tl::unexpected<Error> missing(std::string_view key, std::string_view why, std::string_view example) const {
    return refuse(ErrorCode::missing, fmt::format("model does not say {}, which {} needs", key, why),
                  fmt::format("\"{}: {}\" under model", key, example));
  }
  void number(std::string name, std::string value, std::string formula, std::string source) {
    out_.numbers.push_back({std::move(name), std::move(value), std::move(formula), std::move(source)});
  }

  // Layers, hidden and sequence, where a dimension talks about activations.
  Result<void> sizes() {
    Dim dim = Dim::dp;
    for (const Dim d : {Dim::tp, Dim::cp, Dim::ep, Dim::pp})
      if (size(d) > 1) {
        dim = d;
        break;
      }
    n_.layers = model_.layers.value_or(0);
    n_.hidden = model_.hidden.value_or(0);
    n_.seq = model_.seq.value_or(0);
    n_.sequence_parallel = model_.sequence_parallel.value_or(false) && size(Dim::tp) > 1;
    n_.token_shards = n_.sequence_parallel ? size(Dim::tp) : 1;
    n_.zero = model_.zero.value_or(0);
    if (dim == Dim::dp) return {};
    const std::string why = fmt::format("{} {}", to_string(dim), size(dim));
    const bool only_pp = size(Dim::tp) == 1 && size(Dim::cp) == 1 && size(Dim::ep) == 1;
    if (!model_.layers && !only_pp) return missing("layers", why, "80");
    if (!model_.hidden) return missing("hidden", why, "8192");
    if (!model_.seq) return missing("seq", why, "8192");
    if (n_.seq % size(Dim::cp) != 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("seq {} is not a multiple of cp {}: {} / {} = {:.6g}", n_.seq, size(Dim::cp), n_.seq,
                                size(Dim::cp), static_cast<double>(n_.seq) / static_cast<double>(size(Dim::cp))),
                    "a sequence that cp cuts into equal parts");
    const std::uint64_t part = n_.seq / size(Dim::cp);
    if (part % n_.token_shards != 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("sequence_parallel cuts seq {} / cp {} = {} into tp {} parts: {:.6g} tokens each",
                                n_.seq, size(Dim::cp), part, n_.token_shards,
                                static_cast<double>(part) / static_cast<double>(n_.token_shards)),
                    "a sequence that cp and tp cut into equal parts");
    return {};
  }

  Result<void> batch() {
    n_.microbatch = model_.microbatch.value_or(1);
    const std::uint64_t dp = size(Dim::dp);
    const BigCount wave = BigCount(n_.microbatch) * dp;
    if (!model_.global_batch) {
      if (size(Dim::tp) > 1 || size(Dim::cp) > 1 || size(Dim::ep) > 1 || size(Dim::pp) > 1)
        return missing("global_batch", "the number of microbatches", "1024");
      number("microbatches", "1", "1, global_batch is absent", "Weft's default");
      return {};
    }
    const std::uint64_t global = *model_.global_batch;
    if (!wave.fits(global) || global % wave.value() != 0)
      return refuse(
          ErrorCode::conflict,
          fmt::format("global_batch {} is no multiple of microbatch {} x dp {} = {:.0f}: {} / {:.0f} = {:.6g}", global,
                      n_.microbatch, dp, wave.approximate(), global, wave.approximate(),
                      static_cast<double>(global) / wave.approximate()),
          "a whole number of microbatches on each data-parallel rank");
    n_.microbatches = global / wave.value();
    number("microbatches", fmt::format("{}", n_.microbatches),
           fmt::format("global_batch {} / (microbatch {} x dp {})", global, n_.microbatch, dp),
           "Narayanan 2021, section 2");
    return {};
  }

  Result<void> heads() {
    const auto kv = model_.kv_heads ? model_.kv_heads : model_.heads;
    if (size(Dim::cp) > 1 && !model_.heads) return missing("heads", fmt::format("cp {}", size(Dim::cp)), "64");
    n_.kv_width = n_.hidden;
    if (!model_.heads || !kv) return {};
    if (*model_.heads % *kv != 0 || (model_.hidden && n_.hidden % *model_.heads != 0))
      return refuse(ErrorCode::conflict,
                    fmt::format("hidden {}, heads {} and kv_heads {} do not divide", n_.hidden, *model_.heads, *kv),
                    "heads that divide hidden, kv_heads that divide heads");
    n_.kv_width = n_.hidden / *model_.heads * *kv;
    n_.kv_shards = std::min<std::uint64_t>(size(Dim::tp), *kv);
    if (size(Dim::cp) > 1)
      number("width of keys", fmt::format("{}", n_.kv_width),
             fmt::format("hidden {} / heads {} x kv_heads {}", n_.hidden, *model_.heads, *kv),
             "Ainslie 2023 (grouped queries)");
    return {};
  }

  Result<void> experts() {
    n_.experts = model_.experts.value_or(1);
    n_.experts_per_token = model_.experts_per_token.value_or(std::min<std::uint64_t>(2, n_.experts));
    const std::uint64_t ep = size(Dim::ep);
    if (ep > 1 && !model_.experts) return missing("experts", fmt::format("ep {}", ep), "8");
    if (n_.experts % ep != 0)
      return refuse(ErrorCode::conflict,
                    fmt::format("ep {} does not divide experts {}: {} / {} = {:.6g}", ep, n_.experts, n_.experts, ep,
                                static_cast<double>(n_.experts) / static_cast<double>(ep)),
                    "as many experts on each rank of an ep group");
    if (ep > 1 && size(Dim::tp) > 1 && !n_.sequence_parallel)
      out_.notes.emplace_back(
          "without sequence_parallel each tensor rank sends all its tokens to the experts; Megatron-LM asks for it");
    return {};
  }

  Result<void> pipeline() {
    n_.interleave = model_.interleave.value_or(1);
    const std::uint64_t pp = size(Dim::pp);
    if (pp == 1) n_.interleave = 1;
    if (model_.layers && !(BigCount(pp) * n_.interleave).fits(n_.layers))
      return refuse(ErrorCode::conflict,
                    fmt::format("pp {} x interleave {} = {:.0f} chunks of {} layers", pp, n_.interleave,
                                (BigCount(pp) * n_.interleave).approximate(), n_.layers),
                    "at least a layer a chunk");
    if (n_.interleave > 1)
      out_.notes.push_back(
          fmt::format("the wrap from the last pipeline stage to the first, {} times a microbatch and as often back, is "
                      "not counted",
                      n_.interleave - 1));
    if (pp > 1 && model_.layers && n_.layers % pp != 0)
      out_.notes.push_back(fmt::format("{} layers on {} stages: the average of {:.6g} is used", n_.layers, pp,
                                       static_cast<double>(n_.layers) / static_cast<double>(pp)));
    return {};
  }

  Result<void> bytes() {
    const std::string precision = model_.precision.value_or("bf16");
    if (precision == "fp32") {
      n_.activation_bytes = n_.weight_bytes = n_.gradient_bytes = 4;
    } else if (precision == "fp16") {
      n_.activation_bytes = n_.weight_bytes = n_.gradient_bytes = 2;
    } else if (precision == "bf16" || precision == "fp8") {
      n_.activation_bytes = n_.weight_bytes = 2;
      n_.gradient_bytes = 4;
    } else {
      return refuse(ErrorCode::bad_value, fmt::format("precision \"{}\"", precision), "fp32, bf16, fp16 or fp8");
    }
    number("bytes of an activation, a weight, a gradient",
           fmt::format("{}, {}, {}", n_.activation_bytes, n_.weight_bytes, n_.gradient_bytes),
           fmt::format("precision {}{}", precision, model_.precision ? "" : " (default)"),
           n_.gradient_bytes > n_.weight_bytes ? "Megatron-LM: such gradients are reduced in fp32" : "definition");
    if (precision == "fp8")
      out_.notes.emplace_back("fp8 is the precision of products; what travels is bf16 (Transformer Engine's default)");
    return {};
  }

  Result<void> parameters() {
    // Without replicas nobody needs to know how many there are.
    const bool known = model_.parameters || (model_.layers && model_.hidden && model_.vocab);
    if (size(Dim::dp) == 1 && size(Dim::cp) == 1 && !known) return {};
    if (!model_.parameters || n_.experts > 1) {
      const std::string why =
          model_.parameters ? "telling experts from the rest of the parameters" : "the number of parameters";
      if (!model_.layers) return missing("layers", why, "80");
      if (!model_.hidden) return missing("hidden", why, "8192");
    }
    const BigCount h(n_.hidden);
    const BigCount mlp = model_.ffn_hidden ? BigCount(3) * h * *model_.ffn_hidden : BigCount(8) * h * h;
    const std::string mlp_text = model_.ffn_hidden ? fmt::format("3 x {} x {}", n_.hidden, *model_.ffn_hidden)
                                                   : fmt::format("8 x {}^2", n_.hidden);
    if (n_.experts > 1) {
      n_.expert_parameters = BigCount(n_.layers) * n_.experts * mlp;
      number("parameters of experts", fmt::format("{:.0f}", n_.expert_parameters.approximate()),
             fmt::format("layers {} x experts {} x {}", n_.layers, n_.experts, mlp_text),
             "Fedus 2021; gated MLP, Shazeer 2020");
    }
    return model_.parameters ? given_parameters() : counted_parameters(mlp, mlp_text);
  }

  Result<void> given_parameters() {
    const double total = *model_.parameters;
    if (!(total >= 1) || total > static_cast<double>(kMaxParameters))
      return refuse(ErrorCode::limit, fmt::format("parameters {:.6g}", total),
                    fmt::format("1 to {:.3g}", static_cast<double>(kMaxParameters)));
    const auto whole = static_cast<std::uint64_t>(std::llround(total));
    if (!n_.expert_parameters.fits(whole))
      return refuse(ErrorCode::conflict,
                    fmt::format("parameters {} are fewer than the experts' alone, {:.0f}", whole,
                                n_.expert_parameters.approximate()),
                    "layers, hidden, ffn_hidden and experts that fit the total");
    n_.shared_parameters = BigCount(whole - n_.expert_parameters.value());
    number("parameters", fmt::format("{}", whole), "as given", "job file");
    return {};
  }

  Result<void> counted_parameters(BigCount mlp, const std::string& mlp_text) {
    if (!model_.vocab) return missing("vocab", "the number of parameters", "128256\" or \"parameters: 70B");
    const BigCount h(n_.hidden);
    const BigCount attention = BigCount(2) * h * h + BigCount(2) * h * n_.kv_width;
    const BigCount norms = BigCount(2) * h;
    const BigCount router = n_.experts > 1 ? h * n_.experts : BigCount(0);
    BigCount layer = attention + norms + router;
    if (n_.experts == 1) layer = layer + mlp;
    n_.shared_parameters = BigCount(n_.layers) * layer + BigCount(2) * h * *model_.vocab + h;
    const BigCount total = n_.shared_parameters + n_.expert_parameters;
    if (!total.fits(kMaxParameters))
      return refuse(ErrorCode::limit, fmt::format("the model has {:.6g} parameters", total.approximate()),
                    fmt::format("at most {:.3g}", static_cast<double>(kMaxParameters)));
    number(
        "parameters", fmt::format("{}", total.value()),
        fmt::format("layers {0} x (attention 2 x {1}^2 + 2 x {1} x {2}{3} + norms 2 x {1}{4}) + vocab 2 x {5} x {1} + "
                    "norm {1}",
                    n_.layers, n_.hidden, n_.kv_width, n_.experts == 1 ? " + MLP " + mlp_text : "",
                    n_.experts > 1 ? fmt::format(" + router {} x {}", n_.hidden, n_.experts) : "", *model_.vocab) +
            (n_.experts > 1 ? " + experts" : ""),
        "Vaswani 2017; gated MLP, Shazeer 2020");
    return {};
  }

  const ModelSpec& model_;
  const Layout& layout_;
  const Source& source_;
  ModelTraffic& out_;
  ModelNumbers n_;
};

}  // namespace

BigCount operator*(BigCount a, BigCount b) {
  BigCount out;
  if (a.value_ != 0 && b.value_ > kPast / a.value_) {
    out.value_ = kPast;
  } else {
    out.value_ = std::min(a.value_ * b.value_, kPast);
  }
  return out;
}

BigCount operator+(BigCount a, BigCount b) {
  BigCount out;
  out.value_ = std::min(a.value_ + b.value_, kPast);  // each at most 2^120
  return out;
}

BigCount BigCount::divided_up(BigCount b) const {
  BigCount out;
  out.value_ = value_ >= kPast ? kPast : (value_ + b.value_ - 1) / b.value_;
  return out;
}

Result<ModelNumbers> resolve_model(const ModelSpec& model, const Layout& layout, const Source& source,
                                   ModelTraffic& out) {
  return Resolver(model, layout, source, out).run();
}

}  // namespace weft::placement
