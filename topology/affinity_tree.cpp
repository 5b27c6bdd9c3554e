// SPDX-License-Identifier: BSD-3-Clause
#include "affinity_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ib_names.hpp"

namespace weft::topology::affinity {
namespace {

constexpr std::uint32_t kNone = PciItem::kNone;

std::optional<std::uint32_t> socket_of(const NodeAffinity& node, const CpuSet& cpus) {
  std::optional<std::uint32_t> found;
  for (const AffinityNuma& numa : node.numa) {
    if (!numa.cpus.intersects(cpus)) continue;
    if (!numa.socket || (found && *found != *numa.socket)) return std::nullopt;
    found = numa.socket;
  }
  return found;
}

std::string name_of(const PciItem& item) { return item.pci ? to_string(*item.pci) : std::string("a device"); }

// A NIC of the model and the item that it came from.
struct FoundNic {
  AffinityNic nic;
  std::uint32_t item = 0;
  bool rdma_name = false;
};

class Assembler {
 public:
  Assembler(const DeviceTree& tree, NodeAffinity& node, const Source& source)
      : tree_(tree), node_(node), source_(source) {}

  Result<Assembled> run() {
    find_gpus();
    find_nics();
    order_gpus();
    order_nics();
    if (gpus_.size() > kMaxAffinityDevices || nics_.size() > kMaxAffinityDevices) {
      return fail(error_at(ErrorCode::limit, source_, {1, 1}, 1,
                           fmt::format("{} GPUs and {} NICs in one node", gpus_.size(), nics_.size()),
                           fmt::format("at most {} of each", kMaxAffinityDevices)));
    }
    if (auto ok = check_addresses(); !ok) return fail(std::move(ok.error()));
    for (const std::uint32_t item : gpus_) node_.gpus.push_back(gpu_from(tree_.items[item]));
    for (FoundNic& found : nics_) node_.nics.push_back(std::move(found.nic));
    set_paths();
    note_left_out();
    return Assembled{gpus_};
  }

 private:
  void find_gpus() {
    for (std::uint32_t i = 0; i < tree_.items.size(); ++i) {
      const PciItem& item = tree_.items[i];
      if (item.kind != PciItem::Kind::device) continue;
      if (is_gpu(item.pci_class, item.vendor, item.device, item.gpu_object)) {
        gpus_.push_back(i);
      } else if (is_display(item.pci_class) && item.vendor == 0) {
        displays_.push_back(i);
      }
    }
  }

  void find_nics() {
    std::set<std::pair<std::uint32_t, std::uint32_t>> physical;  // domain and bus with a physical function
    for (const PciItem& item : tree_.items) {
      if (item.pci && is_rdma_adapter(item.pci_class, item.vendor, item.device) &&
          !is_virtual_function(item.vendor, item.device)) {
        physical.emplace(item.pci->domain, item.pci->bus);
      }
    }
    for (std::uint32_t i = 0; i < tree_.items.size(); ++i) {
      const PciItem& item = tree_.items[i];
      if (item.kind != PciItem::Kind::device) continue;
      const bool adapter = is_rdma_adapter(item.pci_class, item.vendor, item.device);
      if (item.rdma.empty() && !adapter) {
        if (item.pci_class >> 8 == 0x02) ethernet_.push_back(i);
        continue;
      }
      if (item.pci && is_virtual_function(item.vendor, item.device) &&
          physical.contains({item.pci->domain, item.pci->bus})) {
        virtual_.push_back(i);
        continue;
      }
      if (item.rdma.empty()) add_nic(i, {});
      for (const NetPort& port : item.rdma) add_nic(i, port);
    }
  }

  void add_nic(std::uint32_t index, const NetPort& port) {
    const PciItem& item = tree_.items[index];
    FoundNic found;
    found.item = index;
    found.rdma_name = !port.name.empty();
    found.nic.netdev = port.netdev.empty() ? item.netdev : port.netdev;
    found.nic.name = !port.name.empty() ? port.name : found.nic.netdev;
    found.nic.pci = item.pci;
    found.nic.guid = port.guid;
    found.nic.port = port.port;
    found.nic.numa = numa_at(item);
    found.nic.socket = socket_of(node_, item.cpus);
    found.nic.pci_gigabytes_per_second = item.gigabytes_per_second;
    nics_.push_back(std::move(found));
  }

  std::optional<std::uint32_t> numa_at(const PciItem& item) const {
    return item.numa ? item.numa : numa_of(node_, item.cpus);
  }

  AffinityGpu gpu_from(const PciItem& item) const {
    AffinityGpu gpu;
    gpu.pci = item.pci;
    gpu.vendor = vendor_of(item.vendor);
    gpu.pci_id = item.vendor << 16 | item.device;
    gpu.render = item.render;
    gpu.numa = numa_at(item);
    gpu.socket = socket_of(node_, item.cpus);
    gpu.cpus = item.cpus;
    gpu.pci_gigabytes_per_second = item.gigabytes_per_second;
    return gpu;
  }

  // The driver's numbers where every GPU has one of its own, else bus order.
  void order_gpus() {
    std::set<std::uint32_t> numbers;
    for (const std::uint32_t i : gpus_) {
      if (tree_.items[i].gpu_number) numbers.insert(*tree_.items[i].gpu_number);
    }
    const bool numbered = numbers.size() == gpus_.size();
    std::stable_sort(gpus_.begin(), gpus_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const PciItem& x = tree_.items[a];
      const PciItem& y = tree_.items[b];
      return numbered ? *x.gpu_number < *y.gpu_number : x.pci < y.pci;
    });
  }

  void order_nics() {
    const bool named = std::all_of(nics_.begin(), nics_.end(), [](const FoundNic& n) { return n.rdma_name; });
    std::stable_sort(nics_.begin(), nics_.end(), [&](const FoundNic& a, const FoundNic& b) {
      if (named && a.nic.name != b.nic.name) return ib::natural_less(a.nic.name, b.nic.name);
      return a.nic.pci < b.nic.pci;
    });
  }

  Result<void> check_addresses() const {
    std::map<PciAddress, std::uint32_t> seen;
    for (const std::uint32_t i : gpus_) {
      const PciItem& item = tree_.items[i];
      if (!item.pci) continue;
      const auto [it, fresh] = seen.emplace(*item.pci, i);
      if (fresh) continue;
      return fail(error_at(
          ErrorCode::duplicate, source_, item.at, 1,
          fmt::format("two GPUs at {}, first in line {}", to_string(*item.pci), tree_.items[it->second].at.line),
          "an address for each device"));
    }
    return {};
  }

  // The items above an item, itself first.
  std::vector<std::uint32_t> chain(std::uint32_t item) const {
    std::vector<std::uint32_t> out;
    for (; item != kNone; item = tree_.items[item].parent) out.push_back(item);
    return out;
  }

  std::optional<PathClass> path(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const {
    std::size_t shared = 0;
    while (shared < std::min(a.size(), b.size()) && a[a.size() - 1 - shared] == b[b.size() - 1 - shared]) ++shared;
    if (shared > 0) {
      if (tree_.items[a[a.size() - shared]].kind == PciItem::Kind::host) return PathClass::phb;
      // Bridges between the device and the shared one; none for two interfaces of one device.
      const std::size_t longer = std::max(a.size(), b.size()) - shared;
      return longer <= tree_.switch_steps + 1 ? PathClass::pix : PathClass::pxb;
    }
    const auto numa_x = numa_at(tree_.items[a.front()]);
    const auto numa_y = numa_at(tree_.items[b.front()]);
    if (numa_x && numa_y) return *numa_x == *numa_y ? PathClass::node : PathClass::sys;
    const CpuSet& x = tree_.items[a.front()].cpus;
    const CpuSet& y = tree_.items[b.front()].cpus;
    if (x.empty() || y.empty()) return std::nullopt;
    if (!x.intersects(y)) return PathClass::sys;
    // One of them hangs from several NUMA nodes at once, so which it is near is not said.
    return x == y ? std::optional(PathClass::node) : std::nullopt;
  }

  // Bridges on a path within one PCIe tree.
  std::uint16_t bridges(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) const {
    std::size_t shared = 0;
    while (shared < std::min(a.size(), b.size()) && a[a.size() - 1 - shared] == b[b.size() - 1 - shared]) ++shared;
    if (shared == 0 || tree_.items[a[a.size() - shared]].kind == PciItem::Kind::host) return 0;
    const std::size_t crossed = a.size() + b.size() - 2 * shared;
    return static_cast<std::uint16_t>(crossed < 2 ? crossed : crossed - 1);
  }

  void set_paths() {
    std::vector<std::vector<std::uint32_t>> gpu_chains;
    std::vector<std::vector<std::uint32_t>> nic_chains;
    for (const std::uint32_t item : gpus_) gpu_chains.push_back(chain(item));
    for (const FoundNic& found : nics_) nic_chains.push_back(chain(found.item));
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      for (const auto& nic : nic_chains) {
        node_.gpu_nic.push_back(path(gpu_chains[g], nic));
        node_.gpu_nic_bridges.push_back(bridges(gpu_chains[g], nic));
      }
      for (std::size_t h = 0; h < gpus_.size(); ++h) {
        node_.gpu_gpu.push_back(g == h ? std::nullopt : path(gpu_chains[g], gpu_chains[h]));
      }
    }
  }

  std::string names(const std::vector<std::uint32_t>& items) const {
    std::string out;
    for (std::size_t i = 0; i < items.size() && i < 4; ++i) {
      const PciItem& item = tree_.items[items[i]];
      out += (i == 0 ? "" : ", ") + (item.netdev.empty() ? name_of(item) : item.netdev);
    }
    return items.size() > 4 ? out + ", ..." : out;
  }

  void note_left_out() {
    const auto say = [&](const std::vector<std::uint32_t>& items, Note::Kind kind, std::string_view one,
                         std::string_view many) {
      if (items.empty()) return;
      note(node_, kind, tree_.items[items.front()].at,
           fmt::format("{} {} left out: {}", items.size(), items.size() == 1 ? one : many, names(items)));
    };
    say(ethernet_, Note::Kind::assumption, "Ethernet interface without RDMA, taken for management,",
        "Ethernet interfaces without RDMA, taken for management,");
    say(virtual_, Note::Kind::assumption, "virtual function of a NIC", "virtual functions of NICs");
    say(displays_, Note::Kind::warning, "display device of no vendor, which may be a GPU,",
        "display devices of no vendor, which may be GPUs,");
  }

  const DeviceTree& tree_;
  NodeAffinity& node_;
  const Source& source_;
  std::vector<std::uint32_t> gpus_;
  std::vector<FoundNic> nics_;
  std::vector<std::uint32_t> ethernet_, virtual_, displays_;
};

}  // namespace

std::optional<std::uint32_t> numa_of(const NodeAffinity& node, const CpuSet& cpus) {
  if (cpus.empty()) return std::nullopt;
  const AffinityNuma* only = nullptr;
  for (const AffinityNuma& numa : node.numa) {
    if (numa.cpus == cpus) return numa.os_index;
  }
  for (const AffinityNuma& numa : node.numa) {
    if (!numa.cpus.intersects(cpus)) continue;
    if (only != nullptr && !(only->cpus == numa.cpus)) return std::nullopt;
    if (only == nullptr) only = &numa;
  }
  return only == nullptr ? std::nullopt : std::optional(only->os_index);
}

void set_links(NodeAffinity& node, std::vector<GpuLink> links) {
  for (GpuLink& link : links) {
    if (link.a > link.b) std::swap(link.a, link.b);
  }
  std::stable_sort(links.begin(), links.end(), [](const GpuLink& x, const GpuLink& y) {
    return std::tie(x.a, x.b, x.width, x.megabytes_per_second) < std::tie(y.a, y.b, y.width, y.megabytes_per_second);
  });
  links.erase(std::unique(links.begin(), links.end(),
                          [](const GpuLink& x, const GpuLink& y) { return x.a == y.a && x.b == y.b; }),
              links.end());
  node.links = std::move(links);
}

void note(NodeAffinity& node, Note::Kind kind, Position at, std::string message) {
  node.notes.push_back({kind, node.file, at, std::move(message)});
}

Result<Assembled> assemble(const DeviceTree& tree, NodeAffinity& node, const Source& source) {
  return Assembler(tree, node, source).run();
}

}  // namespace weft::topology::affinity
