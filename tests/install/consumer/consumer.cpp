// SPDX-License-Identifier: BSD-3-Clause
//
// A planner's own program on Weft's public headers alone: it reads a fabric and a job, places the job, scores it beside
// another placement, and shows a refusal.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <weft/config.hpp>
#include <weft/placement.hpp>
#include <weft/topology.hpp>

namespace {

// Two leaves of two nodes under one spine; each node's one NIC runs at 400Gb/s.
constexpr const char* kFabric = R"(weft: 1
name: tiny
node_types:
  box: {gpus: 1, nics: 1, nvlink: {domain: none}}
switches:
  - {name: "leaf[1-2]", tier: 1}
  - {name: spine1, tier: 2}
nodes:
  - {name: "n[1-4]", type: box}
links:
  - {from: "n[1-4]", to: "leaf[1-2]", pattern: split, bandwidth: 400Gb/s}
  - {from: "leaf[1-2]", to: spine1, pattern: all, bandwidth: 400Gb/s, cables: 2}
)";

constexpr const char* kJob = R"(weft: 1
name: pair
nodes: 2
layout: {dp: 2}
traffic:
  dp: {collective: allreduce, bytes: 1GiB}
)";

weft::Source text(const char* file, const char* content) {
  return std::make_shared<const weft::SourceText>(file, content);
}

int refuse(const weft::Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  return 1;
}

bool equal(double a, double b) { return std::abs(a - b) < 1.0; }

}  // namespace

int main() {
  using namespace weft;
  const auto imported = topology::read_fabric(text("tiny.yaml", kFabric));
  if (!imported) return refuse(imported.error());
  const auto fabric = topology::Fabric::build(imported->spec);
  if (!fabric) return refuse(fabric.error());
  const auto job = config::parse_job_yaml(text("job.yaml", kJob));
  if (!job) return refuse(job.error());
  const auto resolved = placement::resolve_job(*fabric, *job);
  if (!resolved) return refuse(resolved.error());
  const auto traffic = placement::build_traffic(*job, resolved->layout);
  if (!traffic) return refuse(traffic.error());

  const placement::Request request{.job = &*job,
                                   .layout = resolved->layout,
                                   .ranks_per_node = resolved->ranks_per_node,
                                   .traffic = &*traffic,
                                   .free = placement::NodeMask(fabric->node_count(), true)};
  const auto chosen = placement::place(*fabric, request);
  if (!chosen) return refuse(chosen.error());
  const auto near = placement::score(*fabric, *chosen, *traffic);
  if (!near) return refuse(near.error());

  // By hand, one node a leaf: everything crosses the spine.
  const auto apart = placement::ranks_in_order(*fabric, {*fabric->find_node("n1"), *fabric->find_node("n3")}, 1);
  if (!apart) return refuse(apart.error());
  const auto far = placement::score(*fabric, *apart, *traffic);
  if (!far) return refuse(far.error());
  std::printf("cross-spine bytes: %.0f chosen, %.0f apart\n", near->cross_spine_bytes, far->cross_spine_bytes);

  // Ring all-reduce of two: 2V(g-1)/g on each of two edges.
  const double whole = 2.0 * 1024 * 1024 * 1024;
  if (!equal(near->cross_spine_bytes, 0) || !equal(near->tier_bytes.at(1), whole)) return 2;
  if (!equal(far->cross_spine_bytes, whole) || far->max_hops != 3) return 3;

  const auto bad = topology::read_fabric(text("bad.yaml", "weft: 1\nnodse: []\n"));
  if (bad || bad.error().at.line != 2 || bad.error().code != ErrorCode::unknown_key) return 4;
  return 0;
}
