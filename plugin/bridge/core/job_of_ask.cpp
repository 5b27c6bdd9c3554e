// SPDX-License-Identifier: BSD-3-Clause
#include "job_of_ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weft::bridge {
namespace {

// The C header's enums count as config's do.
static_assert(WEFT_DIM_TP == static_cast<int>(config::Dim::tp) && WEFT_DIM_CP == static_cast<int>(config::Dim::cp) &&
              WEFT_DIM_EP == static_cast<int>(config::Dim::ep) && WEFT_DIM_PP == static_cast<int>(config::Dim::pp) &&
              WEFT_DIM_DP == static_cast<int>(config::Dim::dp));
static_assert(WEFT_ALLREDUCE == static_cast<int>(config::Collective::allreduce) &&
              WEFT_NEIGHBOUR == static_cast<int>(config::Collective::neighbour));
static_assert(WEFT_RING == static_cast<int>(config::Algorithm::ring) &&
              WEFT_AUTO == static_cast<int>(config::Algorithm::automatic));
static_assert(WEFT_LEVEL_NVLINK == static_cast<int>(config::LevelName::nvlink) + 1 &&
              WEFT_LEVEL_POD == static_cast<int>(config::LevelName::pod) + 1);

config::LevelName level_of(std::uint8_t level) { return static_cast<config::LevelName>(level - 1); }

config::TrafficTerm term_of(const weft_spec_term& term) {
  config::TrafficTerm out;
  out.dim = static_cast<config::Dim>(term.dim);
  out.collective = static_cast<config::Collective>(term.collective);
  out.algorithm = static_cast<config::Algorithm>(term.algorithm);
  out.bytes = Bytes{term.bytes};
  return out;
}

weft_spec spec_of(const config::Layout& layout) {
  weft_spec out;
  weft_spec_init(&out);
  for (std::size_t d = 0; d < config::kDims; ++d) {
    out.size[d] = layout.size[d];
    out.order[d] = static_cast<std::uint8_t>(layout.order[d]);
  }
  return out;
}

// The layout of a SPEC that fits a job.
std::optional<config::Layout> fit(const weft_spec& spec, const weft_spec_job& job, std::uint32_t* ranks,
                                  std::string* why) {
  std::array<char, WEFT_SPEC_MESSAGE> error{};
  config::Layout out;
  std::uint32_t dp = 0;
  if (weft_spec_fit(&spec, &job, ranks, &dp, error.data(), error.size()) != 0) {
    if (why != nullptr) *why = error.data();
    return std::nullopt;
  }
  for (std::size_t d = 0; d < config::kDims; ++d) {
    out.size[d] = spec.size[d];
    out.order[d] = static_cast<config::Dim>(spec.order[d]);
  }
  out[config::Dim::dp] = dp;
  return out;
}

std::uint32_t narrow(std::uint64_t n) { return static_cast<std::uint32_t>(n); }

// Fewest nodes whose shares, largest first, come to `need`; 0 where all of them do not.
std::uint32_t fewest(std::vector<std::uint32_t> shares, std::uint64_t need) {
  std::sort(shares.begin(), shares.end(), std::greater<>());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    if (sum >= need) return narrow(i + 1);
  }
  return 0;
}

}  // namespace

tl::expected<Job, Refusal> Job::read(const Settings& settings, const Ask& ask) {
  Job out(settings, ask);
  weft_spec_init(&out.spec_);
  if (ask.spec) {
    std::array<char, WEFT_SPEC_MESSAGE> error{};
    if (weft_spec_parse(ask.spec->data(), ask.spec->size(), &out.spec_, error.data(), error.size()) != 0)
      return tl::unexpected(Refusal{WEFT_CAUSE_SPEC, error.data()});
    out.has_spec_ = true;
  }
  if (ask.segment > 0) {
    if (out.spec_.segment > 0 && out.spec_.segment != ask.segment)
      return tl::unexpected(
          Refusal{WEFT_CAUSE_SPEC, fmt::format("the SPEC says segment={}, the job --segment={}; expected one of them",
                                               out.spec_.segment, ask.segment)});
    out.spec_.segment = ask.segment;
    if (out.spec_.segment_level == WEFT_LEVEL_NONE) out.spec_.segment_level = WEFT_LEVEL_LEAF;
  }
  if ((ask.flags & WEFT_REQ_EXCLUSIVE_TOPO) != 0 && out.spec_.exclusive == WEFT_LEVEL_NONE)
    out.spec_.exclusive = WEFT_LEVEL_LEAF;
  return out;
}

weft_spec_job Job::size_on(std::uint32_t nodes, std::uint32_t node_gpus) const {
  weft_spec_job out{};
  out.nodes = nodes;
  out.node_gpus = node_gpus;
  out.tasks = ask_->tasks > 0 ? ask_->tasks : std::uint64_t{ask_->tasks_per_node} * nodes;
  out.gpus = ask_->total_gpus > 0      ? ask_->total_gpus
             : ask_->gpus_per_node > 0 ? std::uint64_t{ask_->gpus_per_node} * nodes
                                       : std::uint64_t{ask_->gpus_per_task} * out.tasks;
  return out;
}

tl::expected<Sized, Refusal> Job::on_nodes(std::uint32_t nodes, std::uint32_t node_gpus) const {
  Sized out;
  out.nodes = nodes;
  out.layout[config::Dim::dp] = nodes;
  if (spec_.segment > 0 && nodes % spec_.segment != 0)
    return tl::unexpected(Refusal{WEFT_CAUSE_CONSTRAINT, fmt::format("segment {} does not divide the job's {} node{}",
                                                                     spec_.segment, nodes, nodes == 1 ? "" : "s")});
  const weft_spec_job size = size_on(nodes, node_gpus);
  std::uint32_t ranks = 0;
  if (has_spec_) {
    Refusal refusal;
    const auto layout = fit(spec_, size, &ranks, &refusal.reason);
    if (!layout) return tl::unexpected(refusal);
    out.layout = *layout;
  } else if (settings_->default_layout) {
    const auto layout = fit(spec_of(*settings_->default_layout), size, &ranks, nullptr);
    if (!layout || ranks / nodes > node_gpus) return out;  // nearness alone
    out.layout = *layout;
  } else {
    return out;
  }
  out.laid_out = true;
  out.ranks_per_node = ranks / nodes;
  if (out.ranks_per_node > node_gpus)
    return tl::unexpected(
        Refusal{WEFT_CAUSE_SPEC,
                fmt::format("{} ranks over {} node{} are {} a node, but no usable node has more than {} GPU{}", ranks,
                            nodes, nodes == 1 ? "" : "s", out.ranks_per_node, node_gpus, node_gpus == 1 ? "" : "s")});
  return out;
}

config::JobSpec Job::spec_for(const Sized& sized) const {
  config::JobSpec out;
  out.nodes = sized.nodes;
  out.ranks_per_node = sized.ranks_per_node;
  out.layout = sized.layout;
  out.dp_given = true;
  std::array<weft_spec_term, WEFT_SPEC_TERMS> usual{};
  const std::size_t count = spec_.term_count > 0 ? spec_.term_count : weft_spec_defaults(usual.data());
  for (std::size_t t = 0; t < count; ++t) {
    config::TrafficTerm term = term_of(spec_.term_count > 0 ? spec_.terms[t] : usual[t]);
    if (!sized.laid_out) term.algorithm = config::Algorithm::ring;  // nearness alone: each node near the next
    if (sized.layout[term.dim] > 1) out.traffic.push_back(term);
  }
  if (spec_.cross_rail != WEFT_CROSS_RAIL_DEFAULT)
    out.cross_rail = spec_.cross_rail == WEFT_CROSS_RAIL_PXN ? config::CrossRail::pxn : config::CrossRail::fabric;
  config::Constraints& rules = out.constraints;
  if (spec_.segment > 0) {
    rules.segment = spec_.segment;
    rules.segment_level = level_of(spec_.segment_level);
  }
  if (spec_.max_leaves > 0) rules.max_leaves = spec_.max_leaves;
  if (spec_.max_pods > 0) rules.max_pods = spec_.max_pods;
  if (spec_.exclusive != WEFT_LEVEL_NONE) rules.exclusive = level_of(spec_.exclusive);
  return out;
}

bool Job::constrained() const {
  return spec_.segment > 0 || spec_.max_leaves > 0 || spec_.max_pods > 0 || spec_.exclusive != WEFT_LEVEL_NONE;
}

double Job::patience(const Settings& settings) const {
  return spec_.patience_given != 0 ? spec_.patience / 100.0 : settings.patience;
}

placement::Objective Job::objective(const Settings& settings) const {
  switch (spec_.objective) {
    case WEFT_OBJECTIVE_TRAFFIC: return placement::Objective::traffic;
    case WEFT_OBJECTIVE_TIME: return placement::Objective::time;
    case WEFT_OBJECTIVE_SPREAD: return placement::Objective::spread;
    default: return settings.objective;
  }
}

tl::expected<std::vector<std::uint32_t>, Refusal> node_counts(const Ask& ask, std::uint32_t segment) {
  const auto refuse = [](std::string reason) {
    return tl::unexpected(Refusal{WEFT_CAUSE_CAPACITY, std::move(reason)});
  };
  std::uint32_t least = std::max({ask.min_nodes, narrow(ask.required.size()), 1U});
  const std::uint32_t usable = narrow(ask.usable.size());
  const std::uint32_t most = ask.max_nodes == 0 ? usable : std::min(ask.max_nodes, usable);
  for (const auto& [shares, need, word] :
       {std::tuple(&ask.cpus, ask.need_cpus, "CPUs"), std::tuple(&ask.gpus, ask.need_gpus, "GPUs")}) {
    if (shares->empty() || need == 0) continue;
    const std::uint32_t nodes = fewest(*shares, need);
    if (nodes == 0) return refuse(fmt::format("the usable nodes have fewer than the {} {} asked for", need, word));
    least = std::max(least, nodes);
  }
  if (least > most)
    return refuse(
        fmt::format("needs {} nodes; {} usable", least,
                    most < usable ? fmt::format("{} allowed of {}", most, usable) : fmt::format("{} are", usable)));
  std::vector<std::uint32_t> out;
  const auto add = [&](std::uint32_t nodes) {
    if (out.size() < kMaxCounts && (segment == 0 || nodes % segment == 0)) out.push_back(nodes);
  };
  const std::uint32_t wish = std::clamp(ask.req_nodes, least, most);
  if (wish > least) {
    for (std::uint32_t n = wish; n >= least; --n) add(n);
  } else {
    for (std::uint32_t n = least; n <= most && out.size() < kMaxCounts; ++n) add(n);
  }
  if (out.empty())
    return tl::unexpected(
        Refusal{WEFT_CAUSE_CONSTRAINT,
                fmt::format("segment {} divides no number of nodes from {} to {}", segment, least, most)});
  return out;
}

}  // namespace weft::bridge
