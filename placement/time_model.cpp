// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/time_model.hpp"

#include <algorithm>
#include <bit>

namespace weft::placement {
namespace {

using config::Algorithm;
using config::Collective;

struct Steps {
  double network = 0;
  double nvlink = 0;
};

Steps steps_of(const TimeModel& model, Collective collective, Algorithm algorithm, const TermShape& shape) {
  const double g = shape.ranks;
  const double n = shape.domains;
  const std::uint32_t most = (shape.ranks + shape.domains - 1) / shape.domains;
  const double twice = collective == Collective::allreduce ? 2 : 1;
  if (collective == Collective::neighbour) return shape.domains > 1 ? Steps{2, 0} : Steps{0, 2};
  if (collective == Collective::alltoall) {
    const double rounds = (g - 1) / std::min<double>(model.alltoall_batch, g - 1);
    return {rounds * (n - 1) / n, rounds / n};
  }
  if (algorithm == Algorithm::tree)
    return {2.0 * static_cast<double>(std::bit_width(shape.domains - 1)), 2.0 * (most - 1)};
  if (algorithm == Algorithm::hierarchical) return {twice * (n - 1), twice * (most - 1)};
  return {twice * (n - 1), twice * (g - n)};
}

}  // namespace

double latency_seconds(const TimeModel& model, Collective collective, Algorithm algorithm, const TermShape& shape) {
  if (shape.ranks < 2) return 0;
  const Steps steps = steps_of(model, collective, algorithm, shape);
  return model.launch.value + steps.network * (model.network_step.value + shape.hops * model.hop.value) +
         steps.nvlink * model.nvlink_step.value;
}

double direct_latency_seconds(const TimeModel& model, std::uint32_t hops) {
  return model.launch.value + (hops == 0 ? model.nvlink_step.value : model.network_step.value + hops * model.hop.value);
}

double efficiency_of(const TimeModel& model, Collective collective, Algorithm algorithm) {
  if (collective == Collective::alltoall) return model.efficiency.alltoall;
  if (collective == Collective::neighbour) return model.efficiency.neighbour;
  if (algorithm == Algorithm::tree) return model.efficiency.tree;
  if (algorithm == Algorithm::hierarchical) return model.efficiency.hierarchical;
  return model.efficiency.ring;
}

}  // namespace weft::placement
