// SPDX-License-Identifier: BSD-3-Clause
//
// Formats that a line gives away: InfiniBand tools, Slurm's configuration, tables, traces.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "clos_csv.hpp"
#include "recognise.hpp"
#include "slurm_conf.hpp"

namespace weft::topology {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A line read from the left, token by token.
class Scan {
 public:
  explicit Scan(std::string_view line) : rest_(line) {}

  bool word(std::string_view w) {
    if (!rest_.starts_with(w)) return false;
    rest_.remove_prefix(w.size());
    return true;
  }
  bool any_of(std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [this](std::string_view w) { return word(w); });
  }
  bool blanks() { return some(is_blank); }
  bool skip() {
    some(is_blank);
    return true;
  }
  bool digits() { return some(is_digit); }
  bool hex(std::size_t least, std::size_t most) {
    const std::size_t n = run(is_hex);
    if (n < least || n > most) return false;
    rest_.remove_prefix(n);
    return true;
  }
  bool solid() {
    return some([](char c) { return !is_blank(c); });
  }
  [[nodiscard]] bool end() const { return std::all_of(rest_.begin(), rest_.end(), is_blank); }

 private:
  template <typename F>
  [[nodiscard]] std::size_t run(F f) const {
    std::size_t n = 0;
    while (n < rest_.size() && f(rest_[n])) ++n;
    return n;
  }
  template <typename F>
  bool some(F f) {
    const std::size_t n = run(f);
    rest_.remove_prefix(n);
    return n > 0;
  }

  std::string_view rest_;
};

bool is_ibnetdiscover(std::string_view line) {
  if (line.starts_with("# Topology file: generated")) return true;
  Scan guid(line);
  if (guid.any_of({"vendid=0x", "devid=0x", "sysimgguid=0x", "switchguid=0x", "caguid=0x", "rtguid=0x"})) return true;
  Scan record(line);
  return record.any_of({"Switch", "Ca", "Hca", "Rt"}) && record.blanks() && record.digits() && record.blanks() &&
         record.any_of({"\"S-", "\"H-", "\"R-"});
}

bool is_ports_report(std::string_view line) {
  Scan s(line);
  return s.any_of({"CA", "SW", "RT"}) && s.blanks() && s.digits() && s.blanks() && s.digits() && s.blanks() &&
         s.word("0x") && s.hex(1, 16) && s.blanks() && (s.word("?") || s.digits());
}

bool is_linkinfo(std::string_view line) {
  const std::size_t open = line.find("==(");
  return open != std::string_view::npos && line.find(")==>", open) != std::string_view::npos;
}

bool is_node_list(std::string_view line) {
  Scan s(line);
  return s.any_of({"Ca", "Switch", "Router"}) && s.skip() && s.word(":") && s.skip() && s.word("0x") && s.hex(1, 16) &&
         s.blanks() && s.word("ports");
}

bool is_guid2lid(std::string_view line) {
  Scan s(line);
  return s.word("0x") && s.hex(16, 16) && s.blanks() && s.word("0x") && s.hex(4, 4) && s.blanks() && s.word("0x") &&
         s.hex(4, 4) && s.end();
}

bool guid(Scan& s) { return s.any_of({"0x", "H-", "S-"}) && s.hex(12, 16); }

bool is_name_map(std::string_view line) {
  Scan s(line);
  return guid(s) && s.blanks() && s.solid();
}

bool is_guid_list(std::string_view line) {
  Scan s(line);
  return guid(s) && s.end();
}

bool is_swf(std::string_view line) {
  if (line.starts_with(";")) return true;
  std::size_t fields = 0;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && is_blank(line[at])) ++at;
    if (at == line.size()) break;
    for (; at < line.size() && !is_blank(line[at]); ++at) {
      if (!is_digit(line[at]) && line[at] != '-' && line[at] != '.') return false;
    }
    ++fields;
  }
  return fields == 18;
}

bool has_conf_key(std::string_view line, std::initializer_list<std::string_view> keys) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && ((line[end] | 0x20) >= 'a' && (line[end] | 0x20) <= 'z')) ++end;
  const std::string_view key = line.substr(begin, end - begin);
  if (std::none_of(keys.begin(), keys.end(), [key](std::string_view k) { return same_key(k, key); })) return false;
  while (end < line.size() && is_blank(line[end])) ++end;
  return end < line.size() && (line[end] == '=' || (end + 1 < line.size() && line[end + 1] == '='));
}

bool is_include(std::string_view line) {
  return line.size() > 8 && same_key(line.substr(0, 7), "include") && is_blank(line[7]);
}

struct Refusal {
  std::string reason;
  std::string expected;
};

constexpr const char* kDump = "the output of ibnetdiscover, which has the links";

std::optional<Refusal> known_but_no_fabric(std::string_view line) {
  if (is_node_list(line)) return Refusal{"a node list (ibnetdiscover -l), which has no links", kDump};
  if (line.starts_with("Unicast lids [") || line.starts_with("Multicast mlids [") ||
      line.starts_with("dump_ucast_routes:")) {
    return Refusal{"forwarding tables, not a fabric",
                   "the fabric they belong to; forwarding tables go with --routing static"};
  }
  if (line.starts_with("{ CA ") || line.starts_with("{ SW ") || line.starts_with("{ CA-") ||
      line.starts_with("{ SW-") || line.starts_with("{ Rtr")) {
    return Refusal{"OpenSM's subnet list (opensm-subnet.lst)", kDump};
  }
  if (is_guid2lid(line)) return Refusal{"OpenSM's guid2lid cache, which has no links", kDump};
  if (is_guid_list(line)) return Refusal{"a list of GUIDs, which has no links", kDump};
  if (is_name_map(line)) {
    return Refusal{"a map of GUIDs to node names, not a fabric", "the fabric it belongs to; the map goes with --names"};
  }
  if (has_conf_key(line, {"ClusterName", "SlurmctldHost", "NodeName", "PartitionName", "AuthType", "TopologyPlugin"})) {
    return Refusal{"a slurm.conf, which does not say how nodes are connected",
                   "the topology.conf or topology.yaml beside it"};
  }
  return std::nullopt;
}

bool is_htsim(std::string_view text) {
  LineWalk walk(text);
  std::string_view line;
  bool nodes = false;
  while (walk.next(line)) {
    Scan a(line);
    if (a.word("Nodes") && a.blanks() && a.digits() && a.end()) nodes = true;
    Scan b(line);
    if (nodes && b.word("Tiers") && b.blanks() && b.digits() && b.end()) return true;
  }
  return false;
}

// The first line that says something is a table's header?
bool classify_table(std::string_view line, std::uint32_t number, Recognised& out) {
  const auto fields = csv_fields(line);
  if (!fields || fields->size() < 2) return false;
  constexpr std::array<std::string_view, 3> kSwitches{"asw", "psw", "dsw"};
  const auto switches = std::count_if(fields->begin(), fields->end(), [&](const CsvField& field) {
    return std::any_of(kSwitches.begin(), kSwitches.end(), [&](std::string_view w) { return same_key(w, field.text); });
  });
  if (clos_columns(line) || switches >= 2) {
    out.kind = FileKind::clos_csv;
    return true;
  }
  const bool table = fields->size() >= 3 && line.find_first_of("={}[]:\"") == std::string_view::npos;
  if (!table) return false;
  out.reason = "a table without columns for a host and the switches above it";
  out.expected = "a header with the columns host (or ip), ASW, PSW and DSW";
  out.at = {number, 1};
  return true;
}

std::optional<FileKind> marked(std::string_view line) {
  if (is_ibnetdiscover(line)) return FileKind::ibnetdiscover;
  if (is_linkinfo(line)) return FileKind::iblinkinfo;
  if (is_ports_report(line)) return FileKind::ibnetdiscover_ports;
  if (has_conf_key(line, {"SwitchName", "BlockName", "BlockSizes", "RingName"}) || is_include(line)) {
    return FileKind::slurm_topology_conf;
  }
  return std::nullopt;
}

}  // namespace

bool classify_lines(std::string_view text, Recognised& out) {
  LineWalk walk(text);
  std::string_view line;
  bool first = true;
  std::optional<Recognised> refusal;
  while (walk.next(line)) {
    if (const auto kind = marked(line)) {
      out.kind = *kind;
      return true;
    }
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    if (first) {
      first = false;
      if (classify_table(line, walk.number(), out)) return true;
      if (is_swf(line)) {
        out.reason = "a job trace (SWF), not a fabric";
        out.expected = std::string(kKnownFabrics);
        out.at = {walk.number(), 1};
        return true;
      }
    }
    if (refusal) continue;
    if (auto known = known_but_no_fabric(line)) {
      refusal = Recognised{FileKind::unknown, std::move(known->reason), std::move(known->expected), {walk.number(), 1}};
    }
  }
  if (refusal) {
    out = std::move(*refusal);
    return true;
  }
  if (is_htsim(text)) {
    out.reason = "an htsim topology, which names no nodes or switches";
    out.expected = "a fabric of the same shape by 'weft generate fat-tree'";
    return true;
  }
  return false;
}

}  // namespace weft::topology
