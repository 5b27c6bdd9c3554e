// SPDX-License-Identifier: BSD-3-Clause
#include "weft/topology/affinity_write.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::topology {
namespace {

constexpr std::uint32_t kFirstRender = 128;  // of the kernel's render nodes

// A comment must stay one.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return text;
}

std::string device_file(const NodeAffinity& node, std::uint32_t gpu) {
  const AffinityGpu& g = node.gpus[gpu];
  if (g.vendor != GpuVendor::amd && g.vendor != GpuVendor::intel) return fmt::format("/dev/nvidia{}", gpu);
  return "/dev/dri/" + (g.render.empty() ? fmt::format("renderD{}", kFirstRender + gpu) : g.render);
}

std::string links_of(const NodeAffinity& node, std::uint32_t gpu) {
  std::string out;
  for (std::uint32_t other = 0; other < node.gpus.size(); ++other) {
    const GpuLink* link = node.link(gpu, other);
    const int width = other == gpu ? -1 : (link == nullptr ? 0 : std::max(1, static_cast<int>(link->width)));
    out += fmt::format("{}{}", other == 0 ? "" : ",", width);
  }
  return out;
}

std::string index_list(const std::vector<std::uint32_t>& indices) { return CpuSet(indices).list(); }

std::string visible_devices(GpuVendor vendor, std::uint32_t gpu) {
  switch (vendor) {
    case GpuVendor::amd: return fmt::format("ROCR_VISIBLE_DEVICES={}", gpu);
    case GpuVendor::intel: return fmt::format("ZE_AFFINITY_MASK={}", gpu);
    case GpuVendor::nvidia:
    case GpuVendor::unknown: break;
  }
  return fmt::format("CUDA_VISIBLE_DEVICES={}", gpu);
}

// Names of devices come from files; anything but plain ones is left out of what a shell reads.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
                              std::string_view::npos;
}

// NCCL takes names without '=' as prefixes: mlx5_1 would be mlx5_10 too. An interface without an RDMA name goes over
// sockets.
std::string net_variables(const NodeAffinity& node, std::uint32_t gpu) {
  if (!node.nic_of_gpu[gpu]) return {};
  const AffinityNic& nic = node.nics[*node.nic_of_gpu[gpu]];
  if (!is_plain(nic.name)) return {};
  if (nic.name == nic.netdev) return fmt::format(" NCCL_SOCKET_IFNAME=={} UCX_NET_DEVICES={}", nic.name, nic.name);
  return fmt::format(" NCCL_IB_HCA=={0}:{1} UCX_NET_DEVICES={0}:{1}", nic.name, nic.port);
}

// "1:0-3": socket, and cores within it; plain cores where they are of several sockets, or sockets are unknown.
std::string slots(const NodeAffinity& node, const std::vector<std::uint32_t>& cores) {
  if (node.sockets == 0 || node.cores.empty()) return index_list(cores);
  const std::uint32_t socket = node.core_socket[cores.front()];
  std::vector<std::uint32_t> within;
  for (const std::uint32_t core : cores) {
    if (node.core_socket[core] != socket) return index_list(cores);
    const auto before = std::count(node.core_socket.begin(), node.core_socket.begin() + core, socket);
    within.push_back(static_cast<std::uint32_t>(before));
  }
  return fmt::format("{}:{}", socket, index_list(within));
}

}  // namespace

std::string write_gres_conf(const NodeAffinity& node, const std::string& nodes) {
  const CpuShares shares = cpu_shares(node);
  const std::string name = nodes.empty() ? std::string() : fmt::format("NodeName={} ", nodes);
  std::string out =
      fmt::format("# {} GPUs, from {} ({})\n", node.gpus.size(), one_line(node.file), to_string(node.kind));
  if (shares.cores_assumed)
    out += "# Cores: the file has CPUs alone; assumed that core N has CPU N as its first thread\n";
  const bool guessed = std::any_of(node.gpus.begin(), node.gpus.end(), [](const AffinityGpu& g) {
    return g.render.empty() && (g.vendor == GpuVendor::amd || g.vendor == GpuVendor::intel);
  });
  if (guessed) out += "# File: the file does not name the render nodes; assumed from renderD128 on, by order\n";
  out += name + "AutoDetect=off\n";
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    out += fmt::format("{}Name=gpu File={}", name, device_file(node, g));
    if (!shares.cores[g].empty()) out += fmt::format(" Cores={}", index_list(shares.cores[g]));
    if (node.links_said && !node.links.empty()) out += fmt::format(" Links={}", links_of(node, g));
    out += '\n';
  }
  return out;
}

std::string write_affinity_env(const NodeAffinity& node) {
  const CpuShares shares = cpu_shares(node);
  std::string out = fmt::format(
      "# One GPU, its NIC and its cores for each local rank, from {} ({}). Source it in each rank.\n"
      "case \"${{WEFT_LOCAL_RANK:-${{SLURM_LOCALID:-${{OMPI_COMM_WORLD_LOCAL_RANK:-${{PMIX_LOCAL_RANK:-"
      "${{MPI_LOCALRANKID:-0}}}}}}}}}}\" in\n",
      one_line(node.file), to_string(node.kind));
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    out += fmt::format("  {}) export {}{}", g, visible_devices(node.gpus[g].vendor, g), net_variables(node, g));
    if (!shares.cpus[g].empty()) {
      out += fmt::format(" WEFT_CPU_MASK={} WEFT_CPU_LIST={}", shares.cpus[g].mask(), shares.cpus[g].list());
    }
    out += " ;;\n";
  }
  return out + "esac\n";
}

std::string write_affinity_rankfile(const NodeAffinity& node, const std::vector<std::string>& hosts) {
  const CpuShares shares = cpu_shares(node);
  std::string out;
  std::size_t rank = 0;
  for (std::size_t h = 0; h < std::max<std::size_t>(hosts.size(), 1); ++h) {
    for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
      // A rank without known cores takes those of its number, as Open MPI itself would hand them out.
      const std::vector<std::uint32_t> own = shares.own[g].empty() ? std::vector<std::uint32_t>{g} : shares.own[g];
      out += fmt::format("rank {}={} slot={}\n", rank++, hosts.empty() ? std::string("localhost") : hosts[h],
                         slots(node, own));
    }
  }
  return out;
}

std::string write_srun_options(const NodeAffinity& node) {
  const CpuShares shares = cpu_shares(node);
  const std::size_t gpus = node.gpus.size();
  std::string masks;
  std::string map;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    masks += (g == 0 ? "" : ",") + shares.cpus[g].mask();
    map += fmt::format("{}{}", g == 0 ? "" : ",", g);
  }
  const bool bound =
      gpus > 0 && std::none_of(shares.cpus.begin(), shares.cpus.end(), [](const CpuSet& s) { return s.empty(); });
  return fmt::format("--ntasks-per-node={0} --gpus-per-node={0}{1}{2}\n", gpus,
                     bound ? " --cpu-bind=mask_cpu:" + masks : "", gpus > 0 ? " --gpu-bind=map_gpu:" + map : "");
}

}  // namespace weft::topology
