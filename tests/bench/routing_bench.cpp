// SPDX-License-Identifier: BSD-3-Clause
//
// A whole score of a 512-node job (4,096 ranks: TP 8, PP 8, EP 8, DP 64) under each routing, beside one without link
// loads; `times_spray` is the time over that of spray. ecmp makes its 8 draws of the whole step and one of each term.
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <stdexcept>

#include "take.hpp"
#include "weft/placement.hpp"
#include "weft/topology/generate.hpp"

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::index;
using topology::LinkId;
using topology::NodeId;
using topology::SwitchId;

// Ports and shortest-path tables such as a subnet manager's: at each switch the LID picks one of the cables that lead
// nearer, in turn (d-mod-k on a fat tree).
class Tables {
 public:
  explicit Tables(const Fabric& fabric) : fabric_(fabric), next_port_(fabric.switch_count(), 1) {
    for (std::uint32_t l = 0; l < fabric.link_count(); ++l)
      for (std::uint32_t c = 0; c < fabric.link(LinkId{l}).cables; ++c) add_cable(LinkId{l});
    ForwardingTables subnet;
    for (std::uint32_t s = 0; s < fabric.switch_count(); ++s)
      subnet.switches.push_back({s + 1, std::vector<std::uint8_t>(lids_.size() + 1, ForwardingTables::kNoPort), {}});
    for (std::uint32_t lid = 1; lid <= lids_.size(); ++lid) {
      subnet.lid_of_port_guid[kNicGuids + lid] = lid;
      route(lid, subnet);
    }
    out_.subnets.push_back(std::move(subnet));
  }
  [[nodiscard]] StaticTables get() { return std::move(out_); }

 private:
  static constexpr std::uint64_t kNicGuids = 1U << 20U;
  struct Nic {
    SwitchId leaf{};
    std::uint32_t port = 0;
  };

  void add_cable(LinkId id) {
    const topology::Link& link = fabric_.link(id);
    const std::uint32_t b = link.b.id;
    const std::uint32_t b_port = next_port_[b]++;
    if (!link.a.is_switch) {
      lids_.push_back({SwitchId{b}, b_port});
      out_.ports.push_back({b + 1, fabric_.switch_name(SwitchId{b}), b_port, false,
                            fabric_.node_name(NodeId{link.a.id}), kNicGuids + lids_.size(), 1, link.a.nic,
                            link.bandwidth});
      return;
    }
    const std::uint32_t a = link.a.id;
    const std::uint32_t a_port = next_port_[a]++;
    join(a, a_port, b, b_port, link.bandwidth);
    join(b, b_port, a, a_port, link.bandwidth);
  }

  void join(std::uint32_t from, std::uint32_t port, std::uint32_t to, std::uint32_t to_port, Bandwidth bandwidth) {
    out_.ports.push_back({from + 1, fabric_.switch_name(SwitchId{from}), port, true, fabric_.switch_name(SwitchId{to}),
                          to + 1, to_port, 0, bandwidth});
    cables_[from].push_back({to, port});
  }

  const std::vector<std::uint32_t>& distances(SwitchId to) {
    std::vector<std::uint32_t>& out = distance_[index(to)];
    if (!out.empty()) return out;
    out.assign(fabric_.switch_count(), ~0U);
    out[index(to)] = 0;
    std::vector<SwitchId> queue{to};
    for (std::size_t head = 0; head < queue.size(); ++head)
      for (const Fabric::Neighbour& n : fabric_.neighbours(queue[head])) {
        if (out[index(n.sw)] != ~0U) continue;
        out[index(n.sw)] = out[index(queue[head])] + 1;
        queue.push_back(n.sw);
      }
    return out;
  }

  void route(std::uint32_t lid, ForwardingTables& subnet) {
    const Nic nic = lids_[lid - 1];
    const std::vector<std::uint32_t>& distance = distances(nic.leaf);
    for (std::uint32_t s = 0; s < fabric_.switch_count(); ++s) {
      std::uint8_t& entry = subnet.switches[s].ports[lid];
      if (SwitchId{s} == nic.leaf) {
        entry = static_cast<std::uint8_t>(nic.port);
        continue;
      }
      std::vector<std::uint32_t> nearer;
      for (const auto& [to, port] : cables_[s])
        if (distance[to] + 1 == distance[s]) nearer.push_back(port);
      if (!nearer.empty()) entry = static_cast<std::uint8_t>(nearer[lid % nearer.size()]);
    }
  }

  const Fabric& fabric_;
  StaticTables out_;
  std::vector<std::uint32_t> next_port_;
  std::vector<Nic> lids_;
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>> cables_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> distance_;
};

struct Setup {
  Fabric fabric;
  Placement placement;
  Traffic traffic;
  StaticTables tables;
};

const Setup& setup() {
  static const Setup out = [] {
    topology::RailOptions options;
    options.nodes = 512;
    options.nodes_per_unit = 32;
    Fabric fabric = take(Fabric::build(take(topology::generate_rail(options))));
    config::JobSpec job;
    job.name = "bench";
    job.nodes = 512;
    job.ranks_per_node = 8;
    config::Layout layout;
    layout[Dim::tp] = 8;
    layout[Dim::pp] = 8;
    layout[Dim::ep] = 8;
    layout[Dim::dp] = 64;
    job.traffic = {{Dim::tp, Collective::allreduce, Bytes{1ULL << 33U}},
                   {Dim::ep, Collective::alltoall, Bytes{1ULL << 32U}},
                   {Dim::pp, Collective::neighbour, Bytes{1ULL << 29U}},
                   {Dim::dp, Collective::allreduce, Bytes{1ULL << 32U}}};
    const auto order = fabric.fabric_order();
    Placement placement = take(ranks_in_order(fabric, {order.begin(), order.end()}, 8));
    StaticTables tables = Tables(fabric).get();
    return Setup{std::move(fabric), std::move(placement), take(build_traffic(job, layout)), std::move(tables)};
  }();
  return out;
}

double once(std::optional<Routing> routing) {
  const Setup& s = setup();
  ScoreOptions options;
  options.links.routing = routing;
  options.links.tables = &s.tables;
  const auto start = std::chrono::steady_clock::now();
  benchmark::DoNotOptimize(take(score(s.fabric, s.placement, s.traffic, options)));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void score_of_512_nodes(benchmark::State& state, std::optional<Routing> routing) {
  once(Routing::spray);
  double own = 0;
  double spray = 0;
  for (auto _ : state) {
    const double seconds = once(routing);
    state.SetIterationTime(seconds);
    own += seconds;
    // In turn, so that whatever else the machine does weighs on both.
    state.PauseTiming();
    spray += once(Routing::spray);
    state.ResumeTiming();
  }
  state.counters["times_spray"] = own / spray;
}

BENCHMARK_CAPTURE(score_of_512_nodes, no_links, std::nullopt)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(score_of_512_nodes, spray, Routing::spray)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(score_of_512_nodes, ecmp, Routing::ecmp)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(score_of_512_nodes, along_tables, Routing::forwarding_tables)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::placement
