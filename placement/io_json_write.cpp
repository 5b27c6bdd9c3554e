// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inside_score.hpp"
#include "io_traffic.hpp"
#include "weft/placement/io.hpp"

namespace weft::placement {
namespace {

using nlohmann::ordered_json;
using topology::Fabric;
using topology::Level;

// Whole numbers as integers: bytes read as bytes, and every JSON reader gives them back unharmed.
ordered_json number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::floor(value) == value && std::abs(value) <= kExact) return static_cast<std::int64_t>(value);
  return value;
}

ordered_json mean_max(double mean, double max) { return ordered_json{{"mean", number(mean)}, {"max", number(max)}}; }

std::string level_key(const Fabric& fabric, Level level) { return std::string(fabric.level_name(level)); }

ordered_json per_level(const Fabric& fabric, const std::vector<std::uint32_t>& counts) {
  ordered_json out = ordered_json::object();
  for (Level l = 0; l < static_cast<Level>(counts.size()); ++l) out[level_key(fabric, l)] = counts[l];
  return out;
}

// spread, bounds.spread and gap.spread side by side: the same keys in each.
struct SpreadJson {
  ordered_json value = ordered_json::object();
  ordered_json bound = ordered_json::object();
  ordered_json gap = ordered_json::object();
};

SpreadJson spread_json(const Fabric& fabric, const Score& score) {
  SpreadJson out;
  for (const DimSpread& s : score.spread) {
    const std::string dim(config::to_string(s.dim));
    for (Level l = 0; l < static_cast<Level>(s.by_level.size()); ++l) {
      const std::string level = level_key(fabric, l);
      const MeanMax& v = s.by_level[l];
      out.value[dim][level] = mean_max(v.mean, v.max);
      if (l >= s.bound.size() || s.bound[l] == 0) continue;
      const double bound = s.bound[l];
      out.bound[dim][level] = mean_max(bound, bound);
      out.gap[dim][level] = mean_max((v.mean - bound) / bound, (v.max - bound) / bound);
    }
  }
  return out;
}

ordered_json use_json(const Fabric& fabric, const std::optional<LinkUse>& use) {
  if (!use) return nullptr;
  const auto [from, to] = end_names(fabric, use->link);
  return ordered_json{{"link", {from, to}},
                      {"bytes", number(use->bytes)},
                      {"seconds", use->seconds},
                      {"slowed", fabric.link(use->link.link).slowed}};
}

ordered_json time_json(const Fabric& fabric, const CommTime& time) {
  return ordered_json{{"seconds", time.seconds},
                      {"latency_seconds", time.latency_seconds},
                      {"exposed_seconds", time.exposed_seconds},
                      {"slowest_link", use_json(fabric, time.slowest)},
                      {"nvlink_bound", time.nvlink_bound}};
}

ordered_json dimensions_json(const Fabric& fabric, const LinkScore& links) {
  ordered_json out = ordered_json::object();
  for (const DimTime& d : links.dimensions) out[std::string(config::to_string(d.dim))] = time_json(fabric, d);
  if (links.direct) out["direct"] = time_json(fabric, *links.direct);
  return out;
}

void add_links(const Fabric& fabric, const LinkScore& links, ordered_json& out) {
  out["routing"] = std::string(to_string(links.routing));
  out["bottleneck"] = use_json(fabric, links.bottleneck);
  out["max_utilisation"] = links.max_utilisation;
  out["step_comm_seconds"] = links.step_comm_seconds;
  out["dimensions"] = dimensions_json(fabric, links);
  if (links.ecmp)
    out["ecmp"] = ordered_json{{"seed", links.ecmp->seed},
                               {"draws", links.ecmp->draws},
                               {"even_seconds", links.ecmp->even_seconds},
                               {"mean_worst_seconds", links.ecmp->mean_worst_seconds}};
  if (links.running.empty()) return;
  out["bottleneck_with_running"] = use_json(fabric, links.shared);
  out["running"] = ordered_json::array();
  for (const RunningEffect& r : links.running)
    out["running"].push_back(
        ordered_json{{"job", r.name}, {"before", use_json(fabric, r.before)}, {"after", use_json(fabric, r.after)}});
}

// (value - bound) / bound; null where nothing bounds from below.
ordered_json gap(double value, double bound) {
  if (bound > 0) return (value - bound) / bound;
  return value > 0 ? ordered_json(nullptr) : ordered_json(0);
}

void add_bounds(const Score& score, ordered_json& bounds, ordered_json& gaps) {
  const TrafficBounds& b = *score.bounds;
  const auto whole = [](double bytes) { return number(std::floor(bytes)); };
  if (b.highest_tier >= 2) {
    const std::string tier = std::to_string(b.highest_tier);
    bounds["tier_bytes"][tier] = whole(b.highest_tier_bytes);
    gaps["tier_bytes"][tier] = gap(score.tier_bytes[b.highest_tier], b.highest_tier_bytes);
  }
  bounds["cross_spine_bytes"] = whole(b.cross_spine_bytes);
  gaps["cross_spine_bytes"] = gap(score.cross_spine_bytes, b.cross_spine_bytes);
  bounds["hop_bytes"] = whole(b.hop_bytes);
  gaps["hop_bytes"] = gap(score.hop_bytes, b.hop_bytes);
}

void add_inside(const InsideScore& inside, ordered_json& out) {
  out["shared_nics"] = inside.shared_nics;
  out["cross_rail_bytes"] = number(inside.cross_rail_bytes);
  if (!inside.paths_known) return;
  out["pcie_detour_bytes"] = number(inside.pcie_detour_bytes);
  out["numa_detour_bytes"] = number(inside.numa_detour_bytes);
}

ordered_json score_json(const Fabric& fabric, const Score& score) {
  ordered_json out;
  out["tier_bytes"] = ordered_json::object();
  for (std::size_t t = 0; t < score.tier_bytes.size(); ++t)
    out["tier_bytes"][std::to_string(t)] = number(score.tier_bytes[t]);
  out["cross_spine_bytes"] = number(score.cross_spine_bytes);
  out["hop_bytes"] = number(score.hop_bytes);
  out["hops"] = ordered_json{{"mean", number(score.mean_hops)}, {"max", score.max_hops}};
  out["rerouted_bytes"] = number(score.rerouted_bytes);
  if (score.inside && has_inside(*score.inside)) add_inside(*score.inside, out);
  if (score.links) add_links(fabric, *score.links, out);
  const SpreadJson spread = spread_json(fabric, score);
  out["spread"] = spread.value;
  out["fragmentation"] = ordered_json{{"before", per_level(fabric, score.fragmentation_before)},
                                      {"after", per_level(fabric, score.fragmentation_after)}};
  out["exposure"] = ordered_json{{"leaves", score.exposure.leaves},
                                 {"pods", score.exposure.pods},
                                 {"planes", score.exposure.planes},
                                 {"nvlink_domains", score.exposure.nvlink_domains}};
  out["bounds"] = ordered_json::object();
  out["gap"] = ordered_json::object();
  if (score.bounds) add_bounds(score, out["bounds"], out["gap"]);
  out["bounds"]["spread"] = spread.bound;
  out["gap"]["spread"] = spread.gap;
  return out;
}

// Names come from files of any encoding: bytes that are not UTF-8 are replaced, never thrown about.
std::string dump(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

std::string quoted(const std::string& text) { return dump(ordered_json(text), -1); }

// Every line but the first pushed in by two.
std::string indented(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::string write_score_json(const Fabric& fabric, const Score& score, int indent) {
  return dump(score_json(fabric, score), indent);
}

std::string write_placement_json(const PlacementDoc& doc, const Fabric* fabric, const Score* score) {
  std::string out = fmt::format("{{\n  \"weft\": 1,\n  \"job\": {},\n  \"fabric\": {},\n  \"nodes\": [",
                                quoted(doc.job), quoted(doc.fabric));
  for (std::size_t i = 0; i < doc.nodes.size(); ++i) out += (i == 0 ? "" : ", ") + quoted(doc.nodes[i].value);
  out += "]";
  if (!doc.ranks.empty()) {
    out += ",\n  \"ranks\": [\n";
    for (std::size_t r = 0; r < doc.ranks.size(); ++r) {
      const RankDoc& rank = doc.ranks[r];
      out +=
          fmt::format("    {{\"rank\": {}, \"node\": {}, \"gpu\": {}", r, quoted(doc.nodes[rank.node].value), rank.gpu);
      if (rank.nic) out += fmt::format(", \"nic\": {}", *rank.nic);
      out += r + 1 < doc.ranks.size() ? "},\n" : "}\n";
    }
    out += "  ]";
  }
  if (doc.traffic) out += ",\n  \"traffic\": " + write_traffic_object(*doc.traffic);
  if (fabric != nullptr && score != nullptr) out += ",\n  \"score\": " + indented(write_score_json(*fabric, *score, 2));
  out += "\n}\n";
  return out;
}

}  // namespace weft::placement
