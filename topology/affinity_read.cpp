// SPDX-License-Identifier: BSD-3-Clause
//
// Which of the kinds a text is, by content, and why not where it is none.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "affinity_smi.hpp"
#include "recognise.hpp"
#include "weft/topology/affinity.hpp"

namespace weft::topology {
namespace affinity {
namespace {

constexpr std::string_view kKnown =
    "hwloc XML (lstopo), `nvidia-smi topo -m`, NCCL or RCCL topology XML, or `rocm-smi --showtopo`";
constexpr std::size_t kMostLines = 2000;

struct Found {
  std::optional<AffinityKind> kind;
  std::string reason;  // where kind is not set
  std::string expected{kKnown};
  Position at{1, 1};
};

Found refuse(std::string reason, std::string expected, Position at = {1, 1}) {
  return {.kind = std::nullopt, .reason = std::move(reason), .expected = std::move(expected), .at = at};
}

// The name of the document's first element; empty where there is none.
std::string_view first_element(std::string_view text) {
  while (true) {
    const std::size_t open = text.find('<');
    if (open == std::string_view::npos) return {};
    text.remove_prefix(open + 1);
    if (text.starts_with("!--")) {
      const std::size_t end = text.find("-->");
      if (end == std::string_view::npos) return {};
      text.remove_prefix(end);
    } else if (!text.starts_with('?') && !text.starts_with('!')) {
      return text.substr(0, text.find_first_of(" \t\r\n/>"));
    }
  }
}

Found classify_xml(std::string_view text) {
  const std::string_view name = first_element(text);
  if (name == "topology") return {.kind = AffinityKind::hwloc_xml, .reason = {}};
  if (name == "system") return {.kind = AffinityKind::nccl, .reason = {}};
  if (name == "graphs") {
    return refuse("an NCCL graph file (NCCL_GRAPH_DUMP_FILE), which has channels, not paths",
                  "the topology that NCCL writes with NCCL_TOPO_DUMP_FILE");
  }
  if (name == "html" || name == "HTML") {
    return refuse("an HTML page, perhaps an error page in place of a download", std::string(kKnown));
  }
  if (name.empty()) return refuse("XML without an element", std::string(kKnown));
  return refuse(fmt::format("XML with <{}> on top", name.substr(0, 40)), std::string(kKnown));
}

// One line's mark, if it has one.
std::optional<Found> classify_line(const TextLine& line, bool& after_head) {
  const std::string_view text = line.text();
  const std::vector<Word> words = line.words();
  if (words.empty()) return std::nullopt;
  const Position at = line.at(words.front());
  const std::string_view first = words.front().text;
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (has("between two GPUs") && first.starts_with("===")) return Found{.kind = AffinityKind::rocm_smi, .reason = {}};
  if (has("topo -p2p") ||
      (after_head && words.size() > 1 && numbered(first, "GPU") &&
       std::any_of(words.begin() + 1, words.end(), [](const Word& w) { return is_p2p_cell(w.text); }))) {
    return refuse(
        "the output of `nvidia-smi topo -p2p`, which says what GPUs can do with each other, not over which path",
        "the output of `nvidia-smi topo -m`", at);
  }
  if (after_head && words.size() > 1 && is_smi_cell(words[1].text))
    return Found{.kind = AffinityKind::nvidia_smi, .reason = {}};
  if (first.starts_with("-[") || first.starts_with("-+-[")) {
    return refuse("the output of `lspci -tv`, which does not say which CPUs a device is near",
                  "hwloc XML of the machine (`lstopo machine.xml`) or the output of `nvidia-smi topo -m`", at);
  }
  if (first == "available:" && has(" nodes (")) {
    return refuse("the output of `numactl --hardware`, which has no devices",
                  "hwloc XML of the machine (`lstopo machine.xml`) or the output of `nvidia-smi topo -m`", at);
  }
  after_head = after_head || is_smi_header(words);
  return std::nullopt;
}

Found classify_text(const std::string_view text) {
  bool after_head = false;
  std::string_view rest = text;
  for (std::uint32_t number = 1; !rest.empty() && number <= kMostLines; ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const TextLine line(rest.substr(0, std::min<std::size_t>(end, 1U << 16)), number);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (auto found = classify_line(line, after_head)) return std::move(*found);
  }
  if (after_head) return {.kind = AffinityKind::nvidia_smi, .reason = {}};
  const Recognised other = classify(text);
  if (other.kind == FileKind::job_yaml)
    return refuse("a job (job.yaml), not the inside of a node", std::string(kKnown));
  if (other.kind != FileKind::unknown) {
    return refuse(fmt::format("a fabric ({}), not the inside of a node", to_string(other.kind)), std::string(kKnown));
  }
  const bool packed =
      other.expected.find("unpack") != std::string::npos || other.reason.find("UTF-16") != std::string::npos;
  return refuse(other.reason, packed ? other.expected : std::string(kKnown), other.at);
}

Found find_kind(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '<' &&
      text.substr(0, 4096).find('\0') == std::string_view::npos) {
    return classify_xml(text);
  }
  return classify_text(text);
}

}  // namespace
}  // namespace affinity

std::optional<AffinityKind> recognise_affinity(std::string_view text) { return affinity::find_kind(text).kind; }

Result<NodeAffinity> read_affinity(const Source& source) {
  if (source->text().size() > kMaxAffinityBytes) {
    Error e = error(ErrorCode::limit, fmt::format("{} bytes for the inside of one node", source->text().size()),
                    fmt::format("at most {} MiB", kMaxAffinityBytes >> 20));
    e.file = source->file();
    return fail(std::move(e));
  }
  const affinity::Found found = affinity::find_kind(source->text());
  if (found.kind) {
    switch (*found.kind) {
      case AffinityKind::hwloc_xml: return read_hwloc_xml(source);
      case AffinityKind::nvidia_smi: return read_nvidia_smi_topo(source);
      case AffinityKind::nccl: return read_nccl_topology(source);
      case AffinityKind::rocm_smi: return read_rocm_smi_topo(source);
      case AffinityKind::hwloc_live: break;
    }
  }
  const bool shown = source->text().substr(0, 4096).find('\0') == std::string_view::npos;
  Error e = error_at(ErrorCode::unsupported, shown ? source : Source(), found.at, 1, found.reason, found.expected);
  e.file = source->file();
  return fail(std::move(e));
}

}  // namespace weft::topology
