// SPDX-License-Identifier: BSD-3-Clause
//
// How long a training step's communication takes: a model of latency and bandwidth (alpha and beta).
//
// MODEL
//   A term takes
//     launch + network steps * (network_step + hops * hop) + NVLink steps * nvlink_step + transfer / efficiency
//   where all groups of the term run at once, hops is the largest number of switches that one of its flows crosses, and
//   transfer is the time of the slowest directed link under the term's own load with the routing asked for, or of the
//   busiest GPU's NVLink port, whichever is longer (the two follow each other under `hierarchical`, so they add up).
//   So each group is as slow as its slowest link, which it shares with the term's other groups.
//
//   Steps of a group of g ranks on n NVLink domains (the largest n of the term's groups), m = g/n rounded up:
//     ring          allreduce 2(g-1), of them 2(n-1) over the network; the others half of that; broadcast as many as
//                   the others
//     tree          2 ceil(log2 n) over the network, 2(m-1) inside
//     hierarchical  as the ring with m-1 inside and n-1 over the network, twice for allreduce
//     alltoall      g-1 exchanges (pairwise exchange), alltoall_batch of them under way at once; (n-1)/n over the
//                   network
//     neighbour     2, over the network where n > 1
//   The flows of a matrix go all at once: one step, with the efficiency of neighbour. A dimension takes the sum of its
//   terms; a step the sum of its dimensions, each less its overlap with computing.
//
// SOURCES
//   Hockney, "The communication challenge for MPP", Parallel Computing 20 (1994): alpha + beta * bytes. Thakur,
//   Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19 (2005): steps of
//   rings and of pairwise exchange. NCCL, src/graph/tuning.cc (2.19): the default latencies are its baseLat and hwLat
//   of the simple protocol and ring, the tree's efficiency its 0.92. Its latency of a network step holds for the NIC
//   and one switch or so; `hop` adds what switches cost (0.3 us is an assumption between InfiniBand's and Ethernet's
//   data sheets). Other efficiencies are 1: the slowest link at the rate the fabric file gives. Measured ones belong
//   into a time model file.
#pragma once

#include <array>
#include <cstdint>

#include "weft/config/error.hpp"
#include "weft/config/job_spec.hpp"
#include "weft/config/units.hpp"

namespace weft::placement {

struct TimeModel {
  Seconds launch{8.4e-6};       ///< of each collective
  Seconds nvlink_step{3.4e-6};  ///< one step between GPUs of an NVLink domain
  Seconds network_step{14e-6};  ///< one step between NICs
  Seconds hop{0.3e-6};          ///< each switch on the way, besides
  /// Of the bandwidth, what an algorithm gets; above 0, at most 1.
  struct Efficiency {
    double ring = 1, tree = 0.92, hierarchical = 1, alltoall = 1, neighbour = 1;
    friend bool operator==(const Efficiency&, const Efficiency&) = default;
  } efficiency;
  /// Part of a dimension's time that computing hides, 0 to 1; by Dim. None by default: what the fabric must carry.
  std::array<double, config::kDims> overlap{};
  Bandwidth nvlink_bandwidth{3'600'000'000'000};  ///< of a GPU, each way, where the node type does not say
  Bandwidth pcie_bandwidth{512'000'000'000};      ///< the same between GPUs of a node without NVLink (PCIe 5 x16)
  std::uint32_t alltoall_batch = 8;               ///< peers that a rank exchanges with at once
  friend bool operator==(const TimeModel&, const TimeModel&) = default;
};

/// Reads a time model file: `weft: 1`, then any of
///   latency: {launch: 8.4us, nvlink_step: 3.4us, network_step: 14us, hop: 300ns}
///   efficiency: {ring: 1, tree: 0.92, hierarchical: 1, alltoall: 1, neighbour: 1}
///   overlap: {dp: 0.5}
///   nvlink_bandwidth: 450GB/s
///   pcie_bandwidth: 64GB/s
///   alltoall_batch: 8
/// What is absent keeps its default. Errors: those of every YAML file, bad_value (an efficiency of 0 or above 1, an
/// overlap above 1), bad_unit.
[[nodiscard]] Result<TimeModel> parse_time_model_yaml(const Source& source);

/// What a term's steps cost, without its bytes.
struct TermShape {
  std::uint32_t ranks = 1;    ///< of a group
  std::uint32_t domains = 1;  ///< NVLink domains that they are on
  std::uint32_t hops = 0;     ///< most switches on a flow
};
[[nodiscard]] double latency_seconds(const TimeModel& model, config::Collective collective, config::Algorithm algorithm,
                                     const TermShape& shape);
/// Of direct flows, the farthest over `hops` switches.
[[nodiscard]] double direct_latency_seconds(const TimeModel& model, std::uint32_t hops);
/// What of the bandwidth the term gets.
[[nodiscard]] double efficiency_of(const TimeModel& model, config::Collective collective, config::Algorithm algorithm);

}  // namespace weft::placement
