// SPDX-License-Identifier: BSD-3-Clause
#include "eligible.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "weft/config/hostlist.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;
using topology::NodeId;

enum class Bar : std::uint8_t { none, down, busy, excluded, few_gpus, shared };

std::uint32_t narrow(std::size_t n) { return static_cast<std::uint32_t>(n); }

// Nodes in domains of `level` that somebody else has a node of.
std::vector<bool> shared_nodes(const Fabric& fabric, Level level, const NodeMask& free) {
  std::vector<bool> taken(fabric.domain_count(level), false);
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n)
    if (fabric.usable(NodeId{n}) && !free[n]) taken[index(fabric.domain_of(level, NodeId{n}))] = true;
  std::vector<bool> out(fabric.node_count(), false);
  for (std::uint32_t n = 0; n < fabric.node_count(); ++n) out[n] = taken[index(fabric.domain_of(level, NodeId{n}))];
  return out;
}

std::string why(Bar bar, const Fabric& fabric, NodeId node, const Request& request) {
  switch (bar) {
    case Bar::down: return "is down or has no link up";
    case Bar::busy: return "is not free";
    case Bar::excluded: return "is excluded too";
    case Bar::few_gpus:
      return fmt::format("has {} GPUs, the job needs {} a node", fabric.type_of(node).gpus, request.ranks_per_node);
    case Bar::shared: {
      const Level level = level_of(fabric, *request.job->constraints.exclusive);
      return fmt::format("is in {}, which is not wholly free",
                         fabric.domain_name(level, fabric.domain_of(level, node)));
    }
    case Bar::none: break;
  }
  return {};
}

Error at_text(const config::JobSpec& job, const config::Text& text, ErrorCode code, std::string message,
              std::string expected = {}) {
  return error_at(code, job.source, text.at, narrow(text.value.size()), std::move(message), std::move(expected));
}

}  // namespace

topology::Level level_of(const Fabric& fabric, config::LevelName name) {
  const auto level = static_cast<Level>(name);  // nvlink, leaf, pod = 0, 1, 2 in both
  return std::min<Level>(level, static_cast<Level>(fabric.level_count() - 1));
}

Result<std::vector<NodeId>> constraint_nodes(const Fabric& fabric, const config::JobSpec& job,
                                             const std::optional<config::Text>& hostlist) {
  std::vector<NodeId> out;
  if (!hostlist || hostlist->value.empty()) return out;
  const auto names = config::expand_hostlist(hostlist->value);
  if (!names) {
    Position at = hostlist->at;
    if (at.column > 0) at.column += narrow(names.error().offset);
    return fail(error_at(names.error().code, job.source, at, narrow(names.error().length), names.error().message,
                         names.error().expected));
  }
  std::vector<bool> seen(fabric.node_count(), false);
  for (const std::string& name : *names) {
    const auto node = fabric.find_node(name);
    if (!node)
      return fail(at_text(job, *hostlist, ErrorCode::dangling, fmt::format("the fabric has no node \"{}\"", name),
                          "names of the fabric's nodes"));
    if (!seen[index(*node)]) out.push_back(*node);
    seen[index(*node)] = true;
  }
  return out;
}

Result<Eligible> eligible_nodes(const Fabric& fabric, const Request& request) {
  const std::uint32_t count = fabric.node_count();
  const config::Constraints& rules = request.job->constraints;
  if (request.free.size() != count)
    return fail(error(ErrorCode::usage, fmt::format("the mask of free nodes has {} entries, the fabric {} nodes",
                                                    request.free.size(), count)));
  auto required = constraint_nodes(fabric, *request.job, rules.required_nodes);
  if (!required) return fail(required.error());
  const auto excluded = constraint_nodes(fabric, *request.job, rules.excluded_nodes);
  if (!excluded) return fail(excluded.error());

  std::vector<Bar> bar(count, Bar::none);
  const auto set = [&](NodeId n, Bar why_not) {
    if (bar[index(n)] == Bar::none) bar[index(n)] = why_not;
  };
  for (std::uint32_t n = 0; n < count; ++n) {
    if (!fabric.usable(NodeId{n})) set(NodeId{n}, Bar::down);
    if (!request.free[n]) set(NodeId{n}, Bar::busy);
  }
  for (const NodeId n : *excluded) set(n, Bar::excluded);
  const std::vector<bool> shared =
      rules.exclusive ? shared_nodes(fabric, level_of(fabric, *rules.exclusive), request.free) : std::vector<bool>();
  Eligible out;
  out.mask.assign(count, false);
  for (std::uint32_t n = 0; n < count; ++n) {
    if (fabric.type_of(NodeId{n}).gpus < request.ranks_per_node) set(NodeId{n}, Bar::few_gpus);
    if (!shared.empty() && shared[n]) set(NodeId{n}, Bar::shared);
    switch (bar[n]) {
      case Bar::none:
        out.mask[n] = true;
        ++out.count;
        break;
      case Bar::down: ++out.not_eligible.down; break;
      case Bar::busy: ++out.not_eligible.busy; break;
      case Bar::excluded: ++out.not_eligible.excluded; break;
      case Bar::few_gpus: ++out.not_eligible.few_gpus; break;
      case Bar::shared: ++out.not_eligible.shared; break;
    }
  }
  for (const NodeId n : *required)
    if (!out.mask[index(n)])
      return fail(
          at_text(*request.job, *rules.required_nodes, ErrorCode::infeasible,
                  fmt::format("required node {} {}", fabric.node_name(n), why(bar[index(n)], fabric, n, request))));
  if (required->size() > request.job->nodes)
    return fail(at_text(*request.job, *rules.required_nodes, ErrorCode::infeasible,
                        fmt::format("{} nodes are required, the job has {}", required->size(), request.job->nodes)));
  out.required = std::move(*required);
  return out;
}

NodeMask required_mask(const Eligible& eligible) {
  NodeMask out(eligible.mask.size(), false);
  for (const NodeId n : eligible.required) out[index(n)] = true;
  return out;
}

std::string describe(const Ineligible& reasons, std::uint32_t ranks_per_node) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint32_t n, std::string_view what) {
    if (n > 0) parts.push_back(fmt::format("{} {}", n, what));
  };
  add(reasons.busy, "busy");
  add(reasons.down, "down or without links");
  add(reasons.excluded, "excluded");
  add(reasons.few_gpus, fmt::format("with fewer than {} GPUs", ranks_per_node));
  add(reasons.shared, "in domains that are not wholly free");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::uint32_t weight_of(const Fabric& fabric, const Request& request, const PlaceOptions& options, NodeId node) {
  if (options.node_weight == NodeWeight::ignore) return 0;
  return request.weights.empty() ? fabric.weight(node) : request.weights[index(node)];
}

}  // namespace weft::placement
