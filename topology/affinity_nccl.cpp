// SPDX-License-Identifier: BSD-3-Clause
//
// NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE; src/graph/xml.cc of NCCL), which RCCL shares: <system> of
// <cpu> (a NUMA node) of nested <pci> with <gpu> (its <nvlink> or <xgmi>) and <nic> of <net>.
//
// Each bridge stands for a whole switch, so PIX is two devices under one bridge, as NCCL's own path types have it; a
// host bridge has no element, so two devices of one <cpu> are PHB apart at worst. Cloud vendors' files leave <gpu> and
// <net> out and NCCL fills them in from the machine: then the PCI class must tell.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "affinity_tree.hpp"
#include "affinity_xml.hpp"

namespace weft::topology {
namespace affinity {
namespace {

constexpr std::uint32_t kNone = PciItem::kNone;
constexpr std::uint32_t kSwitchClass = 0x0680;
constexpr std::uint64_t kMostDevices = 1U << 16;

// A link of a GPU as the file has it: the peer by address.
struct RawLink {
  std::uint32_t item = 0;
  LinkKind kind = LinkKind::nvlink;
  std::string target;
  std::uint32_t target_class = 0;
  std::uint32_t count = 0;
  Position at;
};

// sys_image_guid as ibverbs has it, in network order, which NCCL prints as a number of the host: the bytes are reversed
// on every machine that has GPUs. Mellanox derives GUIDs from MACs with 03:00 in the middle, which tells files that
// somebody has put right by hand.
std::uint64_t nccl_guid(std::uint64_t raw) {
  std::uint64_t reversed = 0;
  for (int byte = 0; byte < 8; ++byte) reversed |= (raw >> (8 * byte) & 0xffU) << (8 * (7 - byte));
  const auto from_mac = [](std::uint64_t guid) { return (guid >> 24 & 0xffffU) == 0x0300U; };
  return from_mac(raw) && !from_mac(reversed) ? raw : reversed;
}

class NcclReader {
 public:
  NcclReader(const XmlFile& xml, NodeAffinity& node) : xml_(xml), node_(node) { tree_.switch_steps = 0; }

  Result<void> read() {
    if (!xml_.root().child("cpu")) {
      return fail(xml_.error(ErrorCode::missing, xml_.root(), "the system has no <cpu>",
                             "<cpu numaid=\"0\" ...> with the PCI devices in it"));
    }
    for (const pugi::xml_node cpu : xml_.root().children()) {
      if (std::string_view(cpu.name()) != "cpu") {
        note(node_, Note::Kind::warning, xml_.at(cpu), fmt::format("<{}> in <system> left out", cpu.name()));
        continue;
      }
      if (auto ok = read_cpu(cpu); !ok) return ok;
    }
    std::stable_sort(node_.numa.begin(), node_.numa.end(),
                     [](const AffinityNuma& a, const AffinityNuma& b) { return a.os_index < b.os_index; });
    if (auto ok = check_classes(); !ok) return ok;
    auto made = assemble(tree_, node_, xml_.source());
    if (!made) return fail(std::move(made.error()));
    set_gpu_links(*made);
    return {};
  }

 private:
  Result<void> read_cpu(const pugi::xml_node& cpu) {
    const auto numa = xml_.number(cpu, "numaid", kMostDevices);
    if (!numa) return fail(numa.error());
    if (!*numa) return fail(xml_.error(ErrorCode::missing, cpu, "a <cpu> without numaid", "numaid=\"0\""));
    PciItem host;
    host.kind = PciItem::Kind::host;
    host.at = xml_.at(cpu);
    host.numa = static_cast<std::uint32_t>(**numa);
    if (const pugi::xml_attribute affinity = cpu.attribute("affinity")) {
      auto cpus = parse_cpu_mask(affinity.value());
      if (!cpus) return fail(xml_.bad_attribute(cpu, "affinity", "words of 32 bits such as \"0000ffff,ffffffff\""));
      host.cpus = std::move(*cpus);
    }
    auto known = std::find_if(node_.numa.begin(), node_.numa.end(),
                              [&](const AffinityNuma& n) { return n.os_index == *host.numa; });
    if (known == node_.numa.end()) {
      node_.numa.push_back({.os_index = *host.numa, .socket = std::nullopt, .cpus = host.cpus});
    } else {
      known->cpus = known->cpus.with(host.cpus);
    }
    const auto self = static_cast<std::uint32_t>(tree_.items.size());
    tree_.items.push_back(std::move(host));
    return read_children(cpu, self);
  }

  Result<void> read_children(const pugi::xml_node& node, std::uint32_t parent) {  // NOLINT(misc-no-recursion)
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      Result<void> ok;
      if (name == "pci") {
        ok = read_pci(child, parent);
      } else if (name == "gpu") {
        ok = read_gpu(child, parent);
      } else if (name == "nic") {
        ok = read_nic(child, parent);
      } else if (child.type() == pugi::node_element) {
        note(node_, Note::Kind::warning, xml_.at(child), fmt::format("<{}> in <{}> left out", name, node.name()));
      }
      if (!ok) return ok;
    }
    return {};
  }

  Result<void> read_pci(const pugi::xml_node& pci, std::uint32_t parent) {  // NOLINT(misc-no-recursion)
    PciItem item;
    item.parent = parent;
    item.at = xml_.at(pci);
    item.cpus = tree_.items[parent].cpus;
    item.numa = tree_.items[parent].numa;
    item.pci = parse_pci_address(pci.attribute("busid").value());
    if (!pci.attribute("busid"))
      return fail(xml_.error(ErrorCode::missing, pci, "a <pci> without busid", "busid=\"0000:1d:00.0\""));
    if (!item.pci) return fail(xml_.bad_attribute(pci, "busid", "an address such as \"0000:1d:00.0\""));
    const auto pci_class = xml_.number(pci, "class", 0xffffffU);
    const auto vendor = xml_.number(pci, "vendor", 0xffffU);
    const auto device = xml_.number(pci, "device", 0xffffU);
    const auto width = pci.attribute("link_width").empty() ? Result<std::optional<std::uint64_t>>()
                                                           : xml_.number(pci, "link_width", 64);
    for (const auto* value : {&pci_class, &vendor, &device, &width}) {
      if (!*value) return fail(value->error());
    }
    item.pci_class = static_cast<std::uint32_t>(pci_class->value_or(0) >> 8);
    item.vendor = static_cast<std::uint32_t>(vendor->value_or(0));
    item.device = static_cast<std::uint32_t>(device->value_or(0));
    item.gigabytes_per_second = rate(pci.attribute("link_speed").value(), width->value_or(0));
    if (item.vendor == 0 && (is_display(item.pci_class) || item.pci_class >> 8 == 0x12)) {
      item.gpu_object = true;  // nothing else with a screen's class is of use to NCCL
      item.vendor = item.pci_class == 0x0302 || item.pci_class == 0x0300 ? 0x10de : 0x1002;
    }
    // A device whose class is not said is whatever its children make it.
    if (item.pci_class == 0x0604 || (item.pci_class == 0 && pci.child("pci"))) item.kind = PciItem::Kind::bridge;
    const auto self = static_cast<std::uint32_t>(tree_.items.size());
    tree_.items.push_back(std::move(item));
    if (tree_.items[self].pci_class == 0 && tree_.items[self].kind == PciItem::Kind::device && !pci.first_child()) {
      classless_.push_back(self);
    }
    if (auto ok = read_children(pci, self); !ok) return ok;
    // What stands in the file is what NCCL is to use, RDMA or not.
    PciItem& made = tree_.items[self];
    if (made.pci_class >> 8 == 0x02 && made.rdma.empty()) made.rdma.emplace_back();
    return {};
  }

  // "16.0 GT/s PCIe" and 16 lanes to GB/s; 0 where not said.
  static double rate(std::string_view speed, std::uint64_t width) {
    double transfers = 0;
    const auto [end, fault] = std::from_chars(speed.data(), speed.data() + speed.size(), transfers);
    static_cast<void>(end);
    if (fault != std::errc() || !(transfers > 0) || transfers > 1000) return 0;
    const double coded = transfers > 7 ? 128.0 / 130.0 : 0.8;  // 8b/10b below generation 3
    return transfers * coded * static_cast<double>(width) / 8;
  }

  Result<void> read_gpu(const pugi::xml_node& gpu, std::uint32_t parent) {
    PciItem& item = tree_.items[parent];
    if (item.kind != PciItem::Kind::device) {
      return fail(
          xml_.error(ErrorCode::conflict, gpu, "a <gpu> that is in no PCI device", "it inside the <pci> of the GPU"));
    }
    const auto dev = xml_.number(gpu, "dev", kMostDevices);
    if (!dev) return fail(dev.error());
    item.gpu_object = true;
    if (*dev) item.gpu_number = static_cast<std::uint32_t>(**dev);
    if (item.vendor == 0) item.vendor = gpu.attribute("gcn") || gpu.child("xgmi") ? 0x1002 : 0x10de;
    for (const pugi::xml_node link : gpu.children()) {
      const std::string_view name = link.name();
      if (name != "nvlink" && name != "xgmi") continue;
      const auto count = xml_.number(link, "count", 1024);
      const auto target_class = xml_.number(link, "tclass", 0xffffffU);
      if (!count) return fail(count.error());
      if (!target_class) return fail(target_class.error());
      node_.links_said = true;
      raw_links_.push_back({.item = parent,
                            .kind = name == "xgmi" ? LinkKind::xgmi : LinkKind::nvlink,
                            .target = link.attribute("target").value(),
                            .target_class = static_cast<std::uint32_t>(target_class->value_or(0) >> 8),
                            .count = static_cast<std::uint32_t>(count->value_or(1)),
                            .at = xml_.at(link)});
    }
    return {};
  }

  Result<void> read_nic(const pugi::xml_node& nic, std::uint32_t parent) {
    if (tree_.items[parent].kind != PciItem::Kind::device) {  // below a <cpu> where NCCL found no PCI device
      PciItem item;
      item.parent = parent;
      item.at = xml_.at(nic);
      item.cpus = tree_.items[parent].cpus;
      item.numa = tree_.items[parent].numa;
      parent = static_cast<std::uint32_t>(tree_.items.size());
      tree_.items.push_back(std::move(item));
    }
    for (const pugi::xml_node net : nic.children("net")) {
      const auto guid = xml_.number(net, "guid", ~0ULL);
      const auto port = xml_.number(net, "port", 255);
      for (const auto* value : {&guid, &port}) {
        if (!*value) return fail(value->error());
      }
      NetPort out;
      out.name = net.attribute("name").value();
      if (out.name.empty()) return fail(xml_.error(ErrorCode::missing, net, "a <net> without name", "name=\"mlx5_0\""));
      if (guid->value_or(0) != 0) out.guid = nccl_guid(**guid);
      if (port->value_or(0) != 0) out.port = static_cast<std::uint32_t>(**port);
      auto& ports = tree_.items[parent].rdma;
      const bool second = std::any_of(ports.begin(), ports.end(), [&](const NetPort& p) { return p.name == out.name; });
      if (!second) ports.push_back(std::move(out));  // a second port of the same adapter is no second NIC
    }
    return {};
  }

  // AWS's file for g5 names addresses alone; where nothing tells what a device is, there is nothing to read.
  Result<void> check_classes() {
    if (classless_.empty()) return {};
    const PciItem& first = tree_.items[classless_.front()];
    const bool any = std::any_of(tree_.items.begin(), tree_.items.end(), [](const PciItem& item) {
      return item.kind == PciItem::Kind::device && (item.pci_class != 0 || item.gpu_object || !item.rdma.empty());
    });
    if (!any) {
      return fail(
          error_at(ErrorCode::missing, xml_.source(), first.at, 3,
                   fmt::format("PCI device {} has no class, so nothing tells GPUs from NICs", to_string(*first.pci)),
                   "class=\"0x030200\", or the file that NCCL writes on the machine itself with NCCL_TOPO_DUMP_FILE"));
    }
    note(node_, Note::Kind::warning, first.at,
         fmt::format("{} PCI device{} without class left out", classless_.size(), classless_.size() == 1 ? "" : "s"));
    return {};
  }

  void set_gpu_links(const Assembled& made) {
    std::map<std::uint32_t, std::uint32_t> gpu_of_item;
    std::map<PciAddress, std::uint32_t> gpu_at;
    for (std::uint32_t g = 0; g < made.gpu_item.size(); ++g) {
      gpu_of_item.emplace(made.gpu_item[g], g);
      if (node_.gpus[g].pci) gpu_at.emplace(*node_.gpus[g].pci, g);
    }
    std::vector<std::uint32_t> to_switches(node_.gpus.size(), 0);
    std::vector<GpuLink> links;
    for (const RawLink& raw : raw_links_) {
      const std::uint32_t self = gpu_of_item.at(raw.item);
      const auto target = parse_pci_address(raw.target);
      const auto peer = target ? gpu_at.find(*target) : gpu_at.end();
      if (peer != gpu_at.end() && peer->second != self) {
        links.push_back({self, peer->second, raw.kind, raw.count, 0});
      } else if (peer != gpu_at.end()) {
        note(node_, Note::Kind::warning, raw.at,
             fmt::format("GPU {} names itself as its {} peer; left out", self, to_string(raw.kind)));
      } else if (raw.target_class == kSwitchClass) {
        to_switches[self] += raw.count;
      } else if (raw.target_class >> 8 == 0x03 || raw.target_class >> 8 == 0x12) {
        note(node_, Note::Kind::warning, raw.at,
             fmt::format("GPU {} has {} to {}, which is not in the file", self, to_string(raw.kind), raw.target));
      }
    }
    for (std::uint32_t a = 0; a < to_switches.size(); ++a) {
      for (std::uint32_t b = a + 1; b < to_switches.size(); ++b) {
        const std::uint32_t width = std::min(to_switches[a], to_switches[b]);
        if (width > 0) links.push_back({a, b, LinkKind::nvlink, width, 0});
      }
    }
    set_links(node_, std::move(links));
  }

  const XmlFile& xml_;
  NodeAffinity& node_;
  DeviceTree tree_;
  std::vector<RawLink> raw_links_;
  std::vector<std::uint32_t> classless_;
};

}  // namespace
}  // namespace affinity

Result<NodeAffinity> read_nccl_topology(const Source& source) {
  auto xml = affinity::XmlFile::parse(source);
  if (!xml) return fail(std::move(xml.error()));
  if (std::string_view(xml->root().name()) != "system") {
    return fail(xml->error(ErrorCode::unsupported, xml->root(), fmt::format("<{}> on top", xml->root().name()),
                           "<system>, as NCCL_TOPO_DUMP_FILE has it"));
  }
  NodeAffinity node;
  node.kind = AffinityKind::nccl;
  node.file = source->file();
  if (auto ok = affinity::NcclReader(*xml, node).read(); !ok) return fail(std::move(ok.error()));
  derive_nics(node);
  return node;
}

}  // namespace weft::topology
