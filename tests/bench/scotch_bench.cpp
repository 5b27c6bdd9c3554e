// SPDX-License-Identifier: BSD-3-Clause
//
// Weft's rank map against Scotch's static mapping: the same communication graph, the same places, one core each.
//
// Places are all nodes of a three-tier fat tree (full), or just as many free ones of a tree twice as large (scattered).
// Scotch maps the folded graph of the job's nodes (NodeGraph) onto a tleaf architecture whose distances are the hops,
// or onto its restriction to the free nodes (archSub). Where it puts two vertices on one place, the spare ones go to
// the nearest free places. Both results are scored by score(). Counters, Weft's part of Scotch's: top = bytes over the
// highest tier, hop = hop-bytes, time. all_cases prints the means and the worst over all of these; seeds does so for
// twenty other choices of scattered places, for each size and kind of job.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "node_graph.hpp"
#include "placement_fixtures.hpp"
#include "take.hpp"
#include "weft/placement.hpp"

// scotch.h needs <cstdio> before it.
#include <scotch.h>

namespace weft::placement {
namespace {

using config::Collective;
using config::Dim;
using topology::Fabric;
using topology::NodeId;

struct Shape3 {
  std::uint32_t pods, leaves, nodes;
  [[nodiscard]] std::uint32_t all() const { return pods * leaves * nodes; }
};

Fabric tree(const Shape3& s) { return fixtures::fat_tree(s.all(), s.nodes, s.leaves); }

config::JobSpec job(std::uint32_t nodes, std::int64_t kind) {
  config::JobSpec out = fixtures::laid_out(nodes, nodes >= 512 ? 8 : 4, kind == 1 ? 4 : 1, kind == 2 ? 8 : 1);
  out.traffic = {{Dim::dp, Collective::reduce_scatter, {4ULL << 30}}, {Dim::pp, Collective::neighbour, {512ULL << 20}}};
  if (kind == 1) out.traffic.push_back({Dim::cp, Collective::allgather, {6ULL << 30}});
  if (kind == 2) out.traffic.push_back({Dim::ep, Collective::alltoall, {2ULL << 30}});
  return out;
}

class Scotch {
 public:
  Scotch(const NodeGraph& graph, const Shape3& shape, const std::vector<SCOTCH_Num>& places) : places_(places) {
    double most = 1;
    for (const NodeGraph::Half& h : graph.halves) most = std::max(most, static_cast<double>(h.bytes));
    for (const std::size_t b : graph.begin) begin_.push_back(static_cast<SCOTCH_Num>(b));
    for (const NodeGraph::Half& h : graph.halves) {
      ends_.push_back(static_cast<SCOTCH_Num>(h.to));
      loads_.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(static_cast<double>(h.bytes) / most * 10'000)));
    }
    // Twice the sum of the link costs up to the common switch: 2, 6, 10, which is as 1 to 3 to 5 hops.
    const std::array<SCOTCH_Num, 3> sizes{static_cast<SCOTCH_Num>(shape.pods), static_cast<SCOTCH_Num>(shape.leaves),
                                          static_cast<SCOTCH_Num>(shape.nodes)};
    const std::array<SCOTCH_Num, 3> costs{2, 2, 1};
    // One core: what is not set is as many threads as there are cores, which wait for each other.
    setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
    SCOTCH_archInit(&whole_);
    SCOTCH_archTleaf(&whole_, 3, sizes.data(), costs.data());
    scattered_ = places.size() < shape.all();
    if (scattered_) {
      SCOTCH_archInit(&part_);
      SCOTCH_archSub(&part_, &whole_, static_cast<SCOTCH_Num>(places_.size()), places_.data());
    }
  }
  Scotch(const Scotch&) = delete;
  Scotch& operator=(const Scotch&) = delete;
  ~Scotch() {
    if (scattered_) SCOTCH_archExit(&part_);
    SCOTCH_archExit(&whole_);
  }

  // Place of each vertex; the same place may come twice.
  std::vector<SCOTCH_Num> map() {
    SCOTCH_Graph graph;
    SCOTCH_Strat strategy;
    SCOTCH_graphInit(&graph);
    SCOTCH_stratInit(&strategy);
    SCOTCH_randomReset();
    const auto vertices = static_cast<SCOTCH_Num>(begin_.size() - 1);
    std::vector<SCOTCH_Num> out(begin_.size() - 1);
    int failed = SCOTCH_graphBuild(&graph, 0, vertices, begin_.data(), nullptr, nullptr, nullptr,
                                   static_cast<SCOTCH_Num>(ends_.size()), ends_.data(), loads_.data());
    failed |= SCOTCH_graphMap(&graph, scattered_ ? &part_ : &whole_, &strategy, out.data());
    SCOTCH_stratExit(&strategy);
    SCOTCH_graphExit(&graph);
    if (failed != 0) throw std::runtime_error("Scotch failed");
    return out;
  }

 private:
  std::vector<SCOTCH_Num> places_, begin_, ends_, loads_;
  SCOTCH_Arch whole_{}, part_{};
  bool scattered_ = false;
};

struct Outcome {
  double top = 0, hop = 0;  // Weft's part of Scotch's
  double our_time = 1e9, their_time = 1e9;
  std::size_t spare = 0;
  [[nodiscard]] bool dearer() const { return top > 1 || (top == 1 && hop > 1); }
  [[nodiscard]] bool slower() const { return our_time > their_time; }
};

struct Totals {
  int cases = 0;
  int dearer = 0;  // cases with more bytes over the top, or as many and more hop-bytes
  int slower = 0;
  double top = 0, hop = 0, time = 0;
  double worst_top = 0, worst_time = 0;

  void add(const Outcome& o) {
    ++cases;
    if (o.dearer()) ++dearer;
    if (o.slower()) ++slower;
    top += o.top;
    hop += o.hop;
    time += o.our_time / o.their_time;
    worst_top = std::max(worst_top, o.top);
    worst_time = std::max(worst_time, o.our_time / o.their_time);
  }
  void tell(benchmark::State& state) const {
    if (cases == 0) return;
    state.counters["cases"] = cases;
    state.counters["dearer"] = dearer;
    state.counters["slower"] = slower;
    state.counters["top_mean"] = top / cases;
    state.counters["hop_mean"] = hop / cases;
    state.counters["time_mean"] = time / cases;
    state.counters["top_worst"] = worst_top;
    state.counters["time_worst"] = worst_time;
  }
};
Totals& totals() {
  static Totals all;
  return all;
}

double seconds(const auto& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

NodeMask random_part(std::size_t of, std::uint32_t nodes, std::uint64_t seed) {
  std::vector<std::uint32_t> order(of);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i-- > 1;) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(order[i], order[(seed >> 33U) % (i + 1)]);
  }
  NodeMask out(of, false);
  for (std::uint32_t i = 0; i < nodes; ++i) out[order[i]] = true;
  return out;
}

// Spare vertices to the nearest free place in fabric order. Both by their rank in the list of places.
std::vector<std::size_t> one_a_place(const std::vector<SCOTCH_Num>& map, const std::vector<SCOTCH_Num>& places,
                                     std::size_t& spare_count) {
  std::vector<std::int64_t> holder(places.size(), -1);
  std::vector<std::uint32_t> spare;
  std::vector<std::size_t> at(map.size());
  for (std::uint32_t v = 0; v < map.size(); ++v) {
    at[v] = static_cast<std::size_t>(map[v]);
    if (holder[at[v]] < 0)
      holder[at[v]] = v;
    else
      spare.push_back(v);
  }
  for (const std::uint32_t v : spare) {
    std::size_t nearest = places.size();
    for (std::size_t p = 0; p < places.size(); ++p)
      if (holder[p] < 0 &&
          (nearest == places.size() || std::abs(places[p] - places[at[v]]) < std::abs(places[nearest] - places[at[v]])))
        nearest = p;
    at[v] = nearest;
    holder[nearest] = v;
  }
  spare_count = spare.size();
  return at;
}

// `again` says whether to time both once more; `seed` chooses the scattered places.
Outcome one_case(std::uint32_t nodes, std::int64_t kind, bool scattered, std::uint64_t seed, const auto& again) {
  Shape3 shape = nodes <= 128 ? Shape3{2, nodes / 16, 8} : Shape3{nodes >= 1024 ? 8U : 4U, 0, 16};
  if (nodes > 128) shape.leaves = nodes / shape.pods / shape.nodes;
  if (scattered) shape.pods *= 2;
  const Fabric fabric = tree(shape);
  const config::JobSpec spec = job(nodes, kind);
  const ResolvedJob resolved = take(resolve_job(fabric, spec));
  const Traffic traffic = take(build_traffic(spec, resolved.layout));
  const Request request{
      &spec, resolved.layout, resolved.ranks_per_node, &traffic,
      scattered ? random_part(fabric.node_count(), nodes, seed) : NodeMask(fabric.node_count(), true)};
  std::vector<SCOTCH_Num> places;  // in fabric order, which is the order of the tree's leaves
  for (std::uint32_t i = 0; i < fabric.node_count(); ++i)
    if (request.free[topology::index(fabric.fabric_order()[i])]) places.push_back(static_cast<SCOTCH_Num>(i));

  const NodeGraph graph = build_node_graph(traffic);
  Scotch scotch(graph, shape, places);
  Placement ours;
  std::vector<SCOTCH_Num> theirs;
  Outcome out;
  while (again()) {
    out.our_time = std::min(out.our_time, seconds([&] { ours = take(place(fabric, request)); }));
    out.their_time = std::min(out.their_time, seconds([&] { theirs = scotch.map(); }));
  }
  std::vector<NodeId> nodes_of_scotch;
  for (const std::size_t at : one_a_place(theirs, places, out.spare))
    nodes_of_scotch.push_back(fabric.fabric_order()[static_cast<std::size_t>(places[at])]);
  const Score mine = take(score(fabric, ours, traffic));
  const Score other =
      take(score(fabric, take(ranks_in_order(fabric, nodes_of_scotch, resolved.ranks_per_node)), traffic));
  out.top = mine.tier_bytes.back() / other.tier_bytes.back();
  out.hop = mine.hop_bytes / other.hop_bytes;
  return out;
}

void against_scotch(benchmark::State& state) {
  const Outcome o = one_case(static_cast<std::uint32_t>(state.range(0)), state.range(1), state.range(2) != 0, 42,
                             [&] { return state.KeepRunning(); });
  state.counters["top"] = o.top;
  state.counters["hop"] = o.hop;
  state.counters["time"] = o.our_time / o.their_time;
  state.counters["ours_ms"] = o.our_time * 1e3;
  state.counters["scotch_ms"] = o.their_time * 1e3;
  state.counters["spare"] = static_cast<double>(o.spare);
  totals().add(o);
}
BENCHMARK(against_scotch)
    ->ArgNames({"nodes", "kind", "scattered"})
    ->ArgsProduct({{64, 256, 512, 1024, 4096}, {0, 1, 2}, {0, 1}})
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

void all_cases(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(totals());
  totals().tell(state);
}
BENCHMARK(all_cases)->Iterations(1);

// Twenty other choices of scattered places.
void seeds(benchmark::State& state) {
  Totals t;
  for (auto _ : state)
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      int left = 3;
      t.add(
          one_case(static_cast<std::uint32_t>(state.range(0)), state.range(1), true, seed, [&] { return left-- > 0; }));
    }
  t.tell(state);
}
BENCHMARK(seeds)
    ->ArgNames({"nodes", "kind"})
    ->ArgsProduct({{32, 64, 96, 128}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft::placement
