// SPDX-License-Identifier: BSD-3-Clause
//
// iblinkinfo(8), plain and -l. Plain has a head a device and names peers by LID; -l has all in one line, with port
// GUIDs, but does not say what is a switch.
//
//   Switch: 0x0008f105001086a2 Voltaire 4036 # 4036-86A2:
//      11    1[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>       8    6[  ] "leaf-2" (Could be 12X )
//      11    4[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//   CA: node400 HCA-1:
//      0xe09d730300200391     47    1[  ] ==( 4X …)==>      20    1[  ] "leaf-4" ( )
//
//   0xe09d730300200391 "   node400 HCA-1"     47    1[  ] ==( 4X …)==>  0x900a840300100240     20    1[  ] "leaf-4" ( )
#include <fmt/format.h>

#include <map>
#include <set>

#include "ib_assemble.hpp"
#include "ib_lexer.hpp"
#include "ib_names.hpp"

namespace weft::topology {
namespace {

using ib::Cursor;
using ib::DeviceKind;

constexpr std::string_view kForm = R"(lid port[ ] ==( 4X 25.78125 Gbps Active/ LinkUp)==> lid port[ ] "peer" ( ))";

struct End {
  std::optional<std::uint64_t> guid;
  std::uint32_t lid = 0;
  std::uint32_t port = 0;
  std::string description;
};

struct LinkLine {
  std::optional<std::uint32_t> head;  // index of its head line, in the plain form
  End own, peer;
  bool has_peer = false;
  ib::Speed speed;
  bool active = true;
  Position at;
};

struct Head {
  DeviceKind kind = DeviceKind::switch_;
  std::uint64_t guid = 0;  // of a switch
  std::string description;
  Position at;
};

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source), lines_(source->text()) {}

  std::optional<Error> run() {
    while (const auto line = lines_.next()) {
      auto e = read(Cursor(*line, lines_.number()));
      if (!e) continue;
      if (lines_.cut()) {
        e->message = "the file ends in the middle of this line: it is truncated";
        e->expected = "a whole dump";
      }
      return e;
    }
    if (links.empty()) {
      return error_at(ErrorCode::missing, source_, {1, 1}, 1, "the file holds no port", std::string(kForm));
    }
    return std::nullopt;
  }

  std::vector<LinkLine> links;
  std::vector<Head> heads;
  std::uint32_t noise_lines = 0;
  Position first_noise;

 private:
  [[nodiscard]] Error error_here(const Cursor& cursor, std::string message, std::string_view expected = kForm) const {
    return syntax_at(source_, cursor, std::move(message), std::string(expected));
  }

  std::optional<Error> read(Cursor cursor) {
    if (cursor.at_end() || cursor.looking_at("#")) return std::nullopt;
    if (cursor.accept("Switch:")) return read_head(cursor, DeviceKind::switch_);
    if (cursor.accept("CA:")) return read_head(cursor, DeviceKind::adapter);
    if (cursor.accept("Router:") || cursor.accept("RT:")) return read_head(cursor, DeviceKind::router);
    if (ib::is_tool_noise(cursor.line())) {
      if (noise_lines++ == 0) first_noise = cursor.at();
      return std::nullopt;
    }
    return read_link(cursor);
  }

  std::optional<Error> read_head(Cursor cursor, DeviceKind kind) {
    Head head;
    head.kind = kind;
    head.at = {cursor.at().line, 1};
    if (kind == DeviceKind::switch_) {
      const Cursor start = cursor;
      const auto guid = cursor.looking_at("0x") ? cursor.hex() : std::nullopt;
      if (!guid) return error_here(start, "the switch's GUID is missing", "Switch: 0xguid description:");
      head.guid = *guid;
    }
    std::string_view text = ib::trim(cursor.rest());
    if (!text.ends_with(':')) return error_here(cursor, "the head does not end in ':'", "CA: description:");
    text.remove_suffix(1);
    head.description = std::string(ib::trim(text));
    heads.push_back(std::move(head));
    return std::nullopt;
  }

  std::optional<Error> read_link(Cursor cursor) {
    LinkLine link;
    link.at = cursor.at();
    if (cursor.looking_at("0x")) {
      const Cursor start = cursor;
      link.own.guid = cursor.hex();
      if (!link.own.guid) return error_here(start, "the port GUID is malformed");
    }
    if (cursor.looking_at("\"")) {
      if (!link.own.guid) return error_here(cursor, "the port GUID is missing before the description", "0xguid");
      // The description may hold quotes; what follows it up to the arrow does not.
      const std::size_t arrow = cursor.line().find("==(", cursor.offset());
      Cursor name(cursor.line().substr(0, arrow), cursor.at().line);
      name.seek(cursor.offset());
      const auto quoted = name.quoted_to_last();
      if (!quoted) return error_here(cursor, "the description does not end");
      link.own.description = std::string(ib::trim(*quoted));
      cursor.seek(name.offset());
    } else if (heads.empty()) {
      return error_here(cursor, "a port without a device", "a line such as Switch: 0xguid description: before");
    } else {
      link.head = static_cast<std::uint32_t>(heads.size() - 1);
      if (heads.back().kind != DeviceKind::switch_ && !link.own.guid) {
        return error_here(cursor, "the port GUID is missing", "0xguid before the lid of an adapter's port");
      }
    }
    if (auto e = read_place(cursor, link.own)) return e;
    if (auto e = read_state(cursor, link)) return e;
    if (auto e = read_peer(cursor, link)) return e;
    links.push_back(std::move(link));
    return std::nullopt;
  }

  std::optional<Error> read_place(Cursor& cursor, End& end) {
    Cursor start = cursor;
    const auto lid = cursor.number();
    if (!lid) return error_here(start, "the lid is missing");
    start = cursor;
    const auto port = cursor.number();
    if (!port || *port == 0 || *port > 254) return error_here(start, "the port number is missing or not 1 to 254");
    if (!cursor.accept("[")) return error_here(cursor, "'[' is missing after the port");
    (void)cursor.number();  // of the socket on a chassis' outside
    if (!cursor.accept("]")) return error_here(cursor, "']' is missing after the port");
    end.lid = *lid;
    end.port = *port;
    return std::nullopt;
  }

  // "==( 4X 25.78125 Gbps Active/  LinkUp)==>", "==( Down/ Polling)==>", with -p "(HOQ:…)" before the arrow's end.
  std::optional<Error> read_state(Cursor& cursor, LinkLine& link) {
    const Cursor start = cursor;
    if (!cursor.accept("==(")) return error_here(cursor, "the link state is missing");
    Cursor inside = cursor;
    if (!cursor.skip_past("==>")) return error_here(start, "the arrow does not end in ==>");
    const std::size_t slash = inside.rest().find('/');
    if (slash == std::string_view::npos || inside.offset() + slash >= cursor.offset()) {
      return error_here(inside, "the link state is malformed");
    }
    const std::string_view before = ib::trim(inside.rest().substr(0, slash));
    const std::string_view state = before.substr(before.find_last_of(" \t") + 1);
    link.active = state == "Active";
    if (state == "Down") return std::nullopt;
    const Cursor width_start = inside;
    const auto width = ib::parse_width(inside.word());
    if (!width) return error_here(width_start, "the width is missing or malformed");
    const std::string_view lane = inside.word();
    if (inside.accept("Gbps")) {
      link.speed = {*width, ib::rate_of_lane(lane, inside.accept("(FDR10)"))};
    } else {
      link.speed = {*width, ib::Rate::unknown};
    }
    return std::nullopt;
  }

  std::optional<Error> read_peer(Cursor& cursor, LinkLine& link) {
    if (cursor.looking_at("[") || cursor.looking_at("\"")) return std::nullopt;  // none
    const Cursor start = cursor;
    if (cursor.looking_at("0x")) {
      link.peer.guid = cursor.hex();
      if (!link.peer.guid) return error_here(start, "the peer's port GUID is malformed");
    }
    if (auto e = read_place(cursor, link.peer)) return e;
    // `"description" (remarks)`: the remarks hold no quote.
    const Cursor quote = cursor;
    const auto description = cursor.quoted_to_last();
    if (!description) return error_here(quote, "the peer's description is missing or does not end");
    if (!cursor.looking_at("(")) return error_here(cursor, "the remarks after the peer are missing", "( )");
    if (!ib::trim(cursor.rest()).ends_with(')')) return error_here(cursor, "the remarks do not end", "( )");
    link.peer.description = std::string(ib::trim(*description));
    link.has_peer = true;
    return std::nullopt;
  }

  const Source& source_;
  ib::LineReader lines_;
};

// From lines to devices: by GUID where the lines have them, by head and LID where not.
class Resolver {
 public:
  Resolver(const Reader& reader, const Source& source) : reader_(reader), source_(source) {}

  Result<ib::Dump> run() {
    dump_.noise_lines = reader_.noise_lines;
    dump_.first_noise = reader_.first_noise;
    if (auto e = index()) return fail(std::move(*e));
    bool has_lines = false;
    for (const LinkLine& link : reader_.links) {
      const std::uint32_t from = own_device(link);
      if (!link.has_peer) continue;
      has_lines = has_lines || !link.head;
      const auto to = peer_device(link);
      if (!to) return fail(no_lid(link));
      ib::Device& peer = dump_.devices[*to];
      if (peer.peer_description.empty()) peer.peer_description = link.peer.description;
      dump_.halves.push_back({{from, link.own.port}, {*to, link.peer.port}, link.speed, link.active, link.at});
    }
    if (has_lines) ib::join_adapter_ports(dump_);
    return std::move(dump_);
  }

 private:
  [[nodiscard]] Error no_lid(const LinkLine& link) const {
    return error_at(ErrorCode::missing, source_, link.at, 1,
                    "the peer has LID 0, which tells nothing: no subnet manager had run",
                    "iblinkinfo -l, whose lines carry GUIDs");
  }

  std::optional<Error> index() {
    for (const LinkLine& link : reader_.links) {
      if (link.head) {
        const Head& head = reader_.heads[*link.head];
        if (head_device_.size() <= *link.head) head_device_.resize(*link.head + 1);
        auto& device = head_device_[*link.head];
        const std::uint64_t guid =
            head.kind == DeviceKind::switch_ ? head.guid : link.own.guid.value_or(0) - link.own.port;
        if (!device) {
          device = dump_.device(head.kind, guid, head.at);
          describe(*device, head.description);
        }
        const auto [entry, is_new] = by_lid_.try_emplace(link.own.lid, *device);
        if (!is_new && entry->second != *device && link.own.lid != 0) {
          return error_at(ErrorCode::conflict, source_, link.at, 1,
                          fmt::format("LID {} already belongs to another device ({})", link.own.lid,
                                      ib::guid_text(dump_.devices[entry->second].guid)),
                          "one LID for each port");
        }
      } else if (link.own.guid) {
        ports_of_[*link.own.guid].insert(link.own.port);
        seen_at_[*link.own.guid].insert(link.own.port);
        texts_.try_emplace(*link.own.guid, link.own.description);
      }
      if (link.has_peer) seen_at_lid_[link.peer.lid].insert(link.peer.port);
      if (link.has_peer && link.peer.guid) {
        seen_at_[*link.peer.guid].insert(link.peer.port);
        texts_.try_emplace(*link.peer.guid, link.peer.description);
      }
    }
    return std::nullopt;
  }

  void describe(std::uint32_t device, const std::string& text) {
    dump_.devices[device].has_record = true;
    if (dump_.devices[device].description.empty()) dump_.devices[device].description = text;
  }

  // An adapter's ports have a GUID each, a switch's all the same; a switch is listed with all of its ports.
  [[nodiscard]] DeviceKind kind_of(std::uint64_t guid) const {
    const auto own = ports_of_.find(guid);
    if (own != ports_of_.end() && own->second.size() > 1) return DeviceKind::switch_;
    return guess(texts_.at(guid), seen_at_.at(guid));
  }

  // Of a device that is only ever named as a peer, from its description and the ports that it was seen at.
  static DeviceKind guess(const std::string& text, const std::set<std::uint32_t>& seen) {
    if (ib::is_aggregation_node(text) || ib::parse_adapter_name(text).number) return DeviceKind::adapter;
    const bool is_switch = ib::is_switch_text(text) || seen.size() > 2 || (!seen.empty() && *seen.rbegin() > 4);
    return is_switch ? DeviceKind::switch_ : DeviceKind::adapter;
  }

  std::uint32_t device_by_guid(std::uint64_t guid, std::uint32_t port, Position at) {
    const auto kind = kinds_.try_emplace(guid, DeviceKind::switch_);
    if (kind.second) kind.first->second = kind_of(guid);
    if (kind.first->second == DeviceKind::switch_) return dump_.device(DeviceKind::switch_, guid, at);
    const std::uint32_t device = dump_.device(DeviceKind::adapter, guid - port, at);
    dump_.devices[device].note_port_guid(port, guid);
    return device;
  }

  std::uint32_t own_device(const LinkLine& link) {
    if (link.head) {
      const std::uint32_t device = *head_device_[*link.head];
      if (dump_.devices[device].kind == DeviceKind::adapter && link.own.guid) {
        dump_.devices[device].note_port_guid(link.own.port, *link.own.guid);
      }
      return device;
    }
    const std::uint32_t device = device_by_guid(*link.own.guid, link.own.port, link.at);
    describe(device, link.own.description);
    return device;
  }

  std::optional<std::uint32_t> peer_device(const LinkLine& link) {
    if (link.peer.guid) return device_by_guid(*link.peer.guid, link.peer.port, link.at);
    if (link.peer.lid == 0) return std::nullopt;
    const auto known = by_lid_.find(link.peer.lid);
    if (known != by_lid_.end()) return known->second;
    // Older versions list switches only, and a dump may be of one switch: who is not listed goes by LID and name.
    constexpr std::uint64_t kByLid = 0xffff'0000'0000'0000;
    const DeviceKind kind = guess(link.peer.description, seen_at_lid_[link.peer.lid]);
    const std::uint32_t device = dump_.device(kind, kByLid + link.peer.lid, link.at);
    by_lid_.emplace(link.peer.lid, device);
    return device;
  }

  const Reader& reader_;
  const Source& source_;
  ib::Dump dump_;
  std::vector<std::optional<std::uint32_t>> head_device_;
  std::map<std::uint32_t, std::uint32_t> by_lid_;
  std::map<std::uint32_t, std::set<std::uint32_t>> seen_at_lid_;
  std::map<std::uint64_t, std::set<std::uint32_t>> ports_of_, seen_at_;
  std::map<std::uint64_t, std::string> texts_;
  std::map<std::uint64_t, DeviceKind> kinds_;
};

}  // namespace

Result<Imported> import_iblinkinfo(const Source& source, const ImportOptions& options) {
  Reader reader(source);
  if (auto e = reader.run()) return fail(std::move(*e));
  auto dump = Resolver(reader, source).run();
  if (!dump) return fail(dump.error());
  return ib::import_dump(FileKind::iblinkinfo, *dump, source, options);
}

}  // namespace weft::topology
