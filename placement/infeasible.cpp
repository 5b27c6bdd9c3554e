// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "select_nodes.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::Level;

// One domain of a level with what is free in it.
struct Amount {
  std::uint32_t free = 0;
  std::uint32_t cap = 0;
  std::string name;
};

// Every domain of the level, fullest first; ties in fabric order.
std::vector<Amount> amounts(const Fabric& fabric, const Locality& where, Level level) {
  std::vector<Amount> out;
  const auto add = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t cap) {
    out.push_back({end - begin, cap, fabric.domain_name(level, fabric.domain_of(level, where.nodes[begin]))});
  };
  if (level == topology::kNvlinkLevel)
    for (const Rack& r : where.racks) add(r.begin, r.end, r.cap);
  if (level == topology::kLeafLevel)
    for (const Leaf& l : where.leaves) add(l.begin, l.end, l.cap);
  if (level == topology::kPodLevel)
    for (const Pod& p : where.pods) add(p.begin, p.end, p.cap);
  std::stable_sort(out.begin(), out.end(), [](const Amount& a, const Amount& b) { return a.free > b.free; });
  return out;
}

std::string one(Level level) {
  return level == topology::kNvlinkLevel ? "NVLink domain" : level == topology::kLeafLevel ? "leaf" : "pod";
}
std::string many(Level level) {
  return level == topology::kNvlinkLevel ? "NVLink domains" : level == topology::kLeafLevel ? "leaves" : "pods";
}
std::string under(Level level) { return level == topology::kLeafLevel ? "under" : "in"; }

// "needs 8 free nodes under one leaf; the fullest, leaf12, has 6 free".
std::optional<std::string> too_spread(const std::vector<Amount>& domains, Level level, std::uint32_t nodes,
                                      std::uint32_t most) {
  std::uint64_t free = 0;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min<std::size_t>(most, domains.size()); ++i) {
    free += domains[i].free;
    names.push_back(domains[i].name);
  }
  if (free >= nodes) return std::nullopt;
  if (most == 1)
    return fmt::format("needs {} free nodes {} one {}; the fullest, {}, has {} free", nodes, under(level), one(level),
                       names.empty() ? "none" : names.front(), free);
  constexpr std::size_t kShown = 4;
  const std::string shown = names.size() <= kShown ? fmt::format(" ({})", fmt::join(names, ", ")) : std::string();
  return fmt::format("needs {} free nodes {} at most {} {}; the fullest {}{} have {} free together", nodes,
                     under(level), most, many(level), names.size(), shown, free);
}

std::optional<std::string> too_few_segments(const std::vector<Amount>& domains, const SelectRules& rules) {
  std::uint64_t fit = 0;
  for (const Amount& a : domains) fit += a.free / rules.segment;
  const std::uint32_t wanted = rules.nodes / rules.segment;
  if (fit >= wanted || domains.empty()) return std::nullopt;
  return fmt::format("needs {} segments of {} free nodes, each {} one {}; {} fit, and the fullest, {}, has {} free",
                     wanted, rules.segment, under(rules.segment_level), one(rules.segment_level), fit,
                     domains.front().name, domains.front().free);
}

// What the required nodes and their segments take.
std::optional<std::string> required_too_much(const Fabric& fabric, const Locality& where, const SelectRules& rules) {
  if (rules.segment == 0) return std::nullopt;
  std::uint64_t need = 0;
  for (const Pod& p : where.pods) need += p.need;
  if (need > rules.nodes)
    return fmt::format("the segments of {} nodes that hold the required nodes take {} nodes; the job has {}",
                       rules.segment, need, rules.nodes);
  const auto domain_short = [&](std::uint32_t begin, std::uint32_t end, std::uint32_t cap, std::uint32_t need_here) {
    const Level level = rules.segment_level;
    return need_here <= cap
               ? std::optional<std::string>()
               : fmt::format("required nodes need whole segments of {} free nodes {} {}, which has {} free",
                             rules.segment, under(level),
                             fabric.domain_name(level, fabric.domain_of(level, where.nodes[begin])), end - begin);
  };
  for (const Rack& r : where.racks)
    if (auto text = domain_short(r.begin, r.end, r.cap, r.need)) return text;
  for (const Leaf& l : where.leaves)
    if (auto text = domain_short(l.begin, l.end, l.cap, l.need)) return text;
  for (const Pod& p : where.pods)
    if (auto text = domain_short(p.begin, p.end, p.cap, p.need)) return text;
  return std::nullopt;
}

std::string together(const SelectRules& rules, bool required) {
  std::vector<std::string> parts;
  if (required) parts.emplace_back("required_nodes");
  if (rules.segment > 0)
    parts.push_back(
        fmt::format("segments of {} {} one {}", rules.segment, under(rules.segment_level), one(rules.segment_level)));
  if (rules.max_leaves) parts.push_back(fmt::format("max_spread leaf {}", *rules.max_leaves));
  if (rules.max_pods) parts.push_back(fmt::format("max_spread pod {}", *rules.max_pods));
  return fmt::format("no choice of {} free nodes meets {}{}", rules.nodes, fmt::join(parts, ", "),
                     parts.size() > 1 ? " together" : "");
}

}  // namespace

Error explain_infeasible(const Fabric& fabric, const Locality& where, const SelectRules& rules) {
  const auto say = [](std::string text) { return error(ErrorCode::infeasible, std::move(text)); };
  if (auto text = required_too_much(fabric, where, rules)) return say(std::move(*text));
  if (rules.segment > 0)
    if (auto text = too_few_segments(amounts(fabric, where, rules.segment_level), rules)) return say(std::move(*text));
  if (rules.max_leaves)
    if (auto text = too_spread(amounts(fabric, where, topology::kLeafLevel), topology::kLeafLevel, rules.nodes,
                               *rules.max_leaves))
      return say(std::move(*text));
  if (rules.max_pods && where.has_pods)
    if (auto text =
            too_spread(amounts(fabric, where, topology::kPodLevel), topology::kPodLevel, rules.nodes, *rules.max_pods))
      return say(std::move(*text));
  if (where.islands > 1) {
    std::vector<std::uint32_t> free(where.islands, 0);
    for (const Pod& p : where.pods) free[p.island] += p.free();
    const std::uint32_t most = *std::max_element(free.begin(), free.end());
    if (most < rules.nodes)
      return say(
          fmt::format("needs {} free nodes that can reach each other; the free nodes are in {} separate parts, "
                      "the fullest with {}",
                      rules.nodes, where.islands, most));
  }
  const bool required = std::find(where.required.begin(), where.required.end(), true) != where.required.end();
  return say(together(rules, required));
}

}  // namespace weft::placement
