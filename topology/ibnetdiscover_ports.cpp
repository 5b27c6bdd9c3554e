// SPDX-License-Identifier: BSD-3-Clause
//
// The ports report, `ibnetdiscover -p`: a line a port, of each end of each link, and of ports without a peer.
//
//   CA    47  1 0xe09d730300200391 4x EDR - SW    20  1 0x900a840300100240 ( 'node400 HCA-1' - 'leaf-4' )
//   SW    39 36 0x900a840300100280 4x SDR                                    'leaf-5'
#include <fmt/format.h>

#include "ib_assemble.hpp"
#include "ib_lexer.hpp"

namespace weft::topology {
namespace {

using ib::Cursor;
using ib::DeviceKind;

constexpr std::string_view kForm = "SW lid port 0xguid 4x EDR - CA lid port 0xguid ( 'name' - 'peer' )";

struct End {
  DeviceKind kind = DeviceKind::switch_;
  std::uint32_t port = 0;
  std::uint64_t guid = 0;
};

class Parser {
 public:
  explicit Parser(const Source& source) : source_(source), lines_(source->text()) {}

  Result<ib::Dump> run() {
    while (const auto line = lines_.next()) {
      if (auto e = read(Cursor(*line, lines_.number()))) {
        if (lines_.cut()) {
          e->message = "the file ends in the middle of this line: it is truncated";
          e->expected = "a whole dump";
        }
        return fail(std::move(*e));
      }
    }
    if (dump_.devices.empty()) {
      return fail(error_at(ErrorCode::missing, source_, {1, 1}, 1, "the file holds no port", std::string(kForm)));
    }
    ib::join_adapter_ports(dump_);
    return std::move(dump_);
  }

 private:
  [[nodiscard]] Error error_here(const Cursor& cursor, std::string message) const {
    return syntax_at(source_, cursor, std::move(message), std::string(kForm));
  }

  std::optional<Error> read(Cursor cursor) {
    if (cursor.at_end() || cursor.looking_at("#")) return std::nullopt;
    if (ib::is_tool_noise(cursor.line())) {
      if (dump_.noise_lines++ == 0) dump_.first_noise = cursor.at();
      return std::nullopt;
    }
    const Position at = cursor.at();
    End own;
    if (auto e = read_end(cursor, own)) return e;
    Cursor start = cursor;
    const auto width = ib::parse_width(cursor.word());
    if (!width) return error_here(start, "the width is missing or malformed");
    start = cursor;
    cursor.skip_blanks();
    const auto rate = ib::parse_rate(cursor.word());
    if (!rate) return error_here(start, "the rate is missing or malformed");
    const std::uint32_t device = device_of(own, at);
    dump_.devices[device].has_record = true;
    if (!cursor.accept("-")) return read_lonely(cursor, device);

    End peer;
    if (auto e = read_end(cursor, peer)) return e;
    start = cursor;
    if (!cursor.accept("(")) return error_here(start, "the two names are missing");
    const std::string_view inside = ib::trim(cursor.rest());
    constexpr std::string_view kBetween = "' - '";
    const std::size_t between = inside.find(kBetween);
    if (!inside.starts_with('\'') || !inside.ends_with(')') || between == std::string_view::npos) {
      return error_here(cursor, "the two names are malformed");
    }
    const std::string_view second =
        ib::trim(inside.substr(between + kBetween.size(), inside.size() - between - kBetween.size() - 1));
    if (!second.ends_with('\'')) return error_here(cursor, "the peer's name does not end");
    describe(dump_.devices[device].description, inside.substr(1, between - 1));
    const std::uint32_t other = device_of(peer, at);
    describe(dump_.devices[other].peer_description, second.substr(0, second.size() - 1));
    dump_.halves.push_back({{device, own.port}, {other, peer.port}, {*width, *rate}, true, at});
    return std::nullopt;
  }

  std::optional<Error> read_lonely(Cursor& cursor, std::uint32_t device) {
    const Cursor start = cursor;
    const auto name = cursor.quoted_to_last('\'');
    if (!name || !cursor.at_end()) return error_here(start, "neither a peer nor a name in single quotes");
    describe(dump_.devices[device].description, *name);
    return std::nullopt;
  }

  static void describe(std::string& description, std::string_view text) {
    if (description.empty()) description = std::string(ib::trim(text));
  }

  std::optional<Error> read_end(Cursor& cursor, End& end) {
    const Cursor start = cursor;
    if (cursor.accept("CA")) {
      end.kind = DeviceKind::adapter;
    } else if (cursor.accept("RT")) {
      end.kind = DeviceKind::router;
    } else if (!cursor.accept("SW")) {
      return error_here(start, "this is no line of a ports report");
    }
    if (!cursor.number()) return error_here(cursor, "the lid is missing");
    const Cursor port_start = cursor;
    const auto port = cursor.number();
    if (!port || *port > 254) return error_here(port_start, "the port number is missing or above 254");
    const Cursor guid_start = cursor;
    const auto guid = cursor.looking_at("0x") ? cursor.hex() : std::nullopt;
    if (!guid) return error_here(guid_start, "the port GUID is missing or malformed");
    end.port = *port;
    end.guid = *guid;
    return std::nullopt;
  }

  // Adapters are shown by port GUID; a node's ports have GUIDs in a row behind its own.
  std::uint32_t device_of(const End& end, Position at) {
    if (end.kind == DeviceKind::switch_) return dump_.device(end.kind, end.guid, at);
    const std::uint32_t device = dump_.device(end.kind, end.guid - end.port, at);
    dump_.devices[device].note_port_guid(end.port, end.guid);
    return device;
  }

  const Source& source_;
  ib::LineReader lines_;
  ib::Dump dump_;
};

}  // namespace

Result<Imported> import_ibnetdiscover_ports(const Source& source, const ImportOptions& options) {
  auto dump = Parser(source).run();
  if (!dump) return fail(dump.error());
  return ib::import_dump(FileKind::ibnetdiscover_ports, *dump, source, options);
}

}  // namespace weft::topology
