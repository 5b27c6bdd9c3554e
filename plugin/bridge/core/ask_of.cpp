// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "bridge.hpp"
#include "weft_spec.h"

namespace weft::bridge {
namespace {

using topology::NodeId;

tl::unexpected<Error> wrong(std::string message) { return fail(error(ErrorCode::usage, std::move(message))); }

Result<void> check_set(const Binding& binding, const std::uint32_t* set, std::size_t count, std::string_view name) {
  if (count > 0 && set == nullptr) return wrong(fmt::format("{} is null", name));
  for (std::size_t i = 0; i < count; ++i) {
    if (set[i] >= binding.node.size())
      return wrong(fmt::format("{}[{}] is {}, the node table has {}", name, i, set[i], binding.node.size()));
    if (i > 0 && set[i] <= set[i - 1]) return wrong(fmt::format("{} is not ascending at {}", name, i));
  }
  return {};
}

void copy_job(const weft_request& from, Ask& to) {
  to.by.mode = std::min<std::uint32_t>(from.mode, WEFT_MODE_SUBMIT);
  if (from.mode > WEFT_MODE_SUBMIT) to.by.mode = WEFT_MODE_UNKNOWN;
  to.flags = from.flags & (WEFT_REQ_CONTIGUOUS | WEFT_REQ_SPREAD | WEFT_REQ_EXCLUSIVE_TOPO | WEFT_REQ_SPEC_FROM_EXTRA);
  to.by.job_id = from.job_id;
  to.by.array_job_id = from.array_job_id;
  to.by.array_task_id = from.array_job_id != 0 ? from.array_task_id : 0;
  to.by.het_job_id = from.het_job_id;
  to.by.het_offset = from.het_job_id != 0 ? from.het_offset : 0;
  // A longer text is refused, whatever it says.
  if (from.spec != nullptr) to.spec.emplace(from.spec, std::min<std::size_t>(from.spec_length, WEFT_SPEC_BYTES + 1));
  to.min_nodes = from.min_nodes;
  to.req_nodes = from.req_nodes;
  to.max_nodes = from.max_nodes;
  to.tasks = from.tasks;
  to.tasks_per_node = from.tasks_per_node;
  to.total_gpus = from.gpus;
  to.gpus_per_node = from.gpus_per_node;
  to.gpus_per_task = from.gpus_per_task;
  to.need_cpus = from.node_cpus != nullptr ? from.need_cpus : 0;
  to.need_gpus = from.node_gpus != nullptr ? from.need_gpus : 0;
  to.max_switches = from.max_switches;
  to.segment = from.segment;
}

bool all_equal(const std::vector<std::uint32_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::vector<NodeId> known_nodes(const Binding& binding, const std::uint32_t* set, std::size_t count) {
  std::vector<NodeId> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    if (const auto node = binding.node[set[i]]) out.push_back(*node);
  return out;
}

}  // namespace

Result<Ask> ask_of(const Binding& binding, const weft_request& request) {
  if (auto ok = check_set(binding, request.usable, request.usable_count, "usable"); !ok) return fail(ok.error());
  if (auto ok = check_set(binding, request.required, request.required_count, "required"); !ok) return fail(ok.error());
  const std::size_t possible = request.possible != nullptr ? request.possible_count : 0;
  if (auto ok = check_set(binding, request.possible, possible, "possible"); !ok) return fail(ok.error());
  const std::size_t reach = request.reach != nullptr ? request.reach_count : 0;
  if (auto ok = check_set(binding, request.reach, reach, "reach"); !ok) return fail(ok.error());
  const auto* usable_end = request.usable + request.usable_count;
  Ask out;
  copy_job(request, out);
  const bool cpus = out.need_cpus > 0, gpus = out.need_gpus > 0, contiguous = (out.flags & WEFT_REQ_CONTIGUOUS) != 0;
  out.usable.reserve(request.usable_count);
  for (std::size_t i = 0; i < request.usable_count; ++i) {
    const auto node = binding.node[request.usable[i]];
    if (!node) {
      ++out.foreign_usable;
      continue;
    }
    out.usable.push_back(*node);
    if (cpus) out.cpus.push_back(request.node_cpus[i]);
    if (gpus) out.gpus.push_back(request.node_gpus[i]);
    if (request.weights != nullptr) out.weights.push_back(request.weights[i]);
    if (request.free_gpus != nullptr) out.free_gpus.push_back(request.free_gpus[i]);
    if (contiguous) out.table.push_back(request.usable[i]);
  }
  if (all_equal(out.weights)) out.weights.clear();
  if (std::count(out.free_gpus.begin(), out.free_gpus.end(), 0U) == std::ssize(out.free_gpus)) out.free_gpus.clear();
  for (std::size_t i = 0; i < request.required_count; ++i) {
    if (!std::binary_search(request.usable, usable_end, request.required[i]))
      return wrong(fmt::format("required[{}] is {}, which is not usable", i, request.required[i]));
    const auto node = binding.node[request.required[i]];
    if (node)
      out.required.push_back(*node);
    else
      ++out.foreign_required;
  }
  if (request.possible != nullptr) out.possible = known_nodes(binding, request.possible, possible);
  if (request.reach != nullptr) out.reach = known_nodes(binding, request.reach, reach);
  return out;
}

}  // namespace weft::bridge
