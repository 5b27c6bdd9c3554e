// SPDX-License-Identifier: BSD-3-Clause
//
// hwloc gives link bandwidths as matrices in MB/s over whatever they were measured on: OS devices (nvml0), PCI devices,
// NVSwitches and processors among them. Two GPUs without a cell of their own that both reach switches are joined
// through them with the narrower of their totals, which is what NVLink switches give.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "affinity_hwloc.hpp"

namespace weft::topology::affinity {
namespace {

constexpr std::uint32_t kNone = PciItem::kNone;
constexpr std::size_t kMostObjects = 1024;

struct Matrix {
  LinkKind kind = LinkKind::nvlink;
  std::vector<std::uint32_t> items;  // of each object: its PCI item, kNone for a processor
  std::vector<std::uint64_t> values;
};

std::vector<std::string_view> words_of(const pugi::xml_node& node, const char* child) {
  std::vector<std::string_view> out;
  for (const pugi::xml_node part : node.children(child)) {
    std::string_view text = part.child_value();
    while (true) {
      const std::size_t begin = text.find_first_not_of(" \t\r\n");
      if (begin == std::string_view::npos) break;
      const std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
      out.push_back(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
  }
  return out;
}

Result<Matrix> read_matrix(const XmlFile& xml, const pugi::xml_node& distances, LinkKind kind,
                           const HwlocObjects& objects) {
  Matrix out;
  out.kind = kind;
  const std::vector<std::string_view> indexes = words_of(distances, "indexes");
  const std::vector<std::string_view> values = words_of(distances, "u64values");
  if (indexes.size() > kMostObjects || values.size() != indexes.size() * indexes.size()) {
    return fail(xml.error(ErrorCode::bad_value, distances,
                          fmt::format("{} values between {} objects", values.size(), indexes.size()),
                          fmt::format("a value for each pair of at most {} objects", kMostObjects)));
  }
  for (const std::string_view word : indexes) {
    const auto gp = parse_number(word.substr(word.find(':') == std::string_view::npos ? 0 : word.find(':') + 1), 10);
    if (!gp)
      return fail(
          xml.error(ErrorCode::bad_value, distances, fmt::format("object {}", quoted(word)), "such as OSDev:802"));
    const auto found = objects.find(*gp);
    out.items.push_back(found == objects.end() ? kNone : found->second);
  }
  for (const std::string_view word : values) {
    const auto value = parse_number(word, 10);
    if (!value) return fail(xml.error(ErrorCode::bad_value, distances, fmt::format("value {}", quoted(word)), "MB/s"));
    out.values.push_back(*value);
  }
  return out;
}

// MB/s of one NVLink, by generation: NVIDIA's data sheets.
std::uint64_t nvlink_rate(std::uint32_t pci_id) {
  const std::uint32_t device = pci_id & 0xffffU;
  if (device >= 0x15f0 && device <= 0x15ff) return 20000;  // P100
  if (device >= 0x2900 && device <= 0x31ff) return 50000;  // Blackwell
  return 25000;
}

class LinkBuilder {
 public:
  LinkBuilder(const DeviceTree& tree, const Assembled& made, NodeAffinity& node)
      : tree_(tree), made_(made), node_(node) {}

  void add(const Matrix& matrix) {
    const std::size_t n = matrix.items.size();
    std::vector<std::uint64_t> to_switches(node_.gpus.size(), 0);
    std::vector<std::uint32_t> gpus(n, kNone);
    for (std::size_t i = 0; i < n; ++i) gpus[i] = gpu_at(matrix.items[i]);
    for (std::size_t i = 0; i < n; ++i) {
      if (gpus[i] == kNone) continue;
      for (std::size_t j = 0; j < n; ++j) {
        const std::uint64_t value = matrix.values[i * n + j];
        if (i == j || value == 0) continue;
        if (gpus[j] != kNone && gpus[j] != gpus[i]) push(matrix.kind, gpus[i], gpus[j], value);
        if (gpus[j] == kNone && is_switch(matrix.items[j]))
          to_switches[gpus[i]] += std::min<std::uint64_t>(value, 1U << 30);
      }
    }
    for (std::uint32_t a = 0; a < to_switches.size(); ++a) {
      for (std::uint32_t b = a + 1; b < to_switches.size(); ++b) {
        const std::uint64_t rate = std::min(to_switches[a], to_switches[b]);
        if (rate > 0) push(matrix.kind, a, b, rate);
      }
    }
  }

  // Peers of an OS device: names of other OS devices.
  void add_peers(const pugi::xml_node& object, std::string_view peers) {
    const std::uint32_t self = gpu_named(object.attribute("name").value());
    std::size_t begin = 0;
    while (self != kNone && (begin = peers.find_first_not_of(" \t", begin)) != std::string_view::npos) {
      const std::size_t end = std::min(peers.find_first_of(" \t", begin), peers.size());
      const std::uint32_t peer = gpu_named(peers.substr(begin, end - begin));
      if (peer != kNone && peer != self) links_.push_back({self, peer, LinkKind::xgmi, 0, 0});
      begin = end;
    }
  }

  void finish() {
    if (!links_.empty()) set_links(node_, std::move(links_));
  }

 private:
  [[nodiscard]] std::uint32_t gpu_at(std::uint32_t item) const {
    if (item == kNone) return kNone;
    const auto it = std::find(made_.gpu_item.begin(), made_.gpu_item.end(), item);
    return it == made_.gpu_item.end() ? kNone : static_cast<std::uint32_t>(it - made_.gpu_item.begin());
  }
  [[nodiscard]] std::uint32_t gpu_named(std::string_view name) const {
    for (std::uint32_t g = 0; g < made_.gpu_item.size(); ++g) {
      if (!name.empty() && tree_.items[made_.gpu_item[g]].gpu_name == name) return g;
    }
    return kNone;
  }
  // What NVLink joins to GPUs and is no GPU: NVSwitches, some of whose class hwloc could not read.
  [[nodiscard]] bool is_switch(std::uint32_t item) const {
    return item != kNone && tree_.items[item].kind == PciItem::Kind::device;
  }
  void push(LinkKind kind, std::uint32_t a, std::uint32_t b, std::uint64_t rate) {
    rate = std::min<std::uint64_t>(rate, std::numeric_limits<std::uint32_t>::max());
    const std::uint64_t each = kind == LinkKind::nvlink ? nvlink_rate(node_.gpus[a].pci_id) : 0;
    links_.push_back(
        {a, b, kind, each == 0 ? 0 : static_cast<std::uint32_t>(rate / each), static_cast<std::uint32_t>(rate)});
  }

  const DeviceTree& tree_;
  const Assembled& made_;
  NodeAffinity& node_;
  std::vector<GpuLink> links_;
};

}  // namespace

Result<void> read_hwloc_links(const XmlFile& xml, const DeviceTree& tree, const Assembled& made,
                              const HwlocObjects& objects, NodeAffinity& node) {
  LinkBuilder builder(tree, made, node);
  for (const pugi::xml_node distances : xml.root().children()) {
    const std::string_view element = distances.name();
    if (element != "distances2" && element != "distances2hetero") continue;
    const std::string_view name = distances.attribute("name").value();
    const bool nvlink = name == "NVLinkBandwidth";
    if (!nvlink && name != "XGMIBandwidth") continue;
    auto matrix = read_matrix(xml, distances, nvlink ? LinkKind::nvlink : LinkKind::xgmi, objects);
    if (!matrix) return fail(std::move(matrix.error()));
    builder.add(*matrix);
    node.links_said = true;
  }
  if (!node.links_said) {
    for (const pugi::xpath_node& found : xml.root().select_nodes("//object[@type='OSDev']/info[@name='XGMIPeers']")) {
      builder.add_peers(found.node().parent(), found.node().attribute("value").value());
      node.links_said = true;
    }
  }
  builder.finish();
  return {};
}

}  // namespace weft::topology::affinity
