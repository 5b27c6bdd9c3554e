// SPDX-License-Identifier: BSD-3-Clause
//
// SimAI's and ASTRA-sim 1's workload text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "comm_lines.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;

constexpr std::uint64_t kMaxLayers = 1U << 22;
constexpr std::uint64_t kMaxAccumulation = 1U << 24;

struct Operation {
  std::string_view word;
  Collective collective;
};
constexpr auto kOperations = std::to_array<Operation>({{"ALLREDUCE", Collective::allreduce},
                                                       {"ALLGATHER", Collective::allgather},
                                                       {"REDUCESCATTER", Collective::reduce_scatter},
                                                       {"ALLTOALL", Collective::alltoall},
                                                       {"BROADCAST", Collective::broadcast}});

// Fields of a layer's line: name, dependency, then (time, communication, bytes) of three passes, then the update time,
// which the last line of some files lacks.
constexpr std::size_t kLayerFields = 11;
constexpr std::array<std::size_t, 3> kPasses{3, 6, 9};

class SimaiReader : private WorkloadReader {
 public:
  explicit SimaiReader(const Source& source) : WorkloadReader(source, CommKind::simai) {}

  Result<CommFile> run() {
    lines_.next();
    if (auto ok = header(); !ok) return fail(ok.error());
    if (auto ok = layer_count(); !ok) return fail(ok.error());
    while (lines_.next())
      if (auto ok = layer(); !ok) return fail(ok.error());
    if (seen_ != layers_)
      return fail(error_at(ErrorCode::conflict, source_, {lines_.number(), 1}, 1,
                           fmt::format("the file ends after {} of {} layers", seen_, layers_),
                           "as many lines as the second line says"));
    return finish();
  }

 private:
  Result<void> header() {
    split_blanks(lines_.line(), fields_);
    const CommField& policy = fields_.front();
    if (policy.text != "HYBRID_TRANSFORMER_FWD_IN_BCKWD" && policy.text != "HYBRID_TRANSFORMER" &&
        policy.text != "MICRO")
      return refuse(ErrorCode::unsupported, policy, fmt::format("parallelism {}", policy.text),
                    "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_TRANSFORMER or MICRO");
    micro_ = policy.text == "MICRO";
    if (!micro_) size(Dim::tp) = size(Dim::ep) = size(Dim::pp) = 1;
    std::uint64_t gpus = 0;
    std::uint64_t value = 0;
    for (std::size_t i = 1; i + 1 < fields_.size(); i += 2) {
      std::string_view key = fields_[i].text;
      if (key.ends_with(':')) key.remove_suffix(1);
      const CommField& word = fields_[i + 1];
      const bool is_size = key == "model_parallel_NPU_group" || key == "ep" || key == "pp";
      if (is_size || key == "all_gpus") {
        if (auto ok = take(count(word, key, 1, kMaxRanks), value); !ok) return ok;
        if (key == "all_gpus") gpus = value;
        if (is_size) size(key == "ep" ? Dim::ep : key == "pp" ? Dim::pp : Dim::tp) = static_cast<std::uint32_t>(value);
      } else if (key == "ga") {
        if (auto ok = take(count(word, key, 1, kMaxAccumulation), accumulation_); !ok) return ok;
      } else if (key == "pp_comm") {
        if (auto ok = take(amount(word, key), pp_bytes_); !ok) return ok;
      } else if (key != "vpp" && key != "checkpoints" && key != "checkpoint_initiates") {
        return refuse(ErrorCode::unknown_key, fields_[i], fmt::format("the header has a word \"{}\"", fields_[i].text),
                      "model_parallel_NPU_group ep pp vpp ga all_gpus checkpoints checkpoint_initiates pp_comm");
      }
    }
    if (fields_.size() % 2 == 0)
      return refuse(ErrorCode::syntax, fields_.back(), fmt::format("{} has no value", fields_.back().text),
                    "words and numbers by turns");
    return gpus == 0 ? Result<void>() : data_parallel(gpus);
  }

  static Result<void> take(Result<std::uint64_t> value, std::uint64_t& out) {
    if (!value) return fail(value.error());
    out = *value;
    return {};
  }

  Result<void> data_parallel(std::uint64_t gpus) {
    const std::uint64_t inner = std::uint64_t{size(Dim::tp)} * size(Dim::pp);
    const auto wrong = [&](std::string message, std::string expected) {
      return fail(
          error_at(ErrorCode::conflict, source_, {lines_.number(), 1}, 1, std::move(message), std::move(expected)));
    };
    if (inner == 0 || gpus % inner != 0)
      return wrong(fmt::format("all_gpus {} is no multiple of model_parallel_NPU_group {} x pp {} = {}", gpus,
                               size(Dim::tp), size(Dim::pp), inner),
                   "groups that cut the GPUs evenly");
    size(Dim::dp) = static_cast<std::uint32_t>(gpus / inner);
    if (size(Dim::dp) % size(Dim::ep) != 0)
      return wrong(fmt::format("ep {} does not divide dp {} = {} GPUs / {}", size(Dim::ep), size(Dim::dp), gpus, inner),
                   "an ep that divides dp");
    out_.ranks = gpus;
    return {};
  }

  Result<void> layer_count() {
    if (!lines_.next())
      return fail(
          error_at(ErrorCode::missing, source_, {2, 1}, 1, "the file ends after its header", "the number of layers"));
    split_blanks(lines_.line(), fields_);
    return take(count(fields_.front(), "the number of layers", 1, kMaxLayers), layers_);
  }

  Result<void> layer() {
    split_blanks(lines_.line(), fields_);
    if (fields_.size() != kLayerFields && fields_.size() != kLayerFields + 1)
      return refuse(ErrorCode::syntax, fields_.back(), fmt::format("a layer of {} fields", fields_.size()),
                    "name, dependency, three times (time, communication, bytes), update time: 12 fields");
    if (++seen_ > layers_)
      return refuse(ErrorCode::conflict, fields_.front(), fmt::format("layer {} of {}", seen_, layers_),
                    "as many lines as the second line says");
    for (std::size_t pass = 0; pass < kPasses.size(); ++pass)
      if (auto ok = communication(kPasses[pass], pass == 2); !ok) return ok;
    return {};
  }

  Result<void> communication(std::size_t at, bool weights) {
    const CommField& word = fields_[at];
    const auto bytes = amount(fields_[at + 1], "the number of bytes");
    if (!bytes) return fail(bytes.error());
    if (word.text == "NONE") return {};
    std::string_view name = word.text;
    const auto cut = [&](std::string_view suffix) {
      const bool has = name.ends_with(suffix);
      if (has) name.remove_suffix(suffix.size());
      return has;
    };
    const bool replicas = cut("_DP_EP");
    const bool experts = !replicas && cut("_EP");
    const auto known =
        std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& o) { return o.word == name; });
    if (known == kOperations.end())
      return refuse(ErrorCode::unsupported, word, fmt::format("no communication of name \"{}\"", word.text),
                    "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, BROADCAST; with _EP or _DP_EP");
    std::uint64_t volume = *bytes;
    Dim dim = weights ? Dim::dp : Dim::tp;
    if (experts) dim = Dim::ep;
    if (replicas) {
      if (size(Dim::dp) == 0 || size(Dim::ep) == 0)
        return refuse(ErrorCode::missing, word, "the replicas of an expert, but the header does not say how many",
                      "ep and all_gpus in the header");
      dim = Dim::dp;
      volume = on_larger_ring(volume, size(Dim::dp) / size(Dim::ep), size(Dim::dp));
      replicas_ = true;
    }
    if (!sums_.add(dim, known->collective, volume))
      return refuse(ErrorCode::limit, fields_[at + 1], "the bytes up to here come to more than a step may move",
                    fmt::format("at most {} a dimension and collective", kMaxStepBytes));
    return {};
  }

  Result<CommFile> finish() {
    if (pp_bytes_ > 0 && !sums_.add(Dim::pp, Collective::neighbour, pp_bytes_, accumulation_))
      return fail(error_at(ErrorCode::limit, source_, {1, 1}, 1,
                           fmt::format("pp_comm {} x ga {} is more than a step may move", pp_bytes_, accumulation_),
                           fmt::format("at most {}", kMaxStepBytes)));
    out_.terms = sums_.terms();
    for (const config::TrafficTerm& t : out_.terms)
      if (size(t.dim) == 1)
        note(Note::Kind::warning, fmt::format("{} of {}: groups of one rank move nothing ({} bytes in the file)",
                                              to_string(t.collective), to_string(t.dim), t.bytes.value));
    if (replicas_) note(Note::Kind::assumption, "exchanges among an expert's replicas (_DP_EP) are put on dp");
    if (size(Dim::dp) == 0 && !micro_) note(Note::Kind::assumption, "the header does not say all_gpus: any dp will do");
    return std::move(out_);
  }

  TermSums sums_;
  std::uint64_t layers_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t accumulation_ = 1;
  std::uint64_t pp_bytes_ = 0;
  bool micro_ = false;
  bool replicas_ = false;
};

}  // namespace

Result<CommFile> parse_simai(const Source& source) { return SimaiReader(source).run(); }

}  // namespace weft::placement
