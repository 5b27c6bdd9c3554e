// SPDX-License-Identifier: BSD-3-Clause
#include "path_table.hpp"

#include <algorithm>
#include <tuple>

namespace weft::placement {
namespace {

using topology::index;
using topology::NodeId;
using topology::Path;

constexpr std::size_t kMaxTableCells = 1U << 25;
constexpr std::uint32_t kNoKind = ~0U;

}  // namespace

PathTable::PathTable(const topology::Fabric& fabric, std::span<const NodeId> nodes,
                     std::optional<config::CrossRail> cross_rail)
    : fabric_(&fabric), kind_of_class_(fabric.class_count(), kNoKind) {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;  // leaves -> endpoint
  for (const NodeId node : nodes) {
    std::uint32_t* at = &kind_of_class_[index(fabric.class_of(node))];
    while (*at != kNoKind && kinds_[*at].type_id != fabric.type_id(node)) at = &next_kind_[*at];
    if (*at != kNoKind) continue;
    *at = static_cast<std::uint32_t>(kinds_.size());
    next_kind_.push_back(kNoKind);
    Kind kind{node, &fabric.type_of(node), fabric.type_id(node), false, {}};
    kind.pxn = cross_rail ? *cross_rail == config::CrossRail::pxn : kind.type->nvlink;
    for (std::uint32_t nic = 0; nic < kind.type->nics; ++nic) {
      std::vector<std::uint32_t> leaves;
      for (const topology::Port& port : fabric.ports(node, nic)) leaves.push_back(index(port.leaf));
      std::sort(leaves.begin(), leaves.end());
      leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
      const auto [entry, fresh] = known.emplace(std::move(leaves), static_cast<std::uint32_t>(endpoints_.size()));
      if (fresh) endpoints_.push_back({node, nic});
      kind.endpoints.push_back(entry->second);
    }
    kinds_.push_back(std::move(kind));
  }
  const std::size_t cells = endpoints_.size() * endpoints_.size();
  if (cells <= kMaxTableCells) table_.assign(cells, Path{kUnknown, 0});
}

Site PathTable::site(const Slot& slot) const {
  Site out;
  out.node = slot.node;
  out.domain = index(fabric_->domain_of(topology::kNvlinkLevel, slot.node));
  out.kind = kind_of_class_[index(fabric_->class_of(slot.node))];
  while (kinds_[out.kind].type_id != fabric_->type_id(slot.node)) out.kind = next_kind_[out.kind];
  out.gpu = slot.gpu;
  out.nic = slot.nic;
  out.endpoint = kinds_[out.kind].endpoints[slot.nic];
  return out;
}

std::uint32_t PathTable::sending_nic(const Site& from, const Site& to) const {
  const Kind& sender = kinds_[from.kind];
  if (from.gpu == to.gpu || !sender.pxn) return from.nic;
  const Kind& receiver = kinds_[to.kind];
  // The rail of the receiver: the NIC that GPU `to.gpu` has on the sender's side, unless the placement gave the
  // receiver another NIC than its type says; then the NIC of that number.
  const bool as_typed = to.nic == receiver.type->nic_of_gpu[to.gpu];
  if (as_typed && to.gpu < sender.type->gpus) return sender.type->nic_of_gpu[to.gpu];
  return to.nic < sender.type->nics ? to.nic : from.nic;
}

Path PathTable::ask(std::uint32_t a, std::uint32_t b) const {
  const Endpoint& from = endpoints_[a];
  const Endpoint& to = endpoints_[b];
  return fabric_->nic_path(from.node, from.nic, to.node, to.nic).value_or(Path{kNone, 0});
}

Path PathTable::lookup(std::uint32_t a, std::uint32_t b) {
  if (table_.empty()) return ask(a, b);
  Path& cell = table_[a * endpoints_.size() + b];
  if (cell.hops == kUnknown) cell = ask(a, b);
  return cell;
}

std::optional<Route> PathTable::any_path(const Site& from, const Site& to) {
  const auto [at, fresh] = any_.try_emplace({from.kind, to.kind}, std::nullopt);
  if (!fresh) return at->second;
  const std::vector<std::uint32_t>& senders = kinds_[from.kind].endpoints;
  const std::vector<std::uint32_t>& receivers = kinds_[to.kind].endpoints;
  for (std::uint32_t i = 0; i < senders.size(); ++i) {
    for (std::uint32_t j = 0; j < receivers.size(); ++j) {
      const Path p = lookup(senders[i], receivers[j]);
      if (p.hops == kNone) continue;
      const auto& best = at->second;
      if (!best || std::tie(p.hops, p.tier) < std::tie(best->path.hops, best->path.tier))
        at->second = Route{p, true, i, j};
    }
  }
  return at->second;
}

std::optional<Route> PathTable::route(const Site& from, const Site& to) {
  if (from.domain == to.domain) return Route{};
  const std::uint32_t nic = sending_nic(from, to);
  const std::uint32_t endpoint = nic == from.nic ? from.endpoint : kinds_[from.kind].endpoints[nic];
  const Path path = lookup(endpoint, to.endpoint);
  if (path.hops != kNone) return Route{path, false, nic, to.nic};
  return any_path(from, to);
}

}  // namespace weft::placement
