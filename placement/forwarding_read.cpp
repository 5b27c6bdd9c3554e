// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "weft/placement/forwarding.hpp"

namespace weft::placement {
namespace {

enum class Form : std::uint8_t { none, fdbs, lfts, dump_fts };

constexpr std::string_view kFdbsHead = "dump_ucast_routes: Switch ";
constexpr std::string_view kLidsHead = "Unicast lids [";
constexpr std::string_view kHeads =
    "\"dump_ucast_routes: Switch 0x…\" or \"Unicast lids [0-695] of switch … guid 0x… (…):\"";
constexpr std::string_view kFdbsLine = "\"0x0001 : 061 : 02 : yes\" or \"0x0001 : UNREACHABLE\"";
constexpr std::string_view kLftsLine = "\"0x0001 061 # Channel Adapter portguid 0x…: '…'\"";
constexpr std::string_view kDumpFtsLine = "\"0x0001 061 : (Channel Adapter portguid 0x…: '…')\"";

// A place in one line.
class Scan {
 public:
  Scan(const Source& source, std::string_view line, std::uint32_t number)
      : source_(source), line_(line), number_(number) {}

  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == line_.size();
  }
  bool accept(std::string_view word) {
    skip_blanks();
    if (!line_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  [[nodiscard]] bool has(std::string_view text) const { return line_.find(text) != std::string_view::npos; }
  // To just behind `text`.
  bool skip_past(std::string_view text) {
    const std::size_t found = line_.find(text, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + text.size();
    return true;
  }
  template <typename T>
  std::optional<T> number(int base) {
    skip_blanks();
    const std::size_t before = at_;
    if (base == 16 && !accept("0x")) return std::nullopt;
    T value{};
    const auto [end, fault] = std::from_chars(line_.data() + at_, line_.data() + line_.size(), value, base);
    if (fault != std::errc()) {
      at_ = before;
      return std::nullopt;
    }
    at_ = static_cast<std::size_t>(end - line_.data());
    return value;
  }
  [[nodiscard]] Position at() const { return {number_, static_cast<std::uint32_t>(at_ + 1)}; }
  [[nodiscard]] Error error(ErrorCode code, std::string message, std::string_view expected) {
    skip_blanks();
    const std::size_t end = std::min(line_.find_first_of(" \t", at_), line_.size());
    return error_at(code, source_, at(), static_cast<std::uint32_t>(std::max<std::size_t>(end - at_, 1)),
                    std::move(message), std::string(expected));
  }

 private:
  const Source& source_;
  std::string_view line_;
  std::uint32_t number_;
  std::size_t at_ = 0;
};

// Calls `read` for each line; the first fault ends it.
template <typename Read>
std::optional<Error> each_line(const Source& source, Read read) {
  std::string_view text = source->text();
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto e = read(Scan(source, line, number))) return e;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::nullopt;
}

std::optional<Error> set_lid(ForwardingTables& tables, std::uint64_t guid, std::uint32_t lid, Scan& scan) {
  const auto [at, fresh] = tables.lid_of_port_guid.emplace(guid, lid);
  if (fresh || at->second == lid) return std::nullopt;
  return scan.error(ErrorCode::conflict,
                    fmt::format("port 0x{:016x} has LID {} here, {} before", guid, lid, at->second),
                    "one LID for each port");
}

class TableReader {
 public:
  explicit TableReader(const Source& source) : source_(source) {}

  Result<ForwardingTables> run() {
    out_.source = source_;
    if (auto e = each_line(source_, [this](Scan scan) { return read(scan); })) return fail(std::move(*e));
    if (out_.switches.empty())
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "the file holds no switch's forwarding table",
                           std::string(kHeads)));
    std::stable_sort(out_.switches.begin(), out_.switches.end(),
                     [](const auto& a, const auto& b) { return a.guid < b.guid; });
    for (std::size_t i = 1; i < out_.switches.size(); ++i)
      if (out_.switches[i].guid == out_.switches[i - 1].guid)
        return fail(error_at(ErrorCode::duplicate, source_, out_.switches[i].at, 1,
                             fmt::format("switch 0x{:016x} has a table already, in line {}", out_.switches[i].guid,
                                         out_.switches[i - 1].at.line)));
    return std::move(out_);
  }

 private:
  std::optional<Error> read(Scan scan) {
    if (scan.at_end() || scan.accept("#")) return std::nullopt;
    if (scan.has(kFdbsHead)) {
      (void)scan.skip_past(kFdbsHead);
      return open(scan, Form::fdbs);
    }
    if (scan.accept(kLidsHead)) {
      const Form form = scan.has("] of switch DR path ") ? Form::dump_fts : Form::lfts;
      if (!scan.skip_past(" guid ")) return scan.error(ErrorCode::syntax, "the switch's GUID is missing", kHeads);
      return open(scan, form);
    }
    switch (form_) {
      case Form::none: return scan.error(ErrorCode::syntax, "this is no forwarding table", kHeads);
      case Form::fdbs: return scan.accept("LID ") ? std::nullopt : read_fdbs(scan);
      case Form::lfts: return scan.has(" lids dumped") ? close(scan) : read_named(scan, "#", kLftsLine);
      case Form::dump_fts: break;
    }
    if (scan.accept("Lid  Out") || scan.accept("Port ")) return std::nullopt;
    return scan.has(" lids dumped") ? close(scan) : read_named(scan, ": (", kDumpFtsLine);
  }

  std::optional<Error> open(Scan& scan, Form form) {
    const Position at = scan.at();
    const auto guid = scan.number<std::uint64_t>(16);
    if (!guid) return scan.error(ErrorCode::syntax, "the switch's GUID is missing", kHeads);
    if (form_ != Form::none && form != form_)
      return scan.error(ErrorCode::syntax, "the file changes its form here", "one form throughout");
    form_ = form;
    entries_ = 0;
    out_.switches.push_back({*guid, {}, at});
    return std::nullopt;
  }

  // "144 valid lids dumped"; the "144 lids dumped" of the other form is the highest LID, whatever stands above.
  std::optional<Error> close(Scan& scan) {
    Scan start = scan;
    const bool counts = scan.has(" valid ");
    const auto count = scan.number<std::uint32_t>(10);
    if (!count) return start.error(ErrorCode::syntax, "the number of LIDs is missing", "\"144 lids dumped\"");
    if (!counts || *count == entries_) return std::nullopt;
    return start.error(ErrorCode::conflict, fmt::format("{} LIDs are said, {} stand above", *count, entries_),
                       "a whole dump");
  }

  std::optional<Error> read_lid(Scan& scan, std::string_view form, std::uint32_t& lid) {
    Scan start = scan;
    const auto value = scan.number<std::uint32_t>(16);
    if (!value) return start.error(ErrorCode::syntax, "a LID is missing", form);
    if (*value == 0 || *value > kMaxUnicastLid)
      return start.error(ErrorCode::bad_value, fmt::format("0x{:04x} is no unicast LID", *value), "0x0001 to 0xbfff");
    lid = *value;
    return std::nullopt;
  }

  std::optional<Error> read_port(Scan& scan, std::string_view form, std::uint32_t lid) {
    Scan start = scan;
    const auto port = scan.number<std::uint32_t>(10);
    if (!port) return start.error(ErrorCode::syntax, "the port is missing", form);
    if (*port >= ForwardingTables::kNoPort)
      return start.error(ErrorCode::bad_value, fmt::format("{} is no port", *port), "0 to 254");
    std::vector<std::uint8_t>& ports = out_.switches.back().ports;
    if (ports.size() <= lid) ports.resize(lid + std::size_t{1}, ForwardingTables::kNoPort);
    if (ports[lid] != ForwardingTables::kNoPort)
      return start.error(ErrorCode::duplicate, fmt::format("LID 0x{:04x} stands twice in this switch's table", lid),
                         "");
    ports[lid] = static_cast<std::uint8_t>(*port);
    ++entries_;
    return std::nullopt;
  }

  std::optional<Error> read_fdbs(Scan& scan) {
    std::uint32_t lid = 0;
    if (auto e = read_lid(scan, kFdbsLine, lid)) return e;
    if (!scan.accept(":")) return scan.error(ErrorCode::syntax, "this is no entry of a table", kFdbsLine);
    if (scan.accept("UNREACHABLE")) return std::nullopt;
    if (auto e = read_port(scan, kFdbsLine, lid)) return e;
    if (!scan.accept(":")) return scan.error(ErrorCode::syntax, "this is no entry of a table", kFdbsLine);
    return std::nullopt;
  }

  // Of the two forms that name the destination behind `mark`.
  std::optional<Error> read_named(Scan& scan, std::string_view mark, std::string_view form) {
    std::uint32_t lid = 0;
    if (auto e = read_lid(scan, form, lid)) return e;
    if (auto e = read_port(scan, form, lid)) return e;
    return scan.accept(mark) ? read_guid(scan, lid, form)
                             : scan.error(ErrorCode::syntax, "this is no entry of a table", form);
  }

  // Where the dump names the destination; "(path #0 out of 2: …" and unknown ones have no GUID.
  std::optional<Error> read_guid(Scan& scan, std::uint32_t lid, std::string_view form) {
    if (!scan.skip_past(" portguid ")) return std::nullopt;
    const auto guid = scan.number<std::uint64_t>(16);
    if (!guid) return scan.error(ErrorCode::syntax, "the port's GUID is missing", form);
    return set_lid(out_, *guid, lid, scan);
  }

  const Source& source_;
  Form form_ = Form::none;
  std::uint32_t entries_ = 0;
  ForwardingTables out_;
};

}  // namespace

const ForwardingTables::Switch* ForwardingTables::find(std::uint64_t guid) const {
  const auto at = std::lower_bound(switches.begin(), switches.end(), guid,
                                   [](const Switch& s, std::uint64_t g) { return s.guid < g; });
  return at != switches.end() && at->guid == guid ? &*at : nullptr;
}

bool is_forwarding_tables(std::string_view text) {
  return text.find(kFdbsHead) != std::string_view::npos || text.find(kLidsHead) != std::string_view::npos;
}

Error entry_error(const ForwardingTables& tables, const ForwardingTables::Switch& at, std::uint32_t lid, ErrorCode code,
                  std::string message, std::string expected) {
  std::optional<Error> out;
  if (tables.source != nullptr) {
    out = each_line(tables.source, [&](Scan scan) -> std::optional<Error> {
      if (scan.at().line <= at.at.line) return std::nullopt;
      const bool next_head = scan.has(kFdbsHead) || scan.has(kLidsHead);
      Scan start = scan;
      if (!next_head && scan.number<std::uint32_t>(16) != lid) return std::nullopt;
      return next_head ? error_at(code, tables.source, at.at, 1, message, expected)
                       : start.error(code, message, expected);
    });
  }
  return out ? std::move(*out) : error_at(code, tables.source, at.at, 1, std::move(message), std::move(expected));
}

Result<ForwardingTables> parse_forwarding_tables(const Source& source) { return TableReader(source).run(); }

Result<void> read_guid2lid(const Source& source, ForwardingTables& tables) {
  constexpr std::string_view kLine = "\"0x0002c903000482d5 0x0049 0x0049\": GUID, lowest LID, highest LID";
  auto fault = each_line(source, [&](Scan scan) -> std::optional<Error> {
    if (scan.at_end() || scan.accept("#")) return std::nullopt;
    const auto guid = scan.number<std::uint64_t>(16);
    Scan lid_start = scan;
    const auto low = guid ? scan.number<std::uint32_t>(16) : std::nullopt;
    const auto high = low ? scan.number<std::uint32_t>(16) : std::nullopt;
    if (!high || !scan.at_end()) return scan.error(ErrorCode::syntax, "this is no line of a guid2lid file", kLine);
    if (*low == 0 || *low > *high || *high > kMaxUnicastLid)
      return lid_start.error(ErrorCode::bad_value, fmt::format("0x{:04x} to 0x{:04x} are no LIDs", *low, *high),
                             "0x0001 to 0xbfff, the lower first");
    return set_lid(tables, *guid, *low, lid_start);
  });
  if (fault) return fail(std::move(*fault));
  return {};
}

}  // namespace weft::placement
