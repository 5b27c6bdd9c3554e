// SPDX-License-Identifier: BSD-3-Clause
//
// The matrix as a person reads it:
//
//          mlx5_0 mlx5_1 | GPU 0  GPU 1  | NUMA  CPUs     NIC
//   GPU 0  PIX    SYS    | -      NV4    | 0     0-1,4-5  mlx5_0   0000:13:00.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "affinity.hpp"
#include "words.hpp"

namespace weft::cli {
namespace {

using topology::NodeAffinity;
using topology::PathClass;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

// Green is near, yellow crosses the host bridge, red leaves the NUMA node.
std::string_view colour_of(std::string_view cell) {
  if (cell == "PIX" || cell == "PXB") return "\x1b[32m";
  if (cell == "PHB" || cell == "NODE") return "\x1b[33m";
  if (cell == "SYS") return "\x1b[31m";
  return cell.starts_with("NV") || cell.starts_with("XGMI") ? std::string_view("\x1b[36m") : std::string_view();
}

// Terminals act on escape codes, and names come from files.
std::string safe(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string path_cell(const std::optional<PathClass>& path) { return path ? std::string(to_string(*path)) : "?"; }

std::string gpu_cell(const NodeAffinity& node, std::uint32_t a, std::uint32_t b) {
  if (a == b) return "-";
  const topology::GpuLink* link = node.link(a, b);
  if (link == nullptr) return path_cell(node.path_between(a, b));
  const std::string_view word = link->kind == topology::LinkKind::nvlink ? "NV" : "XGMI";
  return link->width == 0 ? std::string(word) : fmt::format("{}{}", word, link->width);
}

std::string nic_name(const NodeAffinity& node, std::uint32_t nic) {
  const std::string& name = node.nics[nic].name;
  return name.empty() ? fmt::format("NIC {}", nic) : safe(name);
}

class Table {
 public:
  explicit Table(bool colour) : colour_(colour) {}

  void row(std::vector<std::string> cells) {
    width_.resize(std::max(width_.size(), cells.size()), 0);
    for (std::size_t c = 0; c < cells.size(); ++c) width_[c] = std::max(width_[c], cells[c].size());
    rows_.push_back(std::move(cells));
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < rows_[r].size(); ++c) {
        const std::string& cell = rows_[r][c];
        const std::string_view colour = !colour_ ? std::string_view() : (r == 0 || c == 0 ? kBold : colour_of(cell));
        if (c > 0) line += c == 1 ? "  " : " ";
        line += fmt::format("{}{}{}", colour, cell, colour.empty() ? std::string_view() : kPlain);
        if (c + 1 < rows_[r].size()) line.append(width_[c] - cell.size(), ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    return out;
  }

 private:
  bool colour_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> width_;
};

std::string head_line(const NodeAffinity& node) {
  std::string out = fmt::format("{}{}: {}, {}", node.host.empty() ? "" : safe(node.host) + ", ", to_string(node.kind),
                                counted(node.gpus.size(), "GPU"), counted(node.nics.size(), "NIC"));
  if (node.sockets > 0) out += ", " + counted(node.sockets, "socket");
  if (!node.numa.empty()) out += ", " + counted(node.numa.size(), "NUMA node");
  if (!node.cores.empty()) out += ", " + counted(node.cores.size(), "core");
  return out + '\n';
}

std::string groups_text(const NodeAffinity& node) {
  std::string out;
  for (const topology::LinkGroup& group : topology::link_groups(node)) {
    const std::string width = group.max_width == 0 ? std::string()
                              : group.min_width == group.max_width
                                  ? fmt::format(", {} links a pair", group.max_width)
                                  : fmt::format(", {} to {} links a pair", group.min_width, group.max_width);
    out += fmt::format("{} joins GPUs {}{}{}\n", to_string(group.kind), topology::CpuSet(group.gpus).list(),
                       group.all_to_all ? ", each to each" : "", width);
  }
  return out;
}

}  // namespace

std::string affinity_text(const NodeAffinity& node, bool colour) {
  Table table(colour);
  std::vector<std::string> head{""};
  for (std::uint32_t n = 0; n < node.nics.size(); ++n) head.push_back(nic_name(node, n));
  if (!node.nics.empty()) head.emplace_back("|");
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) head.push_back(fmt::format("GPU {}", g));
  head.insert(head.end(), {"|", "NUMA", "CPUs", "NIC", "PCI"});
  table.row(std::move(head));
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    const topology::AffinityGpu& gpu = node.gpus[g];
    std::vector<std::string> row{fmt::format("GPU {}", g)};
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) row.push_back(path_cell(node.path(g, n)));
    if (!node.nics.empty()) row.emplace_back("|");
    for (std::uint32_t h = 0; h < node.gpus.size(); ++h) row.push_back(gpu_cell(node, g, h));
    row.insert(row.end(),
               {"|", gpu.numa ? fmt::format("{}", *gpu.numa) : "?", gpu.cpus.empty() ? "?" : gpu.cpus.list(),
                node.nic_of_gpu[g] ? nic_name(node, *node.nic_of_gpu[g]) : "-", gpu.pci ? to_string(*gpu.pci) : "?"});
    table.row(std::move(row));
  }
  return head_line(node) + groups_text(node) + (node.gpus.empty() ? "" : '\n' + table.text());
}

}  // namespace weft::cli
