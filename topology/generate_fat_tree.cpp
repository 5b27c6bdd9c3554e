// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "generate_common.hpp"

namespace weft::topology {
namespace {

using config::FabricSpec;
using config::LinkPattern;
using generate::ceil_div;
using generate::Numbers;
using generate::times;

constexpr std::uint32_t kMaxTiers = 8;
constexpr std::uint32_t kMaxRadix = 4096;
constexpr std::array<std::uint32_t, 4> kUsualRadixes{64, 128, 256, 512};

// One tier, in the header's letters.
struct Tier {
  std::uint64_t members = 0;  // m: groups of the tier below (nodes, at the leaves) in a group of this one
  std::uint64_t groups = 0;   // G
  std::uint64_t above = 0;    // w: switches of this tier that a switch of the tier below reaches
  std::uint64_t cables = 0;   // p: to each of them
  std::uint64_t width = 0;    // W: switches of this tier in a group
  std::uint64_t up = 0;       // u: cables up of each switch
};

struct Tree {
  std::uint64_t nodes = 0;
  std::vector<Tier> tiers;  // [0] the leaves
};

tl::unexpected<Error> bad(std::string message, std::string expected) {
  return fail(error(ErrorCode::bad_value, std::move(message), std::move(expected)));
}

// Sizes a tree of one given radix. `nodes` 0 = as many as it holds.
class Sizer {
 public:
  Sizer(const FatTreeOptions& options, std::uint64_t nodes, std::uint32_t radix)
      : options_(options), nodes_(nodes), radix_(radix) {}

  [[nodiscard]] Result<Tree> size() {
    if (auto ok = size_leaves(); !ok) return fail(ok.error());
    for (std::uint32_t tier = 2; tier <= options_.tiers; ++tier) {
      if (auto ok = size_tier(tier); !ok) return fail(ok.error());
    }
    fill();
    return std::move(tree_);
  }

 private:
  [[nodiscard]] bool top(std::uint32_t tier) const { return tier == options_.tiers; }
  [[nodiscard]] std::uint64_t taper(std::uint32_t tier) const {
    return tier <= options_.taper.size() ? options_.taper[tier - 1] : 1;
  }
  [[nodiscard]] std::uint64_t most_down(std::uint32_t tier) const {
    return top(tier) ? radix_ : generate::most_down(radix_, taper(tier));
  }

  Result<void> size_leaves() {
    const std::uint64_t nics = options_.node.nics;
    const std::uint64_t ratio = top(1) ? 1 : taper(1);
    const std::uint64_t step = ratio / std::gcd(ratio, nics);  // nodes whose cables divide by the taper
    const std::uint64_t most = most_down(1) / nics / step * step;
    const std::uint64_t given = options_.nodes_per_leaf;
    if (given > 0 && times(given, nics) % ratio != 0) {
      return bad(fmt::format("{} nodes of {} NICs are {} cables down a leaf, which do not divide by a taper of {}",
                             given, nics, given * nics, ratio),
                 fmt::format("a multiple of {} nodes a leaf", step));
    }
    if (most == 0 || given > most) {
      return bad(
          fmt::format("a leaf of {} ports has no room for {} nodes of {} NICs{}", radix_,
                      std::max<std::uint64_t>(given, step), nics, top(1) ? "" : " and its cables up"),
          most == 0 ? "a larger radix or fewer NICs" : fmt::format("at most {} nodes a leaf, or a larger radix", most));
    }
    Tier leaves;
    leaves.members = given > 0 ? given : most;
    if (given > 0 && nodes_ > 0) {
      if (auto ok = generate::check_divides(nodes_, "nodes", given, "leaves"); !ok) return ok;
    }
    leaves.groups = nodes_ == 0 ? 0 : ceil_div(nodes_, leaves.members);
    if (top(1) && leaves.groups > 1) return too_many(leaves.members);
    leaves.width = 1;
    leaves.up = top(1) ? 0 : leaves.members * nics / ratio;
    tree_.tiers.push_back(leaves);
    return {};
  }

  // Down cables to each member where the options say so; 0 = free.
  Result<std::uint64_t> given_cables(std::uint32_t tier, std::uint64_t up) const {
    if (tier != 2 || (options_.spines == 0 && options_.cables == 0)) return 0;
    const std::uint64_t spines = options_.spines > 0 ? options_.spines : up / options_.cables;
    const std::uint64_t cables = options_.cables > 0 ? options_.cables : up / options_.spines;
    if (spines * cables == up && spines > 0) return cables;
    return bad(fmt::format("a leaf's {} cables up do not come to {} spines with {} cables each", up,
                           std::max<std::uint64_t>(spines, 1), std::max<std::uint64_t>(cables, 1)),
               "spines x cables equal to the leaf's cables up");
  }

  // Groups that a group of `tier` takes in, at `cables` (at least) to each of its switches.
  Result<std::uint64_t> members_of(std::uint32_t tier, std::uint64_t cables) const {
    const std::uint64_t below = tree_.tiers.back().groups;
    const std::uint64_t most = most_down(tier) / std::max<std::uint64_t>(cables, 1);
    if (top(tier)) {
      if (nodes_ == 0) return most;
      if (below < 2) return nothing_to_join(tier);
      if (below > most) return too_many(times(most, nodes_of_a_group()));
      return below;
    }
    const std::uint64_t given = options_.leaves_per_pod;
    if (given == 0) return nodes_ == 0 ? most : std::min(most, below);
    if (given > most) {
      return bad(fmt::format("a tier-{} switch of {} ports cannot join {} groups", tier, radix_, given),
                 fmt::format("at most {}, or a larger radix", most));
    }
    if (nodes_ > 0) {
      const auto ok =
          generate::check_divides(below, tier == 2 ? "leaves" : "groups", given, tier == 2 ? "pods" : "groups");
      if (!ok) return fail(ok.error());
    }
    return given;
  }

  Result<void> size_tier(std::uint32_t tier) {
    const Tier& below = tree_.tiers.back();
    const auto cables = given_cables(tier, below.up);
    if (!cables) return fail(cables.error());
    const auto members = members_of(tier, *cables);
    if (!members) return fail(members.error());
    const std::uint64_t ratio = top(tier) ? 1 : taper(tier);
    generate::Uplinks uplinks;
    if (*cables == 0) {
      uplinks = generate::fewest_spines(below.up, *members, most_down(tier), ratio);
    } else if (times(*members, *cables) % ratio == 0) {
      uplinks = {below.up / *cables, *cables};
    }
    if (uplinks.spines == 0) {
      return bad(
          fmt::format("the cables down of a tier-{} switch that joins {} groups with {} cables up each do not divide "
                      "by a taper of {}",
                      tier, *members, below.up, ratio),
          fmt::format("groups in a multiple of {}", ratio));
    }
    Tier next;
    next.members = *members;
    next.groups = nodes_ == 0 ? 0 : ceil_div(below.groups, next.members);
    next.above = uplinks.spines;
    next.cables = uplinks.cables;
    next.width = times(below.width, next.above);
    next.up = top(tier) ? 0 : next.members * next.cables / ratio;
    tree_.tiers.push_back(next);
    return {};
  }

  [[nodiscard]] std::uint64_t nodes_of_a_group() const {
    std::uint64_t nodes = 1;
    for (const Tier& tier : tree_.tiers) nodes = times(nodes, tier.members);
    return nodes;
  }

  [[nodiscard]] tl::unexpected<Error> too_many(std::uint64_t most) const {
    return bad(fmt::format("{} nodes of {} NICs do not fit a fat tree of {} {} with {} ports a switch", nodes_,
                           options_.node.nics, options_.tiers, options_.tiers == 1 ? "tier" : "tiers", radix_),
               fmt::format("at most {} nodes, or more tiers, or a larger radix", most));
  }

  [[nodiscard]] tl::unexpected<Error> nothing_to_join(std::uint32_t tier) const {
    return bad(fmt::format("{} nodes fit a fat tree of {} {}, so tier {} would join nothing", nodes_, tier - 1,
                           tier == 2 ? "tier" : "tiers", tier),
               fmt::format("{} {}, or smaller groups", tier - 1, tier == 2 ? "tier" : "tiers"));
  }

  // A tree that is to hold as much as it can: groups from the top down.
  void fill() {
    tree_.nodes = nodes_;
    if (nodes_ > 0) return;
    std::uint64_t groups = 1;
    for (auto tier = tree_.tiers.rbegin(); tier != tree_.tiers.rend(); ++tier) {
      tier->groups = groups;
      groups = times(groups, tier->members);
    }
    tree_.nodes = groups;
  }

  const FatTreeOptions& options_;
  std::uint64_t nodes_;
  std::uint64_t radix_;
  Tree tree_;
};

Result<std::uint64_t> wanted_nodes(const FatTreeOptions& options) {
  if (options.gpus == 0) return options.nodes;
  if (options.nodes > 0) {
    return fail(error(ErrorCode::usage,
                      fmt::format("both {} nodes and {} GPUs are asked for", options.nodes, options.gpus),
                      "one of the two"));
  }
  if (auto ok = generate::check_divides(options.gpus, "GPUs", options.node.gpus, "nodes"); !ok) return fail(ok.error());
  return options.gpus / options.node.gpus;
}

Result<void> check(const FatTreeOptions& options) {
  if (auto ok = generate::check_shape(options.node); !ok) return ok;
  if (options.tiers == 0 || options.tiers > kMaxTiers) {
    return bad(fmt::format("a fat tree of {} tiers", options.tiers), fmt::format("1 to {} tiers", kMaxTiers));
  }
  if (options.radix > kMaxRadix) {
    return bad(fmt::format("a switch of {} ports", options.radix), fmt::format("at most {}", kMaxRadix));
  }
  if (options.taper.size() >= options.tiers) {
    return bad(
        fmt::format("{} tapers for {} {}", options.taper.size(), options.tiers, options.tiers == 1 ? "tier" : "tiers"),
        fmt::format("at most {}: one for each tier below the top", options.tiers - 1));
  }
  for (const std::uint32_t taper : options.taper) {
    if (auto ok = generate::check_positive(taper, "taper"); !ok) return ok;
  }
  if (options.tiers < 3 && options.leaves_per_pod > 0) {
    return fail(error(ErrorCode::usage,
                      fmt::format("leaves_per_pod is given, but {} {} have no pods", options.tiers,
                                  options.tiers == 1 ? "tier" : "tiers"),
                      "three tiers or more"));
  }
  if (options.tiers < 2 && (options.spines > 0 || options.cables > 0)) {
    return fail(error(ErrorCode::usage, "spines or cables are given, but one tier has no spines", "two tiers or more"));
  }
  return {};
}

Result<Tree> size_tree(const FatTreeOptions& options) {
  if (auto ok = check(options); !ok) return fail(ok.error());
  const auto nodes = wanted_nodes(options);
  if (!nodes) return fail(nodes.error());
  if (auto ok = generate::check_count(*nodes, "nodes"); !ok) return fail(ok.error());
  if (options.radix > 0) return Sizer(options, *nodes, options.radix).size();
  Result<Tree> tree;
  for (const std::uint32_t radix : kUsualRadixes) {
    tree = Sizer(options, *nodes, radix).size();
    if (tree) break;
  }
  return tree;
}

// Names of the switches of one tier: leaf-001; spine-p03-07 in groups; spine-07 at the top.
class Namer {
 public:
  Namer(const Tree& tree, std::size_t tier)
      : tier_(tier),
        flat_(tier == 0 || tree.tiers[tier].groups == 1),
        groups_(tree.tiers[tier].groups),
        columns_(tier == 0 ? tree.tiers[tier].groups : tree.tiers[tier].width) {}

  /// Columns [column, column + columns) of each of the groups [group, group + groups); all from 0. Leaves are groups.
  [[nodiscard]] std::string names(std::uint64_t group, std::uint64_t groups, std::uint64_t column,
                                  std::uint64_t columns) const {
    if (tier_ == 0) return fmt::format("leaf-{}", columns_.range(group + 1, group + groups));
    const std::string cols = columns_.range(column + 1, column + columns);
    if (flat_) return fmt::format("{}-{}", word(), cols);
    return fmt::format("{}-{}{}-{}", word(), tier_ == 1 ? 'p' : 'g', groups_.range(group + 1, group + groups), cols);
  }

 private:
  [[nodiscard]] std::string word() const {
    return tier_ == 1 ? "spine" : tier_ == 2 ? "core" : fmt::format("tier{}", tier_ + 1);
  }
  std::size_t tier_;
  bool flat_;
  Numbers groups_;
  Numbers columns_;
};

void link_nodes(FabricSpec& spec, const Tree& tree, Bandwidth bandwidth) {
  const Numbers gpus(tree.nodes);
  const Namer leaves(tree, 0);
  const std::uint64_t each = tree.tiers[0].members;
  const std::uint64_t full = tree.nodes / each;
  if (full > 0) {
    generate::add_link(spec, "gpu" + gpus.range(1, full * each), leaves.names(0, full, 0, 1),
                       full == 1 ? LinkPattern::all : LinkPattern::split, bandwidth);
  }
  if (full * each < tree.nodes) {
    generate::add_link(spec, "gpu" + gpus.range(full * each + 1, tree.nodes), leaves.names(full, 1, 0, 1),
                       LinkPattern::all, bandwidth);
  }
}

void link_tier(FabricSpec& spec, const Tree& tree, std::size_t tier, Bandwidth bandwidth) {
  const Tier& above = tree.tiers[tier];
  const Tier& below = tree.tiers[tier - 1];
  const Namer upper(tree, tier);
  const Namer lower(tree, tier - 1);
  for (std::uint64_t group = 0; group < above.groups; ++group) {
    const std::uint64_t first = group * above.members;
    const std::uint64_t count = std::min(above.members, below.groups - first);
    for (std::uint64_t column = 0; column < below.width; ++column) {
      generate::add_link(spec, lower.names(first, count, column, 1),
                         upper.names(group, 1, column * above.above, above.above), LinkPattern::all, bandwidth,
                         above.cables);
    }
  }
}

}  // namespace

Result<FabricSpec> generate_fat_tree(const FatTreeOptions& options) {
  const auto tree = size_tree(options);
  if (!tree) return fail(tree.error());
  if (auto ok = generate::check_count(tree->nodes, "nodes"); !ok) return fail(ok.error());
  std::uint64_t switches = 0;
  for (const Tier& tier : tree->tiers) {
    const std::uint64_t here = times(tier.groups, tier.width);
    if (auto ok = generate::check_count(here, "switches of one tier"); !ok) return fail(ok.error());
    switches += here;
  }
  if (auto ok = generate::check_count(switches, "switches"); !ok) return fail(ok.error());

  FabricSpec spec = generate::start(fmt::format("fat-tree-{}", tree->nodes), options.node);
  for (std::size_t tier = 0; tier < tree->tiers.size(); ++tier) {
    const Tier& here = tree->tiers[tier];
    generate::add_switches(spec, Namer(*tree, tier).names(0, here.groups, 0, here.width),
                           static_cast<std::uint32_t>(tier) + 1);
  }
  generate::add_nodes(spec, "gpu" + Numbers(tree->nodes).range(1, tree->nodes));
  link_nodes(spec, *tree, options.node.bandwidth);
  for (std::size_t tier = 1; tier < tree->tiers.size(); ++tier) link_tier(spec, *tree, tier, options.node.bandwidth);
  return spec;
}

}  // namespace weft::topology
