// SPDX-License-Identifier: BSD-3-Clause
//
// A table of hosts and the switches above them, as published with Alibaba's Lingjun traces: one row a host, its access
// (ASW, leaf), aggregation (PSW) and core (DSW) switch, the columns in any order. Names repeat: ASW S1 under PSW P10 is
// another switch than S1 under P12, so a switch is its whole path from the top and is named so ("G6-P10-S1").
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topology {

/// Which column holds what; from the top down after the host.
struct ClosColumns {
  std::size_t host = 0;
  std::optional<std::size_t> core;         ///< DSW
  std::optional<std::size_t> aggregation;  ///< PSW
  std::size_t access = 0;                  ///< ASW
};

/// The columns of a header line; empty where host or ASW is missing or named twice. Words count without regard to case.
[[nodiscard]] std::optional<ClosColumns> clos_columns(std::string_view header);

/// One line's fields; quotes may enclose a field and are doubled inside it. Empty where a quote stays open.
struct CsvField {
  std::string text;
  std::size_t offset = 0;  ///< in the line, past an opening quote
};
[[nodiscard]] std::optional<std::vector<CsvField>> csv_fields(std::string_view line);

}  // namespace weft::topology
