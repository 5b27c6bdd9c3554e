// SPDX-License-Identifier: BSD-3-Clause
//
// Every file of node insides at hand goes through read_affinity: read, with counts made without Weft, or refused with
// the words that stand here. A file in neither table fails the test. And hwloc's own lstopo as a second opinion.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weft/topology.hpp"

namespace weft::topology::test {
namespace {

namespace fs = std::filesystem;

constexpr AffinityKind kHwloc = AffinityKind::hwloc_xml;
constexpr AffinityKind kSmi = AffinityKind::nvidia_smi;
constexpr AffinityKind kNccl = AffinityKind::nccl;
constexpr AffinityKind kRocm = AffinityKind::rocm_smi;

struct Readable {
  std::string_view file;
  AffinityKind kind;
  std::size_t gpus, nics, numa, sockets, cores;
  std::size_t links, groups;           ///< pairs joined by NVLink or xGMI, and the groups of them
  std::uint32_t min_width, max_width;  ///< of the first group
  std::string_view nic_of_gpu;
};

// How these were counted, all without Weft:
//   hwloc  a script over the XML: PCI devices of class 03 and 12 of NVIDIA and AMD (the ES1000 of a BMC left out);
//          devices with an OS device of the RDMA type, of class 0207, or Slingshot's and EFA's ids; NUMA nodes with a
//          CPU set that is not empty (one where there is none), packages or sockets, cores
//   NCCL   grep -c of <gpu and <net where there are any, else of class 0x030200, 0x038000 and 0x020000, 0x020700;
//          cpu elements of different numaid; xgmi lines by two, pairs of GPUs with nvlink lines to a switch
//   tables columns of the head, cells above the diagonal that begin with NV or are XGMI
//   nic_of_gpu was read off the trees and tables by eye
// NUMA nodes of nvidia-smi and rocm-smi are those that GPUs are on.
constexpr auto kReadable = std::to_array<Readable>({
    {"hwloc/flux_001N_amd_gpu_corona11.xml", kHwloc, 4, 1, 8, 2, 48, 0, 0, 0, 0, "0 0 0 0"},
    {"hwloc/flux_001N_multi_gpu_types_chimera.xml", kHwloc, 2, 0, 4, 1, 32, 0, 0, 0, 0, "- -"},
    {"hwloc/hwloc_16intel64-manyVFs.xml", kHwloc, 0, 3, 2, 2, 16, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_24em64t-2n6c2t-pci.xml", kHwloc, 3, 1, 2, 2, 12, 0, 0, 0, 0, "0 0 0"},
    {"hwloc/hwloc_40intel64-2g2n4c+pcilocality.xml", kHwloc, 0, 1, 4, 4, 40, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_64intel64-heteromem.xml", kHwloc, 0, 0, 8, 1, 16, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_cxlmem+dax.v2.xml", kHwloc, 0, 0, 1, 1, 4, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_cxlmem+dax.v3.xml", kHwloc, 0, 0, 1, 1, 4, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_nvidia-dgx-gb10.xml", kHwloc, 0, 0, 1, 1, 20, 0, 0, 0, 0, ""},
    {"hwloc/hwloc_nvidiaDGX2.xml", kHwloc, 16, 0, 2, 2, 4, 120, 1, 6, 6, "- - - - - - - - - - - - - - - -"},
    {"hwloc/hwloc_power8gpudistances.xml", kHwloc, 4, 0, 2, 2, 8, 2, 2, 2, 2, "- - - -"},
    {"hwloc/lstopo29_nvidia-dgx-gb10.v1.xml", kHwloc, 0, 0, 1, 1, 20, 0, 0, 0, 0, ""},
    {"hwloc/lstopo29_nvidia-dgx-gb10.v2.xml", kHwloc, 0, 0, 1, 1, 20, 0, 0, 0, 0, ""},
    {"hwloc/lstopo29_nvidiagpunumanodes.v1.xml", kHwloc, 0, 0, 2, 2, 8, 0, 0, 0, 0, ""},
    {"hwloc/lstopo29_nvidiagpunumanodes.v2.xml", kHwloc, 0, 0, 2, 2, 8, 0, 0, 0, 0, ""},
    {"hwloc/mpibind_coral-butte-hwloc1.xml", kHwloc, 4, 4, 2, 2, 44, 0, 0, 0, 0, "0 1 2 3"},
    {"hwloc/mpibind_coral-lassen.xml", kHwloc, 4, 4, 2, 2, 40, 0, 0, 0, 0, "0 1 2 3"},
    {"hwloc/mpibind_eas-tioga.xml", kHwloc, 8, 4, 4, 1, 64, 28, 1, 0, 0, "0 0 1 1 2 2 3 3"},
    {"hwloc/mpibind_epyc-corona.xml", kHwloc, 4, 1, 8, 2, 48, 0, 0, 0, 0, "0 0 0 0"},
    {"hwloc/mpibind_g4dnmetal.xml", kHwloc, 8, 1, 2, 2, 48, 0, 0, 0, 0, "0 0 0 0 0 0 0 0"},
    {"hwloc/psmgmt_dp-esb01.xml", kHwloc, 1, 1, 1, 1, 8, 0, 0, 0, 0, "0"},
    {"hwloc/psmgmt_jrc0386.xml", kHwloc, 4, 4, 8, 2, 128, 0, 0, 0, 0, "1 0 3 2"},
    {"hwloc/psmgmt_jwb0001.xml", kHwloc, 4, 4, 8, 2, 48, 0, 0, 0, 0, "1 0 3 2"},
    {"hwloc/psmgmt_mel2001.xml", kHwloc, 4, 2, 8, 2, 64, 0, 0, 0, 0, "0 0 1 1"},
    {"nccl-topo/aws_p4d-24xl-topo.xml", kNccl, 8, 4, 2, 0, 0, 0, 0, 0, 0, "0 0 1 1 2 2 3 3"},
    {"nccl-topo/azure_ncv4-topo.xml", kNccl, 4, 1, 4, 0, 0, 0, 0, 0, 0, "0 0 0 0"},
    {"nccl-topo/azure_ndv4-topo.xml", kNccl, 8, 8, 4, 0, 0, 0, 0, 0, 0, "0 1 2 3 4 5 6 7"},
    {"nccl-topo/nebius_h100-v1.xml", kNccl, 8, 8, 2, 0, 0, 0, 0, 0, 0, "4 5 6 7 0 1 2 3"},
    {"nccl-topo/oci_H100-topology.xml", kNccl, 8, 16, 2, 0, 0, 28, 1, 18, 18, "0 2 4 6 8 10 12 14"},
    {"nccl-topo/oci_topo-flattened.xml", kNccl, 8, 8, 4, 0, 0, 0, 0, 0, 0, "0 1 2 3 4 5 6 7"},
    {"nccl-topo/rccl_topo_16p1h.xml", kNccl, 16, 8, 4, 0, 0, 28, 1, 1, 4, "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7"},
    {"nccl-topo/rccl_topo_4p1h.xml", kNccl, 4, 1, 1, 0, 0, 4, 1, 1, 1, "0 0 0 0"},
    {"nccl-topo/rccl_topo_4p2h_2nic.xml", kNccl, 8, 2, 1, 0, 0, 8, 2, 1, 1, "0 0 0 0 1 1 1 1"},
    {"nccl-topo/rccl_topo_4p4h.xml", kNccl, 16, 16, 1, 0, 0, 24, 4, 1, 1, "6 5 7 0 3 1 2 4 8 9 10 11 12 13 14 15"},
    {"nccl-topo/rccl_topo_4p_940.xml", kNccl, 4, 4, 4, 0, 0, 6, 1, 1, 1, "0 1 2 3"},
    {"nccl-topo/rccl_topo_8p1h_n1.xml", kNccl, 8, 4, 2, 0, 0, 12, 1, 1, 4, "0 1 0 1 2 3 2 3"},
    {"nccl-topo/rccl_topo_8p6l_6nic.xml", kNccl, 8, 6, 2, 0, 0, 24, 1, 1, 1, "0 1 2 0 3 4 5 3"},
    {"nccl-topo/rccl_topo_8p_90a_1.xml", kNccl, 8, 1, 3, 0, 0, 12, 1, 1, 1, "0 0 0 0 0 0 0 0"},
    {"nccl-topo/rccl_topo_8p_940.xml", kNccl, 8, 8, 2, 0, 0, 28, 1, 1, 1, "0 1 2 3 4 5 6 7"},
    {"nccl-topo/rccl_topo_8p_pcie.xml", kNccl, 8, 1, 1, 0, 0, 0, 0, 0, 0, "0 0 0 0 0 0 0 0"},
    {"nccl-topo/rccl_topo_8p_rome_4n_2.xml", kNccl, 8, 4, 4, 0, 0, 12, 2, 1, 1, "0 0 1 1 2 2 3 3"},
    {"nccl-topo/rccl_topo_collnet_n4.xml", kNccl, 8, 4, 4, 0, 0, 12, 2, 1, 1, "0 0 1 1 2 2 3 3"},
    {"nvidia-smi-topo/2gpu_nvlink_numa_NA.txt", kSmi, 2, 0, 0, 0, 0, 1, 1, 2, 2, "- -"},
    {"nvidia-smi-topo/3gpu_nv4_plus_pcie_spaces.txt", kSmi, 3, 2, 1, 0, 0, 1, 1, 4, 4, "0 1 0"},
    {"nvidia-smi-topo/4gpu_nvlink_degraded_nv16.txt", kSmi, 4, 0, 1, 0, 0, 6, 1, 16, 18, "- - - -"},
    {"nvidia-smi-topo/8a100_nv12.txt", kSmi, 8, 0, 2, 0, 0, 28, 1, 12, 12, "- - - - - - - -"},
    {"nvidia-smi-topo/8b300_nv18_ansi_header.txt", kSmi, 8, 9, 2, 0, 0, 28, 1, 18, 18, "0 1 2 3 4 5 6 7"},
    {"nvidia-smi-topo/8h100_nv18_smt_affinity.txt", kSmi, 8, 0, 2, 0, 0, 28, 1, 18, 18, "- - - - - - - -"},
    {"nvidia-smi-topo/8x4090_all_sys.txt", kSmi, 8, 2, 2, 0, 0, 0, 0, 0, 0, "0 1 0 1 0 1 0 1"},
    {"nvidia-smi-topo/asus_esc8000a_4x_rtx6000ada.txt", kSmi, 4, 4, 2, 0, 0, 0, 0, 0, 0, "0 1 2 3"},
    {"nvidia-smi-topo/gb10_gpu_row_only.txt", kSmi, 1, 4, 1, 0, 0, 0, 0, 0, 0, "0"},
    {"nvidia-smi-topo/power9_4v100_nv3_mlx_names.txt", kSmi, 4, 4, 0, 0, 0, 2, 2, 3, 3, "0 1 2 3"},
    {"rocm-smi/4gpu_pcie_only.txt", kRocm, 4, 0, 0, 0, 0, 0, 0, 0, 0, "- - - -"},
    {"rocm-smi/8gpu_two_hives_4xgmi_pcie.txt", kRocm, 8, 0, 2, 0, 0, 12, 2, 0, 0, "- - - - - - - -"},
});

struct Refused {
  std::string_view file;
  std::string_view error;  ///< first line, without the file name
};

constexpr auto kRefused = std::to_array<Refused>({
    {"lspci/asus_esc8000a_4x_rtx6000ada.lspci-tv.txt",
     ":2:1: error: the output of `lspci -tv`, which does not say which CPUs a device is near; expected hwloc XML of "
     "the "
     "machine (`lstopo machine.xml`) or the output of `nvidia-smi topo -m`"},
    {"lspci/asus_esc8000a_4x_rtx6000ada.numactl.txt",
     ":2:1: error: the output of `numactl --hardware`, which has no devices; expected hwloc XML of the machine "
     "(`lstopo "
     "machine.xml`) or the output of `nvidia-smi topo -m`"},
    {"nccl-graph/azure_ncv4-graph.xml",
     ":1:1: error: an NCCL graph file (NCCL_GRAPH_DUMP_FILE), which has channels, not paths; expected the topology "
     "that "
     "NCCL writes with NCCL_TOPO_DUMP_FILE"},
    {"nccl-topo/aws_g5.48xl-topo.xml",
     ":14:6: error: PCI device 0000:00:16.0 has no class, so nothing tells GPUs from NICs; expected "
     "class=\"0x030200\", "
     "or the file that NCCL writes on the machine itself with NCCL_TOPO_DUMP_FILE"},
    {"nvidia-smi-topo/topo_p2p_r_8gpu_ok.txt",
     ":1:1: error: the output of `nvidia-smi topo -p2p`, which says what GPUs can do with each other, not over which "
     "path; expected the output of `nvidia-smi topo -m`"},
});

fs::path data_dir() {
  const char* given = std::getenv("WEFT_SHARED");
  return fs::path(given != nullptr ? given : WEFT_SHARED_DIR) / "data" / "node";
}

#define WEFT_NEEDS_DATA()                                                                       \
  if (!fs::exists(data_dir())) {                                                                \
    GTEST_SKIP() << "no files under " << data_dir() << " (set WEFT_SHARED to their directory)"; \
  }                                                                                             \
  static_assert(true)

Source load(const fs::path& path) {
  const auto read = read_source(path.string());
  EXPECT_TRUE(read) << read.error().to_string();
  return read ? std::make_shared<const SourceText>(path.filename().string(), std::string((*read)->text())) : nullptr;
}

std::string nics_of(const NodeAffinity& node) {
  std::string out;
  for (const auto& nic : node.nic_of_gpu) out += (out.empty() ? "" : " ") + (nic ? std::to_string(*nic) : "-");
  return out;
}

TEST(AffinityFiles, EveryFileIsInOneTable) {
  WEFT_NEEDS_DATA();
  std::multiset<std::string> listed;
  for (const Readable& r : kReadable) listed.emplace(r.file);
  for (const Refused& r : kRefused) listed.emplace(r.file);
  std::multiset<std::string> there;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(data_dir())) {
    if (entry.is_regular_file()) there.insert(fs::relative(entry.path(), data_dir()).generic_string());
  }
  EXPECT_EQ(there, listed);
}

TEST(AffinityFiles, ReadableFilesHaveTheirCounts) {
  WEFT_NEEDS_DATA();
  for (const Readable& want : kReadable) {
    SCOPED_TRACE(want.file);
    const Source source = load(data_dir() / want.file);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(recognise_affinity(source->text()), want.kind);
    const auto node = read_affinity(source);
    ASSERT_TRUE(node) << node.error().to_string();
    EXPECT_EQ(node->check_invariants(), std::nullopt);
    EXPECT_EQ(node->gpus.size(), want.gpus);
    EXPECT_EQ(node->nics.size(), want.nics);
    EXPECT_EQ(node->numa.size(), want.numa);
    EXPECT_EQ(node->sockets, want.sockets);
    EXPECT_EQ(node->cores.size(), want.cores);
    EXPECT_EQ(node->links.size(), want.links);
    const auto groups = link_groups(*node);
    ASSERT_EQ(groups.size(), want.groups);
    if (!groups.empty()) {
      EXPECT_EQ(groups.front().min_width, want.min_width);
      EXPECT_EQ(groups.front().max_width, want.max_width);
    }
    EXPECT_EQ(nics_of(*node), want.nic_of_gpu);
  }
}

TEST(AffinityFiles, RefusedFilesSayWhy) {
  WEFT_NEEDS_DATA();
  for (const Refused& want : kRefused) {
    SCOPED_TRACE(want.file);
    const Source source = load(data_dir() / want.file);
    ASSERT_NE(source, nullptr);
    const auto node = read_affinity(source);
    ASSERT_FALSE(node);
    const std::string text = node.error().to_string();
    EXPECT_EQ(text.substr(0, text.find('\n')), source->file() + std::string(want.error));
  }
}

// hwloc reads the file by its own code and tells the machine in its own words, which are read again: the same devices
// on the same paths, NUMA nodes, cores. Files of a generation that this lstopo refuses are counted and said.
struct Reexport {
  bool read = false;
  std::string xml;
};

Reexport reexport(const std::string& path) {
  Reexport out;
  FILE* in = popen(("lstopo-no-graphics -i '" + path + "' --filter io:all --of xml 2>/dev/null").c_str(), "r");
  if (in == nullptr) return out;
  std::array<char, 65536> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), in)) > 0;) out.xml.append(buffer.data(), n);
  out.read = pclose(in) == 0;
  return out;
}

void expect_same_machine(const NodeAffinity& a, const NodeAffinity& b) {
  ASSERT_EQ(a.gpus.size(), b.gpus.size());
  for (std::size_t g = 0; g < a.gpus.size(); ++g) {
    EXPECT_EQ(a.gpus[g].pci, b.gpus[g].pci);
    EXPECT_EQ(a.gpus[g].vendor, b.gpus[g].vendor);
    EXPECT_EQ(a.gpus[g].numa, b.gpus[g].numa);
    EXPECT_EQ(a.gpus[g].socket, b.gpus[g].socket);
    EXPECT_EQ(a.gpus[g].cpus, b.gpus[g].cpus);
  }
  ASSERT_EQ(a.nics.size(), b.nics.size());
  for (std::size_t n = 0; n < a.nics.size(); ++n) {
    EXPECT_EQ(a.nics[n].name, b.nics[n].name);
    EXPECT_EQ(a.nics[n].pci, b.nics[n].pci);
    EXPECT_EQ(a.nics[n].guid, b.nics[n].guid);
    EXPECT_EQ(a.nics[n].numa, b.nics[n].numa);
  }
  EXPECT_EQ(a.gpu_nic, b.gpu_nic);
  EXPECT_EQ(a.gpu_gpu, b.gpu_gpu);
  EXPECT_EQ(a.links, b.links);
  EXPECT_EQ(a.nic_of_gpu, b.nic_of_gpu);
  EXPECT_EQ(a.cores, b.cores);
  EXPECT_EQ(a.sockets, b.sockets);
}

TEST(AffinityFiles, LstopoSaysTheSame) {
  if (std::system("lstopo-no-graphics --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "no lstopo-no-graphics (package hwloc-nox) to ask";
  }
  std::vector<fs::path> files;
  for (const char* own : {"hwloc1.xml", "hwloc2.xml", "hwloc3.xml"}) {
    files.emplace_back(fs::path(WEFT_SOURCE_DIR "/tests/fixtures/node") / own);
  }
  for (const Readable& r : kReadable) {
    if (r.kind == kHwloc && fs::exists(data_dir() / r.file)) files.push_back(data_dir() / r.file);
  }
  std::size_t compared = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    const Reexport second = reexport(file.string());
    if (!second.read) continue;  // hwloc 2 refuses XML of version 3
    ++compared;
    const auto mine = read_affinity(load(file));
    const auto theirs = read_affinity(std::make_shared<const SourceText>("lstopo.xml", second.xml));
    ASSERT_TRUE(mine && theirs);
    expect_same_machine(*mine, *theirs);
  }
  std::printf("lstopo read %zu of %zu files\n", compared, files.size());
  EXPECT_GE(compared, 2U);  // hwloc1.xml and hwloc2.xml at the least
}

}  // namespace
}  // namespace weft::topology::test
