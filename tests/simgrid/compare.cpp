// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <cmath>
#include <cstdio>

namespace weft::simgrid_test {
namespace {

using ByName = std::map<std::string, double>;  // "from>to"; parallel cables together

ByName weft_loads(const Fabric& fabric, const std::vector<double>& loads) {
  const auto name = [&](const topology::LinkEnd& end) {
    return end.is_switch ? fabric.switch_name(topology::SwitchId{end.id})
                         : fmt::format("{}:{}", fabric.node_name(NodeId{end.id}), end.nic);
  };
  ByName out;
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    const topology::Link& link = fabric.link(topology::LinkId{i / 2});
    if (loads[i] == 0) continue;
    out[i % 2 == 0 ? name(link.a) + ">" + name(link.b) : name(link.b) + ">" + name(link.a)] += loads[i];
  }
  return out;
}

double largest_difference(const ByName& a, const ByName& b) {
  double out = 0;
  for (const auto& [name, bytes] : a) out = std::max(out, difference(bytes, b.contains(name) ? b.at(name) : 0));
  for (const auto& [name, bytes] : b)
    if (!a.contains(name)) out = 1;
  return out;
}

double last(const std::vector<double>& finish) {
  return finish.empty() ? 0 : *std::max_element(finish.begin(), finish.end());
}

// A phase that Weft gives a time for.
struct Timed {
  std::vector<NicFlow> flows;
  double seconds = 0;
};

ScoreOptions score_options(const Site& site) {
  ScoreOptions out;
  out.links.routing = Routing::forwarding_tables;
  out.links.tables = &site.tables;
  TimeModel& model = out.links.time_model;
  model.launch = model.nvlink_step = model.network_step = model.hop = {};
  model.efficiency.tree = 1;
  model.nvlink_bandwidth = model.pcie_bandwidth = Bandwidth{1'000'000'000'000'000'000};
  return out;
}

// Each term of the first job, alone in the fabric.
std::vector<Timed> terms_of(const Site& site) {
  const Site::Placed& job = site.jobs.front();
  std::vector<Timed> out;
  const auto add = [&](Traffic alone, std::vector<NicFlow> flows) {
    if (flows.empty()) return;
    const auto s = must(score(site.fabric, job.placement, alone, score_options(site)));
    out.push_back({std::move(flows), s.links->step_comm_seconds});
  };
  for (const TrafficTermFlows& term : job.traffic.terms) {
    Traffic alone = job.traffic;
    alone.terms = {term};
    alone.direct.clear();
    add(std::move(alone), nic_flows(site.fabric, job, by_channel(job.traffic.flows(term))));
  }
  Traffic alone = job.traffic;
  alone.terms.clear();
  add(std::move(alone), direct_flows(site.fabric, job));
  return out;
}

std::vector<NicFlow> all_flows(const Site& site, const Site::Placed& job) {
  std::vector<NicFlow> out = direct_flows(site.fabric, job);
  for (const TrafficTermFlows& term : job.traffic.terms) {
    const auto more = nic_flows(site.fabric, job, by_channel(job.traffic.flows(term)));
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

// Links of one phase: bytes and shares of capacity.
void compare_links(const FatTree& tree, const Site& site, const Timed& timed, const PhaseResult& result,
                   Comparison& out) {
  const ByName weft = weft_loads(site.fabric, must(static_loads(site.fabric, timed.flows, site.tables)));
  ByName simgrid, capacity;
  for (std::uint32_t d = 0; d < result.bytes.size(); ++d) {
    capacity[tree.direction_name(d)] += tree.bytes_per_second(d / 2);
    // Less than a byte is rounding.
    if (result.bytes[d] >= 1) simgrid[tree.direction_name(d)] += result.bytes[d];
  }
  out.bytes = std::max(out.bytes, largest_difference(weft, simgrid));
  out.links = std::max(out.links, weft.size());
  const double seconds = last(result.finish);
  for (const auto& [name, bytes] : weft) {
    if (!simgrid.contains(name)) continue;
    const double of_link = capacity.at(name);
    out.share = std::max(out.share, std::abs(bytes / of_link / timed.seconds - simgrid.at(name) / of_link / seconds));
  }
}

// Flows of one phase against the links they cross: bottlenecks are shared as Weft says, nothing is done early.
void compare_flows(const FatTree& tree, const Phase& phase, double weft_seconds, const PhaseResult& result,
                   Comparison& out) {
  std::vector<double> bytes(result.bytes.size(), 0);
  const auto drain = [&](std::uint32_t d) { return bytes[d] / tree.bytes_per_second(d / 2); };
  for (const Transfer& t : phase)
    for (const std::uint32_t d : tree.route(t.from, t.to)) bytes[d] += t.bytes;
  std::vector<double> done(bytes.size(), 0);
  const bool equal = std::all_of(phase.begin(), phase.end(),
                                 [&](const Transfer& t) { return difference(t.bytes, phase.front().bytes) < 1e-9; });
  for (std::size_t i = 0; i < phase.size(); ++i)
    for (const std::uint32_t d : tree.route(phase[i].from, phase[i].to)) {
      done[d] = std::max(done[d], result.finish[i]);
      if (!equal || drain(d) < 0.9999 * weft_seconds) continue;
      out.fair = std::max(out.fair, difference(phase[i].bytes / weft_seconds, phase[i].bytes / result.finish[i]));
    }
  for (std::uint32_t d = 0; d < done.size(); ++d)
    if (done[d] > 0) out.early = std::max(out.early, 1 - done[d] / drain(d));
}

}  // namespace

double difference(double a, double b) { return a == b ? 0 : std::abs(a - b) / std::max(std::abs(a), std::abs(b)); }

Comparison compare(const Case& c, const std::string& tables) {
  const Site site = make_site(c, tables);
  const FatTree physical = c.physical();
  const std::vector<Timed> terms = terms_of(site);
  ScoreOptions options = score_options(site);
  std::vector<NicFlow> everybody = all_flows(site, site.jobs.front());
  for (std::size_t j = 1; j < site.jobs.size(); ++j) {
    options.links.running.push_back({"running", &site.jobs[j].placement, &site.jobs[j].traffic});
    const auto more = all_flows(site, site.jobs[j]);
    everybody.insert(everybody.end(), more.begin(), more.end());
  }
  const Score s = must(score(site.fabric, site.jobs.front().placement, site.jobs.front().traffic, options));

  std::vector<Phase> phases;
  for (const Timed& t : terms) phases.push_back(phase_of(c.tree, site.fabric, t.flows));
  phases.push_back(phase_of(c.tree, site.fabric, all_flows(site, site.jobs.front())));
  phases.push_back(phase_of(c.tree, site.fabric, everybody));
  const FluidResult fluid = run_fluid(physical, phases);
  if (!fluid.fault.empty()) throw std::runtime_error(fluid.fault);

  Comparison out;
  out.nodes = site.jobs.front().placement.nodes.size();
  out.phases = phases.size();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    compare_links(physical, site, terms[i], fluid.phases[i], out);
    compare_flows(physical, phases[i], terms[i].seconds, fluid.phases[i], out);
    const double seconds = last(fluid.phases[i].finish);
    out.terms = std::max(out.terms, difference(terms[i].seconds, seconds));
    out.step.simgrid += seconds;
    out.flows += phases[i].size();
  }
  out.step.weft = s.links->step_comm_seconds;
  out.at_once = {s.links->bottleneck->seconds, last(fluid.phases[terms.size()].finish)};
  out.shared = {s.links->shared ? s.links->shared->seconds : out.at_once.weft,
                last(fluid.phases[terms.size() + 1].finish)};
  for (const RunningEffect& e : s.links->running) out.shared.weft = std::max(out.shared.weft, e.after->seconds);
  return out;
}

void print(const std::string& name, const Comparison& r) {
  std::printf("%-20s %3zu nodes %4zu flows %3zu links: bytes %.2f %%, share %.2f %%, fair %.2f %%, terms %.2f %%; ",
              name.c_str(), r.nodes, r.flows, r.links, 100 * r.bytes, 100 * r.share, 100 * r.fair, 100 * r.terms);
  const auto pair = [](const char* what, const Pair& p) {
    std::printf("%s %.1f and %.1f ms, %.2f %%", what, 1e3 * p.weft, 1e3 * p.simgrid, 100 * p.off());
  };
  pair("step", r.step);
  pair("; at once", r.at_once);
  pair("; shared", r.shared);
  std::printf("\n");
}

}  // namespace weft::simgrid_test
