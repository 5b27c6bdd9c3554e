// SPDX-License-Identifier: BSD-3-Clause
#include "score_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "words.hpp"

namespace weft::cli {
namespace {

using placement::Score;

// One score's terms, in the order in which they are shown.
using Terms = std::vector<std::pair<std::string, std::string>>;

std::string level_sizes(const topology::Fabric& fabric, const std::vector<std::uint32_t>& by_level) {
  std::string out;
  for (std::size_t level = 0; level < by_level.size(); ++level) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{} {}", fabric.level_name(static_cast<topology::Level>(level)), by_level[level]);
  }
  return out;
}

void add_spread(const topology::Fabric& fabric, const placement::DimSpread& dim, Terms& out) {
  for (std::size_t level = 0; level < dim.by_level.size(); ++level) {
    const placement::MeanMax& spread = dim.by_level[level];
    const auto name = fabric.level_name(static_cast<topology::Level>(level));
    out.emplace_back(fmt::format("spread of {} groups, {}", config::to_string(dim.dim), name),
                     fmt::format("mean {}, max {}", short_number(spread.mean), short_number(spread.max)));
  }
}

std::string link_use(const topology::Fabric& fabric, const std::optional<placement::LinkUse>& use) {
  if (!use) return "none";
  const auto [from, to] = end_names(fabric, use->link);
  return fmt::format("{} > {}, {}", from, to, seconds_text(use->seconds));
}

void add_links(const topology::Fabric& fabric, const placement::LinkScore& links, Terms& out) {
  out.emplace_back(fmt::format("bottleneck ({})", to_string(links.routing)), link_use(fabric, links.bottleneck));
  if (links.ecmp) out.emplace_back("worst hashed link, mean", seconds_text(links.ecmp->mean_worst_seconds));
  if (!links.running.empty()) out.emplace_back("bottleneck with running jobs", link_use(fabric, links.shared));
  out.emplace_back("communication a step", seconds_text(links.step_comm_seconds));
  for (const placement::DimTime& dim : links.dimensions)
    out.emplace_back(fmt::format("  {}", config::to_string(dim.dim)), seconds_text(dim.exposed_seconds));
  if (links.direct) out.emplace_back("  direct", seconds_text(links.direct->exposed_seconds));
}

Terms terms_of(const topology::Fabric& fabric, const Score& score) {
  Terms out;
  for (std::size_t tier = 0; tier < score.tier_bytes.size(); ++tier) {
    out.emplace_back(fmt::format("tier {}, a step", tier), bytes_text(score.tier_bytes[tier]));
  }
  out.emplace_back("cross-spine traffic, a step", bytes_text(score.cross_spine_bytes));
  out.emplace_back("hop-bytes", bytes_text(score.hop_bytes));
  out.emplace_back("hops", fmt::format("mean {}, max {}", short_number(score.mean_hops), score.max_hops));
  if (score.links) add_links(fabric, *score.links, out);
  for (const placement::DimSpread& dim : score.spread) add_spread(fabric, dim, out);
  out.emplace_back("largest gang that fits, before", level_sizes(fabric, score.fragmentation_before));
  out.emplace_back("largest gang that fits, after", level_sizes(fabric, score.fragmentation_after));
  const Score::Exposure& exposure = score.exposure;
  out.emplace_back("exposed to the loss of leaves", fmt::format("{}", exposure.leaves));
  out.emplace_back("exposed to the loss of pods", fmt::format("{}", exposure.pods));
  return out;
}

// Cells left-aligned under each other, two spaces between columns, none at a line's end.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:<{}}  ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace

std::string score_table(const topology::Fabric& fabric, const std::vector<std::pair<std::string, Score>>& columns) {
  std::vector<Terms> terms;
  std::size_t longest = 0;  // the column whose labels are the rows
  std::vector<std::vector<std::string>> rows(1, {""});
  for (const auto& [title, score] : columns) {
    rows.front().push_back(title);
    terms.push_back(terms_of(fabric, score));
    if (terms.back().size() > terms[longest].size()) longest = terms.size() - 1;
  }
  if (terms.empty()) return {};
  for (const auto& [label, ignored] : terms[longest]) {
    rows.emplace_back().push_back(label);
    for (const Terms& column : terms) {
      const auto same_label = [&wanted = label](const auto& term) { return term.first == wanted; };
      const auto found = std::find_if(column.begin(), column.end(), same_label);
      rows.back().push_back(found == column.end() ? "" : found->second);
    }
  }
  return table(rows);
}

}  // namespace weft::cli
