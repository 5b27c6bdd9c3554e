// SPDX-License-Identifier: BSD-3-Clause
//
// A fat tree with d-mod-k routing by its formulas alone: what both sides of the check are made from. Shares no code
// with Weft; Weft sees it only as the text of two dumps.
//
// SOURCE
//   Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees", CCIT Report
//   776 (2010): parallel-ports generalised fat trees (h; m; w; p) and the routing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::simgrid_test {

/// Level 0 are NICs, level h the topmost switches. A switch of level l+1 has m[l] children; a device of level l has
/// w[l] parents, p[l] cables to each. A device's label has a digit for each level, the first of a device of level l
/// below w, the rest below m; its position is that number, lowest digit first. Two devices of neighbouring levels l and
/// l+1 are joined where only digit l of their labels differs.
struct FatTree {
  std::vector<std::uint32_t> m, w, p;
  std::uint32_t nics = 1;  ///< of a node
  bool rails = false;      ///< NIC i of a node on the i-th leaf of its unit, not all of them on one leaf
  /// By cable; all others run at 200 Gb/s (HDR).
  std::map<std::uint32_t, double> slow_gbps = {};

  [[nodiscard]] std::uint32_t levels() const { return static_cast<std::uint32_t>(m.size()); }
  [[nodiscard]] std::uint32_t count(std::uint32_t level) const {
    std::uint32_t out = 1;
    for (std::uint32_t i = 0; i < levels(); ++i) out *= i < level ? w[i] : m[i];
    return out;
  }
  [[nodiscard]] std::uint32_t ports_up(std::uint32_t level) const { return level < levels() ? w[level] * p[level] : 0; }
  [[nodiscard]] std::uint32_t ports_down(std::uint32_t level) const { return m[level - 1] * p[level - 1]; }

  /// Cable from port `up` of device `position` of `level`. Numbers are dense.
  [[nodiscard]] std::uint32_t cable(std::uint32_t level, std::uint32_t position, std::uint32_t up) const {
    std::uint32_t base = 0;
    for (std::uint32_t i = 0; i < level; ++i) base += count(i) * ports_up(i);
    return base + position * ports_up(level) + up;
  }
  [[nodiscard]] std::uint32_t cable_count() const { return cable(levels(), 0, 0); }

  struct Cable {
    std::uint32_t level = 0;  ///< of its lower end
    std::uint32_t lower = 0, upper = 0;
    std::uint32_t port_up = 0, port_down = 0;  ///< of the lower and the upper end, counted from 0 in its direction
  };
  [[nodiscard]] Cable ends(std::uint32_t number) const {
    Cable out;
    while (number >= cable(out.level + 1, 0, 0)) ++out.level;
    number -= cable(out.level, 0, 0);
    const std::uint32_t l = out.level;
    out.lower = number / ports_up(l);
    out.port_up = number % ports_up(l);
    const std::uint32_t low = product(w, l);
    const std::uint32_t digit = out.lower / low % m[l];
    out.upper = out.lower % low + low * (out.port_up % w[l] + w[l] * (out.lower / low / m[l]));
    out.port_down = digit + out.port_up / w[l] * m[l];
    return out;
  }
  /// Of cables[from] to its device of the level above, by number.
  [[nodiscard]] double bytes_per_second(std::uint32_t number) const {
    const auto slow = slow_gbps.find(number);
    return (slow == slow_gbps.end() ? 200 : slow->second) * 1e9 / 8;
  }

  /// The port that d-mod-k takes upwards from a device of `level` for a NIC: which parent, and which cable to it.
  [[nodiscard]] std::uint32_t port_for(std::uint32_t level, std::uint32_t to) const {
    return to / product(w, level) / product(p, level) % ports_up(level);
  }
  [[nodiscard]] bool above(std::uint32_t level, std::uint32_t position, std::uint32_t nic) const {
    return position / product(w, level) == nic / product(m, level);
  }
  /// Downwards there is one child; of the cables to it the one that the way up would take for that destination.
  [[nodiscard]] std::uint32_t port_down_for(std::uint32_t level, std::uint32_t to) const {
    return to / product(m, level - 1) % m[level - 1] + port_for(level - 1, to) / w[level - 1] * m[level - 1];
  }
  /// Directed cables from NIC to NIC: 2 * cable, plus 1 downwards.
  [[nodiscard]] std::vector<std::uint32_t> route(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> out;
    std::uint32_t level = 0;
    std::uint32_t at = from;
    while (level == 0 || !above(level, at, to)) {
      const std::uint32_t next = cable(level, at, port_for(level, to));
      out.push_back(2 * next);
      at = ends(next).upper;
      ++level;
    }
    while (level > 0) {
      const std::uint32_t next = cable_below(level, at, port_down_for(level, to));
      out.push_back(2 * next + 1);
      at = ends(next).lower;
      --level;
    }
    return out;
  }

  // --- names ---
  [[nodiscard]] std::uint32_t node_count() const { return count(0) / nics; }
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> node_and_nic(std::uint32_t position) const {
    if (!rails) return {position / nics, position % nics};
    const std::uint32_t leaf = position / m[0];
    return {leaf / nics * m[0] + position % m[0], leaf % nics};
  }
  [[nodiscard]] std::uint32_t position_of(std::uint32_t node, std::uint32_t nic) const {
    return rails ? (node / m[0] * nics + nic) * m[0] + node % m[0] : node * nics + nic;
  }
  static std::string node_name(std::uint32_t node) { return fmt::format("n{:03}", node); }
  static std::string switch_name(std::uint32_t level, std::uint32_t position) {
    return fmt::format("sw{}-{:03}", level, position);
  }
  [[nodiscard]] std::string end_name(std::uint32_t level, std::uint32_t position) const {
    if (level > 0) return switch_name(level, position);
    const auto [node, nic] = node_and_nic(position);
    return fmt::format("{}:{}", node_name(node), nic);
  }
  /// "sw1-000>sw2-003"; parallel cables have one name.
  [[nodiscard]] std::string direction_name(std::uint32_t directed) const {
    const Cable c = ends(directed / 2);
    const std::string lower = end_name(c.level, c.lower);
    const std::string upper = end_name(c.level + 1, c.upper);
    return directed % 2 == 0 ? lower + ">" + upper : upper + ">" + lower;
  }

  // --- dumps ---
  /// As ibnetdiscover prints it.
  [[nodiscard]] std::string dump() const {
    std::string out = "#\n# Topology file: generated on Mon Jun  1 12:00:00 2026\n#\n";
    for (std::uint32_t l = 1; l <= levels(); ++l)
      for (std::uint32_t s = 0; s < count(l); ++s) out += switch_record(l, s);
    for (std::uint32_t n = 0; n < count(0); ++n) {
      const std::uint32_t c = cable(0, n, 0);
      out += fmt::format(
          "\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x{0:x}\ncaguid=0x{0:x}\nCa\t1 \"H-{0:016x}\"\t\t# \"{1}\"\n"
          "[1]({2:x}) \t\"S-{3:016x}\"[{4}]\t\t# lid {5} lmc 0 \"{6}\" lid {7} {8}\n",
          guid(0, n), adapter(n), guid(0, n) + 1, guid(1, ends(c).upper), ends(c).port_down + 1, lid(0, n),
          switch_name(1, ends(c).upper), lid(1, ends(c).upper), speed(c));
    }
    return out;
  }
  /// As opensm's opensm-lfts.dump: at each switch the port for each NIC.
  enum class Upwards : std::uint8_t { d_mod_k, first_port };
  [[nodiscard]] std::string tables(Upwards upwards = Upwards::d_mod_k) const {
    std::string out;
    for (std::uint32_t l = 1; l <= levels(); ++l)
      for (std::uint32_t s = 0; s < count(l); ++s) {
        out += fmt::format("Unicast lids [0-{}] of switch Lid {} guid 0x{:016x} ('{}'):\n", lid(levels() + 1, 0),
                           lid(l, s), guid(l, s), switch_name(l, s));
        for (std::uint32_t n = 0; n < count(0); ++n)
          out += fmt::format("0x{:04x} {:03} # Channel Adapter portguid 0x{:016x}: '{}'\n", lid(0, n),
                             1 + (above(l, s, n) ? port_down_for(l, n)
                                                 : ports_down(l) + (upwards == Upwards::d_mod_k ? port_for(l, n) : 0)),
                             guid(0, n) + 1, adapter(n));
        out += fmt::format("{} lids dumped\n", count(0));
      }
    return out;
  }

 private:
  static std::uint32_t product(const std::vector<std::uint32_t>& of, std::uint32_t first) {
    std::uint32_t out = 1;
    for (std::uint32_t i = 0; i < first; ++i) out *= of[i];
    return out;
  }
  [[nodiscard]] std::uint32_t cable_below(std::uint32_t level, std::uint32_t position, std::uint32_t port_down) const {
    const std::uint32_t l = level - 1;
    const std::uint32_t low = product(w, l);
    const std::uint32_t child = position % low + low * (port_down % m[l] + m[l] * (position / low / w[l]));
    return cable(l, child, position / low % w[l] + port_down / m[l] * w[l]);
  }
  [[nodiscard]] std::uint32_t lid(std::uint32_t level, std::uint32_t position) const {
    std::uint32_t out = 1 + position;
    for (std::uint32_t l = 0; l < level; ++l) out += count(l);
    return out;
  }
  static std::uint64_t guid(std::uint32_t level, std::uint32_t position) {
    return (level == 0 ? 0xb8cef60300000000 : 0x248a070300000000) + (level << 24U) + (position << 4U);
  }
  [[nodiscard]] std::string adapter(std::uint32_t position) const {
    const auto [node, nic] = node_and_nic(position);
    return fmt::format("{} mlx5_{}", node_name(node), nic);
  }
  [[nodiscard]] std::string speed(std::uint32_t number) const {
    const double gbps = bytes_per_second(number) * 8 / 1e9;
    return gbps == 200 ? "4xHDR" : gbps == 100 ? "4xEDR" : "4xQDR";  // 32 Gb/s of data
  }
  [[nodiscard]] std::string switch_record(std::uint32_t level, std::uint32_t position) const {
    std::string out = fmt::format(
        "\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{0:x}\nswitchguid=0x{0:x}({0:x})\nSwitch\t{1} \"S-{0:016x}\""
        "\t\t# \"{2}\" enhanced port 0 lid {3} lmc 0\n",
        guid(level, position), ports_down(level) + ports_up(level), switch_name(level, position), lid(level, position));
    for (std::uint32_t d = 0; d < ports_down(level); ++d) {
      const std::uint32_t c = cable_below(level, position, d);
      const Cable e = ends(c);
      if (level == 1)
        out += fmt::format("[{}]\t\"H-{:016x}\"[1]({:x}) \t\t# \"{}\" lid {} {}\n", d + 1, guid(0, e.lower),
                           guid(0, e.lower) + 1, adapter(e.lower), lid(0, e.lower), speed(c));
      else
        out += to_switch(d + 1, level - 1, e.lower, ports_down(level - 1) + e.port_up + 1, c);
    }
    for (std::uint32_t u = 0; u < ports_up(level); ++u) {
      const std::uint32_t c = cable(level, position, u);
      out += to_switch(ports_down(level) + u + 1, level + 1, ends(c).upper, ends(c).port_down + 1, c);
    }
    return out;
  }
  [[nodiscard]] std::string to_switch(std::uint32_t port, std::uint32_t level, std::uint32_t position,
                                      std::uint32_t peer_port, std::uint32_t number) const {
    return fmt::format("[{}]\t\"S-{:016x}\"[{}]\t\t# \"{}\" lid {} {}\n", port, guid(level, position), peer_port,
                       switch_name(level, position), lid(level, position), speed(number));
  }
};

}  // namespace weft::simgrid_test
