// SPDX-License-Identifier: BSD-3-Clause
//
// What is odd in one machine, told against its own majority: GPUs of a node are bought equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

std::string gpu_list(const std::vector<std::uint32_t>& gpus) {
  std::string out = gpus.size() == 1 ? "GPU " : "GPUs ";
  for (std::size_t i = 0; i < gpus.size(); ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", gpus[i]);
  return out;
}

// The most frequent value, the largest of several.
template <typename T>
T usual(const std::vector<T>& values) {
  std::map<T, std::size_t> count;
  for (const T& value : values) ++count[value];
  T best = values.front();
  for (const auto& [value, n] : count) {
    if (n >= count[best]) best = value;
  }
  return best;
}

class Warner {
 public:
  explicit Warner(const NodeAffinity& node) : node_(node) {}

  Notes run() {
    if (node_.gpus.empty()) say("no GPU in it");
    links();
    unlinked();
    pci_speeds();
    nic_paths();
    shared_nics();
    uneven();
    return std::move(notes_);
  }

 private:
  void say(std::string message) { notes_.push_back({Note::Kind::warning, node_.file, {}, std::move(message)}); }

  // Every GPU of a group has the same number of links in all, on switched machines and on meshes.
  void links() {
    for (const LinkGroup& group : link_groups(node_)) {
      std::vector<std::uint64_t> total(group.gpus.size(), 0);
      for (const GpuLink& link : node_.links) {
        if (link.kind != group.kind) continue;
        const std::uint64_t weight =
            link.width > 0 ? link.width : std::max<std::uint32_t>(link.megabytes_per_second, 1);
        for (std::size_t i = 0; i < group.gpus.size(); ++i) {
          if (link.a == group.gpus[i] || link.b == group.gpus[i]) total[i] += weight;
        }
      }
      const std::uint64_t most = usual(total);
      std::vector<std::uint32_t> low;
      for (std::size_t i = 0; i < total.size(); ++i) {
        if (total[i] < most) low.push_back(group.gpus[i]);
      }
      if (low.empty() || low.size() * 2 >= group.gpus.size()) continue;  // many have fewer: built so (MI200 pairs)
      const std::string_view kind = to_string(group.kind);
      if (group.all_to_all && group.max_width > group.min_width) {
        say(fmt::format("degraded {}: {} {} {} links to the others, where the others have {}", kind, gpu_list(low),
                        low.size() == 1 ? "has" : "have", narrowest(low), group.max_width));
      } else {
        say(fmt::format("degraded {}: {} {} fewer links than the others of the group", kind, gpu_list(low),
                        low.size() == 1 ? "has" : "have"));
      }
    }
  }

  std::uint32_t narrowest(const std::vector<std::uint32_t>& gpus) const {
    std::uint32_t width = ~0U;
    for (const GpuLink& link : node_.links) {
      for (const std::uint32_t gpu : gpus) {
        if (link.a == gpu || link.b == gpu) width = std::min(width, link.width);
      }
    }
    return width;
  }

  void unlinked() {
    if (!node_.links_said || node_.links.empty()) return;
    std::vector<std::uint32_t> alone;
    for (std::uint32_t g = 0; g < node_.gpus.size(); ++g) {
      const bool any =
          std::any_of(node_.links.begin(), node_.links.end(), [g](const GpuLink& l) { return l.a == g || l.b == g; });
      if (!any) alone.push_back(g);
    }
    if (!alone.empty()) {
      say(fmt::format("asymmetric: {} {} no {}, the others have", gpu_list(alone), alone.size() == 1 ? "has" : "have",
                      to_string(node_.links.front().kind)));
    }
  }

  // Among devices of one kind. An idle GPU may have slowed its link down to save power, which is no fault.
  void pci_speeds() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_kind;
    for (std::uint32_t g = 0; g < node_.gpus.size(); ++g) {
      if (node_.gpus[g].pci_gigabytes_per_second > 0) by_kind[node_.gpus[g].pci_id].push_back(g);
    }
    for (const auto& [kind, gpus] : by_kind) {
      std::vector<double> speeds;
      for (const std::uint32_t g : gpus) speeds.push_back(node_.gpus[g].pci_gigabytes_per_second);
      const double most = usual(speeds);
      for (const std::uint32_t g : gpus) {
        const double speed = node_.gpus[g].pci_gigabytes_per_second;
        if (speed > 0.99 * most) continue;
        say(fmt::format(
            "degraded PCIe: GPU {} runs at {:.1f} GB/s, its equals at {:.1f} (an idle GPU may have slowed down)", g,
            speed, most));
      }
    }
  }

  void nic_paths() {
    std::vector<std::uint32_t> classes;
    for (std::uint32_t g = 0; g < node_.gpus.size(); ++g) {
      if (!node_.nic_of_gpu[g]) return;
      const auto path = node_.path(g, *node_.nic_of_gpu[g]);
      if (!path) return;
      classes.push_back(static_cast<std::uint32_t>(*path));
    }
    if (classes.empty()) return;
    const std::uint32_t most = usual(classes);
    std::map<std::uint32_t, std::vector<std::uint32_t>> odd;
    for (std::uint32_t g = 0; g < classes.size(); ++g) {
      if (classes[g] != most) odd[classes[g]].push_back(g);
    }
    for (const auto& [path, gpus] : odd) {
      say(fmt::format("asymmetric: {} {} {} {} to the nearest NIC, the others {}", gpu_list(gpus),
                      gpus.size() == 1 ? "is" : "are", path > most ? "farther," : "nearer,",
                      to_string(static_cast<PathClass>(path)), to_string(static_cast<PathClass>(most))));
    }
  }

  void shared_nics() {
    if (node_.nics.empty() || node_.nic_by_order) return;
    std::vector<std::uint32_t> users(node_.nics.size(), 0);
    for (const auto& nic : node_.nic_of_gpu) ++users[*nic];
    const std::size_t fair = (node_.gpus.size() + node_.nics.size() - 1) / node_.nics.size();
    for (std::uint32_t n = 0; n < users.size(); ++n) {
      if (users[n] > fair) {
        say(fmt::format("asymmetric: NIC {} is the nearest of {} GPUs, where {} a NIC would be even", n, users[n],
                        fair));
      }
    }
  }

  void uneven() {
    std::map<std::uint32_t, std::uint32_t> count;
    for (const AffinityNuma& numa : node_.numa) count[numa.os_index] = 0;
    for (const AffinityGpu& gpu : node_.gpus) {
      if (!gpu.numa) return;
      ++count[*gpu.numa];
    }
    std::uint32_t least = ~0U;
    std::uint32_t most = 0;
    for (const auto& [numa, n] : count) {
      if (n == 0) continue;  // NUMA nodes without GPUs are common (NPS4)
      least = std::min(least, n);
      most = std::max(most, n);
    }
    if (most > least && least != ~0U) {
      say(fmt::format("asymmetric: {} to {} GPUs a NUMA node", least, most));
    }
  }

  const NodeAffinity& node_;
  Notes notes_;
};

}  // namespace

Notes affinity_warnings(const NodeAffinity& node) { return Warner(node).run(); }

}  // namespace weft::topology
