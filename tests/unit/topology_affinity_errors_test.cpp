// SPDX-License-Identifier: BSD-3-Clause
//
// Faulty files of node insides and what is said of each, to the letter.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "weft/topology/affinity.hpp"

namespace weft::topology::test {
namespace {

struct BadText {
  std::string_view text;
  std::string_view error;
};

constexpr auto kBad = std::to_array<BadText>({
    {"",
     "f:1:1: error: the file is empty; expected hwloc XML (lstopo), `nvidia-smi topo -m`, NCCL or RCCL topology XML, "
     "or `rocm-smi --showtopo`"},
    {"\x1f\x8b\x08",
     "f:1:1: error: the file is compressed (gzip); expected the text in it; unpack it first\n  ?\x8b?\n  ^"},
    {"SwitchName=a Nodes=n1\n",
     "f:1:1: error: a fabric (Slurm topology.conf), not the inside of a node; expected hwloc XML (lstopo), `nvidia-smi "
     "topo -m`, NCCL or RCCL topology XML, or `rocm-smi --showtopo`\n  SwitchName=a Nodes=n1\n  ^"},
    {"<a><b/></a>",
     "f:1:1: error: XML with <a> on top; expected hwloc XML (lstopo), `nvidia-smi topo -m`, NCCL or RCCL topology XML, "
     "or `rocm-smi --showtopo`\n  <a><b/></a>\n  ^"},
    {"<!DOCTYPE html><html></html>",
     "f:1:1: error: an HTML page, perhaps an error page in place of a download; expected hwloc XML (lstopo), "
     "`nvidia-smi topo -m`, NCCL or RCCL topology XML, or `rocm-smi --showtopo`\n  <!DOCTYPE html><html></html>\n  ^"},
    {"hello\n",
     "f:1:1: error: not a format that Weft knows; expected hwloc XML (lstopo), `nvidia-smi topo -m`, NCCL or RCCL "
     "topology XML, or `rocm-smi --showtopo`\n  hello\n  ^"},
    {"<topology>\n  <object type=\"Machine\">\n",
     "f:2:26: error: not whole XML: an end tag does not fit the element that is open, or one is missing; expected a "
     "whole file; is it cut off?\n    <object type=\"Machine\">\n                           ^"},
    {"<topology version=\"4.0\"><object type=\"Machine\"/></topology>",
     "f:1:20: error: hwloc XML of version \"4.0\"; expected no version (hwloc 1.x), 2.0 or 3.0, as lstopo of those "
     "releases writes it\n  <topology version=\"4.0\"><object type=\"Machine\"/></topology>\n                     ^^^"},
    {"<topology></topology>",
     "f:1:2: error: the topology has no object; expected <object type=\"Machine\" ...>, as lstopo writes it\n  "
     "<topology></topology>\n   ^^^^^^^^"},
    {"<topology version=\"2.0\">\n  <object type=\"Machine\" cpuset=\"0xzz\"/>\n</topology>",
     "f:2:34: error: cpuset of <object> is \"0xzz\"; expected words of 32 bits such as \"0x000000ff,0xffff0000\"\n    "
     "<object type=\"Machine\" cpuset=\"0xzz\"/>\n                                   ^^^^"},
    {"<topology>\n<object type=\"PCIDev\" pci_busid=\"1:2:3\"/></topology>",
     "f:2:34: error: pci_busid of <object> is \"1:2:3\"; expected an address such as \"0000:1d:00.0\"\n  <object "
     "type=\"PCIDev\" pci_busid=\"1:2:3\"/></topology>\n                                   ^^^^^"},
    {"<topology><object type=\"PCIDev\"/></topology>",
     "f:1:12: error: a PCI device without pci_busid; expected pci_busid=\"0000:1d:00.0\"\n  <topology><object "
     "type=\"PCIDev\"/></topology>\n             ^^^^^^"},
    {"<topology><object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"VGA\"/></topology>",
     "f:1:68: error: pci_type of <object> is \"VGA\"; expected class, ids and revision such as \"0302 [10de:20b0] "
     "[10de:144e] a1\"\n  <topology><object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"VGA\"/></topology>\n "
     "                                                                    ^^^"},
    {"<topology><object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_link_speed=\"fast\"/></topology>",
     "f:1:74: error: pci_link_speed of <object> is \"fast\"; expected GB/s such as \"31.507692\"\n  <topology><object "
     "type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_link_speed=\"fast\"/></topology>\n                                "
     "                                           ^^^^"},
    {"<topology><object type=\"NUMANode\" os_index=\"-1\"/></topology>",
     "f:1:45: error: os_index of <object> is \"-1\"; expected a number up to 4294967295\n  <topology><object "
     "type=\"NUMANode\" os_index=\"-1\"/></topology>\n                                              ^^"},
    {"<topology><object type=\"PCIDev\" pci_busid=\"0000:01:00.0\"><object type=\"OSDev\" name=\"mlx5_0\" "
     "osdev_type=\"3\"><info name=\"NodeGUID\" value=\"none\"/></object></object></topology>",
     "f:1:137: error: value of <info> is \"none\"; expected a GUID such as \"506b:4b03:00b4:6c60\"\n  ...\" "
     "name=\"mlx5_0\" osdev_type=\"3\"><info name=\"NodeGUID\" value=\"none\"/></object></object></topology>\n         "
     "                                                        ^^^^"},
    {"<topology>\n<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:20b0] [10de:20b0] "
     "00\"/>\n<object type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:20b0] [10de:20b0] "
     "00\"/>\n</topology>",
     "f:3:2: error: two GPUs at 0000:01:00.0, first in line 2; expected an address for each device\n  <object "
     "type=\"PCIDev\" pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:20b0] [10de:20b0] 00\"/>\n   ^"},
    {"<topology version=\"2.0\"><object type=\"Machine\"/>\n<distances2 name=\"NVLinkBandwidth\"><indexes>1 "
     "2</indexes><u64values>1 2 3</u64values></distances2></topology>",
     "f:2:2: error: 3 values between 2 objects; expected a value for each pair of at most 1024 objects\n  <distances2 "
     "name=\"NVLinkBandwidth\"><indexes>1 2</indexes><u64values>1 2 3</u64values></distances2></topology>\n   "
     "^^^^^^^^^^"},
    {"<system version=\"1\"/>",
     "f:1:2: error: the system has no <cpu>; expected <cpu numaid=\"0\" ...> with the PCI devices in it\n  <system "
     "version=\"1\"/>\n   ^^^^^^"},
    {"<system>\n  <cpu numaid=\"x\"/>\n</system>",
     "f:2:16: error: numaid of <cpu> is \"x\"; expected a number up to 65536\n    <cpu numaid=\"x\"/>\n                "
     " ^"},
    {"<system><cpu/></system>",
     "f:1:10: error: a <cpu> without numaid; expected numaid=\"0\"\n  <system><cpu/></system>\n           ^^^"},
    {"<system><cpu numaid=\"0\"><pci/></cpu></system>",
     "f:1:26: error: a <pci> without busid; expected busid=\"0000:1d:00.0\"\n  <system><cpu "
     "numaid=\"0\"><pci/></cpu></system>\n                           ^^^"},
    {"<system><cpu numaid=\"0\"><gpu dev=\"0\"/></cpu></system>",
     "f:1:26: error: a <gpu> that is in no PCI device; expected it inside the <pci> of the GPU\n  <system><cpu "
     "numaid=\"0\"><gpu dev=\"0\"/></cpu></system>\n                           ^^^"},
    {"<system><cpu numaid=\"0\"><pci busid=\"0000:01:00.0\" class=\"display\"/></cpu></system>",
     "f:1:58: error: class of <pci> is \"display\"; expected a number up to 16777215\n  <system><cpu numaid=\"0\"><pci "
     "busid=\"0000:01:00.0\" class=\"display\"/></cpu></system>\n                                                      "
     "     ^^^^^^^"},
    {"<system><cpu numaid=\"0\" affinity=\"all\"/></system>",
     "f:1:35: error: affinity of <cpu> is \"all\"; expected words of 32 bits such as \"0000ffff,ffffffff\"\n  "
     "<system><cpu numaid=\"0\" affinity=\"all\"/></system>\n                                    ^^^"},
    {"<system><cpu numaid=\"0\"><nic><net/></nic></cpu></system>",
     "f:1:31: error: a <net> without name; expected name=\"mlx5_0\"\n  <system><cpu "
     "numaid=\"0\"><nic><net/></nic></cpu></system>\n                                ^^^"},
    {"\tGPU0\tGPU1\nGPU0\tX\tFOO\nGPU1\tPIX\tX\n",
     "f:2:8: error: \"FOO\" between GPU0 and GPU1; expected X, NV18, PIX, PXB, PHB, NODE or SYS\n  GPU0 X FOO\n        "
     " ^^^"},
    {"\tGPU0\tGPU1\nGPU0\tX\n",
     "f:2:1: error: row GPU0 has 1 of 2 cells; expected a cell for each column of the head, X for the device itself\n  "
     "GPU0 X\n  ^"},
    {"\tGPU0\tGPU1\nGPU0\tPIX\tX\n",
     "f:2:1: error: row GPU0 has no X in its own column; expected a cell for each column of the head, X for the device "
     "itself\n  GPU0 PIX X\n  ^"},
    {"\tGPU0\tGPU1\nGPU0\tX\tPIX\nGPU2\tPIX\tX\n",
     "f:3:1: error: row \"GPU2\" has no column; expected a row for a column of the head\n  GPU2 PIX X\n  ^^^^"},
    {"\tGPU0\tGPU0\nGPU0\tX\tPIX\n",
     "f:1:7: error: two columns \"GPU0\"; expected each device once\n   GPU0 GPU0\n        ^^^^"},
    {"\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tall\t0\n",
     "f:2:8: error: the CPU affinity of GPU0 is \"all\"; expected CPUs such as 0-51,104-155\n  GPU0 X all 0\n         "
     "^^^"},
    {"\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\tX\t0-3\tzero\n",
     "f:2:12: error: the NUMA affinity of GPU0 is \"zero\"; expected a NUMA node such as 0, or N/A\n  GPU0 X 0-3 "
     "zero\n             ^^^^"},
    {"GPU0 GPU999\nGPU0 X PIX\n",
     "f:1:1: error: too many GPUs or NICs in one node; expected at most 256 of each\n  GPU0 GPU999\n  ^"},
    {"=== Link Type between two GPUs ===\n  GPU0 GPU1\nGPU0 0 FOO\n",
     "f:3:8: error: link type \"FOO\"; expected XGMI, PCIE or 0\n  GPU0 0 FOO\n         ^^^"},
    {"=== Hops between two GPUs ===\n  GPU0 GPU1\nGPU0 0 1\n",
     "f:1:1: error: the table has no row for GPU1; expected a row for each column; is it cut off?\n  === Hops between "
     "two GPUs ===\n  ^"},
    {"=== Hops between two GPUs ===\n  GPU0 GPU1\nGPU0 0\n",
     "f:3:1: error: row GPU0 has 1 of 2 cells; expected a cell for each column\n  GPU0 0\n  ^"},
    {"=== Weight between two GPUs ===\n",
     "f:1:1: error: no table of hops or link types between GPUs; expected the output of `rocm-smi --showtopo`\n  === "
     "Weight between two GPUs ===\n  ^"},
});

TEST(AffinityErrors, SayWhereWhatAndWhatWouldBeRight) {
  for (const BadText& bad : kBad) {
    SCOPED_TRACE(bad.text);
    const auto node = read_affinity(std::make_shared<const SourceText>("f", std::string(bad.text)));
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().to_string(), bad.error);
  }
}

// What nobody would write by hand: too deep, too large, too many.
TEST(AffinityErrors, BoundsAreKept) {
  const auto refusal = [](const std::string& text) {
    const auto node = read_affinity(std::make_shared<const SourceText>("f", text));
    return node ? std::string("read") : node.error().message;
  };
  std::string deep = "<topology>";
  for (int i = 0; i < 5000; ++i) deep += "<object type=\"Group\">";
  for (int i = 0; i < 5000; ++i) deep += "</object>";
  EXPECT_EQ(refusal(deep + "</topology>"), "elements are nested too deeply");
  std::string many = "<topology>";
  for (int i = 0; i < 300; ++i) {
    many +=
        "<object type=\"PCIDev\" pci_busid=\"" + std::to_string(i) + ":01:00.0\" pci_type=\"0302 [10de:20b0] [0:0]\"/>";
  }
  EXPECT_EQ(refusal(many + "</topology>"), "300 GPUs and 0 NICs in one node");
  EXPECT_EQ(refusal("<topology>" + std::string(kMaxAffinityBytes, ' ') + "</topology>"),
            "16777237 bytes for the inside of one node");
}

}  // namespace
}  // namespace weft::topology::test
