// SPDX-License-Identifier: BSD-3-Clause
//
// One small machine in every kind, and what is derived from it.
//
//   socket 0: host bridge 10 - switch 11: GPU 0 (13:00.0), mlx5_0 (14:00.0)
//                            \ switch 17: GPU 1 (19:00.0), mlx5_1 (1a:00.0)
//   socket 1: host bridge 50 - switch 51: GPU 2 (53:00.0), mlx5_2 (54:00.0)
//                            \ switch 57: GPU 3 (59:00.0), mlx5_3 (5a:00.0)
//   two cores of two threads a socket; NV4 between all GPUs; BMC video, an Ethernet port and a disk on socket 0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/topology.hpp"

namespace weft::topology::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kPix = PathClass::pix;
constexpr auto kPhb = PathClass::phb;
constexpr auto kSys = PathClass::sys;

Source fixture(const std::string& name) {
  const auto read = read_source(WEFT_SOURCE_DIR "/tests/fixtures/node/" + name);
  EXPECT_TRUE(read);
  return std::make_shared<const SourceText>(name, std::string((*read)->text()));
}

NodeAffinity fixture_node(const std::string& name) {
  auto node = read_affinity(fixture(name));
  EXPECT_TRUE(node) << node.error().to_string();
  return std::move(*node);
}

Source text(std::string_view content) { return std::make_shared<const SourceText>("f", std::string(content)); }

std::vector<std::string> messages(const Notes& notes) {
  std::vector<std::string> out;
  for (const Note& note : notes) out.push_back(note.message);
  return out;
}

TEST(Affinity, EveryKindSeesTheSameMachine) {
  const std::vector<std::optional<PathClass>> paths{kPix, kPhb, kSys, kSys, kPhb, kPix, kSys, kSys,
                                                    kSys, kSys, kPix, kPhb, kSys, kSys, kPhb, kPix};
  for (const char* name : {"hwloc1.xml", "hwloc2.xml", "hwloc3.xml", "nccl.xml", "topo-m.txt"}) {
    SCOPED_TRACE(name);
    const NodeAffinity node = fixture_node(name);
    EXPECT_EQ(node.check_invariants(), std::nullopt);
    ASSERT_EQ(node.gpus.size(), 4U);
    ASSERT_EQ(node.nics.size(), 4U);
    EXPECT_EQ(node.gpu_nic, paths);
    EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 1, 2, 3));
    for (std::uint32_t g = 0; g < 4; ++g) {
      EXPECT_EQ(node.gpus[g].numa, g / 2);
      EXPECT_EQ(node.gpus[g].cpus.list(), g < 2 ? "0-1,4-5" : "2-3,6-7");
      EXPECT_EQ(node.nics[g].name, "mlx5_" + std::to_string(g));
    }
    const auto groups = link_groups(node);
    if (node.links_said) {
      ASSERT_EQ(groups.size(), 1U);
      EXPECT_THAT(groups[0].gpus, ElementsAre(0, 1, 2, 3));
      EXPECT_TRUE(groups[0].all_to_all);
      EXPECT_EQ(groups[0].min_width, 4U);
    }
    EXPECT_TRUE(affinity_warnings(node).empty());
  }
}

TEST(Affinity, HwlocGivesAddressesGuidsAndCores) {
  for (const char* name : {"hwloc1.xml", "hwloc2.xml", "hwloc3.xml"}) {
    const NodeAffinity node = fixture_node(name);
    EXPECT_EQ(node.host, "gpu01");
    EXPECT_EQ(to_string(*node.gpus[2].pci), "0000:53:00.0");
    EXPECT_EQ(node.nics[2].guid, 0xb8cef60300001002ULL);
    EXPECT_EQ(node.nics[2].netdev, "ib2");
    EXPECT_EQ(node.sockets, 2U);
    EXPECT_THAT(node.cores_of(0), ElementsAre(0, 1));
    EXPECT_THAT(node.cores_of(3), ElementsAre(2, 3));
    EXPECT_THAT(messages(node.notes),
                ElementsAre("1 Ethernet interface without RDMA, taken for management, left out: eno1"));
  }
  EXPECT_EQ(fixture_node("nccl.xml").nics[2].guid, 0xb8cef60300001002ULL);
}

TEST(Affinity, ViewsOfOneMachineAgree) {
  NodeAffinity node = fixture_node("hwloc1.xml");
  EXPECT_FALSE(node.links_said);
  const std::size_t before = node.notes.size();
  for (const char* name : {"topo-m.txt", "nccl.xml", "hwloc3.xml"}) {
    auto merged = merge_views(node, fixture_node(name));
    ASSERT_TRUE(merged);
    node = std::move(*merged);
  }
  EXPECT_EQ(node.check_invariants(), std::nullopt);
  EXPECT_EQ(node.links.size(), 6U);          // from nvidia-smi
  EXPECT_EQ(node.notes.size(), before + 1);  // hwloc3.xml's own note on eno1 again, no contradiction
}

TEST(Affinity, ContradictionsAreSaid) {
  std::string changed(fixture("topo-m.txt")->text());
  const auto replace = [&](std::string_view from, std::string_view to) {
    changed.replace(changed.find(from), from.size(), to);
  };
  replace("GPU1\tNV4\t X \tNV4\tNV4\tPHB\tPIX", "GPU1\tNV4\t X \tNV2\tNV4\tPIX\tPHB");
  replace("0-1,4-5\t0", "2-3,6-7\t1");
  auto second = read_affinity(text(changed));
  ASSERT_TRUE(second);
  const auto merged = merge_views(fixture_node("hwloc2.xml"), *second);
  ASSERT_TRUE(merged);
  EXPECT_THAT(messages(merged->notes),
              ElementsAre("1 Ethernet interface without RDMA, taken for management, left out: eno1",
                          HasSubstr("NIC0 - GPU1 is PHB here and PIX in the row of GPU1"),
                          HasSubstr("NIC1 - GPU1 is PIX here and PHB in the row of GPU1"),
                          "GPU 0 is on NUMA node 1 here, on 0 in hwloc2.xml; the latter is taken",
                          "GPU 0 is near CPUs 2-3,6-7 here, near 0-1,4-5 in hwloc2.xml; the latter is taken",
                          "GPU 1 - NIC 0 is PIX here, PHB in hwloc2.xml; the latter is taken",
                          "GPU 1 - NIC 1 is PHB here, PIX in hwloc2.xml; the latter is taken",
                          "GPU 1 - GPU 2 has 2 links here, 4 in hwloc2.xml; the latter is taken",
                          "rails differ: GPU 1 uses NIC 0 here, 1 in hwloc2.xml; the latter is taken"));
  EXPECT_EQ(merged->gpu_nic, fixture_node("hwloc2.xml").gpu_nic);
  NodeAffinity fewer = fixture_node("showtopo.txt");
  const auto refused = merge_views(fixture_node("hwloc2.xml"), fewer);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().to_string(),
      "showtopo.txt: error: 2 GPUs here, 4 in hwloc2.xml; expected views of one machine, or of machines of one type");
}

TEST(Affinity, DegradedAndAsymmetricMachinesAreToldOf) {
  const auto warnings = [](std::string_view table) {
    const auto node = read_affinity(text(table));
    EXPECT_TRUE(node) << node.error().to_string();
    return messages(affinity_warnings(*node));
  };
  EXPECT_THAT(warnings("\tGPU0\tGPU1\tGPU2\nGPU0\tX\tNV18\tNV16\nGPU1\tNV18\tX\tNV16\nGPU2\tNV16\tNV16\tX\n"),
              ElementsAre("degraded NVLink: GPU 2 has 16 links to the others, where the others have 18"));
  EXPECT_THAT(warnings("\tGPU0\tGPU1\tGPU2\nGPU0\tX\tNV4\tSYS\nGPU1\tNV4\tX\tSYS\nGPU2\tSYS\tSYS\tX\n"),
              ElementsAre("asymmetric: GPU 2 has no NVLink, the others have"));
  EXPECT_THAT(warnings("\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1\nGPU0\tX\tSYS\tSYS\tPIX\tSYS\nGPU1\tSYS\tX\tSYS\tPIX\tSYS\n"
                       "GPU2\tSYS\tSYS\tX\tPIX\tSYS\n"),
              ElementsAre("asymmetric: NIC 0 is the nearest of 3 GPUs, where 2 a NIC would be even"));
  std::string slow(fixture("hwloc2.xml")->text());
  const std::string gpu = "pci_busid=\"0000:59:00.0\" pci_type=\"0302 [10de:20b0] [10de:20b0] 00\" pci_link_speed=\"";
  slow.replace(slow.find(gpu) + gpu.size(), 9, "15.753846");
  EXPECT_THAT(warnings(slow), ElementsAre("degraded PCIe: GPU 3 runs at 15.8 GB/s, its equals at 31.5 (an idle GPU may "
                                          "have slowed down)"));
}

TEST(Affinity, NicsAreSharedEvenly) {
  NodeAffinity node;
  node.gpus.resize(4);
  node.nics.resize(2);
  // GPU 0 is near both, GPU 1 near NIC 0 alone: GPU 0 must give way, whoever came first.
  node.gpu_nic = {kPix, kPix, kPix, kSys, kSys, kSys, kSys, kPhb};
  node.gpu_gpu.resize(16);
  derive_nics(node);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0, 1, 1));
  node.gpu_nic = {kPix, kPix, kPix, kSys, kPix, kSys, kSys, kPix};
  derive_nics(node);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(1, 0, 0, 1));
  EXPECT_EQ(node.check_invariants(), std::nullopt);
  node.gpu_nic.assign(8, std::nullopt);
  derive_nics(node);
  EXPECT_TRUE(node.nic_by_order);
  EXPECT_THAT(node.nic_of_gpu, ElementsAre(0, 0, 1, 1));
}

TEST(Affinity, FabricNicsAreFoundByGuidElseByOrder) {
  const NodeAffinity node = fixture_node("hwloc2.xml");
  using Guids = std::vector<std::optional<std::uint64_t>>;
  const auto joined = [&](const Guids& guids) { return join_nics(node, guids).value(); };
  EXPECT_THAT(joined({0xb8cef60300001003, 0xb8cef60300001000}), ElementsAre(3, 0));
  EXPECT_THAT(joined({0xb8cef60300001003, std::nullopt, 1, 2}), ElementsAre(0, 1, 2, 3));
  const auto refused = join_nics(node, Guids(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().to_string(),
      "hwloc2.xml: error: 4 NICs, 4 of them in use by GPUs, for the fabric's 3; expected as many NICs as the node "
      "type has");
}

TEST(Affinity, CpuSetsInEverySpelling) {
  EXPECT_EQ(parse_cpu_list("0-2,5")->list(), "0-2,5");
  EXPECT_EQ(parse_cpu_mask("0x000000ff,,0x0000ffff")->list(), "0-15,64-71");
  EXPECT_EQ(parse_cpu_mask("ff,00000001")->list(), "0,32-39");
  EXPECT_EQ(parse_cpu_list("0-3,40")->mask(), "0x1000000000f");
  EXPECT_EQ(CpuSet().mask(), "0x0");
  for (const char* bad : {"", "a", "3-1", "1,", "-1", "0-99999999", "1-", "70000"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
  for (const char* bad : {"", "0xf...f", "g", "123456789", "0x0x1"}) EXPECT_FALSE(parse_cpu_mask(bad)) << bad;
}

TEST(Affinity, PciAddressesInEverySpelling) {
  EXPECT_EQ(to_string(*parse_pci_address("00000000:1D:00.0")), "0000:1d:00.0");
  EXPECT_EQ(to_string(*parse_pci_address("1d:00.7")), "0000:1d:00.7");
  EXPECT_EQ(to_string(*parse_pci_address("10000:1d:1f.0")), "10000:1d:1f.0");
  for (const char* bad :
       {"", "1d", "1d:00", "1d:20.0", "1d:00.8", "100:1d:00", "0000:1dd:00.0", "0000:1d:00.", "x:1d:00.0"})
    EXPECT_FALSE(parse_pci_address(bad)) << bad;
}

#if defined(__SANITIZE_ADDRESS__)
// hwloc's PCI plugin keeps what libpciaccess gave it.
using LeaksOfOthers = __lsan::ScopedDisabler;
#else
struct LeaksOfOthers {
  LeaksOfOthers() {}
};
#endif

// Nothing of a live machine can be promised but that it is whole.
TEST(Affinity, LiveMachineHoldsItsInvariants) {
  const auto node = [] {
    const LeaksOfOthers scope;
    return live_affinity();
  }();
  ASSERT_TRUE(node) << node.error().to_string();
  EXPECT_EQ(node->kind, AffinityKind::hwloc_live);
  EXPECT_EQ(node->check_invariants(), std::nullopt);
  EXPECT_FALSE(node->cores.empty());
}

}  // namespace
}  // namespace weft::topology::test
