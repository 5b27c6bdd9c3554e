// SPDX-License-Identifier: BSD-3-Clause
//
// `nvidia-smi topo -m` and `-mp`, as drivers from 2015 to now print them: parted by tabs or, where somebody pasted
// them, by blanks; the head underlined by escape codes or not; NICs as NIC0 with a legend below or under their own
// names; with or without "NUMA Affinity" and "GPU NUMA ID"; rows of NICs cut short, or missing. A path stands in the
// table twice; the GPU's row counts, the NIC's fills gaps.
#include "affinity_smi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "affinity_tree.hpp"
#include "affinity_xml.hpp"

namespace weft::topology {
namespace affinity {
namespace {

constexpr std::string_view kCells = "X, NV18, PIX, PXB, PHB, NODE or SYS";

struct Cell {
  enum class Kind : std::uint8_t { self, link, path, unknown };
  Kind kind = Kind::unknown;
  PathClass path = PathClass::sys;
  std::uint32_t width = 0;
};

std::optional<Cell> parse_cell(std::string_view word) {
  struct Name {
    std::string_view word;
    PathClass path;
  };
  // PSB: a switch on the card; SOC: what SYS was called.
  static constexpr auto kPaths = std::to_array<Name>({{"PIX", PathClass::pix},
                                                      {"PXB", PathClass::pxb},
                                                      {"PHB", PathClass::phb},
                                                      {"NODE", PathClass::node},
                                                      {"SYS", PathClass::sys},
                                                      {"SOC", PathClass::sys},
                                                      {"PSB", PathClass::pix}});
  if (word == "X") return Cell{.kind = Cell::Kind::self};
  if (word == "N/A" || word == "???" || word == "U" || word == "ERR!" || word == "-") return Cell{};
  for (const Name& name : kPaths) {
    if (word == name.word) return Cell{.kind = Cell::Kind::path, .path = name.path};
  }
  if (const auto width = numbered(word, "NV")) return Cell{.kind = Cell::Kind::link, .width = *width};
  return std::nullopt;
}

struct Device {
  std::string label;
  bool gpu = false;
  std::uint32_t index = 0;  // among the GPUs, or among the NICs
};

struct Row {
  const TextLine* line = nullptr;
  std::vector<Word> cells;
  Word cpus, numa;
};

class SmiReader {
 public:
  SmiReader(const Source& source, NodeAffinity& node)
      : source_(source), lines_(text_lines(source->text())), node_(node) {}

  Result<void> read() {
    std::size_t head = 0;
    while (head < lines_.size() && !is_smi_header(lines_[head].words())) ++head;
    if (head == lines_.size()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no table of GPUs",
                           "the output of `nvidia-smi topo -m`, from its line of GPU0, GPU1 ... on"));
    }
    if (auto ok = read_head(lines_[head]); !ok) return ok;
    read_legend(head + 1);
    const std::size_t gpus = node_.gpus.size();
    node_.gpu_gpu.assign(gpus * gpus, std::nullopt);
    node_.gpu_nic.assign(gpus * node_.nics.size(), std::nullopt);
    for (std::size_t i = head + 1; i < lines_.size(); ++i) {
      const std::vector<Word> words = lines_[i].words();
      if (words.empty()) continue;
      if (words.front().text.starts_with("Legend")) break;
      const auto device = devices_.find(std::string(words.front().text));
      if (device == devices_.end()) {
        if (words.size() < 2 || !parse_cell(words[1].text)) continue;  // a prompt, a remark
        return fail(word_error(ErrorCode::dangling, source_, lines_[i], words.front(),
                               fmt::format("row {} has no column", quoted(words.front().text)),
                               "a row for a column of the head"));
      }
      if (auto ok = read_row(lines_[i], device->second); !ok) return ok;
    }
    return finish();
  }

 private:
  Result<void> read_head(const TextLine& line) {
    const std::vector<Word> words = line.words();
    std::map<std::uint32_t, std::string> gpus;
    std::uint32_t most = 0;
    for (const Word& word : words) {
      if (word.text == "CPU") break;
      columns_.emplace_back(word.text);
      if (!devices_.emplace(std::string(word.text), Device{std::string(word.text), false, 0}).second) {
        return fail(word_error(ErrorCode::duplicate, source_, line, word,
                               fmt::format("two columns {}", quoted(word.text)), "each device once"));
      }
      if (const auto number = numbered(word.text, "GPU")) {
        gpus.emplace(*number, word.text);
        most = std::max(most, *number);
      }
    }
    if (most >= kMaxAffinityDevices || columns_.size() - gpus.size() > kMaxAffinityDevices) {
      return fail(error_at(ErrorCode::limit, source_, {line.number(), 1}, 1, "too many GPUs or NICs in one node",
                           fmt::format("at most {} of each", kMaxAffinityDevices)));
    }
    node_.gpus.resize(most + 1);  // a GPU that the table leaves out keeps its number
    for (AffinityGpu& gpu : node_.gpus) gpu.vendor = GpuVendor::nvidia;
    for (std::uint32_t g = 0; g <= most; ++g) {
      if (!gpus.contains(g))
        note(node_, Note::Kind::warning, {line.number(), 1}, fmt::format("GPU {} is not in the table", g));
    }
    for (const std::string& column : columns_) {
      Device& device = devices_.at(column);
      if (const auto number = numbered(column, "GPU")) {
        device.gpu = true;
        device.index = *number;
      } else {
        device.index = static_cast<std::uint32_t>(node_.nics.size());
        node_.nics.emplace_back().name = column;
      }
    }
    const std::string_view text = line.text();
    has_numa_ = text.find("NUMA Affinity") != std::string_view::npos;
    has_cpus_ = text.find("CPU Affinity") != std::string_view::npos;
    return {};
  }

  // "  NIC0: mlx5_10", and whether NVLink was asked for at all.
  void read_legend(std::size_t from) {
    bool legend = false;
    bool nvlink = false;
    for (std::size_t i = from; i < lines_.size(); ++i) {
      const std::vector<Word> words = lines_[i].words();
      if (words.empty()) continue;
      if (words.front().text == "X" && words.size() > 2 && words[1].text == "=") legend = true;
      if (words.front().text == "NV#") nvlink = true;
      if (words.size() != 2 || !words.front().text.ends_with(':')) continue;
      const auto device = devices_.find(std::string(words.front().text.substr(0, words.front().text.size() - 1)));
      if (device == devices_.end() || device->second.gpu) continue;
      AffinityNic& nic = node_.nics[device->second.index];
      nic.name = words[1].text;
    }
    // -mp shows PCI paths in place of NVLinks, and its legend has no NV#.
    node_.links_said = !legend || nvlink;
  }

  // Cells first, then "CPU Affinity", "NUMA Affinity", "GPU NUMA ID". Tabs keep empty values apart, blanks do not.
  Row cut(const TextLine& line) const {
    Row row;
    row.line = &line;
    std::vector<Word> parts = line.has_tabs() ? line.fields() : line.words();
    while (!parts.empty() && parts.front().text.empty()) parts.erase(parts.begin());
    parts.erase(parts.begin());
    const std::size_t cells = std::min(parts.size(), columns_.size());
    row.cells.assign(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(cells));
    std::size_t next = cells;
    if (has_cpus_ && next < parts.size()) row.cpus = parts[next++];
    if (has_numa_ && next < parts.size()) row.numa = parts[next];
    return row;
  }

  Result<void> read_row(const TextLine& line, const Device& device) {
    const Row row = cut(line);
    const auto self =
        static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), device.label) - columns_.begin());
    std::vector<Cell> cells;
    for (const Word& word : row.cells) {
      const auto cell = parse_cell(word.text);
      if (!cell && device.gpu) {
        return fail(
            word_error(ErrorCode::bad_value, source_, line, word,
                       fmt::format("{} between {} and {}", quoted(word.text), device.label, columns_[cells.size()]),
                       std::string(kCells)));
      }
      cells.push_back(cell.value_or(Cell{}));
    }
    const bool whole = cells.size() == columns_.size() && cells[self].kind == Cell::Kind::self;
    if (!whole && device.gpu) {
      return fail(error_at(ErrorCode::syntax, source_, {line.number(), 1}, 1,
                           cells.size() < columns_.size()
                               ? fmt::format("row {} has {} of {} cells", device.label, cells.size(), columns_.size())
                               : fmt::format("row {} has no X in its own column", device.label),
                           "a cell for each column of the head, X for the device itself"));
    }
    if (!whole) {
      note(node_, Note::Kind::warning, {line.number(), 1},
           fmt::format("row {} does not fit its columns; left out, the GPUs' rows say the same", device.label));
      return {};
    }
    if (device.gpu) {
      if (auto ok = read_places(row, device); !ok) return ok;
    }
    for (std::size_t c = 0; c < cells.size(); ++c) set_cell(line, device, devices_.at(columns_[c]), cells[c]);
    return {};
  }

  void set_cell(const TextLine& line, const Device& row, const Device& column, const Cell& cell) {
    if (cell.kind == Cell::Kind::unknown || cell.kind == Cell::Kind::self) return;
    if (row.gpu && column.gpu) {
      if (cell.kind == Cell::Kind::link) {
        links_.push_back({row.index, column.index, LinkKind::nvlink, cell.width, 0});
      } else {
        put(line, row, column, node_.gpu_gpu[row.index * node_.gpus.size() + column.index], cell.path);
        auto& back = node_.gpu_gpu[column.index * node_.gpus.size() + row.index];
        if (!back) back = cell.path;
      }
      return;
    }
    if (cell.kind != Cell::Kind::path || row.gpu == column.gpu) return;
    const Device& gpu = row.gpu ? row : column;
    const Device& nic = row.gpu ? column : row;
    put(line, row, column, node_.gpu_nic[gpu.index * node_.nics.size() + nic.index], cell.path);
  }

  // The first row that speaks counts.
  void put(const TextLine& line, const Device& row, const Device& column, std::optional<PathClass>& place,
           PathClass path) {
    if (!place) place = path;
    if (*place == path) return;
    note(node_, Note::Kind::warning, {line.number(), 1},
         fmt::format("{} - {} is {} here and {} in the row of {}; the latter is taken", row.label, column.label,
                     to_string(path), to_string(*place), column.label));
  }

  Result<void> read_places(const Row& row, const Device& device) {
    AffinityGpu& gpu = node_.gpus[device.index];
    if (!row.cpus.text.empty() && row.cpus.text != "N/A") {
      auto cpus = parse_cpu_list(row.cpus.text);
      if (!cpus) {
        return fail(word_error(ErrorCode::bad_value, source_, *row.line, row.cpus,
                               fmt::format("the CPU affinity of {} is {}", device.label, quoted(row.cpus.text)),
                               "CPUs such as 0-51,104-155"));
      }
      gpu.cpus = std::move(*cpus);
    }
    if (!row.numa.text.empty() && row.numa.text != "N/A") {
      const auto numa = parse_cpu_list(row.numa.text);
      if (!numa) {
        return fail(word_error(ErrorCode::bad_value, source_, *row.line, row.numa,
                               fmt::format("the NUMA affinity of {} is {}", device.label, quoted(row.numa.text)),
                               "a NUMA node such as 0, or N/A"));
      }
      if (numa->size() == 1) gpu.numa = numa->cpus().front();
    }
    return {};
  }

  Result<void> finish() {
    for (const AffinityGpu& gpu : node_.gpus) {
      if (!gpu.numa) continue;
      const auto known = std::find_if(node_.numa.begin(), node_.numa.end(),
                                      [&](const AffinityNuma& n) { return n.os_index == *gpu.numa; });
      if (known != node_.numa.end()) {
        known->cpus = known->cpus.with(gpu.cpus);
      } else {
        node_.numa.push_back({.os_index = *gpu.numa, .socket = std::nullopt, .cpus = gpu.cpus});
      }
    }
    std::sort(node_.numa.begin(), node_.numa.end(),
              [](const AffinityNuma& a, const AffinityNuma& b) { return a.os_index < b.os_index; });
    set_links(node_, std::move(links_));
    return {};
  }

  const Source& source_;
  std::vector<TextLine> lines_;
  NodeAffinity& node_;
  std::vector<std::string> columns_;
  std::map<std::string, Device> devices_;
  bool has_cpus_ = false;
  bool has_numa_ = false;
  std::vector<GpuLink> links_;
};

}  // namespace

bool is_smi_cell(std::string_view word) { return parse_cell(word).has_value(); }

bool is_p2p_cell(std::string_view word) {
  return word == "OK" || word == "CNS" || word == "GNS" || word == "TNS" || word == "NS" || word == "DR";
}

bool is_smi_header(const std::vector<Word>& words) {
  if (words.empty() || !numbered(words.front().text, "GPU")) return false;
  for (const Word& word : words) {
    if (word.text == "CPU") return true;
    if (is_smi_cell(word.text) || is_p2p_cell(word.text)) return false;
  }
  return true;
}

}  // namespace affinity

Result<NodeAffinity> read_nvidia_smi_topo(const Source& source) {
  NodeAffinity node;
  node.kind = AffinityKind::nvidia_smi;
  node.file = source->file();
  if (auto ok = affinity::SmiReader(source, node).read(); !ok) return fail(std::move(ok.error()));
  derive_nics(node);
  return node;
}

}  // namespace weft::topology
