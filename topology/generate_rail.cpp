// SPDX-License-Identifier: BSD-3-Clause
//
// Rail-optimised fabrics: of single nodes and of NVLink racks. They differ in what a unit's nodes are called.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "generate_common.hpp"

namespace weft::topology {
namespace {

using config::FabricSpec;
using config::LinkPattern;
using generate::Numbers;
using generate::times;
using generate::Uplinks;

constexpr std::uint32_t kMaxRadix = 4096;
constexpr std::array<std::uint32_t, 4> kUsualRadixes{64, 128, 256, 512};

struct Rails {
  std::uint64_t units = 0;
  std::uint64_t nodes_per_unit = 0;
  std::uint64_t rails = 0;  // NICs of a node
  std::uint32_t tiers = 2;
  std::uint32_t taper = 1;
  std::uint32_t given_spines = 0;
  bool rail_only = false;
  Bandwidth bandwidth;
  // Sized:
  Uplinks spines;  // of all rails together, or of one rail
  Uplinks cores;   // of a spine column
};

bool per_rail(const Rails& plan) { return plan.rail_only || plan.tiers == 3; }

tl::unexpected<Error> bad(std::string message, std::string expected) {
  return fail(error(ErrorCode::bad_value, std::move(message), std::move(expected)));
}

Result<Uplinks> size_spines(const Rails& plan, std::uint64_t up, std::uint64_t radix) {
  const std::uint64_t leaves = per_rail(plan) ? plan.units : times(plan.units, plan.rails);
  const std::uint64_t most = plan.tiers == 3 ? generate::most_down(radix, 1) : radix;
  if (plan.given_spines > 0) {
    if (up % plan.given_spines != 0) {
      return bad(fmt::format("a leaf's {} cables up do not divide over {} spines", up, plan.given_spines),
                 fmt::format("a number of spines that divides {}", up));
    }
    const Uplinks given{plan.given_spines, up / plan.given_spines};
    if (times(leaves, given.cables) <= most) return given;
    return bad(fmt::format("{} leaves with {} cables to each of {} spines exceed the {} ports a spine has for them",
                           leaves, given.cables, given.spines, most),
               "more spines or a larger radix");
  }
  const Uplinks derived = generate::fewest_spines(up, leaves, most, 1);
  if (derived.spines > 0) return derived;
  return bad(fmt::format("{} units of {} rail leaves are more than spines of {} ports can join in {} tiers", plan.units,
                         plan.rails, radix, plan.tiers),
             plan.tiers == 3 ? fmt::format("at most {} units, or a larger radix", most)
                             : fmt::format("at most {} units, or three tiers, or a larger radix",
                                           per_rail(plan) ? most : most / plan.rails));
}

Result<Rails> size_rails(Rails plan, std::uint64_t radix) {
  const std::uint64_t down = plan.nodes_per_unit;
  if (down % plan.taper != 0) {
    return bad(fmt::format("a leaf's {} cables down do not divide by a taper of {}", down, plan.taper),
               fmt::format("nodes_per_unit in a multiple of {}", plan.taper));
  }
  const std::uint64_t up = down / plan.taper;
  if (down + up > radix) {
    return bad(fmt::format("a rail leaf with {} nodes and {} cables up has more than {} ports", down, up, radix),
               fmt::format("at most {} nodes a unit, or a larger radix", generate::most_down(radix, plan.taper)));
  }
  const auto spines = size_spines(plan, up, radix);
  if (!spines) return fail(spines.error());
  plan.spines = *spines;
  if (plan.tiers < 3) return plan;
  plan.cores = generate::fewest_spines(times(plan.units, plan.spines.cables), plan.rails, radix, 1);
  if (plan.cores.spines > 0) return plan;
  return bad(fmt::format("{} rails are more than cores of {} ports can join", plan.rails, radix),
             fmt::format("at most {} NICs a node, or a larger radix", radix));
}

Result<Rails> size_rails(const Rails& plan, std::uint32_t radix, std::uint32_t tiers) {
  if (auto ok = generate::check_positive(plan.taper, "taper"); !ok) return fail(ok.error());
  if (tiers != 2 && tiers != 3) return bad(fmt::format("a rail-optimised fabric of {} tiers", tiers), "2 or 3 tiers");
  if (radix > kMaxRadix) return bad(fmt::format("a switch of {} ports", radix), fmt::format("at most {}", kMaxRadix));
  if (plan.rail_only && tiers == 3) {
    return fail(
        error(ErrorCode::usage, "a rail-only fabric has no cores to join its rails", "2 tiers, or not rail_only"));
  }
  if (auto ok = generate::check_count(times(plan.units, plan.rails), "switches"); !ok) return fail(ok.error());
  if (radix > 0) return size_rails(plan, radix);
  Result<Rails> sized;
  for (const std::uint32_t usual : kUsualRadixes) {
    sized = size_rails(plan, usual);
    if (sized) break;
  }
  return sized;
}

// leaf-u01-r[0-7]: leaves of units and rails, both ends included.
std::string leaf_names(const Rails& plan, std::uint64_t unit, std::uint64_t last_unit, std::uint64_t rail,
                       std::uint64_t last_rail) {
  return fmt::format("leaf-u{}-r{}", Numbers(plan.units).range(unit, last_unit),
                     Numbers(plan.rails - 1).range(rail, last_rail));
}

std::string spine_names(const Rails& plan, std::uint64_t rail, std::uint64_t last_rail, std::uint64_t column,
                        std::uint64_t last_column) {
  const std::string columns = Numbers(plan.spines.spines).range(column, last_column);
  if (!per_rail(plan)) return "spine-" + columns;
  return fmt::format("spine-r{}-{}", Numbers(plan.rails - 1).range(rail, last_rail), columns);
}

// Rails that have one leaf each and nothing above them need no spines.
bool has_spines(const Rails& plan) { return !(plan.rail_only && plan.units == 1); }

void add_rail_switches(FabricSpec& spec, const Rails& plan) {
  generate::add_switches(spec, leaf_names(plan, 1, plan.units, 0, plan.rails - 1), 1);
  if (has_spines(plan)) generate::add_switches(spec, spine_names(plan, 0, plan.rails - 1, 1, plan.spines.spines), 2);
  if (plan.tiers < 3) return;
  const std::uint64_t cores = plan.spines.spines * plan.cores.spines;
  generate::add_switches(spec, "core-" + Numbers(cores).range(1, cores), 3);
}

void add_rail_links(FabricSpec& spec, const Rails& plan) {
  const std::uint64_t last = plan.rails - 1;
  const std::uint64_t spines = plan.spines.spines;
  if (!per_rail(plan)) {
    generate::add_link(spec, leaf_names(plan, 1, plan.units, 0, last), spine_names(plan, 0, 0, 1, spines),
                       LinkPattern::all, plan.bandwidth, plan.spines.cables);
    return;
  }
  for (std::uint64_t rail = 0; rail < plan.rails && has_spines(plan); ++rail) {
    generate::add_link(spec, leaf_names(plan, 1, plan.units, rail, rail), spine_names(plan, rail, rail, 1, spines),
                       LinkPattern::all, plan.bandwidth, plan.spines.cables);
  }
  if (plan.tiers < 3) return;
  const std::uint64_t each = plan.cores.spines;
  const Numbers cores(spines * each);
  for (std::uint64_t column = 0; column < spines; ++column) {
    generate::add_link(spec, spine_names(plan, 0, last, column + 1, column + 1),
                       "core-" + cores.range(column * each + 1, (column + 1) * each), LinkPattern::all, plan.bandwidth,
                       plan.cores.cables);
  }
}

void add_unit(FabricSpec& spec, const Rails& plan, std::uint64_t unit, std::string nodes) {
  // A node of one NIC has one rail, which is the whole leaf.
  generate::add_link(spec, std::move(nodes), leaf_names(plan, unit, unit, 0, plan.rails - 1),
                     plan.rails == 1 ? LinkPattern::all : LinkPattern::rail, plan.bandwidth);
}

}  // namespace

Result<FabricSpec> generate_rail(const RailOptions& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.nodes, "nodes"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.nodes_per_unit, "nodes_per_unit"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(options.nodes, "nodes"); !ok) return fail(ok.error());
  const std::uint32_t each = std::min(options.nodes, options.nodes_per_unit);
  if (auto ok = generate::check_divides(options.nodes, "nodes", each, "units"); !ok) return fail(ok.error());

  Rails wanted;
  wanted.units = options.nodes / each;
  wanted.nodes_per_unit = each;
  wanted.rails = options.node.nics;
  wanted.tiers = options.tiers;
  wanted.taper = options.taper;
  wanted.given_spines = options.spines;
  wanted.rail_only = options.rail_only;
  wanted.bandwidth = options.node.bandwidth;
  const auto plan = size_rails(wanted, options.radix, options.tiers);
  if (!plan) return fail(plan.error());

  FabricSpec spec =
      generate::start(fmt::format("{}-{}", options.rail_only ? "rail-only" : "rail", options.nodes), options.node);
  const Numbers gpus(options.nodes);
  add_rail_switches(spec, *plan);
  generate::add_nodes(spec, "gpu" + gpus.range(1, options.nodes));
  for (std::uint64_t unit = 0; unit < plan->units; ++unit) {
    add_unit(spec, *plan, unit + 1, "gpu" + gpus.range(unit * each + 1, (unit + 1) * each));
  }
  add_rail_links(spec, *plan);
  return spec;
}

Result<FabricSpec> generate_nvl72(const Nvl72Options& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return fail(ok.error());
  if (!options.node.nvlink) {
    return fail(
        error(ErrorCode::usage, "racks that are one NVLink domain need nodes with NVLink", "a node type with NVLink"));
  }
  if (auto ok = generate::check_positive(options.racks, "racks"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.nodes_per_rack, "nodes_per_rack"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.racks_per_unit, "racks_per_unit"); !ok) return fail(ok.error());
  if (auto ok = generate::check_positive(options.radix, "radix"); !ok) return fail(ok.error());
  if (auto ok = generate::check_count(times(options.racks, options.nodes_per_rack), "nodes"); !ok)
    return fail(ok.error());
  const std::uint32_t each = std::min(options.racks, options.racks_per_unit);
  if (auto ok = generate::check_divides(options.racks, "racks", each, "units"); !ok) return fail(ok.error());

  Rails wanted;
  wanted.units = options.racks / each;
  wanted.nodes_per_unit = times(each, options.nodes_per_rack);
  wanted.rails = options.node.nics;
  wanted.taper = options.taper;
  wanted.given_spines = options.spines;
  wanted.bandwidth = options.node.bandwidth;
  const auto plan = size_rails(wanted, options.radix, 2);
  if (!plan) return fail(plan.error());

  FabricSpec spec = generate::start(
      fmt::format("nvl{}-{}", times(options.nodes_per_rack, options.node.gpus), options.racks), options.node);
  const Numbers racks(options.racks);
  const std::string in_rack = "-node" + Numbers(options.nodes_per_rack).range(1, options.nodes_per_rack);
  add_rail_switches(spec, *plan);
  generate::add_nodes(spec, "rack" + racks.range(1, options.racks) + in_rack);
  for (std::uint64_t unit = 0; unit < plan->units; ++unit) {
    add_unit(spec, *plan, unit + 1, "rack" + racks.range(unit * each + 1, (unit + 1) * each) + in_rack);
  }
  add_rail_links(spec, *plan);
  for (std::uint64_t rack = 1; rack <= options.racks; ++rack) {
    const std::string name = "rack" + racks.one(rack);
    spec.nvlink_domains.push_back({{name, {}}, {name + in_rack, {}}});
  }
  return spec;
}

}  // namespace weft::topology
