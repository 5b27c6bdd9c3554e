// SPDX-License-Identifier: BSD-3-Clause
#include "link_tally.hpp"

#include <algorithm>

namespace weft::placement {
namespace {

using topology::Fabric;

// The slowest of the links or cables that `user` loads, under `loads`.
std::optional<LinkUse> slowest_of(const Fabric& fabric, const StaticPaths* paths, const SparseLoads& user,
                                  const std::vector<double>& loads) {
  std::optional<LinkUse> worst;
  for (const std::uint32_t n : user.touched)
    keep_slower(worst, paths != nullptr ? paths->use_of(n, loads[n]) : use_of(fabric, n, loads[n]));
  return worst;
}

void add_to(std::vector<double>& sum, const SparseLoads& loads) {
  for (const std::uint32_t link : loads.touched) sum[link] += loads.bytes[link];
}

}  // namespace

LinkTally::LinkTally(const Fabric& fabric, const Placement& placement, const LinkOptions& options,
                     const StaticPaths* paths)
    : fabric_(fabric),
      placement_(placement),
      options_(options),
      paths_(paths),
      spray_(fabric),
      nvlink_out_(placement.ranks.size(), 0),
      nvlink_in_(placement.ranks.size(), 0),
      dims_(config::kDims),
      slowest_term_(config::kDims, -1) {
  if (paths != nullptr) static_.emplace(*paths);
  total_.bytes.assign(std::size_t{2} * (paths != nullptr ? paths->cable_count() : fabric.link_count()), 0);
  if (options.routing != Routing::ecmp) return;
  term_ecmp_.emplace(fabric);
  all_ecmp_.emplace(fabric);
}

void LinkTally::add(std::uint32_t from, std::uint32_t to, const Route& route, double bytes) {
  const Slot& a = placement_.ranks[from];
  const Slot& b = placement_.ranks[to];
  if (route.path.hops == 0) {
    nvlink_out_[from] += bytes;
    nvlink_in_[to] += bytes;
    return;
  }
  // To and from a NIC that is another GPU's, the bytes go over NVLink first.
  if (route.from_nic != a.nic) nvlink_out_[from] += bytes;
  if (route.to_nic != b.nic) nvlink_in_[to] += bytes;
  const NicFlow flow{a.node, route.from_nic, b.node, route.to_nic, bytes};
  if (static_) {
    const auto hops = static_->add(flow);
    if (hops) hops_ = std::max(hops_, *hops);
    return;
  }
  hops_ = std::max<std::uint32_t>(hops_, route.path.hops);
  // The path table has found a path between these very NICs.
  (void)spray_.add(flow);
  if (!term_ecmp_) return;
  (void)term_ecmp_->add(flow);
  (void)all_ecmp_->add(flow);
}

double LinkTally::nvlink_seconds() const {
  double longest = 0;
  for (std::size_t r = 0; r < nvlink_out_.size(); ++r) {
    const double bytes = std::max(nvlink_out_[r], nvlink_in_[r]);
    if (bytes == 0) continue;
    const topology::NodeType& type = fabric_.type_of(placement_.ranks[r].node);
    const Bandwidth each_way = type.nvlink ? type.nvlink_bandwidth.value_or(options_.time_model.nvlink_bandwidth)
                                           : options_.time_model.pcie_bandwidth;
    longest = std::max(longest, bytes / each_way.bytes_per_second());
  }
  return longest;
}

std::optional<LinkUse> LinkTally::slowest(const SparseLoads& loads) const {
  return slowest_of(fabric_, paths_, loads, loads.bytes);
}

LinkTally::Load LinkTally::take_load() {
  spray_.route();
  const SparseLoads& loads = static_ ? static_->loads() : spray_.loads();
  Load out{slowest(loads), nvlink_seconds(), hops_};
  if (term_ecmp_) out.worst = term_ecmp_->draw(options_.ecmp_seed).worst;
  for (const std::uint32_t n : loads.touched) total_.add(n, loads.bytes[n]);
  if (static_ && !fault_) fault_ = static_->fault();
  if (static_) static_->clear();
  spray_.clear();
  if (term_ecmp_) term_ecmp_->clear();
  std::fill(nvlink_out_.begin(), nvlink_out_.end(), 0.0);
  std::fill(nvlink_in_.begin(), nvlink_in_.end(), 0.0);
  hops_ = 0;
  return out;
}

void LinkTally::end_term(const TrafficTermFlows& term, std::uint32_t ranks, std::uint32_t domains) {
  const Load load = take_load();
  if (!load.any()) return;
  const config::TrafficTerm& t = term.term;
  const double network = load.network_seconds();
  const double nvlink = load.nvlink_seconds;
  const double transfer =
      term.algorithm == config::Algorithm::hierarchical ? network + nvlink : std::max(network, nvlink);
  const TimeModel& model = options_.time_model;
  const double latency = latency_seconds(model, t.collective, term.algorithm, {ranks, domains, load.hops});
  const double seconds = latency + transfer / efficiency_of(model, t.collective, term.algorithm);
  const auto d = static_cast<std::size_t>(t.dim);
  if (!dims_[d]) dims_[d] = DimTime{{}, t.dim};
  dims_[d]->seconds += seconds;
  dims_[d]->latency_seconds += latency;
  if (seconds > slowest_term_[d]) {
    slowest_term_[d] = seconds;
    dims_[d]->slowest = load.worst;
    dims_[d]->nvlink_bound = nvlink > network;
  }
}

void LinkTally::end_direct() {
  const Load load = take_load();
  if (!load.any()) return;
  const TimeModel& model = options_.time_model;
  CommTime out;
  out.latency_seconds = direct_latency_seconds(model, load.hops);
  out.seconds =
      out.latency_seconds + std::max(load.network_seconds(), load.nvlink_seconds) / model.efficiency.neighbour;
  out.exposed_seconds = out.seconds;
  out.slowest = load.worst;
  out.nvlink_bound = load.nvlink_seconds > load.network_seconds();
  direct_ = out;
}

void LinkTally::finish_ecmp(LinkScore& out) {
  LinkScore::Ecmp ecmp;
  ecmp.seed = options_.ecmp_seed;
  ecmp.draws = std::max(options_.ecmp_draws, 1U);
  if (out.bottleneck) ecmp.even_seconds = out.bottleneck->seconds;
  for (std::uint32_t i = 0; i < ecmp.draws; ++i) {
    const auto worst = all_ecmp_->draw(options_.ecmp_seed + i).worst;
    if (i == 0) out.bottleneck = worst;
    if (worst) ecmp.mean_worst_seconds += worst->seconds / ecmp.draws;
  }
  out.ecmp = ecmp;
}

LinkScore LinkTally::finish() {
  LinkScore out;
  out.routing = *options_.routing;
  out.bottleneck = slowest(total_);
  if (all_ecmp_) finish_ecmp(out);
  double busy = 0;
  for (std::optional<DimTime>& d : dims_) {
    if (!d) continue;
    d->exposed_seconds = d->seconds * (1 - options_.time_model.overlap[static_cast<std::size_t>(d->dim)]);
    busy += d->seconds;
    out.step_comm_seconds += d->exposed_seconds;
    out.dimensions.push_back(*d);
  }
  out.direct = direct_;
  if (direct_) {
    busy += direct_->seconds;
    out.step_comm_seconds += direct_->seconds;
  }
  if (out.bottleneck) out.max_utilisation = out.bottleneck->seconds / busy;
  return out;
}

void score_sharing(const Fabric& fabric, const StaticPaths* paths, const SparseLoads& own,
                   const std::vector<SparseLoads>& others, const LinkOptions& options, LinkScore& out) {
  if (others.empty()) return;
  std::vector<double> before(own.bytes.size(), 0);
  for (const SparseLoads& o : others) add_to(before, o);
  std::vector<double> after = before;
  add_to(after, own);
  out.shared = slowest_of(fabric, paths, own, after);
  for (std::size_t i = 0; i < others.size(); ++i)
    out.running.push_back({options.running[i].name, slowest_of(fabric, paths, others[i], before),
                           slowest_of(fabric, paths, others[i], after)});
}

}  // namespace weft::placement
