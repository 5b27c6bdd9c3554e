// SPDX-License-Identifier: BSD-3-Clause
//
// hwloc XML of every generation, as the DTDs hwloc.dtd (1.x) and hwloc2.dtd (2.x, 3.x) and hwloc's own exporters have
// it. The library of a release reads its own generation and older ones (2.9, Debian 12's, refuses 3.x), so the files
// are read here; the live machine comes through the library and then the same way.
//
// What changed between the generations and matters here: NUMA nodes are levels above packages in 1.x and children
// beside the cores from 2.0 on; packages are called Socket before 1.11; I/O object types are numbers that 3.0 turned
// into bit masks; link bandwidths are matrices over PCI or OS devices from 2.5 on.
#include "affinity_hwloc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "affinity_tree.hpp"
#include "affinity_xml.hpp"

namespace weft::topology {
namespace affinity {
namespace {

constexpr std::uint32_t kNone = PciItem::kNone;
constexpr std::size_t kMaxObjects = 1U << 20;

// What an object inherits from those above it.
struct Context {
  std::uint32_t item = kNone;  // PCI item that it is in
  CpuSet cpus;
  std::optional<std::uint32_t> socket;
};

// OS device types: a number before hwloc 3, bits from there on.
enum class OsType : std::uint8_t { other, gpu, network, rdma };

OsType os_type(std::uint64_t type, std::uint32_t generation) {
  if (generation >= 3) {
    if ((type & 32U) != 0) return OsType::rdma;
    if ((type & 16U) != 0) return OsType::network;
    return (type & 12U) != 0 ? OsType::gpu : OsType::other;
  }
  switch (type) {
    case 1:
    case 5: return OsType::gpu;
    case 2: return OsType::network;
    case 3: return OsType::rdma;
    default: return OsType::other;
  }
}

class HwlocReader {
 public:
  HwlocReader(const XmlFile& xml, NodeAffinity& node) : xml_(xml), node_(node) {}

  Result<void> read() {
    const std::string_view version = xml_.root().attribute("version").value();
    if (!version.empty()) {
      const auto major = parse_number(version.substr(0, version.find('.')), 10);
      if (!major || *major < 2 || *major > 3) {
        return fail(error_at(ErrorCode::unsupported, xml_.source(), xml_.at(xml_.root(), "version"),
                             static_cast<std::uint32_t>(version.size()),
                             fmt::format("hwloc XML of version {}", quoted(version)),
                             "no version (hwloc 1.x), 2.0 or 3.0, as lstopo of those releases writes it"));
      }
      generation_ = static_cast<std::uint32_t>(*major);
    }
    if (!xml_.root().child("object")) {
      return fail(xml_.error(ErrorCode::missing, xml_.root(), "the topology has no object",
                             "<object type=\"Machine\" ...>, as lstopo writes it"));
    }
    for (const pugi::xml_node object : xml_.root().children("object")) {
      if (auto ok = read_object(object, {}); !ok) return ok;
    }
    finish_places();
    auto made = assemble(tree_, node_, xml_.source());
    if (!made) return fail(std::move(made.error()));
    return read_hwloc_links(xml_, tree_, *made, objects_, node_);
  }

 private:
  Result<CpuSet> cpuset(const pugi::xml_node& object, const Context& above) const {
    const pugi::xml_attribute text = object.attribute("cpuset");
    if (!text) return above.cpus;
    auto cpus = parse_cpu_mask(text.value());
    if (!cpus) return fail(xml_.bad_attribute(object, "cpuset", "words of 32 bits such as \"0x000000ff,0xffff0000\""));
    return std::move(*cpus);
  }

  // Depth is bounded by kMaxXmlDepth.
  Result<void> read_object(const pugi::xml_node& object, Context context) {  // NOLINT(misc-no-recursion)
    if (++count_ > kMaxObjects) {
      return fail(xml_.error(ErrorCode::limit, object, "too many objects", fmt::format("at most {}", kMaxObjects)));
    }
    const std::string_view type = object.attribute("type").value();
    const auto index = xml_.number(object, "os_index", ~0U);
    if (!index) return fail(index.error());
    auto cpus = cpuset(object, context);
    if (!cpus) return fail(std::move(cpus.error()));
    context.cpus = std::move(*cpus);
    if (type == "Machine") {
      read_machine(object);
    } else if (type == "NUMANode") {
      numa_.push_back({.os_index = static_cast<std::uint32_t>(index->value_or(numa_.size())),
                       .socket = context.socket,
                       .cpus = context.cpus});
      if (!object.attribute("cpuset")) numa_.back().cpus = {};
    } else if (type == "Package" || type == "Socket") {
      context.socket = node_.sockets++;
      socket_cpus_.push_back(context.cpus);
    } else if (type == "Core") {
      node_.cores.push_back(context.cpus);
      node_.core_socket.push_back(context.socket.value_or(0));
    } else if (type == "PU") {
      pus_.emplace_back(context.cpus, context.socket.value_or(0));
    } else if (type == "Bridge" || type == "PCIDev") {
      if (auto ok = read_pci(object, type, context); !ok) return ok;
    } else if (type == "OSDev") {
      if (auto ok = read_os_device(object, context); !ok) return ok;
    }
    for (const pugi::xml_node child : object.children("object")) {
      if (auto ok = read_object(child, context); !ok) return ok;
    }
    return {};
  }

  void read_machine(const pugi::xml_node& object) {
    for (const pugi::xml_node info : object.children("info")) {
      if (std::string_view(info.attribute("name").value()) == "HostName") node_.host = info.attribute("value").value();
    }
    for (const pugi::xml_node info : xml_.root().children("info")) {  // from 3.0 on
      if (std::string_view(info.attribute("name").value()) == "HostName") node_.host = info.attribute("value").value();
    }
  }

  Result<void> read_pci(const pugi::xml_node& object, std::string_view type, Context& context) {
    PciItem item;
    item.parent = context.item;
    item.cpus = context.cpus;
    item.at = xml_.at(object);
    const std::string_view bridge = object.attribute("bridge_type").value();
    if (type == "Bridge") item.kind = bridge.starts_with("0-") ? PciItem::Kind::host : PciItem::Kind::bridge;
    if (const pugi::xml_attribute address = object.attribute("pci_busid")) {
      item.pci = parse_pci_address(address.value());
      if (!item.pci) return fail(xml_.bad_attribute(object, "pci_busid", "an address such as \"0000:1d:00.0\""));
    } else if (item.kind == PciItem::Kind::device) {
      return fail(
          xml_.error(ErrorCode::missing, object, "a PCI device without pci_busid", "pci_busid=\"0000:1d:00.0\""));
    }
    if (object.attribute("pci_type") && !read_ids(object.attribute("pci_type").value(), item)) {
      return fail(xml_.bad_attribute(object, "pci_type",
                                     "class, ids and revision such as \"0302 [10de:20b0] [10de:144e] a1\""));
    }
    if (const std::string_view speed = object.attribute("pci_link_speed").value(); !speed.empty()) {
      const auto [end, fault] = std::from_chars(speed.data(), speed.data() + speed.size(), item.gigabytes_per_second);
      if (fault != std::errc() || end != speed.data() + speed.size() || !(item.gigabytes_per_second >= 0)) {
        return fail(xml_.bad_attribute(object, "pci_link_speed", "GB/s such as \"31.507692\""));
      }
    }
    remember(object, static_cast<std::uint32_t>(tree_.items.size()));
    context.item = static_cast<std::uint32_t>(tree_.items.size());
    tree_.items.push_back(std::move(item));
    return {};
  }

  // "0302 [10de:20b0] [10de:144e] a1", with a second two-digit word from 3.0 on.
  static bool read_ids(std::string_view text, PciItem& item) {
    if (text.size() < 16 || text[4] != ' ' || text[5] != '[' || text[10] != ':' || text[15] != ']') return false;
    const auto pci_class = parse_number(text.substr(0, 4), 16);
    const auto vendor = parse_number(text.substr(6, 4), 16);
    const auto device = parse_number(text.substr(11, 4), 16);
    if (!pci_class || !vendor || !device) return false;
    item.pci_class = static_cast<std::uint32_t>(*pci_class);
    item.vendor = static_cast<std::uint32_t>(*vendor);
    item.device = static_cast<std::uint32_t>(*device);
    return true;
  }

  Result<void> read_os_device(const pugi::xml_node& object, const Context& context) {
    const auto type = xml_.number(object, "osdev_type", 1U << 16);
    if (!type) return fail(type.error());
    remember(object, context.item);
    if (context.item == kNone) return {};
    PciItem& item = tree_.items[context.item];
    const std::string name = object.attribute("name").value();
    switch (os_type(type->value_or(~0U), generation_)) {
      case OsType::gpu: read_gpu_object(name, item); break;
      case OsType::network:
        if (item.netdev.empty()) item.netdev = name;
        break;
      case OsType::rdma: return read_rdma_object(object, name, item);
      case OsType::other: break;
    }
    return {};
  }

  // nvml and rsmi count as the tools do; CUDA counts fastest first and Level Zero as it likes, so they only tell that
  // the device computes.
  static void read_gpu_object(const std::string& name, PciItem& item) {
    for (const std::string_view prefix : {"nvml", "rsmi"}) {
      if (!name.starts_with(prefix)) continue;
      const auto number = parse_number(std::string_view(name).substr(prefix.size()), 10);
      if (!number || *number >= kMaxAffinityDevices) continue;
      item.gpu_number = static_cast<std::uint32_t>(*number);
      item.gpu_name = name;
      item.gpu_object = true;
    }
    if (name.starts_with("cuda") || name.starts_with("ze")) item.gpu_object = true;
    if (name.starts_with("renderD")) item.render = name;
  }

  Result<void> read_rdma_object(const pugi::xml_node& object, const std::string& name, PciItem& item) const {
    NetPort port;
    port.name = name;
    bool active = false;
    for (const pugi::xml_node info : object.children("info")) {
      const std::string_view key = info.attribute("name").value();
      const std::string_view value = info.attribute("value").value();
      if (key == "NodeGUID") {
        std::string digits(value);
        std::erase(digits, ':');
        port.guid = digits.size() == 16 ? parse_number(digits, 16) : std::nullopt;
        if (!port.guid) return fail(xml_.bad_attribute(info, "value", "a GUID such as \"506b:4b03:00b4:6c60\""));
        if (*port.guid == 0) port.guid.reset();
      }
      if (key.size() == 10 && key.starts_with("Port") && key.ends_with("State") && value == "4" && !active) {
        active = true;  // the first port that is up
        port.port = static_cast<std::uint32_t>(key[4] >= '1' && key[4] <= '9' ? key[4] - '0' : 1);
      }
    }
    item.rdma.push_back(std::move(port));
    return {};
  }

  void remember(const pugi::xml_node& object, std::uint32_t item) {
    if (const auto gp = parse_number(object.attribute("gp_index").value(), 10); gp && item != kNone) {
      objects_.emplace(*gp, item);
    }
  }

  // NUMA nodes with CPUs; a machine without any is one. Sockets of nodes above packages (1.x) by their CPUs.
  void finish_places() {
    std::erase_if(numa_, [](const AffinityNuma& numa) { return numa.cpus.empty(); });
    std::stable_sort(numa_.begin(), numa_.end(),
                     [](const AffinityNuma& a, const AffinityNuma& b) { return a.os_index < b.os_index; });
    numa_.erase(std::unique(numa_.begin(), numa_.end(),
                            [](const AffinityNuma& a, const AffinityNuma& b) { return a.os_index == b.os_index; }),
                numa_.end());
    if (node_.cores.empty()) {
      for (auto& [cpus, socket] : pus_) {
        node_.cores.push_back(cpus);
        node_.core_socket.push_back(socket);
      }
    }
    if (numa_.empty() && !node_.cores.empty()) {
      CpuSet all;
      for (const CpuSet& core : node_.cores) all = all.with(core);
      numa_.push_back({.os_index = 0, .socket = std::nullopt, .cpus = std::move(all)});
    }
    for (AffinityNuma& numa : numa_) {
      for (std::uint32_t s = 0; s < socket_cpus_.size() && !numa.socket; ++s) {
        if (!numa.cpus.empty() && socket_cpus_[s].includes(numa.cpus)) numa.socket = s;
      }
    }
    node_.numa = numa_;
  }

  const XmlFile& xml_;
  NodeAffinity& node_;
  std::uint32_t generation_ = 1;
  std::size_t count_ = 0;
  DeviceTree tree_;
  std::vector<AffinityNuma> numa_;
  std::vector<CpuSet> socket_cpus_;
  std::vector<std::pair<CpuSet, std::uint32_t>> pus_;
  HwlocObjects objects_;
};

}  // namespace
}  // namespace affinity

Result<NodeAffinity> read_hwloc_xml(const Source& source) {
  auto xml = affinity::XmlFile::parse(source);
  if (!xml) return fail(std::move(xml.error()));
  if (std::string_view(xml->root().name()) != "topology") {
    return fail(xml->error(ErrorCode::unsupported, xml->root(), fmt::format("<{}> on top", xml->root().name()),
                           "<topology>, as lstopo writes it"));
  }
  NodeAffinity node;
  node.kind = AffinityKind::hwloc_xml;
  node.file = source->file();
  if (auto ok = affinity::HwlocReader(*xml, node).read(); !ok) return fail(std::move(ok.error()));
  derive_nics(node);
  return node;
}

}  // namespace weft::topology
