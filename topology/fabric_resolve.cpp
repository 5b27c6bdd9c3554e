// SPDX-License-Identifier: BSD-3-Clause
//
// First stage of Fabric::build: every name of the spec looked up, node types completed, NVLink domains checked.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "affinity_node_type.hpp"
#include "fabric_links.hpp"
#include "fabric_names.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kNone = FabricData::kNone;
using TypeIndex = std::unordered_map<std::string_view, std::uint32_t>;

Done check_count(const config::FabricSpec& spec, const config::Text& name, std::string_view what, std::uint32_t count) {
  if (count >= 1 && count <= kMaxPerNode) return {};
  return fail(text_error(spec, count == 0 ? ErrorCode::bad_value : ErrorCode::limit, name,
                         fmt::format("node type '{}' has {} {}", name.value, count, what),
                         fmt::format("1 to {}", kMaxPerNode)));
}

Result<NodeType> resolve_type(const config::FabricSpec& spec, const config::NodeTypeSpec& in, Notes& notes) {
  if (in.hwloc && in.nic_of_gpu.empty()) return affinity_node_type(spec, in, notes);
  if (auto done = check_count(spec, in.name, "GPUs", in.gpus); !done) return fail(done.error());
  if (auto done = check_count(spec, in.name, "NICs", in.nics); !done) return fail(done.error());
  NodeType out;
  out.name = in.name.value;
  out.gpus = in.gpus;
  out.nics = in.nics;
  out.nic_of_gpu = in.nic_of_gpu;
  out.nvlink = in.nvlink == config::NvlinkScope::node;
  out.nvlink_bandwidth = in.nvlink_bandwidth;
  if (out.nic_of_gpu.empty()) {
    for (std::uint32_t gpu = 0; gpu < in.gpus; ++gpu) out.nic_of_gpu.push_back(gpu * in.nics / in.gpus);
  }
  if (out.nic_of_gpu.size() != in.gpus) {
    return fail(text_error(spec, ErrorCode::bad_value, in.name,
                           fmt::format("nic_of_gpu of node type '{}' has {} entries for {} GPUs", in.name.value,
                                       out.nic_of_gpu.size(), in.gpus),
                           "one entry a GPU"));
  }
  for (const std::uint32_t nic : out.nic_of_gpu) {
    if (nic < in.nics) continue;
    return fail(text_error(spec, ErrorCode::bad_value, in.name,
                           fmt::format("nic_of_gpu of node type '{}' names NIC {}", in.name.value, nic),
                           fmt::format("0 to {}", in.nics - 1)));
  }
  return out;
}

Done resolve_types(const config::FabricSpec& spec, FabricData& data, TypeIndex& index) {
  for (const config::NodeTypeSpec& in : spec.node_types) {
    const auto [it, fresh] = index.emplace(in.name.value, static_cast<std::uint32_t>(data.types.size()));
    if (!fresh) {
      return fail(text_error(spec, ErrorCode::duplicate, in.name,
                             fmt::format("node type '{}' is defined twice: first {}", in.name.value,
                                         where(spec.node_types[it->second].name.at)),
                             "types that are each defined once"));
    }
    auto type = resolve_type(spec, in, data.notes);
    if (!type) return fail(type.error());
    data.types.push_back(std::move(*type));
  }
  return {};
}

std::string type_list(const config::FabricSpec& spec) {
  std::string out;
  for (const auto& type : spec.node_types) out += (out.empty() ? "" : ", ") + type.name.value;
  return out.empty() ? std::string("a type defined under node_types") : "one of " + out;
}

Done resolve_nodes(const config::FabricSpec& spec, const TypeIndex& types, FabricData& data) {
  std::uint64_t nics = 0;
  for (const config::NodeSpec& in : spec.nodes) {
    auto names = expand(spec, in.names);
    if (!names) return fail(names.error());
    const auto type = types.find(in.type.value);
    if (type == types.end()) {
      return fail(text_error(spec, ErrorCode::dangling, in.type,
                             fmt::format("no node type is named '{}'", in.type.value), type_list(spec)));
    }
    nics += static_cast<std::uint64_t>(data.types[type->second].nics) * names->size();
    if (data.node_names.size() + names->size() > kMaxNodes || nics > kMaxNics) {
      return fail(text_error(spec, ErrorCode::limit, in.names, "too many nodes",
                             fmt::format("at most {} nodes and {} NICs", kMaxNodes, kMaxNics)));
    }
    for (std::string& name : *names) {
      data.node_names.push_back(std::move(name));
      data.node_type.push_back(type->second);
      data.node_weight.push_back(in.weight);
    }
  }
  if (data.node_names.empty()) {
    return fail(
        error_at(ErrorCode::missing, spec.source, {}, 1, "the fabric has no nodes", "at least one entry under nodes"));
  }
  data.node_up.assign(data.node_count(), 1);
  data.nic_base.resize(data.node_count() + 1, 0);
  for (std::uint32_t n = 0; n < data.node_count(); ++n) {
    data.nic_base[n + 1] = data.nic_base[n] + data.types[data.node_type[n]].nics;
  }
  return {};
}

Done resolve_switches(const config::FabricSpec& spec, FabricData& data) {
  for (const config::SwitchSpec& in : spec.switches) {
    auto names = expand(spec, in.names);
    if (!names) return fail(names.error());
    if (data.switch_names.size() + names->size() > kMaxSwitches) {
      return fail(
          text_error(spec, ErrorCode::limit, in.names, "too many switches", fmt::format("at most {}", kMaxSwitches)));
    }
    if (in.tier && (*in.tier < 1 || *in.tier > kMaxTier)) {
      return fail(text_error(spec, *in.tier < 1 ? ErrorCode::bad_value : ErrorCode::limit, in.names,
                             fmt::format("tier {} is not possible", *in.tier),
                             fmt::format("1 (leaf) to {}", kMaxTier)));
    }
    for (std::string& name : *names) {
      data.switch_names.push_back(std::move(name));
      data.tier.push_back(static_cast<std::uint8_t>(in.tier.value_or(0)));
    }
  }
  data.switch_up.assign(data.switch_count(), 1);
  return {};
}

Done resolve_nvlink(const config::FabricSpec& spec, NameIndex& names, FabricData& data) {
  data.nvlink_domain.assign(data.node_count(), kNone);
  std::unordered_map<std::string_view, std::uint32_t> seen;
  for (const config::NvlinkDomainSpec& in : spec.nvlink_domains) {
    const auto id = static_cast<std::uint32_t>(data.nvlink_names.size());
    if (const auto [it, fresh] = seen.emplace(in.name.value, id); !fresh) {
      return fail(text_error(spec, ErrorCode::duplicate, in.name,
                             fmt::format("NVLink domain '{}' is defined twice: first {}", in.name.value,
                                         where(spec.nvlink_domains[it->second].name.at)),
                             "domains that are each defined once"));
    }
    const auto list = names.list(in.nodes);
    if (!list) return fail(list.error());
    if ((*list)->is_switch) {
      return fail(item_error(spec, ErrorCode::bad_value, in.nodes, 0,
                             fmt::format("'{}' is a switch", data.switch_names[(*list)->ids[0]]), "nodes"));
    }
    for (std::size_t i = 0; i < (*list)->ids.size(); ++i) {
      std::uint32_t& domain = data.nvlink_domain[(*list)->ids[i]];
      if (domain != kNone) {
        return fail(
            item_error(spec, ErrorCode::conflict, in.nodes, i,
                       fmt::format("node '{}' is already in NVLink domain '{}' ({})", data.node_names[(*list)->ids[i]],
                                   spec.nvlink_domains[domain].name.value, where(spec.nvlink_domains[domain].name.at)),
                       "each node in at most one NVLink domain"));
      }
      domain = id;
    }
    data.nvlink_names.push_back(in.name.value);
  }
  return {};
}

std::vector<std::uint32_t> sorted_by_name(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> out(names.size());
  for (std::uint32_t i = 0; i < out.size(); ++i) out[i] = i;
  std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  return out;
}

}  // namespace

Done resolve(const config::FabricSpec& spec, FabricData& data, std::vector<PlaneClaim>& claims) {
  data.name = spec.name;
  TypeIndex types;
  if (auto done = resolve_types(spec, data, types); !done) return done;
  if (auto done = resolve_nodes(spec, types, data); !done) return done;
  if (auto done = resolve_switches(spec, data); !done) return done;
  data.nodes_by_name = sorted_by_name(data.node_names);
  data.switches_by_name = sorted_by_name(data.switch_names);
  NameIndex names(spec, data);
  if (auto done = names.fill(); !done) return done;
  if (auto done = resolve_nvlink(spec, names, data); !done) return done;
  if (auto done = resolve_links(spec, names, data, claims); !done) return done;
  return apply_health(spec, names, data);
}

}  // namespace weft::topology
