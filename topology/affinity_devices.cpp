// SPDX-License-Identifier: BSD-3-Clause
//
// PCI classes and ids: what is a GPU, what an RDMA adapter. Classes as in the PCI Code and ID Assignment specification,
// ids as in the PCI ID repository.
#include <algorithm>
#include <array>

#include "affinity_tree.hpp"

namespace weft::topology::affinity {
namespace {

constexpr std::uint32_t kNvidia = 0x10de;
constexpr std::uint32_t kAmd = 0x1002;
constexpr std::uint32_t kIntel = 0x8086;
constexpr std::uint32_t kMellanox = 0x15b3;
constexpr std::uint32_t kCray = 0x17db;      // Slingshot
constexpr std::uint32_t kAmazon = 0x1d0f;    // EFA
constexpr std::uint32_t kBroadcom = 0x14e4;  // Thor
constexpr std::uint32_t kPensando = 0x1dd8;

// ATI's chips that BMCs of the 2000s brought: ES1000, Rage XL, RV100, Rage 128.
constexpr auto kServerVideo =
    std::to_array<std::uint32_t>({0x4752, 0x4758, 0x4742, 0x4c42, 0x5144, 0x5157, 0x5159, 0x515e, 0x5446, 0x5969});
// Ponte Vecchio and the Flex series.
constexpr std::uint32_t kPonteVecchioFirst = 0x0bd0;
constexpr std::uint32_t kPonteVecchioLast = 0x0bdb;
constexpr std::uint32_t kFlexFirst = 0x56c0;
constexpr std::uint32_t kFlexLast = 0x56c2;
constexpr auto kVirtualFunctions =
    std::to_array<std::uint32_t>({0x1002, 0x1004, 0x100a, 0x1014, 0x1016, 0x1018, 0x101a, 0x101c, 0x101e});

}  // namespace

bool is_display(std::uint32_t pci_class) { return pci_class >> 8 == 0x03; }

bool is_gpu(std::uint32_t pci_class, std::uint32_t vendor, std::uint32_t device, bool object) {
  if (object) return true;
  const bool accelerator = pci_class >> 8 == 0x12;
  if (!is_display(pci_class) && !accelerator) return false;
  if (vendor == kNvidia) return true;
  if (vendor == kAmd) return std::find(kServerVideo.begin(), kServerVideo.end(), device) == kServerVideo.end();
  return vendor == kIntel && ((device >= kPonteVecchioFirst && device <= kPonteVecchioLast) ||
                              (device >= kFlexFirst && device <= kFlexLast));
}

bool is_rdma_adapter(std::uint32_t pci_class, std::uint32_t vendor, std::uint32_t device) {
  if (pci_class == 0x0207 || pci_class == 0x0208) return true;  // InfiniBand, Omni-Path ("fabric")
  if (pci_class >> 8 != 0x02) return false;
  if (vendor == kMellanox || vendor == kCray || vendor == kPensando) return true;
  if (vendor == kAmazon) return device >> 4 == 0xefa;
  return vendor == kBroadcom && device >= 0x1750 && device <= 0x1760;
}

bool is_virtual_function(std::uint32_t vendor, std::uint32_t device) {
  return vendor == kMellanox &&
         std::find(kVirtualFunctions.begin(), kVirtualFunctions.end(), device) != kVirtualFunctions.end();
}

GpuVendor vendor_of(std::uint32_t vendor) {
  if (vendor == kNvidia) return GpuVendor::nvidia;
  if (vendor == kAmd) return GpuVendor::amd;
  return vendor == kIntel ? GpuVendor::intel : GpuVendor::unknown;
}

}  // namespace weft::topology::affinity
