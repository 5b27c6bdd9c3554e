// SPDX-License-Identifier: BSD-3-Clause
//
// Machines drawn at random and written as hwloc and nvidia-smi would write them: what is read is the machine, whatever
// the order of lines, and both views agree.
//
//   machine - sockets (a NUMA node each) - host bridges - root ports - a switch, or a switch over two - GPUs and NICs
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "weft/topology/affinity.hpp"
#include "weft/topology/affinity_write.hpp"

namespace weft::topology {
namespace {

std::uint32_t below(std::uint32_t end) { return *rc::gen::inRange<std::uint32_t>(0, end); }
std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }

constexpr std::uint32_t kWidth = 4;  // links of a pair that has any

struct Place {
  std::uint32_t socket = 0, bridge = 0, port = 0, part = 0;
};

struct Device {
  bool is_gpu = true;
  std::uint32_t number = 0;  ///< nvml0, mlx5_0
  std::uint32_t bus = 0;
  Place at;
};

struct Machine {
  std::uint32_t sockets = 1, cores = 1;  ///< cores of a socket
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, bool>
      ports;                                                 ///< (socket, bridge, port): two switches below
  std::vector<Device> devices;                               ///< in bus order
  std::set<std::pair<std::uint32_t, std::uint32_t>> linked;  ///< GPUs by number, both ways
  std::uint32_t gpus = 0, nics = 0;

  [[nodiscard]] const Device& gpu(std::uint32_t number) const { return find(true, number); }
  [[nodiscard]] const Device& nic(std::uint32_t number) const { return find(false, number); }
  [[nodiscard]] const Device& find(bool is_gpu, std::uint32_t number) const {
    return *std::find_if(devices.begin(), devices.end(),
                         [&](const Device& d) { return d.is_gpu == is_gpu && d.number == number; });
  }
  [[nodiscard]] std::uint64_t cpus(std::uint32_t socket) const { return ((1ULL << cores) - 1) << (socket * cores); }
};

// Numbers of devices in any order, as drivers hand them out.
void number(Machine& machine) {
  for (const bool is_gpu : {true, false}) {
    std::vector<std::uint32_t> numbers(is_gpu ? machine.gpus : machine.nics);
    std::iota(numbers.begin(), numbers.end(), 0U);
    for (std::size_t i = numbers.size(); i > 1; --i)
      std::swap(numbers[i - 1], numbers[below(static_cast<std::uint32_t>(i))]);
    std::size_t next = 0;
    for (Device& device : machine.devices)
      if (device.is_gpu == is_gpu) device.number = numbers[next++];
  }
}

Machine draw_machine() {
  Machine out;
  out.sockets = between(1, 2);
  out.cores = between(1, 6);
  std::uint32_t bus = 1;
  for (std::uint32_t s = 0; s < out.sockets; ++s) {
    const std::uint32_t bridges = between(1, 2);
    for (std::uint32_t b = 0; b < bridges; ++b) {
      const std::uint32_t ports = between(1, 2);
      for (std::uint32_t p = 0; p < ports; ++p) {
        const bool deep = below(3) == 0;
        out.ports[{s, b, p}] = deep;
        for (std::uint32_t part = 0; part < (deep ? 2U : 1U); ++part) {
          for (const bool is_gpu : {true, false}) {
            const std::uint32_t count = out.ports.size() == 1 && part == 0 ? between(1, 2) : below(3);
            for (std::uint32_t i = 0; i < count; ++i) out.devices.push_back({is_gpu, 0, bus++, {s, b, p, part}});
            (is_gpu ? out.gpus : out.nics) += count;
          }
        }
      }
    }
  }
  number(out);
  const std::uint32_t links = below(3);  // none, all, some
  for (std::uint32_t a = 0; a < out.gpus; ++a)
    for (std::uint32_t b = a + 1; b < out.gpus; ++b)
      if (links == 1 || (links == 2 && below(2) == 0)) out.linked.insert({a, b}), out.linked.insert({b, a});
  return out;
}

PathClass path_of(const Place& a, const Place& b) {
  if (a.socket != b.socket) return PathClass::sys;
  if (a.bridge != b.bridge) return PathClass::node;
  if (a.port != b.port) return PathClass::phb;
  return a.part != b.part ? PathClass::pxb : PathClass::pix;
}

std::uint64_t guid_of(std::uint32_t nic) { return 0xb8cef60300002000 + nic; }

// Children of one parent in any order.
std::string shuffled(std::vector<std::string> parts) {
  for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[below(static_cast<std::uint32_t>(i))]);
  std::string out;
  for (const std::string& part : parts) out += part;
  return out;
}

class HwlocText {
 public:
  explicit HwlocText(const Machine& machine) : machine_(machine) {}

  std::string write() {
    std::string packages;
    for (std::uint32_t s = 0; s < machine_.sockets; ++s) packages += package(s);
    const std::uint64_t all = machine_.sockets == 2 ? machine_.cpus(0) | machine_.cpus(1) : machine_.cpus(0);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
           "version=\"2.0\">\n" +
           fmt::format(
               "<object type=\"Machine\" os_index=\"0\" {} gp_index=\"{}\"><info name=\"HostName\" value=\"drawn\"/>\n",
               sets(all, (1U << machine_.sockets) - 1), gp_++) +
           packages + "</object>\n" + distances() + "</topology>\n";
  }

 private:
  static std::string sets(std::uint64_t cpus, std::uint32_t nodes) {
    return fmt::format(
        "cpuset=\"0x{0:08x}\" complete_cpuset=\"0x{0:08x}\" nodeset=\"0x{1:08x}\" complete_nodeset=\"0x{1:08x}\"", cpus,
        nodes);
  }

  std::string package(std::uint32_t s) {
    const std::string own = sets(machine_.cpus(s), 1U << s);
    std::string out = fmt::format("<object type=\"Package\" os_index=\"{}\" {} gp_index=\"{}\">\n", s, own, gp_++);
    out += fmt::format("<object type=\"NUMANode\" os_index=\"{}\" {} gp_index=\"{}\" local_memory=\"1073741824\"/>\n",
                       s, own, gp_++);
    for (std::uint32_t c = 0; c < machine_.cores; ++c) {
      const std::uint32_t cpu = s * machine_.cores + c;
      const std::string one = sets(1ULL << cpu, 1U << s);
      out += fmt::format(
          "<object type=\"Core\" os_index=\"{}\" {} gp_index=\"{}\"><object type=\"PU\" os_index=\"{}\" {} "
          "gp_index=\"{}\"/></object>\n",
          c, one, gp_, cpu, one, gp_ + 1);
      gp_ += 2;
    }
    for (std::uint32_t b = 0; b < 2; ++b) out += host_bridge(s, b);
    return out + "</object>\n";
  }

  std::string host_bridge(std::uint32_t s, std::uint32_t b) {
    std::vector<std::string> ports;
    for (const auto& [place, deep] : machine_.ports) {
      const auto& [socket, bridge, port] = place;
      if (socket == s && bridge == b) ports.push_back(root_port({s, b, port, 0}, deep));
    }
    if (ports.empty()) return {};
    return fmt::format(
               "<object type=\"Bridge\" os_index=\"{}\" gp_index=\"{}\" bridge_type=\"0-1\" depth=\"0\" "
               "bridge_pci=\"{:04x}:[00-ff]\">\n",
               s * 2 + b, gp_++, domain(s, b)) +
           shuffled(std::move(ports)) + "</object>\n";
  }

  std::string root_port(Place at, bool deep) {
    std::vector<std::string> below_it;
    if (deep) {
      for (at.part = 0; at.part < 2; ++at.part) below_it.push_back(pci_bridge(at, pci_switch(at, devices(at))));
    } else {
      below_it = devices(at);
    }
    return pci_bridge(at, pci_switch(at, std::move(below_it)));
  }

  std::string pci_switch(const Place& at, std::vector<std::string> below_it) {
    return pci_bridge(at, shuffled(std::move(below_it)));
  }

  // Bridges have buses of their own, from 0x80 on.
  std::string pci_bridge(const Place& at, const std::string& inner) {
    const std::uint32_t n = bridge_++;
    return fmt::format(
               "<object type=\"Bridge\" gp_index=\"{}\" bridge_type=\"1-1\" depth=\"1\" bridge_pci=\"{:04x}:[00-ff]\" "
               "pci_busid=\"{:04x}:{:02x}:{:02x}.0\" pci_type=\"0604 [1000:c010] [1000:c010] 00\" "
               "pci_link_speed=\"31.5\">\n",
               gp_++, domain(at.socket, at.bridge), domain(at.socket, at.bridge), 0x80 + n / 32, n % 32) +
           inner + "</object>\n";
  }

  std::vector<std::string> devices(const Place& at) {
    std::vector<std::string> out;
    for (const Device& d : machine_.devices) {
      if (std::tie(d.at.socket, d.at.bridge, d.at.port, d.at.part) != std::tie(at.socket, at.bridge, at.port, at.part))
        continue;
      const std::string inner =
          d.is_gpu ? fmt::format(
                         "<object type=\"OSDev\" gp_index=\"{}\" name=\"nvml{}\" subtype=\"NVML\" osdev_type=\"1\"/>",
                         gpu_gp(d.number), d.number)
                   : fmt::format(
                         "<object type=\"OSDev\" gp_index=\"{}\" name=\"mlx5_{}\" osdev_type=\"3\"><info "
                         "name=\"NodeGUID\" value=\"{}\"/></object>",
                         gp_++, d.number, dotted(guid_of(d.number)));
      out.push_back(pci_bridge(
          at, fmt::format("<object type=\"PCIDev\" gp_index=\"{}\" pci_busid=\"{}\" pci_type=\"{}\" "
                          "pci_link_speed=\"31.5\">{}</object>\n",
                          gp_++,
                          to_string(PciAddress{domain(at.socket, at.bridge), static_cast<std::uint8_t>(d.bus), 0, 0}),
                          d.is_gpu ? "0302 [10de:20b0] [10de:20b0] 00" : "0207 [15b3:101b] [15b3:101b] 00", inner)));
    }
    return out;
  }

  std::string distances() const {
    if (machine_.linked.empty() || machine_.gpus < 2) return {};
    std::string indexes, values;
    for (std::uint32_t a = 0; a < machine_.gpus; ++a) {
      indexes += fmt::format("{} ", gpu_gp(a));
      for (std::uint32_t b = 0; b < machine_.gpus; ++b)
        values += a == b ? "1000000 " : machine_.linked.contains({a, b}) ? "100000 " : "0 ";
    }
    return fmt::format(
        "<distances2 type=\"OSDev\" nbobjs=\"{}\" kind=\"9\" name=\"NVLinkBandwidth\" indexing=\"gp\">\n<indexes "
        "length=\"{}\">{}"
        "</indexes>\n<u64values length=\"{}\">{}</u64values>\n</distances2>\n",
        machine_.gpus, indexes.size(), indexes, values.size(), values);
  }

  static std::uint32_t domain(std::uint32_t socket, std::uint32_t bridge) { return socket * 2 + bridge; }
  static std::uint32_t gpu_gp(std::uint32_t number) { return 100'000 + number; }
  static std::string dotted(std::uint64_t guid) {
    return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48U, guid >> 32U & 0xffffU, guid >> 16U & 0xffffU,
                       guid & 0xffffU);
  }

  const Machine& machine_;
  std::uint32_t gp_ = 1, bridge_ = 0;
};

std::string smi_row(const Machine& machine, const Device& row) {
  std::string out = fmt::format("{}{}", row.is_gpu ? "GPU" : "NIC", row.number);
  for (const bool is_gpu : {true, false}) {
    for (std::uint32_t n = 0; n < (is_gpu ? machine.gpus : machine.nics); ++n) {
      const Device& other = machine.find(is_gpu, n);
      std::string cell(to_string(path_of(row.at, other.at)));
      if (row.is_gpu && is_gpu && machine.linked.contains({row.number, n})) cell = fmt::format("NV{}", kWidth);
      if (row.is_gpu == is_gpu && row.number == n) cell = " X ";
      out += "\t" + cell;
    }
  }
  if (!row.is_gpu) return out + "\n";
  return out + fmt::format("\t{0}-{1}\t{2}\n", row.at.socket * machine.cores, (row.at.socket + 1) * machine.cores - 1,
                           row.at.socket);
}

std::string smi_text(const Machine& machine) {
  std::string head, legend = "\nNIC Legend:\n\n";
  for (std::uint32_t g = 0; g < machine.gpus; ++g) head += fmt::format("\tGPU{}", g);
  for (std::uint32_t n = 0; n < machine.nics; ++n)
    head += fmt::format("\tNIC{}", n), legend += fmt::format("  NIC{0}: mlx5_{0}\n", n);
  std::vector<std::string> rows;
  for (const Device& device : machine.devices) rows.push_back(smi_row(machine, device));
  return head + "\tCPU Affinity\tNUMA Affinity\n" + shuffled(std::move(rows)) + (machine.nics > 0 ? legend : "");
}

NodeAffinity read(const std::string& text) {
  auto node = read_affinity(std::make_shared<const SourceText>("drawn", text));
  if (!node) RC_FAIL(node.error().to_string() + "\n" + text);
  if (const auto fault = node->check_invariants()) RC_FAIL(*fault + "\n" + text);
  return std::move(*node);
}

// What both kinds tell is the machine.
void expect_machine(const Machine& machine, const NodeAffinity& node) {
  RC_ASSERT(node.gpus.size() == machine.gpus);
  RC_ASSERT(node.nics.size() == machine.nics);
  for (std::uint32_t g = 0; g < machine.gpus; ++g) {
    const Place& at = machine.gpu(g).at;
    RC_ASSERT(node.gpus[g].numa == at.socket);
    std::vector<std::uint32_t> cpus(machine.cores);
    std::iota(cpus.begin(), cpus.end(), at.socket * machine.cores);
    RC_ASSERT(node.gpus[g].cpus == CpuSet(cpus));
    for (std::uint32_t n = 0; n < machine.nics; ++n) RC_ASSERT(node.path(g, n) == path_of(at, machine.nic(n).at));
    for (std::uint32_t other = 0; other < machine.gpus; ++other) {
      if (other == g) continue;
      RC_ASSERT((node.link(g, other) != nullptr) == machine.linked.contains({g, other}));
      if (node.link(g, other) != nullptr) RC_ASSERT(node.link(g, other)->width == kWidth);
    }
  }
  for (std::uint32_t n = 0; n < machine.nics; ++n) RC_ASSERT(node.nics[n].name == fmt::format("mlx5_{}", n));
}

TEST(AffinityProperty, HwlocReadsBackAsTheMachine) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = draw_machine();
    const NodeAffinity node = read(HwlocText(machine).write());
    expect_machine(machine, node);
    RC_ASSERT(node.sockets == machine.sockets);
    RC_ASSERT(node.cores.size() == machine.sockets * machine.cores);
    for (std::uint32_t g = 0; g < machine.gpus; ++g) {
      const Device& gpu = machine.gpu(g);
      RC_ASSERT(node.gpus[g].socket == gpu.at.socket);
      RC_ASSERT(node.gpus[g].pci ==
                (PciAddress{gpu.at.socket * 2 + gpu.at.bridge, static_cast<std::uint8_t>(gpu.bus), 0, 0}));
    }
    for (std::uint32_t n = 0; n < machine.nics; ++n) RC_ASSERT(node.nics[n].guid == guid_of(n));
  }));
}

TEST(AffinityProperty, OrderOfLinesIsIrrelevant) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = draw_machine();
    const NodeAffinity table = read(smi_text(machine));
    expect_machine(machine, table);
    const auto same = [](const NodeAffinity& a, const NodeAffinity& b) {
      RC_ASSERT(a.gpu_nic == b.gpu_nic);
      RC_ASSERT(a.gpu_gpu == b.gpu_gpu);
      RC_ASSERT(a.nic_of_gpu == b.nic_of_gpu);
      RC_ASSERT(a.links == b.links);
      RC_ASSERT(write_gres_conf(a, "n1") == write_gres_conf(b, "n1"));
    };
    same(table, read(smi_text(machine)));  // shuffled anew
    same(read(HwlocText(machine).write()), read(HwlocText(machine).write()));
  }));
}

TEST(AffinityProperty, HwlocAndNvidiaSmiOfOneMachineAgree) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = draw_machine();
    const NodeAffinity xml = read(HwlocText(machine).write());
    const NodeAffinity table = read(smi_text(machine));
    RC_ASSERT(xml.gpu_nic == table.gpu_nic);
    for (std::size_t i = 0; i < xml.gpu_gpu.size(); ++i)  // where NVLink joins two GPUs the table shows that alone
      RC_ASSERT(!table.gpu_gpu[i] || table.gpu_gpu[i] == xml.gpu_gpu[i]);
    for (const auto& [first, second] : {std::pair(&xml, &table), std::pair(&table, &xml)}) {
      const auto merged = merge_views(*first, *second);
      RC_ASSERT(merged.has_value());
      RC_ASSERT(!merged->check_invariants());
      // Only rails may differ: the table does not count bridges, by which hwloc tells equal classes apart.
      for (std::size_t i = first->notes.size() + second->notes.size(); i < merged->notes.size(); ++i)
        RC_ASSERT(merged->notes[i].message.starts_with("rails differ"));
    }
  }));
}

// The NICs that are nearest to a GPU, by all that its file tells.
std::vector<std::uint32_t> nearest(const NodeAffinity& node, std::uint32_t gpu) {
  const auto key = [&](std::uint32_t n) {
    const AffinityNic& nic = node.nics[n];
    const AffinityGpu& g = node.gpus[gpu];
    return std::tuple(*node.path(gpu, n),
                      node.gpu_nic_bridges.empty() ? 0 : node.gpu_nic_bridges[gpu * node.nics.size() + n],
                      nic.numa && g.numa && nic.numa != g.numa, nic.socket && g.socket && nic.socket != g.socket);
  };
  std::vector<std::uint32_t> out;
  for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
    if (!out.empty() && key(n) < key(out.front())) out.clear();
    if (out.empty() || key(n) == key(out.front())) out.push_back(n);
  }
  return out;
}

// Loads of NICs, highest first, of every assignment of GPUs to their nearest NICs: the most even.
std::vector<std::uint32_t> most_even(const std::vector<std::vector<std::uint32_t>>& sets, std::size_t nics) {
  std::vector<std::uint32_t> best;
  std::vector<std::size_t> choice(sets.size(), 0);
  while (true) {
    std::vector<std::uint32_t> loads(nics, 0);
    for (std::size_t g = 0; g < sets.size(); ++g) ++loads[sets[g][choice[g]]];
    std::sort(loads.rbegin(), loads.rend());
    if (best.empty() || loads < best) best = loads;
    std::size_t g = 0;
    while (g < sets.size() && ++choice[g] == sets[g].size()) choice[g++] = 0;
    if (g == sets.size()) return best;
  }
}

TEST(AffinityProperty, EachGpuHasANearestNicAndNoAssignmentIsMoreEven) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = draw_machine();
    const NodeAffinity node = read(below(2) == 0 ? HwlocText(machine).write() : smi_text(machine));
    std::vector<std::vector<std::uint32_t>> sets;
    std::vector<std::uint32_t> loads(node.nics.size(), 0);
    double choices = 1;
    for (std::uint32_t g = 0; g < machine.gpus; ++g) {
      sets.push_back(nearest(node, g));
      RC_ASSERT(node.nic_of_gpu[g].has_value());
      RC_ASSERT(std::count(sets[g].begin(), sets[g].end(), *node.nic_of_gpu[g]) == 1);
      ++loads[*node.nic_of_gpu[g]];
      choices *= static_cast<double>(sets[g].size());
    }
    RC_PRE(choices <= 20'000);
    std::sort(loads.rbegin(), loads.rend());
    RC_ASSERT(loads == most_even(sets, node.nics.size()));
  }));
}

// gres.conf as Slurm reads it: cores of the GPU's own socket, links symmetric with -1 at the own place.
TEST(AffinityProperty, GresConfSaysTheMachine) {
  EXPECT_TRUE(rc::check([] {
    const Machine machine = draw_machine();
    const NodeAffinity node = read(HwlocText(machine).write());
    std::istringstream in(write_gres_conf(node, "n[1-4]"));
    std::uint32_t gpu = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.find("Name=gpu") == std::string::npos) continue;
      const auto value = [&](const std::string& key) {
        const std::size_t at = line.find(key + "=");
        return at == std::string::npos ? std::string()
                                       : line.substr(at + key.size() + 1, line.find(' ', at) - at - key.size() - 1);
      };
      RC_ASSERT(value("NodeName") == "n[1-4]");
      RC_ASSERT(value("File") == fmt::format("/dev/nvidia{}", gpu));
      const auto cores = parse_cpu_list(value("Cores"));
      RC_ASSERT(cores.has_value());
      for (const std::uint32_t core : cores->cpus()) RC_ASSERT(core / machine.cores == machine.gpu(gpu).at.socket);
      std::string links;
      for (std::uint32_t other = 0; other < machine.gpus; ++other)
        links += (other > 0 ? "," : "") + std::to_string(other == gpu                            ? -1
                                                         : machine.linked.contains({gpu, other}) ? int{kWidth}
                                                                                                 : 0);
      RC_ASSERT(value("Links") == (machine.linked.empty() ? "" : links));
      ++gpu;
    }
    RC_ASSERT(gpu == machine.gpus);
  }));
}

TEST(AffinityProperty, SetsAndAddressesReadBackEqual) {
  EXPECT_TRUE(rc::check([] {
    const auto cpus = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 300U));
    RC_PRE(!cpus.empty());
    const CpuSet set(cpus);
    RC_ASSERT(parse_cpu_list(set.list()) == set);
    // Slurm's mask is one number, hwloc's and the kernel's has words.
    std::string words = set.mask().substr(2);
    for (std::size_t at = words.size(); at > 8; at -= 8) words.insert(at - 8, ",");
    RC_ASSERT(parse_cpu_mask(words) == set);
    const PciAddress address{*rc::gen::arbitrary<std::uint16_t>(), *rc::gen::arbitrary<std::uint8_t>(),
                             static_cast<std::uint8_t>(below(32)), static_cast<std::uint8_t>(below(8))};
    RC_ASSERT(parse_pci_address(to_string(address)) == address);
  }));
}

}  // namespace
}  // namespace weft::topology
