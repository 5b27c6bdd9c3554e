// SPDX-License-Identifier: BSD-3-Clause
//
// AICB's physical workload log.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "comm_lines.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;

constexpr std::uint64_t kMaxCount = 1ULL << 32;

struct Operation {
  std::string_view word;
  std::optional<Collective> collective;  // none: it moves nothing
};
// `reduce` moves what a broadcast does, the other way.
constexpr auto kOperations = std::to_array<Operation>({
    {"all_reduce", Collective::allreduce},
    {"all_gather", Collective::allgather},
    {"all_gather_into_tensor", Collective::allgather},
    {"reduce_scatter", Collective::reduce_scatter},
    {"reduce_scatter_tensor", Collective::reduce_scatter},
    {"broadcast", Collective::broadcast},
    {"reduce", Collective::broadcast},
    {"all_to_all", Collective::alltoall},
    {"barrier", std::nullopt},
    {"computation", std::nullopt},
});

struct Group {
  std::string_view word;
  Dim dim;
};
constexpr auto kGroups =
    std::to_array<Group>({{"tp_group", Dim::tp}, {"dp_group", Dim::dp}, {"pp_group", Dim::pp}, {"ep_group", Dim::ep}});

// "CommType.all_reduce" or "all_reduce".
std::string_view after_dot(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) ? word.substr(prefix.size()) : word;
}

// What one section (one pipeline stage's rank) moves in its last step.
struct Step {
  TermSums sums;
  TermSums expert_replicas;  // on dp
  std::uint64_t to_next = 0;
  std::uint64_t to_previous = 0;
  bool any = false;
};

enum Column : std::size_t {
  type_column,
  group_column,
  size_column,
  bytes_column,
  stage_column,
  extra_column,
  times_column,
  column_count
};
constexpr std::array<std::string_view, column_count> kNames{
    "comm_type", "comm_group", "comm_group_size", "msg_size", "stage", "additional", "count"};

class AicbReader : private WorkloadReader {
 public:
  explicit AicbReader(const Source& source) : WorkloadReader(source, CommKind::aicb) {}

  Result<CommFile> run() {
    while (lines_.next()) {
      const char first = lines_.line()[lines_.line().find_first_not_of(" \t")];
      auto ok = first == '[' ? section() : lines_.line().starts_with("comm_type,") ? header() : row();
      if (!ok) return fail(ok.error());
    }
    close_section();
    return finish();
  }

 private:
  // "[rank0 ~ rank127]", or "[ pp_stage0: [rank0, rank1] ]".
  Result<void> section() {
    close_section();
    ++sections_;
    std::vector<std::uint64_t> ranks;
    const std::string_view line = lines_.line();
    for (std::size_t at = line.find("rank"); at != std::string_view::npos; at = line.find("rank", at + 1)) {
      std::size_t end = at + 4;
      while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
      const CommField number{line.substr(at + 4, end - at - 4), static_cast<std::uint32_t>(at + 5)};
      const auto rank = count(number, "the rank", 0, kMaxRanks - 1);
      if (!rank) return fail(rank.error());
      ranks.push_back(*rank);
    }
    const bool range = line.find('~') != std::string_view::npos;
    if (ranks.empty() || (range && (ranks.size() != 2 || ranks[1] < ranks[0])))
      return refuse(ErrorCode::syntax, {line, 1}, "the ranks of the section cannot be read", "\"[rank0 ~ rank127]\"");
    out_.ranks += range ? ranks[1] - ranks[0] + 1 : ranks.size();
    if (out_.ranks > kMaxRanks)
      return refuse(ErrorCode::limit, {line, 1}, fmt::format("{} ranks", out_.ranks),
                    fmt::format("at most {}", kMaxRanks));
    return {};
  }

  Result<void> header() {
    split_fields(lines_.line(), fields_);
    at_.fill(std::nullopt);
    for (std::size_t i = 0; i < fields_.size(); ++i)
      for (std::size_t c = 0; c < column_count; ++c)
        if (fields_[i].text == kNames[c]) at_[c] = i;
    for (const Column c : {type_column, group_column, size_column, bytes_column, stage_column})
      if (!at_[c])
        return refuse(ErrorCode::missing, fields_.front(), fmt::format("the log has no column {}", kNames[c]),
                      "comm_type, comm_group, comm_group_size, msg_size and stage; older logs without group sizes do "
                      "not say what they are of");
    columns_ = fields_.size();
    return {};
  }

  [[nodiscard]] const CommField* field(Column c) const { return at_[c] ? &fields_[*at_[c]] : nullptr; }

  Result<void> row() {
    if (columns_ == 0)
      return refuse(ErrorCode::syntax, {lines_.line(), 1}, "a row before the header", "comm_type,comm_group,...");
    split_fields(lines_.line(), fields_);
    if (fields_.size() != columns_)
      return refuse(ErrorCode::syntax, fields_.back(),
                    fmt::format("{} fields, the header has {}", fields_.size(), columns_), "as many on each line");
    const std::string_view type = after_dot(field(type_column)->text, "CommType.");
    if (type == "epoch_end") {
      if (step_.any) last_ = step_;
      step_ = Step{};
      return {};
    }
    const bool point = type == "isend" || type == "irecv";
    const auto known =
        std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& o) { return o.word == type; });
    if (!point && known == kOperations.end())
      return refuse(ErrorCode::unsupported, *field(type_column), fmt::format("no communication of name \"{}\"", type),
                    "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, isend, irecv");
    if (!point && !known->collective) return {};
    std::uint64_t times = 1;
    if (const CommField* word = field(times_column); word != nullptr && word->text != "None") {
      const auto value = count(*word, "count", 1, kMaxCount);
      if (!value) return fail(value.error());
      times = *value;
    }
    const auto bytes = amount(*field(bytes_column), "msg_size");
    if (!bytes) return fail(bytes.error());
    return point ? point_to_point(type == "isend", *bytes, times) : collective(*known->collective, *bytes, times);
  }

  [[nodiscard]] bool in_setup() const { return field(stage_column)->text.starts_with("init"); }

  // The receiving end of an exchange says the same bytes again.
  Result<void> point_to_point(bool sends, std::uint64_t bytes, std::uint64_t times) {
    if (after_dot(field(group_column)->text, "CommGroup.") != "pp_group")
      return refuse(ErrorCode::unsupported, *field(group_column), "sends between ranks of other groups than pp_group",
                    "a matrix of bytes");
    if (!sends || in_setup()) return {};
    const std::string_view extra = at_[extra_column] ? field(extra_column)->text : std::string_view{};
    const bool back = extra.find("prev") != std::string_view::npos ||
                      (extra.empty() && field(stage_column)->text.starts_with("backward"));
    std::uint64_t& sum = back ? step_.to_previous : step_.to_next;
    const unsigned __int128 total = sum + static_cast<unsigned __int128>(bytes) * times;
    if (total > kMaxStepBytes) return too_much();
    sum = static_cast<std::uint64_t>(total);
    step_.any = true;
    return {};
  }

  Result<void> collective(Collective collective, std::uint64_t bytes, std::uint64_t times) {
    const std::string_view word = after_dot(field(group_column)->text, "CommGroup.");
    if (word == "embedding_group") {
      embedding_ = embedding_ || !in_setup();
      return {};
    }
    const auto ranks = count(*field(size_column), "comm_group_size", 1, kMaxRanks);
    if (!ranks) return fail(ranks.error());
    if (word == "ep_dp_group") return expert_replicas(collective, bytes, times, *ranks);
    const auto group = std::find_if(kGroups.begin(), kGroups.end(), [&](const Group& g) { return g.word == word; });
    if (group == kGroups.end())
      return refuse(ErrorCode::unsupported, *field(group_column), fmt::format("groups of kind \"{}\"", word),
                    "tp_group, dp_group, pp_group, ep_group or ep_dp_group");
    std::uint32_t& known = size(group->dim);
    if (known != 0 && known != *ranks)
      return refuse(ErrorCode::conflict, *field(size_column),
                    fmt::format("{} of {} ranks, above it had {}", word, *ranks, known), "one size a kind of group");
    known = static_cast<std::uint32_t>(*ranks);
    if (in_setup()) return {};
    if (!step_.sums.add(group->dim, collective, bytes, times)) return too_much();
    step_.any = true;
    return {};
  }

  Result<void> expert_replicas(Collective collective, std::uint64_t bytes, std::uint64_t times, std::uint64_t ranks) {
    if (replicas_ != 0 && replicas_ != ranks)
      return refuse(ErrorCode::conflict, *field(size_column),
                    fmt::format("ep_dp_group of {} ranks, above it had {}", ranks, replicas_),
                    "one size a kind of group");
    replicas_ = ranks;
    if (in_setup()) return {};
    if (!step_.expert_replicas.add(Dim::dp, collective, bytes, times)) return too_much();
    step_.any = true;
    return {};
  }

  tl::unexpected<Error> too_much() const {
    return refuse(ErrorCode::limit, *field(bytes_column), "the bytes up to here come to more than a step may move",
                  fmt::format("at most {} a dimension and collective", kMaxStepBytes));
  }

  void close_section() {
    const Step& step = step_.any ? step_ : last_;
    sums_.take_larger(step.sums);
    experts_.take_larger(step.expert_replicas);
    neighbour_ = std::max({neighbour_, step.to_next, step.to_previous});
    any_ = any_ || step.any;
    step_ = last_ = Step{};
  }

  Result<CommFile> finish() {
    if (!any_)
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "the log has no row of a training step",
                           "rows of other stages than init"));
    const std::uint32_t dp = size(Dim::dp);
    std::uint32_t& pp = size(Dim::pp);
    if (sections_ > 1 && pp == 0) pp = static_cast<std::uint32_t>(sections_);
    if (neighbour_ > 0) static_cast<void>(sums_.add(Dim::pp, Collective::neighbour, neighbour_));
    for (const config::TrafficTerm& t : experts_.terms()) {
      const std::uint64_t group = dp != 0 ? dp : replicas_;
      if (replicas_ > 1 && group > 1 &&
          !sums_.add(Dim::dp, t.collective, on_larger_ring(t.bytes.value, replicas_, group)))
        return fail(error_at(ErrorCode::limit, source_, {1, 1}, 1, "the bytes of dp come to more than a step may move",
                             fmt::format("at most {}", kMaxStepBytes)));
    }
    out_.terms = sums_.terms();
    note(Note::Kind::assumption, "rows of stage init are before the first step and left out; the last step is taken");
    if (sections_ > 1) note(Note::Kind::assumption, "the busiest pipeline stage stands for all");
    if (replicas_ > 0) note(Note::Kind::assumption, "exchanges among an expert's replicas are put on dp");
    if (embedding_) note(Note::Kind::warning, "exchanges of the first and last stage's embedding are left out");
    return std::move(out_);
  }

  std::array<std::optional<std::size_t>, column_count> at_{};
  std::size_t columns_ = 0;
  std::size_t sections_ = 0;
  Step step_, last_;
  TermSums sums_, experts_;
  std::uint64_t neighbour_ = 0;
  std::uint64_t replicas_ = 0;
  bool any_ = false;
  bool embedding_ = false;
};

}  // namespace

Result<CommFile> parse_aicb(const Source& source) { return AicbReader(source).run(); }

}  // namespace weft::placement
