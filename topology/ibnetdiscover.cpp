// SPDX-License-Identifier: BSD-3-Clause
//
// The topology file of ibnetdiscover(8), plain, -f and -g: a record a device, in it a line a connected port.
//
//   sysimgguid=0x…                                        ids of the record that follows; caguid= for adapters
//   switchguid=0x…(…)
//   Switch  36 "S-0008f10500200b50"  # "description" enhanced port 0 lid 9 lmc 0
//   [1]     "S-0008f10500108c5c"[15]  # "peer's description" lid 16 4xQDR
//   [4]     "H-003048c749cd0000"[1](3048c749cd0001)  # "peer's description" lid 72 4xDDR
//
//   Ca      1 "H-003048c749cd0000"  # "description"
//   [1](3048c749cd0001)  "S-0008f10500200b50"[4]  # lid 72 lmc 0 "peer's description" lid 9 4xDDR
#include <fmt/format.h>

#include <array>

#include "ib_assemble.hpp"
#include "ib_lexer.hpp"

namespace weft::topology {
namespace {

using ib::Cursor;
using ib::DeviceKind;

constexpr std::uint32_t kMaxPorts = 254;  // port numbers are bytes; 255 means none

constexpr std::string_view kPortForm = R"([port] "S-guid"[port] # "description" lid N 4xHDR)";

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), lines_(source->text()) {}

  Result<ib::Dump> run() {
    while (const auto line = lines_.next()) {
      if (auto e = read(Cursor(*line, lines_.number()))) return fail(cut_or(std::move(*e)));
    }
    if (auto e = check_end()) return fail(std::move(*e));
    return std::move(dump_);
  }

 private:
  [[nodiscard]] Error error_here(const Cursor& cursor, std::string message, std::string expected) const {
    return syntax_at(source_, cursor, std::move(message), std::move(expected));
  }

  [[nodiscard]] Error cut_or(Error e) const {
    if (!lines_.cut()) return e;
    e.message = "the file ends in the middle of this line: it is truncated";
    e.expected = "a whole dump";
    return e;
  }

  std::optional<Error> read(Cursor cursor) {
    if (cursor.at_end() || cursor.looking_at("#")) return std::nullopt;
    if (cursor.looking_at("[")) return read_port(cursor);
    if (cursor.accept("Switch")) return read_header(cursor, DeviceKind::switch_, 'S');
    if (cursor.accept("Ca") || cursor.accept("CA")) return read_header(cursor, DeviceKind::adapter, 'H');
    if (cursor.accept("Rt") || cursor.accept("Router")) return read_header(cursor, DeviceKind::router, 'R');
    static constexpr std::array<std::string_view, 3> kHeadings{"Chassis ", "Non-Chassis Nodes", "Hostname:"};
    for (const std::string_view heading : kHeadings) {
      if (cursor.looking_at(heading)) return std::nullopt;
    }
    static constexpr std::array<std::string_view, 6> kIds{
        "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="};
    for (const std::string_view id : kIds) {
      if (cursor.accept(id)) return read_id(cursor, id);
    }
    if (ib::is_tool_noise(cursor.line())) {
      if (dump_.noise_lines++ == 0) dump_.first_noise = cursor.at();
      return std::nullopt;
    }
    return error_here(cursor, "this is no line of an ibnetdiscover dump",
                      "vendid=, sysimgguid=, switchguid=, Switch, Ca, [port], a # comment or a blank line");
  }

  std::optional<Error> read_id(Cursor cursor, std::string_view id) {
    const Cursor start = cursor;
    const auto value = cursor.hex();
    if (!value) return error_here(start, fmt::format("{} needs a hexadecimal number", id), "as in 0x2c9030004e938");
    if (!open_) {
      open_ = start.at();
      system_.reset();
    }
    if (id == "sysimgguid=") system_ = *value;
    if (id == "switchguid=" && cursor.accept("(")) {
      if (!cursor.hex() || !cursor.accept(")")) return error_here(cursor, "the port GUID does not end", "(guid)");
    }
    return std::nullopt;
  }

  std::optional<Error> read_header(Cursor cursor, DeviceKind kind, char letter) {
    const Position at = cursor.at();
    if (cursor.looking_at(":")) {
      return error_at(ErrorCode::unsupported, source_, {cursor.at().line, 1},
                      static_cast<std::uint32_t>(cursor.line().size()), "this is a list of devices without their links",
                      "the dump of ibnetdiscover without -l, -S, -H or -R");
    }
    const std::string form =
        fmt::format(R"({} ports "{}-guid" # "description")", kind == DeviceKind::switch_ ? "Switch" : "Ca", letter);
    const auto ports = cursor.number();
    if (!ports) return error_here(cursor, "the number of ports is missing", form);
    Cursor id_start = cursor;
    const auto id = read_device_id(cursor);
    if (!id || id->first != kind) return error_here(id_start, "the device's identity is missing", form);
    std::string_view description;
    if (cursor.accept("#")) {
      Cursor text = cursor;
      const auto quoted = text.quoted_to_last();
      if (!quoted) return error_here(cursor, "the description does not end", form);
      description = *quoted;
    }
    current_ = dump_.device(kind, id->second, {at.line, 1});
    ib::Device& device = dump_.devices[*current_];
    device.at = {at.line, 1};
    device.has_record = true;
    device.ports = *ports;
    device.system_guid = system_;
    device.description = std::string(ib::trim(description));
    open_.reset();
    system_.reset();
    ports_in_record_ = 0;
    return std::nullopt;
  }

  // "S-0008f10500108c5c" in its quotes; GUIDs padded or not.
  std::optional<std::pair<DeviceKind, std::uint64_t>> read_device_id(Cursor& cursor) {
    if (!cursor.accept("\"")) return std::nullopt;
    DeviceKind kind = DeviceKind::switch_;
    if (cursor.accept("H-")) {
      kind = DeviceKind::adapter;
    } else if (cursor.accept("R-")) {
      kind = DeviceKind::router;
    } else if (!cursor.accept("S-")) {
      return std::nullopt;
    }
    const auto guid = cursor.hex();
    if (!guid || !cursor.accept("\"")) return std::nullopt;
    return std::pair(kind, *guid);
  }

  // "[12]", then perhaps "[ext 3]" and "(port guid)".
  struct PortPlace {
    std::uint32_t port = 0;
    std::uint64_t guid = 0;
  };
  static std::optional<PortPlace> read_place(Cursor& cursor) {
    if (!cursor.accept("[")) return std::nullopt;
    const auto port = cursor.number();
    if (!port || *port == 0 || *port > kMaxPorts || !cursor.accept("]")) return std::nullopt;
    PortPlace place{*port, 0};
    if (cursor.accept("[ext")) {
      if (!cursor.number() || !cursor.accept("]")) return std::nullopt;
    }
    if (cursor.accept("(")) {
      const auto guid = cursor.hex();
      if (!guid || !cursor.accept(")")) return std::nullopt;
      place.guid = *guid;
    }
    return place;
  }

  std::optional<Error> read_port(Cursor cursor) {
    const Position at = cursor.at();
    if (!current_) return error_here(cursor, "a port without a device", R"(a line such as Switch 36 "S-guid" before)");
    Cursor start = cursor;
    const auto own = read_place(cursor);
    if (!own) return error_here(start, "the port is malformed", std::string(kPortForm));
    const std::uint32_t ports = dump_.devices[*current_].ports.value_or(kMaxPorts);
    if (own->port > ports) {
      return error_at(ErrorCode::bad_value, source_, at, static_cast<std::uint32_t>(cursor.offset()),
                      fmt::format("port {} of a device with {} ports", own->port, ports),
                      fmt::format("1 to {}", ports));
    }
    start = cursor;
    const auto peer_id = read_device_id(cursor);
    if (!peer_id) return error_here(start, "the peer is missing or malformed", std::string(kPortForm));
    start = cursor;
    const auto peer = read_place(cursor);
    if (!peer) return error_here(start, "the peer's port is malformed", std::string(kPortForm));

    ib::HalfLink half;
    half.at = at;
    half.from = {*current_, own->port};
    half.to = {dump_.device(peer_id->first, peer_id->second, at), peer->port};
    if (auto e = read_remark(cursor, half)) return e;
    if (dump_.devices[*current_].kind != DeviceKind::switch_) {
      dump_.devices[*current_].note_port_guid(own->port, own->guid);
    }
    if (peer_id->first != DeviceKind::switch_) dump_.devices[half.to.device].note_port_guid(peer->port, peer->guid);
    dump_.halves.push_back(half);
    ++ports_in_record_;
    return std::nullopt;
  }

  // `# "description" lid N 4xHDR`, in an adapter's record `# lid N lmc N "description" lid N 4xHDR`, then with -f
  // "s=4 w=2 v=4".
  std::optional<Error> read_remark(Cursor& cursor, ib::HalfLink& half) {
    if (cursor.at_end()) return std::nullopt;
    if (!cursor.accept("#")) return error_here(cursor, "unexpected text after the peer", std::string(kPortForm));
    if (cursor.at_end()) return std::nullopt;
    const Cursor start = cursor;
    if (cursor.accept("lid") && (!cursor.number() || !cursor.accept("lmc") || !cursor.number())) {
      return error_here(start, "the port's lid and lmc are malformed", "lid N lmc N");
    }
    const Cursor quote = cursor;
    const auto description = cursor.quoted_to_last();
    if (!description) return error_here(quote, "the peer's description is missing or does not end", R"("description")");
    std::string& known = dump_.devices[half.to.device].peer_description;
    if (known.empty()) known = std::string(ib::trim(*description));
    while (!cursor.at_end()) {
      const Cursor word_start = cursor;
      const std::string_view word = cursor.word();
      if (word == "lid") {
        if (!cursor.number()) return error_here(cursor, "the peer's lid is missing", "lid N");
      } else if (const auto speed = ib::parse_speed(word)) {
        half.speed = *speed;
        return std::nullopt;  // -f and vendor remarks follow
      } else {
        return error_here(word_start, "the speed is malformed", "a width and rate such as 4xEDR");
      }
    }
    return error_here(cursor, "the speed is missing", "a width and rate such as 4xEDR");
  }

  std::optional<Error> check_end() const {
    if (open_) {
      return error_at(ErrorCode::missing, source_, {open_->line, 1}, 1,
                      "the file ends inside this record: it is truncated", "a whole dump");
    }
    if (!current_) {
      return error_at(ErrorCode::missing, source_, {1, 1}, 1, "the file holds no Switch or Ca record",
                      "the output of ibnetdiscover");
    }
    if (ports_in_record_ != 0) return std::nullopt;
    const ib::Device& last = dump_.devices[*current_];
    return error_at(ErrorCode::missing, source_, last.at, 1,
                    fmt::format("the file ends after the head of {}-{}, without a port line: it is truncated, or "
                                "discovery got no further",
                                last.kind == DeviceKind::switch_ ? 'S' : 'H', ib::guid_text(last.guid)),
                    std::string(kPortForm));
  }

  const Source& source_;
  ib::LineReader lines_;
  ib::Dump dump_;
  std::optional<std::uint32_t> current_;
  std::optional<Position> open_;  // of the ids whose Switch or Ca line is still to come
  std::optional<std::uint64_t> system_;
  std::uint32_t ports_in_record_ = 0;
};

}  // namespace

Result<Imported> import_ibnetdiscover(const Source& source, const ImportOptions& options) {
  auto dump = Parser(source).run();
  if (!dump) return fail(dump.error());
  return ib::import_dump(FileKind::ibnetdiscover, *dump, source, options);
}

}  // namespace weft::topology
