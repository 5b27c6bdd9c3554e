// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement/routing.hpp"

#include <fmt/format.h>

#include <utility>

#include "ecmp.hpp"
#include "link_router.hpp"

namespace weft::placement {

using topology::Fabric;
using topology::index;

std::string_view to_string(Routing routing) {
  switch (routing) {
    case Routing::spray: return "spray";
    case Routing::ecmp: return "ecmp";
    case Routing::forwarding_tables: return "static";
  }
  return "";
}

Result<Routing> parse_routing(std::string_view text) {
  for (const Routing r : {Routing::spray, Routing::ecmp, Routing::forwarding_tables})
    if (to_string(r) == text) return r;
  return fail(error(ErrorCode::usage, fmt::format("there is no routing '{}'", text), "spray, ecmp or static"));
}

std::pair<std::string, std::string> end_names(const Fabric& fabric, DirectedLink link) {
  const topology::Link& l = fabric.link(link.link);
  std::pair<std::string, std::string> out{fabric.end_name(l.a), fabric.end_name(l.b)};
  if (!link.forward) std::swap(out.first, out.second);
  return out;
}

Result<void> check_flows(const Fabric& fabric, std::span<const NicFlow> flows) {
  const auto check = [&](topology::NodeId node, std::uint32_t nic) -> Result<void> {
    if (index(node) >= fabric.node_count())
      return fail(error(ErrorCode::usage, fmt::format("the fabric has no node number {}", index(node))));
    if (nic >= fabric.type_of(node).nics)
      return fail(error(ErrorCode::usage, fmt::format("{} has no NIC {}", fabric.node_name(node), nic)));
    return {};
  };
  for (const NicFlow& f : flows) {
    if (auto ok = check(f.from, f.from_nic); !ok) return ok;
    if (auto ok = check(f.to, f.to_nic); !ok) return ok;
    if (!(f.bytes >= 0)) return fail(error(ErrorCode::usage, fmt::format("a flow of {} bytes", f.bytes), "0 or more"));
  }
  return {};
}

Error no_path(const Fabric& fabric, const NicFlow& flow) {
  return error(ErrorCode::infeasible,
               fmt::format("{}:{} and {}:{} exchange data but have no path between them", fabric.node_name(flow.from),
                           flow.from_nic, fabric.node_name(flow.to), flow.to_nic));
}

Result<std::vector<double>> link_loads(const Fabric& fabric, std::span<const NicFlow> flows) {
  if (auto ok = check_flows(fabric, flows); !ok) return fail(ok.error());
  SprayRouter router(fabric);
  for (const NicFlow& f : flows)
    if (!router.add(f)) return fail(no_path(fabric, f));
  router.route();
  return router.loads().bytes;
}

std::optional<LinkUse> slowest_link(const Fabric& fabric, std::span<const double> loads) {
  std::optional<LinkUse> worst;
  for (std::uint32_t i = 0; i < loads.size(); ++i)
    if (loads[i] > 0) keep_slower(worst, use_of(fabric, i, loads[i]));
  return worst;
}

Result<EcmpDraw> draw_ecmp(const Fabric& fabric, std::span<const NicFlow> flows, std::uint64_t seed) {
  if (auto ok = check_flows(fabric, flows); !ok) return fail(ok.error());
  EcmpRouter router(fabric);
  for (const NicFlow& f : flows)
    if (!router.add(f)) return fail(no_path(fabric, f));
  return router.draw(seed);
}

}  // namespace weft::placement
