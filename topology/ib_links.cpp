// SPDX-License-Identifier: BSD-3-Clause
#include "ib_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ib_lexer.hpp"

namespace weft::topology::ib {
namespace {

// Warnings of one kind, told once: how many, and the first.
struct Tally {
  std::size_t count = 0;
  Position first;
  std::string example;
  void add(Position at, std::string text) {
    if (count++ == 0) {
      first = at;
      example = std::move(text);
    }
  }
};

void warn(Notes& notes, const Source& source, const Tally& tally, std::string_view one, std::string_view many) {
  if (tally.count == 0) return;
  const std::string what = tally.count == 1 ? fmt::format("{}: {}", one, tally.example)
                                            : fmt::format("{} {} (first: {})", tally.count, many, tally.example);
  notes.push_back({Note::Kind::warning, source ? source->file() : std::string(), tally.first, what});
}

class Pairing {
 public:
  Pairing(const Dump& dump, const std::vector<bool>& keep, const Source& source)
      : dump_(dump), keep_(keep), source_(source) {}

  Result<std::vector<Link>> run(std::optional<Bandwidth> bandwidth, Notes& notes) {
    if (auto e = index_ends()) return fail(std::move(*e));
    std::vector<Link> links;
    for (const HalfLink& half : dump_.halves) {
      if (by_from_.at(half.from) != &half) continue;  // printed twice: once under its chassis, once alone
      const auto back = by_from_.find(half.to);
      const HalfLink* other = back == by_from_.end() ? nullptr : back->second;
      if (other != nullptr && other < &half) continue;  // already made from its other end
      if (!keep_[half.from.device] || !keep_[half.to.device]) continue;
      if (is_dropped(half)) continue;
      if (other == nullptr) one_sided_.add(half.at, line_text(half));
      links.push_back(make(half, other));
    }
    report(notes);
    settle_states(links, notes);
    if (auto e = settle_unknown(links, bandwidth, notes)) return fail(std::move(*e));
    return links;
  }

 private:
  [[nodiscard]] std::string line_text(const HalfLink& half) const {
    return fmt::format("{} - {}", port_text(dump_, half.from), port_text(dump_, half.to));
  }

  [[nodiscard]] Error conflict(const HalfLink& here, const HalfLink& there) const {
    const std::string_view line = source_ ? source_->line(here.at.line) : std::string_view();
    const auto width = static_cast<std::uint32_t>(std::max<std::size_t>(1, line.size() + 1 - here.at.column));
    return error_at(
        ErrorCode::conflict, source_, here.at, width,
        fmt::format("{} leads to {} here, but line {} says that {} leads to {}", port_text(dump_, here.from),
                    port_text(dump_, here.to), there.at.line, port_text(dump_, there.from), port_text(dump_, there.to)),
        "both ends of a cable to name each other (the fabric may have changed during discovery)");
  }

  // Every port leads to one port, and that one leads back.
  std::optional<Error> index_ends() {
    std::map<PortRef, const HalfLink*> by_to;
    for (const HalfLink& half : dump_.halves) {
      const auto [from, is_new] = by_from_.try_emplace(half.from, &half);
      if (!is_new && from->second->to != half.to) return conflict(half, *from->second);
    }
    for (const HalfLink& half : dump_.halves) {
      const auto back = by_from_.find(half.to);
      if (back != by_from_.end() && back->second->to != half.from) {
        const bool is_later = half.at > back->second->at;
        return is_later ? conflict(half, *back->second) : conflict(*back->second, half);
      }
      const auto [to, is_new] = by_to.try_emplace(half.to, &half);
      if (!is_new && to->second->from != half.from) return conflict(half, *to->second);
    }
    return std::nullopt;
  }

  bool is_dropped(const HalfLink& half) {
    if (half.from.device == half.to.device) {
      loops_.add(half.at, line_text(half));
      return true;
    }
    const bool has_switch = dump_.devices[half.from.device].kind == DeviceKind::switch_ ||
                            dump_.devices[half.to.device].kind == DeviceKind::switch_;
    if (!has_switch) back_to_back_.add(half.at, line_text(half));
    return !has_switch;
  }

  Link make(const HalfLink& half, const HalfLink* other) {
    Link link{half.from, half.to, half.speed, {}, {}, {}, false, {}, half.at};
    if (dump_.devices[link.a.device].kind == DeviceKind::switch_ &&
        dump_.devices[link.b.device].kind != DeviceKind::switch_) {
      std::swap(link.a, link.b);
    }
    if (other != nullptr && other->speed.known() && other->speed != half.speed) {
      if (!half.speed.known()) {
        link.speed = other->speed;
      } else {
        disagree_.add(half.at, fmt::format("{}: {} here, {} in line {}", line_text(half), to_string(half.speed),
                                           to_string(other->speed), other->at.line));
        const bool other_is_slower = bandwidth_of(other->speed) < bandwidth_of(half.speed);
        link.speed = other_is_slower ? other->speed : half.speed;
        link.other_end = other_is_slower ? half.speed : other->speed;
      }
    }
    if (link.speed.known()) link.bandwidth = bandwidth_of(link.speed);
    if (!half.active || (other != nullptr && !other->active)) {
      link.down = true;
      link.reason = "port is not Active";
    }
    return link;
  }

  void report(Notes& notes) const {
    warn(notes, source_, loops_, "cable that loops back to its own switch is left out",
         "cables that loop back to their own switch are left out");
    warn(notes, source_, back_to_back_, "adapters joined without a switch are left out",
         "pairs of adapters joined without a switch are left out");
    warn(notes, source_, one_sided_, "link is told by one of its ends only",
         "links are told by one of their ends only");
    warn(notes, source_, disagree_, "the ends of a link disagree on its speed, the slower counts",
         "links whose ends disagree on the speed, the slower counts");
  }

  // "???": the tool is older than the link's rate, or the port is ill.
  std::optional<Error> settle_unknown(std::vector<Link>& links, std::optional<Bandwidth> bandwidth,
                                      Notes& notes) const {
    Tally unknown;
    for (Link& link : links) {
      if (link.speed.known()) continue;
      unknown.add(link.at, fmt::format("{} - {}", port_text(dump_, link.a), port_text(dump_, link.b)));
      if (bandwidth) {
        link.bandwidth = *bandwidth;
      } else if (!link.down) {
        link.down = true;
        link.reason = "speed is unknown";
      }
    }
    if (unknown.count == 0) return std::nullopt;
    if (!bandwidth && unknown.count == links.size()) {
      return error_at(ErrorCode::missing, source_, unknown.first, 1, "no link of this dump has a known speed",
                      "--bandwidth, or a dump of newer tools that know the links' rate");
    }
    if (bandwidth) {
      notes.push_back({Note::Kind::assumption, source_ ? source_->file() : std::string(), unknown.first,
                       fmt::format("{} of links whose speed the dump does not say ({}, first: {})",
                                   weft::to_string(*bandwidth), unknown.count, unknown.example)});
    } else {
      warn(notes, source_, unknown, "link of unknown speed counts as down (--bandwidth says otherwise)",
           "links of unknown speed count as down (--bandwidth says otherwise)");
    }
    return std::nullopt;
  }

  // Before a subnet manager runs, every port is Initialize: then that says nothing about a single one.
  void settle_states(std::vector<Link>& links, Notes& notes) const {
    const auto inactive = [](const Link& link) { return link.reason == "port is not Active"; };
    const auto count = std::count_if(links.begin(), links.end(), inactive);
    if (links.empty() || static_cast<std::size_t>(count) != links.size()) return;
    for (Link& link : links) {
      link.down = false;
      link.reason.clear();
    }
    notes.push_back({Note::Kind::warning, source_ ? source_->file() : std::string(), links.front().at,
                     "no port is Active (no subnet manager?); all links count as up"});
  }

  const Dump& dump_;
  const std::vector<bool>& keep_;
  const Source& source_;
  std::map<PortRef, const HalfLink*> by_from_;
  Tally loops_, back_to_back_, one_sided_, disagree_;
};

// The fastest and second fastest of some links, to ask "which is the fastest but for this one".
struct TopTwo {
  Speed first, second;
  void add(Speed speed) {
    if (bandwidth_of(speed) > bandwidth_of(first)) {
      second = std::exchange(first, speed);
    } else if (bandwidth_of(speed) > bandwidth_of(second)) {
      second = speed;
    }
  }
  [[nodiscard]] Speed but(Speed own) const { return own == first ? second : first; }
};

class Judge {
 public:
  Judge(std::span<Link> links, const Dump& dump, std::span<const Seat> seats)
      : links_(links), dump_(dump), seats_(seats), expected_(links.size()) {}

  void run() {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Link& link = links_[i];
      expect(i, link.speed);
      if (link.other_end) expect(i, *link.other_end);
      if (link.speed.known() && link.speed.lanes == 1) expect(i, {4, link.speed.rate});
    }
    judge_switch_links();
    judge_host_links();
    fill_in_unknown();
    for (std::size_t i = 0; i < links_.size(); ++i) conclude(links_[i], expected_[i]);
  }

 private:
  [[nodiscard]] bool joins_switches(const Link& link) const {
    return dump_.devices[link.a.device].kind == DeviceKind::switch_;
  }
  void expect(std::size_t link, Speed speed) {
    if (bandwidth_of(speed) > bandwidth_of(expected_[link])) expected_[link] = speed;
  }

  void judge_switch_links() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Speed> bundles;
    std::map<std::uint32_t, TopTwo> shown;
    std::map<Bandwidth, std::size_t> links_at;
    std::size_t count = 0;
    const auto bundle_of = [](const Link& link) { return std::minmax({link.a.device, link.b.device}); };
    for (const Link& link : links_) {
      shown[link.a.device].add(link.speed);
      shown[link.b.device].add(link.speed);
      if (!joins_switches(link)) continue;
      ++count;
      ++links_at[link.bandwidth];
      Speed& fastest = bundles[bundle_of(link)];
      if (bandwidth_of(link.speed) > bandwidth_of(fastest)) fastest = link.speed;
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Link& link = links_[i];
      if (!joins_switches(link)) continue;
      expect(i, bundles[bundle_of(link)]);
      if (links_at[link.bandwidth] * 4 >= count) continue;
      const Speed a = shown[link.a.device].but(link.speed);
      const Speed b = shown[link.b.device].but(link.speed);
      expect(i, bandwidth_of(a) < bandwidth_of(b) ? a : b);
    }
  }

  void judge_host_links() {
    std::map<std::uint32_t, std::vector<std::size_t>> hosts;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!joins_switches(links_[i])) hosts[seats_[links_[i].a.device].host].push_back(i);
    }
    struct Count {
      std::size_t hosts = 0, slower = 0;
    };
    std::map<std::uint32_t, Count> by_nic;
    std::map<std::uint32_t, Speed> fastest;
    for (const auto& [host, members] : hosts) {
      Speed& best = fastest[host];
      for (const std::size_t i : members) {
        if (bandwidth_of(links_[i].speed) > bandwidth_of(best)) best = links_[i].speed;
      }
      for (const std::size_t i : members) {
        Count& c = by_nic[seats_[links_[i].a.device].nic];
        ++c.hosts;
        if (links_[i].bandwidth < bandwidth_of(best)) ++c.slower;
      }
    }
    for (const auto& [host, members] : hosts) {
      for (const std::size_t i : members) {
        const auto faster = static_cast<std::size_t>(std::count_if(
            members.begin(), members.end(), [&](std::size_t j) { return links_[j].bandwidth > links_[i].bandwidth; }));
        const Count& c = by_nic[seats_[links_[i].a.device].nic];
        const bool is_design = c.slower >= 2 && c.slower * 2 > c.hosts;
        if (faster * 2 > members.size() && !is_design) expect(i, fastest[host]);
      }
    }
  }

  // A link that no end knows the speed of still needs a nominal one: that of its kind.
  void fill_in_unknown() {
    Speed host_links, switch_links;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Speed& best = joins_switches(links_[i]) ? switch_links : host_links;
      if (bandwidth_of(expected_[i]) > bandwidth_of(best)) best = expected_[i];
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].bandwidth.bits_per_second != 0) continue;
      Speed best = joins_switches(links_[i]) ? switch_links : host_links;
      if (!best.known()) best = bandwidth_of(switch_links) > bandwidth_of(host_links) ? switch_links : host_links;
      expect(i, best);
    }
  }

  static void conclude(Link& link, Speed expected) {
    link.nominal = std::max(link.bandwidth, bandwidth_of(expected));
    if (link.down || link.nominal == link.bandwidth) return;
    link.reason = fmt::format("runs at {}, not {}", to_string(link.speed), to_string(expected));
    if (link.other_end && *link.other_end == expected) link.reason += ", as its other end says";
  }

  std::span<Link> links_;
  const Dump& dump_;
  std::span<const Seat> seats_;
  std::vector<Speed> expected_;
};

}  // namespace

std::string port_text(const Dump& dump, PortRef port) {
  const Device& device = dump.devices[port.device];
  const std::string& text = device.description.empty() ? device.peer_description : device.description;
  static constexpr std::string_view kLetters = "HSR";
  return fmt::format("{}-{}[{}]{}", kLetters[static_cast<std::size_t>(device.kind)], guid_text(device.guid), port.port,
                     text.empty() ? std::string() : fmt::format(" ({})", text));
}

Result<std::vector<Link>> pair_links(const Dump& dump, const std::vector<bool>& keep, const Source& source,
                                     std::optional<Bandwidth> bandwidth, Notes& notes) {
  return Pairing(dump, keep, source).run(bandwidth, notes);
}

void judge_speeds(std::span<Link> links, const Dump& dump, std::span<const Seat> seats) {
  Judge(links, dump, seats).run();
}

}  // namespace weft::topology::ib
