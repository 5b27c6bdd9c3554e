// SPDX-License-Identifier: BSD-3-Clause
//
// The PCI tree as hwloc's and NCCL's files have it, and the model made from it: which device is a GPU or a NIC, and
// what the path between two of them crosses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/topology/affinity.hpp"

namespace weft::topology::affinity {

/// A network interface that a PCI device offers.
struct NetPort {
  std::string name;
  std::string netdev;
  std::optional<std::uint64_t> guid;
  std::uint32_t port = 1;
};

struct PciItem {
  enum class Kind : std::uint8_t { host, bridge, device };
  static constexpr std::uint32_t kNone = ~0U;

  Kind kind = Kind::device;
  std::uint32_t parent = kNone;  ///< index of the item above; kNone at the top
  std::optional<PciAddress> pci;
  std::uint32_t pci_class = 0;  ///< "0302"; 0 = not said
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
  double gigabytes_per_second = 0;
  CpuSet cpus;                        ///< of the place that it hangs from
  std::optional<std::uint32_t> numa;  ///< where the file says it apart from the CPUs
  Position at;

  bool gpu_object = false;                  ///< CUDA, NVML, RSMI, Level Zero, or NCCL's <gpu>
  std::optional<std::uint32_t> gpu_number;  ///< in the driver's count
  std::string gpu_name;                     ///< of the object that gave it: "nvml0"
  std::string render;
  std::vector<NetPort> rdma;  ///< RDMA devices; NCCL's nets
  std::string netdev;
};

struct DeviceTree {
  std::vector<PciItem> items;      ///< parents before children
  std::uint32_t switch_steps = 1;  ///< bridges that may lie between a device and the top of one switch
};

/// Which item each GPU of the model came from.
struct Assembled {
  std::vector<std::uint32_t> gpu_item;
};

/// Fills gpus, nics, gpu_nic and gpu_gpu from the tree; numa and sockets must be there already. Adds notes on what was
/// left out. Errors: limit, duplicate (two GPUs at one address).
[[nodiscard]] Result<Assembled> assemble(const DeviceTree& tree, NodeAffinity& node, const Source& source);

/// "0302" is a GPU of this vendor and device? `object`: a GPU library's object says so.
[[nodiscard]] bool is_gpu(std::uint32_t pci_class, std::uint32_t vendor, std::uint32_t device, bool object);
/// An RDMA adapter by its class and ids alone?
[[nodiscard]] bool is_rdma_adapter(std::uint32_t pci_class, std::uint32_t vendor, std::uint32_t device);
/// A virtual function of a Mellanox/NVIDIA adapter?
[[nodiscard]] bool is_virtual_function(std::uint32_t vendor, std::uint32_t device);
/// A video chip that no GPU library names and no vendor of GPUs makes, or a BMC's.
[[nodiscard]] bool is_display(std::uint32_t pci_class);

[[nodiscard]] GpuVendor vendor_of(std::uint32_t vendor);

/// NUMA node and socket of a set of CPUs: the node with exactly these CPUs, else the only one that they touch.
[[nodiscard]] std::optional<std::uint32_t> numa_of(const NodeAffinity& node, const CpuSet& cpus);

/// Adds links given per direction, folds the two directions (the narrower counts), sorts.
void set_links(NodeAffinity& node, std::vector<GpuLink> links);

/// A note about a place in a file.
void note(NodeAffinity& node, Note::Kind kind, Position at, std::string message);

}  // namespace weft::topology::affinity
