// SPDX-License-Identifier: BSD-3-Clause
//
// What the generators share: checks with the arithmetic in their text, padded names, entries of a spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/topology/generate.hpp"

namespace weft::topology::generate {

/// More nodes, or more switches, than a hostlist may name are refused.
[[nodiscard]] Result<void> check_count(std::uint64_t count, std::string_view what);
/// GPUs, NICs, rates and name of a node.
[[nodiscard]] Result<void> check_shape(const NodeShape& shape);
/// `value` is 1 or more; `option` is its name.
[[nodiscard]] Result<void> check_positive(std::uint64_t value, std::string_view option);
/// `total` `things` divide into `groups` of `size`; the error names the nearest totals that would.
[[nodiscard]] Result<void> check_divides(std::uint64_t total, std::string_view things, std::uint64_t size,
                                         std::string_view groups);

/// a * b, or the largest number where that is too large.
[[nodiscard]] std::uint64_t times(std::uint64_t a, std::uint64_t b);
[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Decimal digits of `largest`: the width that numbers up to it are padded to.
[[nodiscard]] std::uint32_t digits(std::uint64_t largest);

/// Numbers of one padded width. "[01-32]"; a lone number stands without brackets.
class Numbers {
 public:
  /// `largest` is the highest number of the series, which sets the width.
  explicit Numbers(std::uint64_t largest) : width_(digits(largest)) {}
  [[nodiscard]] std::string one(std::uint64_t number) const;
  [[nodiscard]] std::string range(std::uint64_t first, std::uint64_t last) const;

 private:
  std::uint32_t width_;
};

/// An empty fabric with its one node type.
[[nodiscard]] config::FabricSpec start(std::string name, const NodeShape& shape);
void add_nodes(config::FabricSpec& spec, std::string names);
void add_switches(config::FabricSpec& spec, std::string names, std::uint32_t tier);
config::LinkSpec& add_link(config::FabricSpec& spec, std::string from, std::string to, config::LinkPattern pattern,
                           Bandwidth bandwidth, std::uint64_t cables = 1);

/// How switches with `up` up-ports each reach the tier above: `spines` of them, `cables` to each.
struct Uplinks {
  std::uint64_t spines = 0;
  std::uint64_t cables = 0;
};
/// The fewest spines that `below` such switches can share, where a spine has `max_down` down-ports, every cable of the
/// switches below is used, and a spine's down-ports divide by `taper`. `spines` 0 where there is no such number.
[[nodiscard]] Uplinks fewest_spines(std::uint64_t up, std::uint64_t below, std::uint64_t max_down, std::uint64_t taper);

/// Most down-ports of a switch of `radix` ports whose up-ports are a `taper`-th of them.
[[nodiscard]] constexpr std::uint64_t most_down(std::uint64_t radix, std::uint64_t taper) {
  return radix / (taper + 1) * taper;
}

}  // namespace weft::topology::generate
