// SPDX-License-Identifier: BSD-3-Clause
//
// Words, look-ups and invariants of the model.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "weft/topology/affinity.hpp"

namespace weft::topology {

std::string_view to_string(PathClass path) {
  switch (path) {
    case PathClass::pix: return "PIX";
    case PathClass::pxb: return "PXB";
    case PathClass::phb: return "PHB";
    case PathClass::node: return "NODE";
    case PathClass::sys: return "SYS";
  }
  return "SYS";
}

std::string_view to_string(AffinityKind kind) {
  switch (kind) {
    case AffinityKind::hwloc_xml: return "hwloc XML";
    case AffinityKind::hwloc_live: return "live machine";
    case AffinityKind::nvidia_smi: return "nvidia-smi topo";
    case AffinityKind::nccl: return "NCCL topology";
    case AffinityKind::rocm_smi: return "rocm-smi --showtopo";
  }
  return "unknown";
}

std::string_view to_string(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::unknown: return "unknown";
    case GpuVendor::nvidia: return "nvidia";
    case GpuVendor::amd: return "amd";
    case GpuVendor::intel: return "intel";
  }
  return "unknown";
}

std::string_view to_string(LinkKind kind) { return kind == LinkKind::nvlink ? "NVLink" : "xGMI"; }

const GpuLink* NodeAffinity::link(std::uint32_t a, std::uint32_t b) const {
  const auto key = std::minmax(a, b);
  const auto it = std::lower_bound(links.begin(), links.end(), key, [](const GpuLink& l, const auto& k) {
    return std::tie(l.a, l.b) < std::tie(k.first, k.second);
  });
  return it != links.end() && it->a == key.first && it->b == key.second ? &*it : nullptr;
}

std::vector<std::uint32_t> NodeAffinity::cores_of(std::uint32_t gpu) const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t core = 0; core < cores.size(); ++core) {
    if (cores[core].intersects(gpus[gpu].cpus)) out.push_back(core);
  }
  return out;
}

namespace {

std::optional<std::string> broken_sizes(const NodeAffinity& node) {
  const std::size_t gpus = node.gpus.size();
  if (gpus > kMaxAffinityDevices || node.nics.size() > kMaxAffinityDevices) return "too many devices";
  if (node.gpu_nic.size() != gpus * node.nics.size()) return "gpu_nic is not GPUs times NICs";
  if (node.gpu_nic_bridges.size() != node.gpu_nic.size()) return "gpu_nic_bridges is not GPUs times NICs";
  if (node.gpu_gpu.size() != gpus * gpus) return "gpu_gpu is not GPUs times GPUs";
  if (node.nic_of_gpu.size() != gpus) return "nic_of_gpu has no entry for each GPU";
  if (node.core_socket.size() != node.cores.size()) return "core_socket has no entry for each core";
  return std::nullopt;
}

std::optional<std::string> broken_paths(const NodeAffinity& node) {
  const auto gpus = static_cast<std::uint32_t>(node.gpus.size());
  for (std::uint32_t a = 0; a < gpus; ++a) {
    if (node.path_between(a, a)) return fmt::format("GPU {} has a path to itself", a);
    for (std::uint32_t b = 0; b < a; ++b) {
      if (node.path_between(a, b) != node.path_between(b, a)) return fmt::format("paths {} - {} differ", a, b);
    }
  }
  for (std::size_t i = 0; i < node.links.size(); ++i) {
    const GpuLink& link = node.links[i];
    if (link.a >= link.b || link.b >= gpus) return fmt::format("link {} joins {} and {}", i, link.a, link.b);
    if (i > 0 && std::tie(node.links[i - 1].a, node.links[i - 1].b) >= std::tie(link.a, link.b)) {
      return fmt::format("link {} is out of order", i);
    }
  }
  return std::nullopt;
}

// A GPU's NIC is one of its nearest.
std::optional<std::string> broken_nics(const NodeAffinity& node) {
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    const auto chosen = node.nic_of_gpu[g];
    if (chosen.has_value() != !node.nics.empty()) return fmt::format("GPU {} has a NIC where none is, or none", g);
    if (!chosen) continue;
    if (*chosen >= node.nics.size()) return fmt::format("GPU {} has NIC {}", g, *chosen);
    if (node.nic_by_order) continue;
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
      const auto here = node.path(g, *chosen);
      const auto there = node.path(g, n);
      if (there && (!here || *there < *here)) return fmt::format("NIC {} is nearer to GPU {} than its own", n, g);
    }
  }
  return std::nullopt;
}

std::optional<std::string> broken_places(const NodeAffinity& node) {
  for (std::size_t i = 0; i < node.numa.size(); ++i) {
    if (i > 0 && node.numa[i - 1].os_index >= node.numa[i].os_index) return "NUMA nodes are out of order";
  }
  const auto numa_known = [&](const std::optional<std::uint32_t>& numa) {
    return !numa || node.numa.empty() ||
           std::any_of(node.numa.begin(), node.numa.end(), [&](const AffinityNuma& n) { return n.os_index == *numa; });
  };
  for (const AffinityGpu& gpu : node.gpus) {
    if (!numa_known(gpu.numa)) return fmt::format("a GPU is on NUMA node {}, which is not there", *gpu.numa);
  }
  for (const AffinityNic& nic : node.nics) {
    if (!numa_known(nic.numa)) return fmt::format("a NIC is on NUMA node {}, which is not there", *nic.numa);
  }
  std::vector<PciAddress> seen;
  for (const AffinityGpu& gpu : node.gpus) {
    if (gpu.pci) seen.push_back(*gpu.pci);
  }
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) return "two GPUs at one PCI address";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> NodeAffinity::check_invariants() const {
  if (auto fault = broken_sizes(*this)) return fault;
  if (auto fault = broken_paths(*this)) return fault;
  if (auto fault = broken_nics(*this)) return fault;
  return broken_places(*this);
}

std::vector<LinkGroup> link_groups(const NodeAffinity& node) {
  std::vector<LinkGroup> out;
  for (const LinkKind kind : {LinkKind::nvlink, LinkKind::xgmi}) {
    std::vector<std::uint32_t> root(node.gpus.size());
    for (std::uint32_t g = 0; g < root.size(); ++g) root[g] = g;
    const auto find = [&](std::uint32_t g) {
      while (root[g] != g) g = root[g] = root[root[g]];
      return g;
    };
    for (const GpuLink& link : node.links) {
      if (link.kind != kind) continue;
      const std::uint32_t a = find(link.a);
      const std::uint32_t b = find(link.b);
      root[std::max(a, b)] = std::min(a, b);
    }
    for (std::uint32_t g = 0; g < root.size(); ++g) {
      if (find(g) != g) continue;
      LinkGroup group{.kind = kind, .gpus = {}, .all_to_all = false, .min_width = 0, .max_width = 0};
      for (std::uint32_t other = g; other < root.size(); ++other) {
        if (find(other) == g) group.gpus.push_back(other);
      }
      if (group.gpus.size() < 2) continue;
      std::size_t pairs = 0;
      for (const GpuLink& link : node.links) {
        if (link.kind != kind || find(link.a) != g) continue;
        group.min_width = pairs == 0 ? link.width : std::min(group.min_width, link.width);
        group.max_width = std::max(group.max_width, link.width);
        ++pairs;
      }
      group.all_to_all = pairs == group.gpus.size() * (group.gpus.size() - 1) / 2;
      out.push_back(std::move(group));
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const LinkGroup& a, const LinkGroup& b) { return a.gpus.front() < b.gpus.front(); });
  return out;
}

}  // namespace weft::topology
