// SPDX-License-Identifier: BSD-3-Clause
//
// PCI addresses and CPU sets in the spellings of the kernel, hwloc, nvidia-smi and Slurm.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace {

// All of `text` as a number below `limit`.
std::optional<std::uint32_t> whole_number(std::string_view text, int base, std::uint64_t limit) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty() || value >= limit) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto function = whole_number(text.substr(dot + 1), 16, 8);
  text = text.substr(0, dot);
  const std::size_t last = text.rfind(':');
  if (!function || last == std::string_view::npos) return std::nullopt;
  const std::string_view slot = text.substr(last + 1);
  const auto device = slot.size() <= 2 ? whole_number(slot, 16, 32) : std::nullopt;
  text = text.substr(0, last);
  const std::size_t colon = text.rfind(':');
  const std::string_view domain_text = colon == std::string_view::npos ? std::string_view("0") : text.substr(0, colon);
  const std::string_view bus_text = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto bus = bus_text.size() <= 2 ? whole_number(bus_text, 16, 256) : std::nullopt;
  const auto domain = domain_text.size() <= 8 ? whole_number(domain_text, 16, 1ULL << 32) : std::nullopt;
  if (!device || !bus || !domain) return std::nullopt;
  return PciAddress{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                    static_cast<std::uint8_t>(*function)};
}

std::string to_string(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, unsigned{address.bus}, unsigned{address.device},
                     unsigned{address.function});
}

CpuSet::CpuSet(std::vector<std::uint32_t> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

bool CpuSet::contains(std::uint32_t cpu) const { return std::binary_search(cpus_.begin(), cpus_.end(), cpu); }

bool CpuSet::includes(const CpuSet& other) const {
  return std::includes(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end());
}

bool CpuSet::intersects(const CpuSet& other) const {
  return std::any_of(other.cpus_.begin(), other.cpus_.end(), [this](std::uint32_t cpu) { return contains(cpu); });
}

CpuSet CpuSet::with(const CpuSet& other) const {
  CpuSet out;
  std::set_union(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end(), std::back_inserter(out.cpus_));
  return out;
}

std::string CpuSet::list() const {
  std::string out;
  for (std::size_t i = 0; i < cpus_.size();) {
    std::size_t end = i + 1;
    while (end < cpus_.size() && cpus_[end] == cpus_[end - 1] + 1) ++end;
    if (!out.empty()) out += ',';
    out += end - i == 1 ? fmt::format("{}", cpus_[i]) : fmt::format("{}-{}", cpus_[i], cpus_[end - 1]);
    i = end;
  }
  return out;
}

std::string CpuSet::mask() const {
  if (cpus_.empty()) return "0x0";
  std::string digits(cpus_.back() / 4 + 1, '0');
  for (const std::uint32_t cpu : cpus_) {
    char& digit = digits[digits.size() - 1 - cpu / 4];
    const unsigned value = (digit <= '9' ? unsigned(digit - '0') : unsigned(digit - 'a') + 10) | (1U << (cpu % 4));
    digit = static_cast<char>(value < 10 ? '0' + value : 'a' + (value - 10));
  }
  return "0x" + digits;
}

std::optional<CpuSet> parse_cpu_list(std::string_view text) {
  std::vector<std::uint32_t> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const std::size_t dash = item.find('-');
    const auto low = whole_number(item.substr(0, dash), 10, CpuSet::kMaxCpu);
    const auto high = dash == std::string_view::npos ? low : whole_number(item.substr(dash + 1), 10, CpuSet::kMaxCpu);
    if (!low || !high || *high < *low || out.size() + (*high - *low) >= CpuSet::kMaxCpu) return std::nullopt;
    for (std::uint32_t cpu = *low; cpu <= *high; ++cpu) out.push_back(cpu);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  return CpuSet(std::move(out));
}

std::optional<CpuSet> parse_cpu_mask(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::vector<std::uint32_t> words;  // least significant first
  while (true) {
    const std::size_t comma = text.rfind(',');
    std::string_view word = comma == std::string_view::npos ? text : text.substr(comma + 1);
    if (word.starts_with("0x")) word.remove_prefix(2);
    const auto value = word.empty() ? std::optional<std::uint32_t>(0)
                                    : (word.size() <= 8 ? whole_number(word, 16, 1ULL << 32) : std::nullopt);
    if (!value || words.size() >= CpuSet::kMaxCpu / 32) return std::nullopt;
    words.push_back(*value);
    if (comma == std::string_view::npos) break;
    text = text.substr(0, comma);
  }
  std::vector<std::uint32_t> out;
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      if ((words[w] >> bit & 1U) != 0) out.push_back(static_cast<std::uint32_t>(w) * 32 + bit);
    }
  }
  return CpuSet(std::move(out));
}

}  // namespace weft::topology
