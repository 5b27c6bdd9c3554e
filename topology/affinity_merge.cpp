// SPDX-License-Identifier: BSD-3-Clause
//
// Two views of one machine, or of two machines bought as equal, laid over each other; and the fabric's NICs found among
// the node's.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "affinity_tree.hpp"
#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

using Index = std::vector<std::optional<std::uint32_t>>;  // of each device of the first view: that of the second

class Merger {
 public:
  Merger(NodeAffinity first, const NodeAffinity& second) : out_(std::move(first)), other_(second) {
    same_host_ = out_.host.empty() || other_.host.empty() || out_.host == other_.host;
  }

  Result<NodeAffinity> run() {
    if (out_.gpus.size() != other_.gpus.size()) {
      Error e = error(ErrorCode::conflict,
                      fmt::format("{} GPUs here, {} in {}", other_.gpus.size(), out_.gpus.size(), out_.file),
                      "views of one machine, or of machines of one type");
      e.file = other_.file;
      return fail(std::move(e));
    }
    match_gpus();
    match_nics();
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) merge_gpu(g, *gpus_[g]);
    for (std::uint32_t n = 0; n < nics_.size(); ++n) {
      if (nics_[n]) merge_nic(n, *nics_[n]);
    }
    merge_paths();
    merge_links();
    if (out_.numa.empty()) out_.numa = other_.numa;
    if (out_.cores.empty() && same_host_) {
      out_.cores = other_.cores;
      out_.core_socket = other_.core_socket;
    }
    if (out_.sockets == 0) out_.sockets = other_.sockets;
    compare_rails();
    out_.notes.insert(out_.notes.end(), other_.notes.begin(), other_.notes.end());
    out_.notes.insert(out_.notes.end(), found_.begin(), found_.end());
    derive_nics(out_);
    return std::move(out_);
  }

 private:
  void differ(std::string what) {
    found_.push_back(
        {Note::Kind::warning, other_.file, {}, fmt::format("{} in {}; the latter is taken", what, out_.file)});
  }

  // By address where both know all addresses and they are the same set, else by number.
  void match_gpus() {
    gpus_.resize(out_.gpus.size());
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
      for (std::uint32_t h = 0; h < gpus_.size(); ++h) {
        if (out_.gpus[g].pci && out_.gpus[g].pci == other_.gpus[h].pci) gpus_[g] = h;
      }
    }
    const auto matched = std::count_if(gpus_.begin(), gpus_.end(), [](const auto& m) { return m.has_value(); });
    if (static_cast<std::size_t>(matched) == gpus_.size()) return;
    const bool both =
        std::all_of(out_.gpus.begin(), out_.gpus.end(), [](const AffinityGpu& g) { return g.pci.has_value(); }) &&
        std::all_of(other_.gpus.begin(), other_.gpus.end(), [](const AffinityGpu& g) { return g.pci.has_value(); });
    if (both && same_host_ && !gpus_.empty()) differ("GPUs are at other PCI addresses here than those");
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) gpus_[g] = g;
  }

  void match_nics() {
    nics_.resize(out_.nics.size());
    std::set<std::uint32_t> taken;
    const auto match = [&](auto same) {
      for (std::uint32_t n = 0; n < nics_.size(); ++n) {
        for (std::uint32_t m = 0; m < other_.nics.size() && !nics_[n]; ++m) {
          if (!taken.contains(m) && same(out_.nics[n], other_.nics[m])) {
            nics_[n] = m;
            taken.insert(m);
          }
        }
      }
    };
    match([](const AffinityNic& a, const AffinityNic& b) { return !a.name.empty() && a.name == b.name; });
    match([](const AffinityNic& a, const AffinityNic& b) { return a.pci && a.pci == b.pci; });
    if (taken.empty() && out_.nics.size() == other_.nics.size()) {
      for (std::uint32_t n = 0; n < nics_.size(); ++n) nics_[n] = n;
    } else if (!other_.nics.empty() && !out_.nics.empty() &&
               (taken.size() < other_.nics.size() || taken.size() < out_.nics.size())) {
      differ(fmt::format("{} NICs here, of which {} are among the {}", other_.nics.size(), taken.size(),
                         out_.nics.size()));
    }
  }

  void merge_gpu(std::uint32_t g, std::uint32_t h) {
    AffinityGpu& gpu = out_.gpus[g];
    const AffinityGpu& view = other_.gpus[h];
    if (!gpu.pci && same_host_) gpu.pci = view.pci;
    if (gpu.vendor == GpuVendor::unknown) gpu.vendor = view.vendor;
    if (gpu.pci_id == 0) gpu.pci_id = view.pci_id;
    if (gpu.render.empty()) gpu.render = view.render;
    if (gpu.numa && view.numa && *gpu.numa != *view.numa) {
      differ(fmt::format("GPU {} is on NUMA node {} here, on {}", g, *view.numa, *gpu.numa));
    }
    if (!gpu.cpus.empty() && !view.cpus.empty() && !gpu.cpus.intersects(view.cpus)) {
      differ(fmt::format("GPU {} is near CPUs {} here, near {}", g, view.cpus.list(), gpu.cpus.list()));
    }
    if (!gpu.numa && std::any_of(out_.numa.begin(), out_.numa.end(),
                                 [&](const AffinityNuma& n) { return view.numa == n.os_index; })) {
      gpu.numa = view.numa;
    }
    if (!gpu.numa && out_.numa.empty()) gpu.numa = view.numa;
    if (!gpu.socket) gpu.socket = view.socket;
    if (gpu.cpus.empty()) gpu.cpus = view.cpus;
    if (!(gpu.pci_gigabytes_per_second > 0)) gpu.pci_gigabytes_per_second = view.pci_gigabytes_per_second;
  }

  void merge_nic(std::uint32_t n, std::uint32_t m) {
    AffinityNic& nic = out_.nics[n];
    const AffinityNic& view = other_.nics[m];
    const bool placeholder = nic.name.empty() || (nic.name.starts_with("NIC") && !view.name.empty());
    if (placeholder) nic.name = view.name;
    if (nic.netdev.empty()) nic.netdev = view.netdev;
    if (same_host_) {
      if (nic.guid && view.guid && *nic.guid != *view.guid && out_.kind == other_.kind) {
        differ(fmt::format("NIC {} has GUID 0x{:016x} here, 0x{:016x}", n, *view.guid, *nic.guid));
      }
      if (nic.pci && view.pci && *nic.pci != *view.pci) {
        differ(fmt::format("NIC {} is at {} here, at {}", n, to_string(*view.pci), to_string(*nic.pci)));
      }
      if (!nic.pci) nic.pci = view.pci;
      if (!nic.guid) nic.guid = view.guid;
    }
    if (!nic.numa && (out_.numa.empty() || std::any_of(out_.numa.begin(), out_.numa.end(), [&](const AffinityNuma& k) {
                        return view.numa == k.os_index;
                      }))) {
      nic.numa = view.numa;
    }
    if (!nic.socket) nic.socket = view.socket;
  }

  // NCCL's files have no host bridges, so its PHB may be another's NODE; RSMI's NODE may be PHB or nearer.
  [[nodiscard]] bool agree(PathClass a, PathClass b) const {
    const auto coarse = [](AffinityKind kind) { return kind == AffinityKind::nccl || kind == AffinityKind::rocm_smi; };
    if (a == b) return true;
    const auto within = [](PathClass p) { return p == PathClass::phb || p == PathClass::node; };
    return (coarse(out_.kind) || coarse(other_.kind)) && within(a) && within(b);
  }

  void fold(std::optional<PathClass>& mine, const std::optional<PathClass>& view, std::string_view what,
            std::uint32_t a, std::uint32_t b) {
    if (!mine) mine = view;
    if (mine && view && !agree(*mine, *view)) {
      differ(fmt::format("GPU {} - {} {} is {} here, {}", a, what, b, to_string(*view), to_string(*mine)));
    }
  }

  void merge_paths() {
    const std::size_t gpus = out_.gpus.size();
    if (out_.nics.empty() && !other_.nics.empty()) {
      out_.nics = other_.nics;
      for (AffinityNic& nic : out_.nics) {
        if (!same_host_) nic.guid.reset();
        const bool known = std::any_of(out_.numa.begin(), out_.numa.end(),
                                       [&](const AffinityNuma& k) { return nic.numa == k.os_index; });
        if (!known && !out_.numa.empty()) nic.numa.reset();
      }
      nics_.resize(out_.nics.size());
      for (std::uint32_t n = 0; n < nics_.size(); ++n) nics_[n] = n;
      out_.gpu_nic.assign(gpus * out_.nics.size(), std::nullopt);
      out_.gpu_nic_bridges.assign(out_.gpu_nic.size(), 0);
    }
    for (std::uint32_t g = 0; g < gpus; ++g) {
      for (std::uint32_t n = 0; n < out_.nics.size(); ++n) {
        if (nics_[n]) fold(out_.gpu_nic[g * out_.nics.size() + n], other_.path(*gpus_[g], *nics_[n]), "NIC", g, n);
      }
      for (std::uint32_t h = 0; h < g; ++h) {
        // A table with NVLinks has no PCI path in their place.
        auto& mine = out_.gpu_gpu[g * gpus + h];
        fold(mine, other_.path_between(*gpus_[g], *gpus_[h]), "GPU", g, h);
        out_.gpu_gpu[h * gpus + g] = mine;
      }
    }
  }

  void merge_links() {
    if (!other_.links_said) return;
    std::vector<GpuLink> view;
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
      for (std::uint32_t h = g + 1; h < gpus_.size(); ++h) {
        if (const GpuLink* link = other_.link(*gpus_[g], *gpus_[h])) {
          view.push_back({g, h, link->kind, link->width, link->megabytes_per_second});
        }
      }
    }
    if (!out_.links_said) {
      out_.links_said = true;
      return affinity::set_links(out_, std::move(view));
    }
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
      for (std::uint32_t h = g + 1; h < gpus_.size(); ++h) {
        const auto theirs =
            std::find_if(view.begin(), view.end(), [&](const GpuLink& l) { return l.a == g && l.b == h; });
        const GpuLink* mine = out_.link(g, h);
        const std::uint32_t width = mine != nullptr ? mine->width : 0;
        const bool both = mine != nullptr && theirs != view.end();
        if (both && (width == 0 || theirs->width == 0 || width == theirs->width)) continue;
        if (mine == nullptr && theirs == view.end()) continue;
        differ(fmt::format("GPU {} - GPU {} has {} links here, {}", g, h, theirs == view.end() ? 0 : theirs->width,
                           width));
      }
    }
  }

  void compare_rails() {
    if (other_.nics.empty() || out_.nic_of_gpu.empty() || out_.nic_by_order || other_.nic_by_order) return;
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
      const auto mine = out_.nic_of_gpu[g];
      const auto theirs = other_.nic_of_gpu[*gpus_[g]];
      if (!mine || !theirs || nics_[*mine] == theirs) continue;
      differ(fmt::format("rails differ: GPU {} uses NIC {} here, {}", g, *theirs, *mine));
    }
  }

  NodeAffinity out_;
  const NodeAffinity& other_;
  bool same_host_ = true;
  Index gpus_;
  Index nics_;
  Notes found_;
};

}  // namespace

Result<NodeAffinity> merge_views(const NodeAffinity& first, const NodeAffinity& second) {
  return Merger(first, second).run();
}

Result<std::vector<std::uint32_t>> join_nics(const NodeAffinity& node,
                                             std::span<const std::optional<std::uint64_t>> fabric_guids) {
  std::vector<std::uint32_t> out;
  for (const auto& guid : fabric_guids) {
    for (std::uint32_t n = 0; guid && n < node.nics.size(); ++n) {
      const bool free = std::find(out.begin(), out.end(), n) == out.end();
      if (free && node.nics[n].guid == guid) {
        out.push_back(n);
        break;
      }
    }
  }
  if (out.size() == fabric_guids.size()) return out;
  if (auto near = compute_nics(node); near.size() == fabric_guids.size()) return near;
  std::set<std::uint32_t> used;
  for (const auto& nic : node.nic_of_gpu) {
    if (nic) used.insert(*nic);
  }
  if (used.size() == fabric_guids.size()) return std::vector<std::uint32_t>(used.begin(), used.end());
  if (node.nics.size() == fabric_guids.size()) {
    out.clear();
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) out.push_back(n);
    return out;
  }
  Error e = error(ErrorCode::conflict,
                  fmt::format("{} NICs, {} of them in use by GPUs, for the fabric's {}", node.nics.size(), used.size(),
                              fabric_guids.size()),
                  "as many NICs as the node type has");
  e.file = node.file;
  return fail(std::move(e));
}

}  // namespace weft::topology
