// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "candidates.hpp"
#include "decision.hpp"
#include "free_gpus.hpp"
#include "job_of_ask.hpp"
#include "summary.hpp"
#include "weft/placement/score.hpp"

namespace weft::bridge {
namespace {

using placement::Placement;
using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

constexpr std::size_t kMaxWindows = 8;
constexpr std::size_t kMaxTieWeights = 8;
// What the fewest leaves may cost, in bytes over spines of the best placement, to be taken for the sake of other jobs.
constexpr double kPackedExcess = 1.5;
// No more than this part of the nodes in its reach does a job ask for that waits: a larger one would keep too many
// idle.
constexpr std::uint64_t kWaitsAtMost = 4;

/// How an attempt on one number of nodes ended.
struct Attempt {
  std::optional<std::vector<NodeId>> nodes;  ///< found
  std::vector<std::uint64_t> gpus;           ///< of each of them, where GPUs count
  Sized sized;
  Sized seen;              ///< sized as the engine saw it
  bool with_gpus = false;  ///< free GPUs count
  Pool pool;               ///< what it was drawn from
  Refusal refusal;         ///< not found
  bool hopeless = false;   ///< no other number of nodes will do either
  bool late = false;       ///< the clock ran out
};

class Chooser {
 public:
  Chooser(const Fabric& fabric, const Settings& settings, const Ask& ask, const DecideOptions& options, const Job& job)
      : fabric_(fabric), settings_(settings), ask_(ask), options_(options), job_(job) {}

  // On so many nodes, under so many leaves at most.
  Attempt packed(std::uint32_t nodes, std::uint32_t leaves) {
    most_leaves_ = leaves;
    Attempt out = on_nodes(nodes);
    most_leaves_.reset();
    return out;
  }

  // The first number of nodes that works; else the refusal of the first that was tried.
  Attempt run(const std::vector<std::uint32_t>& counts) {
    Attempt first;
    bool have_first = false;
    for (const std::uint32_t nodes : counts) {
      Attempt attempt = on_nodes(nodes);
      if (attempt.nodes || attempt.late || attempt.hopeless) return attempt;
      // What no layout divides says less than what could not be placed.
      if (!have_first || (first.sized.nodes == 0 && attempt.sized.nodes != 0)) first = std::move(attempt);
      have_first = true;
    }
    return first;
  }

 private:
  // Most GPUs that at least `nodes` usable nodes have.
  [[nodiscard]] std::uint32_t node_gpus(std::uint32_t nodes) const {
    std::vector<std::uint32_t> gpus;
    for (const NodeId n : ask_.usable) gpus.push_back(fabric_.type_of(n).gpus);
    const std::size_t place = std::min<std::size_t>(std::max(nodes, 1U), gpus.size()) - 1;
    std::nth_element(gpus.begin(), gpus.begin() + static_cast<std::ptrdiff_t>(place), gpus.end(), std::greater<>());
    return gpus[place];
  }

  Attempt on_nodes(std::uint32_t nodes) {
    Attempt out;
    const auto sized = job_.on_nodes(nodes, node_gpus(nodes));
    if (!sized) {
      out.refusal = sized.error();
      return out;
    }
    out.sized = *sized;
    const auto counted = with_gpus(fabric_, ask_, *sized);
    out.seen = counted.value_or(*sized);
    out.with_gpus = counted.has_value();
    config::JobSpec spec = job_.spec_for(out.seen);
    if (most_leaves_)
      spec.constraints.max_leaves = std::min(*most_leaves_, spec.constraints.max_leaves.value_or(*most_leaves_));
    std::optional<Level> exclusive;
    if (spec.constraints.exclusive)
      exclusive =
          std::min(static_cast<Level>(*spec.constraints.exclusive), static_cast<Level>(fabric_.level_count() - 1));
    spec.constraints.exclusive.reset();  // seen to here, so that weights and windows cannot pass for other jobs' nodes
    const Pool pool = whole_pool(fabric_, ask_, exclusive);
    if (pool.size() < nodes) {
      const std::size_t shared = ask_.usable.size() - pool.size();
      out.refusal = {WEFT_CAUSE_CONSTRAINT,
                     fmt::format("needs {} nodes in whole free {} domains; {} are, {} share theirs", nodes,
                                 exclusive ? fabric_.level_name(*exclusive) : "", pool.size(), shared)};
      return out;
    }
    const auto traffic = traffic_of(spec, out.seen.layout);
    if (!traffic) {
      out.hopeless = true;
      out.refusal = {WEFT_CAUSE_SPEC, traffic.error().message};
      return out;
    }
    require(spec);
    draw(spec, *traffic, pool, out);
    return out;
  }

  Result<Known> traffic_of(const config::JobSpec& spec, const config::Layout& layout) {
    return options_.traffic != nullptr ? options_.traffic->get(spec, layout) : make_known(spec, layout);
  }

  void require(config::JobSpec& spec) const {
    if (ask_.required.empty()) return;
    config::Text names;
    for (const NodeId n : ask_.required) names.value += (names.value.empty() ? "" : ",") + fabric_.node_name(n);
    spec.constraints.required_nodes = std::move(names);
  }

  // Pools in the order in which node weights and --contiguous want them; the first that gives an answer is taken.
  void draw(const config::JobSpec& spec, const Known& traffic, const Pool& pool, Attempt& out) {
    const bool strict = settings_.node_weight == config::NodeWeight::strict;
    std::vector<Pool> pools = strict ? by_weight(ask_, pool, spec.nodes) : std::vector<Pool>{pool};
    if (pools.empty()) pools.push_back(pool);
    for (const Pool& each : pools) {
      draw_from(spec, traffic, each, out);
      if (out.nodes || out.late || out.hopeless) break;
    }
    if (out.nodes && settings_.node_weight == config::NodeWeight::tie && !ask_.weights.empty())
      prefer_lighter(spec, traffic, pool, out);
  }

  void draw_from(const config::JobSpec& spec, const Known& traffic, const Pool& pool, Attempt& out) {
    if ((ask_.flags & WEFT_REQ_CONTIGUOUS) != 0) {
      for (const Pool& window : windows(fabric_, ask_, pool, spec.nodes, kMaxWindows)) {
        place_in(spec, traffic, window, out);
        if (out.nodes || out.late || out.hopeless) return;
      }
      if (out.refusal.reason.empty())
        out.refusal = {WEFT_CAUSE_CAPACITY,
                       fmt::format("no {} usable nodes side by side in the node table", spec.nodes)};
      return;
    }
    place_in(spec, traffic, pool, out);
    if (!out.nodes || holds(*out.nodes)) return;
    // Too small together: nodes that can each bear their part.
    out.nodes.reset();
    const Pool able = able_alone(ask_, pool, spec.nodes);
    if (able.size() >= spec.nodes) place_in(spec, traffic, able, out);
    if (out.nodes && holds(*out.nodes)) return;
    out.nodes.reset();
    if (!out.late)
      out.refusal = {WEFT_CAUSE_CAPACITY,
                     fmt::format("no {} near nodes hold the CPUs and GPUs that the job asks for", spec.nodes)};
  }

  // --switches caps the leaves where that is possible at all.
  void place_in(const config::JobSpec& spec, const Known& traffic, const Pool& pool, Attempt& out) {
    place_once(spec, traffic, pool, out);
    if (!out.nodes || ask_.max_switches == 0) return;
    if (count_domains(fabric_, topology::kLeafLevel, *out.nodes) <= ask_.max_switches) return;
    if (fewest_domains(fabric_, topology::kLeafLevel, ask_, pool, spec.nodes) > ask_.max_switches) return;
    config::JobSpec capped = spec;
    capped.constraints.max_leaves = ask_.max_switches;
    Attempt again = out;
    place_once(capped, traffic, pool, again);
    if (again.nodes) take(again, out);
  }

  void place_once(const config::JobSpec& spec, const Known& traffic, const Pool& pool, Attempt& out) {
    if (options_.overran()) {
      out.late = true;
      return;
    }
    placement::Request request;
    request.job = &spec;
    request.layout = out.seen.layout;
    request.ranks_per_node = out.seen.ranks_per_node;
    request.traffic = traffic.traffic.get();
    request.digest = traffic.digest.get();
    request.whole_nodes = !out.sized.laid_out && !out.with_gpus;
    request.free.assign(fabric_.node_count(), false);
    for (const std::uint32_t i : pool) request.free[index(ask_.usable[i])] = true;
    if (out.with_gpus) request.free_gpus = free_gpus(fabric_, ask_, request.ranks_per_node);
    placement::PlaceOptions how;
    how.objective = job_.objective(settings_);
    how.budget_steps = options_.budget_steps != 0 ? options_.budget_steps : settings_.budget_steps;
    how.node_weight = placement::NodeWeight::ignore;  // seen to in draw()
    how.stop = options_.overran;
    auto placed = options_.place(fabric_, request, how);
    out.nodes.reset();
    if (placed) {
      check(*placed, request);
      if (out.with_gpus) out.gpus = gpus_of(*placed, request.free_gpus, request.ranks_per_node);
      out.nodes = std::move(placed->nodes);
      out.pool = pool;
      return;
    }
    out.hopeless = placed.error().code != ErrorCode::infeasible;
    out.refusal = {out.hopeless ? WEFT_CAUSE_SPEC : WEFT_CAUSE_CONSTRAINT, placed.error().message};
  }

  static void take(Attempt& from, Attempt& to) {
    to.nodes = std::move(from.nodes);
    to.gpus = std::move(from.gpus);
  }

  // The engine's word is not taken for it: a wrong set would cost a job.
  void check(const Placement& placed, const placement::Request& request) const {
    std::vector<bool> left = request.free;
    bool sound = placed.nodes.size() == request.job->nodes;
    for (const NodeId n : placed.nodes) {
      sound = sound && index(n) < left.size() && left[index(n)];
      if (sound) left[index(n)] = false;
    }
    for (const NodeId n : ask_.required) sound = sound && !left[index(n)];
    if (!sound) throw std::logic_error("the engine chose nodes that it may not choose");
  }

  [[nodiscard]] bool holds(const std::vector<NodeId>& nodes) const {
    if (ask_.cpus.empty() && ask_.gpus.empty()) return true;
    std::vector<bool> chosen(fabric_.node_count(), false);
    for (const NodeId n : nodes) chosen[index(n)] = true;
    std::uint64_t cpus = 0, gpus = 0;
    for (std::size_t i = 0; i < ask_.usable.size(); ++i) {
      if (!chosen[index(ask_.usable[i])]) continue;
      if (!ask_.cpus.empty()) cpus += ask_.cpus[i];
      if (!ask_.gpus.empty()) gpus += ask_.gpus[i];
    }
    return (ask_.cpus.empty() || cpus >= ask_.need_cpus) && (ask_.gpus.empty() || gpus >= ask_.need_gpus);
  }

  // Node weights as a tie-break: the lightest nodes that do just as well.
  void prefer_lighter(const config::JobSpec& spec, const Known& traffic, const Pool& pool, Attempt& out) {
    const auto best = cost(traffic, out);
    if (!best) return;
    std::vector<Pool> pools = by_weight(ask_, pool, spec.nodes);
    if (pools.size() > kMaxTieWeights) pools.resize(kMaxTieWeights);
    for (const Pool& lighter : pools) {
      if (lighter.size() == pool.size()) return;
      Attempt again;
      again.sized = out.sized;
      again.seen = out.seen;
      again.with_gpus = out.with_gpus;
      draw_from(spec, traffic, lighter, again);
      if (again.late) return;  // what is there is good
      if (!again.nodes || cost(traffic, again) != best) continue;
      take(again, out);
      out.pool = std::move(again.pool);
      return;
    }
  }

  // What the objective ranks before fragmentation.
  std::optional<std::vector<double>> cost(const Known& traffic, const Attempt& attempt) const {
    auto placed = placement::ranks_in_order(fabric_, *attempt.nodes, attempt.seen.ranks_per_node);
    if (!placed) return std::nullopt;
    placement::ScoreOptions options;
    options.locality = false;
    options.digest = traffic.digest.get();
    const auto score = placement::score(fabric_, *placed, *traffic.traffic, options);
    if (!score) return std::nullopt;
    std::vector<double> out = score->tier_bytes;
    out.push_back(score->hop_bytes);
    return out;
  }

  const Fabric& fabric_;
  const Settings& settings_;
  const Ask& ask_;
  const DecideOptions& options_;
  const Job& job_;
  std::optional<std::uint32_t> most_leaves_;
};

Decision say(weft_verdict verdict, weft_cause cause, std::string reason) {
  Decision out;
  out.verdict = verdict;
  out.cause = cause;
  out.reason = std::move(reason);
  return out;
}

// The same question with all of those nodes free.
Ask on_all(const Ask& ask, std::vector<NodeId> nodes) {
  Ask out = ask;
  out.usable = std::move(nodes);
  out.cpus.clear();
  out.gpus.clear();
  out.weights.clear();
  out.free_gpus.clear();
  out.table.clear();
  out.flags &= ~WEFT_REQ_CONTIGUOUS;  // the table's order of nodes that are not usable now is not known
  return out;
}

// Whether the job could run if every possible node were free and sound.
bool ever(const Fabric& sound, const Settings& settings, const Ask& ask, const DecideOptions& options, const Job& job) {
  std::vector<NodeId> nodes = ask.possible.value_or(std::vector<NodeId>());
  for (std::uint32_t n = 0; !ask.possible && n < sound.node_count(); ++n) nodes.push_back(NodeId{n});
  const Ask all = on_all(ask, std::move(nodes));
  const auto counts = node_counts(all, job.spec().segment);
  if (!counts) return counts.error().cause == WEFT_CAUSE_CAPACITY;  // Slurm knows better
  Attempt attempt = Chooser(sound, settings, all, options, job).run(*counts);
  return attempt.nodes.has_value() || attempt.late;
}

Decision refuse(const Fabric& sound, const Settings& settings, const Ask& ask, const DecideOptions& options,
                const Job& job, const Attempt& attempt) {
  const Refusal& why = attempt.refusal;
  const bool never_sized = attempt.sized.nodes == 0 && why.cause != WEFT_CAUSE_CAPACITY &&
                           !(why.cause == WEFT_CAUSE_CONSTRAINT && job.spec().exclusive != WEFT_LEVEL_NONE);
  if (never_sized || attempt.hopeless) {
    if (job.has_spec() || why.cause == WEFT_CAUSE_CONSTRAINT) return say(WEFT_NEVER, why.cause, why.reason);
    return engine_failed(settings, WEFT_CAUSE_INTERNAL, why.reason);
  }
  if (!job.has_spec() && !job.constrained()) return say(WEFT_DELEGATE, WEFT_CAUSE_CAPACITY, why.reason);
  if (why.cause == WEFT_CAUSE_CAPACITY) return say(WEFT_NOT_NOW, why.cause, why.reason);
  if (ever(sound, settings, ask, options, job)) return say(WEFT_NOT_NOW, why.cause, why.reason);
  return say(WEFT_NEVER, why.cause, why.reason);
}

// What needs no choice at all.
std::optional<Decision> early(const Ask& ask) {
  const auto are = [](std::size_t n) { return n == 1 ? "is" : "are"; };
  if ((ask.flags & WEFT_REQ_SPREAD) != 0)
    return say(WEFT_DELEGATE, WEFT_CAUSE_SPREAD, "--spread-job asks for the opposite of near nodes");
  if (ask.foreign_required > 0)
    return say(WEFT_DELEGATE, WEFT_CAUSE_FOREIGN,
               fmt::format("{} required node{} not in the fabric", ask.foreign_required,
                           ask.foreign_required == 1 ? " is" : "s are"));
  const bool asks_gpus = ask.total_gpus > 0 || ask.gpus_per_node > 0 || ask.gpus_per_task > 0;
  // Else a job for CPU nodes would be drawn to the fabric's.
  if (ask.foreign_usable > 0 && !ask.spec && !asks_gpus)
    return say(WEFT_DELEGATE, WEFT_CAUSE_MIXED,
               fmt::format("no SPEC, no GPUs asked for, and {} of {} usable nodes {} not in the fabric",
                           ask.foreign_usable, ask.usable.size() + ask.foreign_usable, are(ask.foreign_usable)));
  if (ask.usable.size() >= std::max(ask.min_nodes, 1U)) return std::nullopt;
  if (ask.foreign_usable > 0)
    return say(WEFT_DELEGATE, WEFT_CAUSE_FOREIGN,
               fmt::format("{} usable node{} in the fabric, {} {} not; the job needs {}", ask.usable.size(),
                           ask.usable.size() == 1 ? " is" : "s are", ask.foreign_usable, are(ask.foreign_usable),
                           ask.min_nodes));
  return say(WEFT_DELEGATE, WEFT_CAUSE_CAPACITY,
             fmt::format("{} usable node{}; the job needs {}", ask.usable.size(), ask.usable.size() == 1 ? "" : "s",
                         ask.min_nodes));
}

Decision found(const Fabric& fabric, const Ask& ask, const DecideOptions& options, const Job& job, Attempt& attempt) {
  Decision out;
  out.verdict = WEFT_PLACED;
  out.nodes = std::move(*attempt.nodes);
  out.gpus = std::move(attempt.gpus);
  out.ranks_per_node = attempt.sized.ranks_per_node;
  summarise(fabric, ask, job, attempt.sized, attempt.pool, options.traffic, out);
  return out;
}

bool may_wait(const Settings& settings, const Ask& ask, std::uint32_t nodes) {
  const bool weighed = settings.node_weight == config::NodeWeight::strict && !ask.weights.empty();
  return ask.reach && std::uint64_t{nodes} * kWaitsAtMost <= ask.reach->size() &&
         (ask.flags & WEFT_REQ_CONTIGUOUS) == 0 && !weighed;
}

// Without a look at the clock: whether the answer is known already must not change what comes after.
std::optional<Least> least_of(const Fabric& fabric, const Settings& settings, const Ask& ask,
                              const DecideOptions& options, const Job& job, std::uint32_t nodes) {
  Ask alone = on_all(ask, *ask.reach);
  alone.by = {};
  alone.possible.reset();
  alone.reach.reset();
  alone.min_nodes = alone.req_nodes = alone.max_nodes = nodes;
  if (options.least != nullptr)
    if (auto known = options.least->find(alone)) return known;
  DecideOptions calm = options;
  calm.overran = [] { return false; };
  Attempt attempt = Chooser(fabric, settings, alone, calm, job).run({nodes});
  if (!attempt.nodes) return std::nullopt;
  const std::uint32_t leaves = fewest_domains(fabric, topology::kLeafLevel, alone, attempt.pool, nodes);
  const Decision best = found(fabric, alone, calm, job, attempt);
  if (!best.cross_spine_bytes) return std::nullopt;
  const Least out{*best.cross_spine_bytes, leaves};
  if (options.least != nullptr) options.least->keep(std::move(alone), out);
  return out;
}

}  // namespace

Decision engine_failed(const Settings& settings, weft_cause cause, std::string reason) {
  const bool wait = settings.on_error == config::OnError::refuse;
  return say(wait ? WEFT_NOT_NOW : WEFT_DELEGATE, cause, std::move(reason));
}

Decision decide(const Fabric& fabric, const Fabric& sound, const Settings& settings, const Ask& ask,
                const DecideOptions& options) {
  const auto job = Job::read(settings, ask);
  if (!job) return say(WEFT_NEVER, job.error().cause, job.error().reason);
  if (auto decision = early(ask)) return *decision;
  const auto counts = node_counts(ask, job->spec().segment);
  if (!counts) {
    const bool never = counts.error().cause == WEFT_CAUSE_CONSTRAINT;
    return say(never ? WEFT_NEVER : WEFT_DELEGATE, counts.error().cause, counts.error().reason);
  }
  Chooser chooser(fabric, settings, ask, options, *job);
  Attempt attempt = chooser.run(*counts);
  if (attempt.late) return engine_failed(settings, WEFT_CAUSE_DEADLINE, "the deadline passed before a choice was made");
  if (!attempt.nodes) return refuse(sound, settings, ask, options, *job, attempt);
  Decision out = found(fabric, ask, options, *job, attempt);
  const double patience = job->patience(settings);
  if (patience == 0 || !may_wait(settings, ask, attempt.sized.nodes) || out.cross_spine_bytes.value_or(0) == 0)
    return out;
  const auto least = least_of(fabric, settings, ask, options, *job, attempt.sized.nodes);
  if (!least || out.leaves <= least->leaves || *out.cross_spine_bytes <= patience * least->cross_spine_bytes)
    return out;
  Attempt packed = chooser.packed(attempt.sized.nodes, least->leaves);
  if (packed.nodes) {
    Decision near = found(fabric, ask, options, *job, packed);
    return near.cross_spine_bytes <= kPackedExcess * *out.cross_spine_bytes ? near : out;
  }
  if (packed.late) return out;
  out.worth_waiting = true;
  out.reason = fmt::format("waits for nearer nodes: {} a step over spines now, {} when alone; {} leaves, {} would do",
                           short_bytes(*out.cross_spine_bytes), short_bytes(least->cross_spine_bytes), out.leaves,
                           least->leaves);
  return out;
}

bool may_be_patient(const Settings& settings, std::string_view spec) {
  return settings.patience > 0 || spec.find("patience=") != std::string_view::npos;
}

}  // namespace weft::bridge
