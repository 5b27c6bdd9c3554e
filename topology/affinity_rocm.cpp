// SPDX-License-Identifier: BSD-3-Clause
//
// `rocm-smi --showtopo`: tables of weights, hops and link types between GPUs, and each GPU's NUMA node. No NICs. Hops
// count the links of the kernel's topology (amdkfd): two are GPU - CPU - GPU in one NUMA node, three cross to another.
#include <fmt/format.h>

#include <algorithm>

#include "affinity_text.hpp"
#include "affinity_tree.hpp"
#include "affinity_xml.hpp"

namespace weft::topology {
namespace affinity {
namespace {

enum class Section : std::uint8_t { none, weight, hops, type, numa };

Section section_of(std::string_view title) {
  if (title.find("Weight between two GPUs") != std::string_view::npos) return Section::weight;
  if (title.find("Hops between two GPUs") != std::string_view::npos) return Section::hops;
  if (title.find("Link Type between two GPUs") != std::string_view::npos) return Section::type;
  return title.find("Numa Nodes") != std::string_view::npos ? Section::numa : Section::none;
}

// A table's cells by GPU, nullopt where there was none.
struct Table {
  bool there = false;
  bool headed = false;
  std::vector<std::uint32_t> columns;
  std::vector<bool> rows;
};

class RocmReader {
 public:
  RocmReader(const Source& source, NodeAffinity& node)
      : source_(source), lines_(text_lines(source->text())), node_(node) {}

  Result<void> read() {
    Section section = Section::none;
    Table table;
    for (const TextLine& line : lines_) {
      const std::vector<Word> words = line.words();
      if (words.empty()) continue;
      if (words.front().text.starts_with("===")) {
        if (auto ok = check_rows(table); !ok) return ok;
        section = section_of(line.text());
        table = {
            .there = section == Section::hops || section == Section::type, .headed = false, .columns = {}, .rows = {}};
        last_ = &line;
        continue;
      }
      if (section == Section::numa) {
        if (auto ok = read_numa(line, words); !ok) return ok;
      } else if (table.there) {
        if (auto ok = read_table_line(line, words, section, table); !ok) return ok;
      }
    }
    if (auto ok = check_rows(table); !ok) return ok;
    return finish();
  }

 private:
  // A table that ends before its last row has been cut off.
  Result<void> check_rows(const Table& table) const {
    if (!table.there) return {};
    for (const std::uint32_t gpu : table.columns) {
      if (gpu < table.rows.size() && table.rows[gpu]) continue;
      return fail(error_at(ErrorCode::syntax, source_, {last_->number(), 1}, 1,
                           fmt::format("the table has no row for GPU{}", gpu),
                           "a row for each column; is it cut off?"));
    }
    return {};
  }

  Result<void> read_table_line(const TextLine& line, const std::vector<Word>& words, Section section, Table& table) {
    if (!table.headed) return read_head(line, words, table);
    const auto row = numbered(words.front().text, "GPU");
    if (!row || std::find(table.columns.begin(), table.columns.end(), *row) == table.columns.end()) {
      return fail(word_error(ErrorCode::syntax, source_, line, words.front(),
                             fmt::format("{} begins a row", quoted(words.front().text)),
                             "a row of one of the columns, such as GPU0"));
    }
    if (words.size() != table.columns.size() + 1) {
      return fail(error_at(ErrorCode::syntax, source_, {line.number(), 1}, 1,
                           fmt::format("row GPU{} has {} of {} cells", *row, words.size() - 1, table.columns.size()),
                           "a cell for each column"));
    }
    table.rows[*row] = true;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Word& word = words[c + 1];
      const std::size_t place = *row * gpus_ + table.columns[c];
      if (section == Section::hops) {
        const auto hops = parse_number(word.text, 10);
        if (hops && *hops < 64) {
          hops_[place] = static_cast<std::uint32_t>(*hops);
        } else if (word.text != "N/A") {
          return fail(word_error(ErrorCode::bad_value, source_, line, word, fmt::format("{} hops", quoted(word.text)),
                                 "a number such as 1"));
        }
      } else if (word.text == "XGMI" || word.text == "PCIE") {
        types_[place] = word.text.front();
      } else if (word.text != "0" && word.text != "N/A") {
        return fail(word_error(ErrorCode::bad_value, source_, line, word,
                               fmt::format("link type {}", quoted(word.text)), "XGMI, PCIE or 0"));
      }
    }
    return {};
  }

  Result<void> read_head(const TextLine& line, const std::vector<Word>& words, Table& table) {
    std::uint32_t most = 0;
    for (const Word& word : words) {
      const auto gpu = numbered(word.text, "GPU");
      if (!gpu || *gpu >= kMaxAffinityDevices ||
          std::find(table.columns.begin(), table.columns.end(), *gpu) != table.columns.end()) {
        return fail(word_error(ErrorCode::syntax, source_, line, word,
                               fmt::format("{} heads a column", quoted(word.text)),
                               fmt::format("GPU0 to GPU{}, each once", kMaxAffinityDevices - 1)));
      }
      table.columns.push_back(*gpu);
      most = std::max(most, *gpu);
    }
    if (gpus_ != 0 && gpus_ != most + 1) {
      return fail(error_at(ErrorCode::conflict, source_, {line.number(), 1}, 1,
                           fmt::format("this table is of {} GPUs, the one before of {}", most + 1, gpus_),
                           "tables of one machine"));
    }
    gpus_ = most + 1;
    hops_.resize(std::size_t{gpus_} * gpus_);
    types_.resize(hops_.size(), 0);
    table.rows.assign(gpus_, false);
    table.headed = true;
    return {};
  }

  // "GPU[0]		: (Topology) Numa Node: 0"
  Result<void> read_numa(const TextLine& line, const std::vector<Word>& words) {
    std::string_view label = words.front().text;
    if (!label.starts_with("GPU[") || line.text().find("Numa Node:") == std::string_view::npos) return {};
    label.remove_prefix(4);
    const auto gpu = parse_number(label.substr(0, label.find(']')), 10);
    if (!gpu || *gpu >= kMaxAffinityDevices) {
      return fail(word_error(ErrorCode::bad_value, source_, line, words.front(),
                             fmt::format("NUMA node of {}", quoted(words.front().text)), "GPU[0]"));
    }
    if (numa_.size() <= *gpu) numa_.resize(*gpu + 1);
    const Word& value = words.back();
    const auto numa = parse_number(value.text, 10);
    if (numa && *numa < 65536) {
      numa_[*gpu] = static_cast<std::uint32_t>(*numa);
    } else if (value.text != "-1" && value.text != "N/A") {
      return fail(word_error(ErrorCode::bad_value, source_, line, value,
                             fmt::format("NUMA node {}", quoted(value.text)), "a number such as 0"));
    }
    return {};
  }

  Result<void> finish() {
    if (gpus_ == 0) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "no table of hops or link types between GPUs",
                           "the output of `rocm-smi --showtopo`"));
    }
    node_.gpus.resize(gpus_);
    node_.gpu_gpu.assign(types_.size(), std::nullopt);
    node_.links_said = std::any_of(types_.begin(), types_.end(), [](char type) { return type != 0; });
    std::vector<GpuLink> links;
    for (std::uint32_t a = 0; a < gpus_; ++a) {
      node_.gpus[a].vendor = GpuVendor::amd;
      if (a < numa_.size()) node_.gpus[a].numa = numa_[a];
      for (std::uint32_t b = 0; b < a; ++b) {
        const std::size_t place = std::size_t{a} * gpus_ + b;
        const std::size_t back = std::size_t{b} * gpus_ + a;
        if (types_[place] != types_[back] || hops_[place] != hops_[back]) {
          note(node_, Note::Kind::warning, {},
               fmt::format("the tables differ on GPU {} - GPU {} in the two directions", b, a));
        }
        if (types_[place] == 'X' && types_[back] == 'X') links.push_back({b, a, LinkKind::xgmi, 0, 0});
        if (types_[place] != 'P' && types_[place] != 0) continue;
        const std::uint32_t hops = std::max(hops_[place].value_or(0), hops_[back].value_or(0));
        if (hops < 2) continue;
        node_.gpu_gpu[place] = node_.gpu_gpu[back] = hops == 2 ? PathClass::node : PathClass::sys;
      }
    }
    for (const AffinityGpu& gpu : node_.gpus) {
      if (!gpu.numa) continue;
      const bool known = std::any_of(node_.numa.begin(), node_.numa.end(),
                                     [&](const AffinityNuma& n) { return n.os_index == *gpu.numa; });
      if (!known) node_.numa.push_back({.os_index = *gpu.numa, .socket = std::nullopt, .cpus = {}});
    }
    std::sort(node_.numa.begin(), node_.numa.end(),
              [](const AffinityNuma& a, const AffinityNuma& b) { return a.os_index < b.os_index; });
    if (numa_.empty()) note(node_, Note::Kind::warning, {}, "no section of NUMA nodes; is the output cut off?");
    set_links(node_, std::move(links));
    return {};
  }

  const Source& source_;
  std::vector<TextLine> lines_;
  NodeAffinity& node_;
  const TextLine* last_ = nullptr;
  std::uint32_t gpus_ = 0;
  std::vector<std::optional<std::uint32_t>> hops_;
  std::vector<char> types_;  // 'X' or 'P', 0 where not said
  std::vector<std::optional<std::uint32_t>> numa_;
};

}  // namespace
}  // namespace affinity

Result<NodeAffinity> read_rocm_smi_topo(const Source& source) {
  NodeAffinity node;
  node.kind = AffinityKind::rocm_smi;
  node.file = source->file();
  if (auto ok = affinity::RocmReader(source, node).read(); !ok) return fail(std::move(ok.error()));
  derive_nics(node);
  return node;
}

}  // namespace weft::topology
