// SPDX-License-Identifier: BSD-3-Clause
//
// The inside of a node: which NIC is near which GPU, which GPUs NVLink or xGMI joins, which cores sit beside them. Half
// of a bad placement happens here, and every site has a file that says it.
//
// DESCRIPTION
//   read_affinity takes any of the usual files, recognised by content, into one model: hwloc XML (1.x, 2.x, 3.x),
//   `nvidia-smi topo -m` and `-mp`, NCCL and RCCL topology XML, `rocm-smi --showtopo`. live_affinity asks the machine
//   itself through the hwloc library. What a kind cannot say stays unknown (nullopt, empty), never guessed.
//
// COUNTED
//   GPUs: by PCI class and vendor (NVIDIA, AMD, Intel's data-centre GPUs), with or without a CUDA, NVML, RSMI or OpenCL
//   object; the video chip of a BMC is none. NICs: devices with an RDMA object (mlx5_0, usnic_0 …), InfiniBand and
//   Omni-Path by PCI class, Slingshot, EFA and other RDMA adapters by PCI id. Plain Ethernet is taken for management
//   and storage controllers are no NICs. Virtual functions beside their own physical function are left out.
//
// ORDER
//   GPUs in the driver's order where the file tells it (nvml0, rsmi0, NCCL's dev, the columns of nvidia-smi), else in
//   PCI bus order, which is the same on all machines known. NICs in natural order of their RDMA names (mlx5_2 before
//   mlx5_10), as ibverbs, NCCL, nvidia-smi and the fabric's own dumps count them, else in PCI bus order.
//
// THREADS
//   Pure functions and values, but for live_affinity, which reads the machine.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"

namespace weft::topology {

/// A PCI address: domain:bus:device.function.
struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;
  friend bool operator==(const PciAddress&, const PciAddress&) = default;
  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};
/// "0000:1d:00.0", "00000000:1D:00.0" or "1d:00.0"; nullopt for anything else.
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text);
/// Lower case, four digits of domain (more where needed): "0000:1d:00.0".
[[nodiscard]] std::string to_string(const PciAddress& address);

/// Sorted distinct indices of CPUs (hardware threads) or cores.
class CpuSet {
 public:
  static constexpr std::uint32_t kMaxCpu = 1U << 16;

  CpuSet() = default;
  explicit CpuSet(std::vector<std::uint32_t> cpus);  ///< any order, duplicates folded
  [[nodiscard]] bool empty() const { return cpus_.empty(); }
  [[nodiscard]] std::size_t size() const { return cpus_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> cpus() const { return cpus_; }
  [[nodiscard]] bool contains(std::uint32_t cpu) const;
  [[nodiscard]] bool includes(const CpuSet& other) const;
  [[nodiscard]] bool intersects(const CpuSet& other) const;
  [[nodiscard]] CpuSet with(const CpuSet& other) const;  ///< union
  /// "0-15,32-47"; empty for an empty set.
  [[nodiscard]] std::string list() const;
  /// "0xffff0000ffff", as Slurm's --cpu-bind=mask_cpu takes it; "0x0" for an empty set.
  [[nodiscard]] std::string mask() const;
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  std::vector<std::uint32_t> cpus_;
};
/// "0-51,104-155"; nullopt for anything else, and above CpuSet::kMaxCpu.
[[nodiscard]] std::optional<CpuSet> parse_cpu_list(std::string_view text);
/// Words of 32 bits, most significant first, as hwloc ("0x000000ff,,0x0000ffff") and the kernel ("ff,ffffffff") write
/// them; nullopt for anything else, an infinite set ("0xf...f") included.
[[nodiscard]] std::optional<CpuSet> parse_cpu_mask(std::string_view text);

/// What a path between two devices crosses, nearest first; the words are nvidia-smi's.
enum class PathClass : std::uint8_t {
  pix,   ///< at most one PCIe switch
  pxb,   ///< several PCIe switches, no host bridge
  phb,   ///< a PCIe host bridge, typically the CPU
  node,  ///< several host bridges of one NUMA node
  sys,   ///< between NUMA nodes, perhaps between sockets
};
/// "PIX", "PXB", "PHB", "NODE", "SYS".
[[nodiscard]] std::string_view to_string(PathClass path);

enum class AffinityKind : std::uint8_t { hwloc_xml, hwloc_live, nvidia_smi, nccl, rocm_smi };
/// "hwloc XML", "live machine", "nvidia-smi topo", "NCCL topology", "rocm-smi --showtopo".
[[nodiscard]] std::string_view to_string(AffinityKind kind);

enum class GpuVendor : std::uint8_t { unknown, nvidia, amd, intel };
[[nodiscard]] std::string_view to_string(GpuVendor vendor);

struct AffinityGpu {
  std::optional<PciAddress> pci;
  GpuVendor vendor = GpuVendor::unknown;
  std::uint32_t pci_id = 0;             ///< vendor << 16 | device; 0 = not said
  std::string render;                   ///< "renderD128"; empty where not said
  std::optional<std::uint32_t> numa;    ///< the operating system's number
  std::optional<std::uint32_t> socket;  ///< index among the sockets
  CpuSet cpus;                          ///< local hardware threads; empty = unknown
  double pci_gigabytes_per_second = 0;  ///< of its own PCIe link as it is now; 0 = unknown
};

struct AffinityNic {
  std::string name;    ///< RDMA device ("mlx5_0"), else what the file calls it; may be empty
  std::string netdev;  ///< "ib0", "hsi0"; may be empty
  std::optional<PciAddress> pci;
  std::optional<std::uint64_t> guid;  ///< node GUID; NCCL's files have the system image GUID
  std::optional<std::uint32_t> numa;
  std::optional<std::uint32_t> socket;
  std::uint32_t port = 1;               ///< the (first) port in use
  double pci_gigabytes_per_second = 0;  ///< as of a GPU
};

/// A NUMA node (those of memory alone, as a GPU's, are left out).
struct AffinityNuma {
  std::uint32_t os_index = 0;
  std::optional<std::uint32_t> socket;
  CpuSet cpus;  ///< empty = unknown
};

enum class LinkKind : std::uint8_t { nvlink, xgmi };
[[nodiscard]] std::string_view to_string(LinkKind kind);  ///< "NVLink", "xGMI"

/// A direct link between two GPUs, one entry a pair; through NVSwitches too.
struct GpuLink {
  std::uint32_t a = 0;  ///< below b
  std::uint32_t b = 0;
  LinkKind kind = LinkKind::nvlink;
  std::uint32_t width = 0;                 ///< links bonded; 0 = not said
  std::uint32_t megabytes_per_second = 0;  ///< each way; 0 = not said
  friend bool operator==(const GpuLink&, const GpuLink&) = default;
};

/// GPUs joined by links of one kind, directly or over others.
struct LinkGroup {
  LinkKind kind = LinkKind::nvlink;
  std::vector<std::uint32_t> gpus;  ///< ascending, at least two
  bool all_to_all = false;          ///< every pair has a link of its own
  std::uint32_t min_width = 0;
  std::uint32_t max_width = 0;
  friend bool operator==(const LinkGroup&, const LinkGroup&) = default;
};

/// One node's inside. Indices of GPUs and NICs are those of the vectors.
struct NodeAffinity {
  AffinityKind kind = AffinityKind::hwloc_xml;
  std::string file;
  std::string host;  ///< where the file says it
  std::vector<AffinityGpu> gpus;
  std::vector<AffinityNic> nics;
  std::vector<AffinityNuma> numa;                 ///< ascending by os_index; empty = unknown
  std::uint32_t sockets = 0;                      ///< 0 = unknown
  std::vector<CpuSet> cores;                      ///< hardware threads of each core, in Slurm's (hwloc's logical) order
  std::vector<std::uint32_t> core_socket;         ///< of each core; as many as cores
  std::vector<std::optional<PathClass>> gpu_nic;  ///< gpus * nics, by GPU
  std::vector<std::uint16_t> gpu_nic_bridges;     ///< PCI bridges on those paths below a host bridge; 0 = not said
  std::vector<std::optional<PathClass>> gpu_gpu;  ///< gpus * gpus; symmetric, the diagonal is nullopt
  std::vector<GpuLink> links;                     ///< ascending by (a, b)
  bool links_said = false;                        ///< the kind tells links: none of them means that there is none
  std::vector<std::optional<std::uint32_t>> nic_of_gpu;  ///< derived; nullopt without NICs
  bool nic_by_order = false;                             ///< nic_of_gpu from the order alone: no path is known
  Notes notes;  ///< what was left out, assumed or found odd, in the file's order and then by GPU

  [[nodiscard]] std::optional<PathClass> path(std::uint32_t gpu, std::uint32_t nic) const {
    return gpu_nic[gpu * nics.size() + nic];
  }
  [[nodiscard]] std::optional<PathClass> path_between(std::uint32_t a, std::uint32_t b) const {
    return gpu_gpu[a * gpus.size() + b];
  }
  [[nodiscard]] const GpuLink* link(std::uint32_t a,
                                    std::uint32_t b) const;  ///< null where there is none; O(log links)
  /// Cores (indices of `cores`) with a thread among the GPU's CPUs; empty where either is unknown.
  [[nodiscard]] std::vector<std::uint32_t> cores_of(std::uint32_t gpu) const;

  /// Everything that must hold of sizes, order, symmetry and ranges; the first broken invariant as text.
  [[nodiscard]] std::optional<std::string> check_invariants() const;
};

/// More GPUs or NICs in one node are refused (ErrorCode::limit): no file may make Weft allocate without bound.
inline constexpr std::uint32_t kMaxAffinityDevices = 256;
/// Larger files are refused unread.
inline constexpr std::size_t kMaxAffinityBytes = 16U << 20;

/// What the text is; nullopt where it is none of the kinds.
[[nodiscard]] std::optional<AffinityKind> recognise_affinity(std::string_view text);

/// Reads a file of any kind. Errors, with place and what would be right: syntax, bad_value, missing, duplicate,
/// conflict, limit; unsupported for what is recognised but says no paths (lspci, numactl, `nvidia-smi topo -p2p`, NCCL
/// graphs), for compressed and for unknown texts.
[[nodiscard]] Result<NodeAffinity> read_affinity(const Source& source);
/// This machine, through the hwloc library with I/O objects on. Errors: unsupported, with what hwloc says.
[[nodiscard]] Result<NodeAffinity> live_affinity();

// One reader a kind, for tests and fuzzers; read_affinity calls them.
[[nodiscard]] Result<NodeAffinity> read_hwloc_xml(const Source& source);
[[nodiscard]] Result<NodeAffinity> read_nvidia_smi_topo(const Source& source);
[[nodiscard]] Result<NodeAffinity> read_nccl_topology(const Source& source);
[[nodiscard]] Result<NodeAffinity> read_rocm_smi_topo(const Source& source);

/// NVLink and xGMI groups, by first GPU.
[[nodiscard]] std::vector<LinkGroup> link_groups(const NodeAffinity& node);

/// Each GPU's NIC: among the NICs of its nearest path class (and of those, the ones over the fewest bridges where one
/// PCIe tree holds both, then those on its own NUMA node, then socket) the one that fewest GPUs use, so that no
/// assignment within those sets is more even; ties by order. GPU g of n takes NIC g * nics / n where no path is known
/// at all. O(gpus^2 * nics). SOURCE: optimal semi-matching, Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for
/// bipartite graphs and load balancing", J. Algorithms 59 (2006).
void derive_nics(NodeAffinity& node);

/// What is odd in a machine: GPUs whose link width or PCIe speed is below that of their equals, GPUs with farther NICs
/// than others, NICs that several GPUs share while others idle, uneven numbers of GPUs a socket or NUMA node.
[[nodiscard]] Notes affinity_warnings(const NodeAffinity& node);

/// Lays a second view over the first: of the same host, or of another host of the same type. Devices are matched by PCI
/// address, else by name, else by order. Unknowns of `first` are filled; where both speak and differ, `first` stays and
/// a warning says so. Where the two are about different hosts, addresses and GUIDs may differ.
/// Errors: conflict where the numbers of GPUs differ.
[[nodiscard]] Result<NodeAffinity> merge_views(const NodeAffinity& first, const NodeAffinity& second);

/// NICs among the nearest of some GPU, ascending: the ones that jobs are to use. A bonded port for storage beside a NIC
/// for each GPU is none of them. All of them where no path is known.
[[nodiscard]] std::vector<std::uint32_t> compute_nics(const NodeAffinity& node);

/// For each fabric NIC of a node the affinity's NIC: by GUID where every fabric GUID is found among the NICs', else by
/// order over compute_nics, the NICs in use, or all NICs, whichever are as many as the fabric's.
/// Errors: conflict where the counts cannot be matched.
[[nodiscard]] Result<std::vector<std::uint32_t>> join_nics(const NodeAffinity& node,
                                                           std::span<const std::optional<std::uint64_t>> fabric_guids);

}  // namespace weft::topology
