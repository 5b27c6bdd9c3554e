// SPDX-License-Identifier: BSD-3-Clause
//
// Best fit against brute force over every subset of free nodes, on small irregular trees.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <map>
#include <set>

#include "select_nodes.hpp"
#include "weft/placement/placement.hpp"
#include "weft/placement/traffic.hpp"

namespace weft::placement {
namespace {

using topology::Fabric;
using topology::index;
using topology::NodeId;

// Cores over pods of one spine, over leaves of 1 to 4 nodes; at most 12 nodes. leaf_of and pod_of are what was meant,
// not what the fabric found.
struct Tree {
  config::FabricSpec spec;
  std::vector<int> rack_of, leaf_of, pod_of;
};

void link(config::FabricSpec& spec, const std::string& from, const std::string& to) {
  config::LinkSpec l;
  l.from = {from, {}};
  l.to = {to, {}};
  l.bandwidth = {400'000'000'000};
  spec.links.push_back(l);
}

Tree random_tree() {
  Tree out;
  out.spec.name = "tree";
  config::NodeTypeSpec type;
  type.name = {"t", {}};
  type.gpus = 2;
  type.nics = 1;
  out.spec.node_types.push_back(type);
  out.spec.switches.push_back({{"core", {}}, 3});
  const bool racks = *rc::gen::inRange(0, 3) == 0;  // pairs of nodes joined by NVLink
  const int pods = *rc::gen::inRange(2, 6);
  int leaf = 0;
  for (int p = 0; p < pods; ++p) {
    out.spec.switches.push_back({{fmt::format("spine{}", p), {}}, 2});
    link(out.spec, fmt::format("spine{}", p), "core");
    const int leaves = *rc::gen::inRange(1, 4);
    for (int l = 0; l < leaves && out.leaf_of.size() < 12; ++l, ++leaf) {
      out.spec.switches.push_back({{fmt::format("leaf{}", leaf), {}}, 1});
      link(out.spec, fmt::format("leaf{}", leaf), fmt::format("spine{}", p));
      const int nodes = *rc::gen::inRange(1, 5);
      for (int n = 0; n < nodes && out.leaf_of.size() < 12; ++n) {
        const auto id = static_cast<int>(out.leaf_of.size());
        const bool joins = racks && n % 2 == 1;
        out.rack_of.push_back(joins ? out.rack_of.back() : id);
        if (joins)
          out.spec.nvlink_domains.push_back(
              {{fmt::format("rack{}", id), {}}, {fmt::format("n[{}-{}]", id - 1, id), {}}});
        out.leaf_of.push_back(leaf);
        out.pod_of.push_back(p);
        out.spec.nodes.push_back({{fmt::format("n{}", id), {}}, {"t", {}}, 1});
        link(out.spec, fmt::format("n{}", id), fmt::format("leaf{}", leaf));
      }
    }
  }
  return out;
}

std::size_t distinct(const std::vector<int>& domain_of, std::uint32_t set) {
  std::set<int> seen;
  for (std::size_t n = 0; n < domain_of.size(); ++n)
    if ((set >> n & 1U) != 0) seen.insert(domain_of[n]);
  return seen.size();
}

bool whole_segments(const std::vector<int>& domain_of, std::uint32_t set, std::uint32_t segment) {
  std::map<int, std::uint32_t> count;
  for (std::size_t n = 0; n < domain_of.size(); ++n)
    if ((set >> n & 1U) != 0) ++count[domain_of[n]];
  return std::all_of(count.begin(), count.end(), [&](const auto& c) { return c.second % segment == 0; });
}

struct Trial {
  Tree tree;
  config::JobSpec job;
  std::uint32_t free = 0;      // bit set
  std::uint32_t required = 0;  // bit set
};

Trial random_trial() {
  Trial t;
  t.tree = random_tree();
  const auto count = static_cast<std::uint32_t>(t.tree.leaf_of.size());
  for (std::uint32_t n = 0; n < count; ++n)
    if (*rc::gen::inRange(0, 4) > 0) t.free |= 1U << n;
  t.job.name = "j";
  t.job.ranks_per_node = 1;
  t.job.nodes = *rc::gen::inRange<std::uint32_t>(1, static_cast<std::uint32_t>(std::popcount(t.free)) + 2);
  config::Constraints& c = t.job.constraints;
  if (*rc::gen::inRange(0, 3) == 0) {
    c.segment = *rc::gen::inRange<std::uint32_t>(1, 4);
    c.segment_level = *rc::gen::element(config::LevelName::nvlink, config::LevelName::leaf, config::LevelName::pod);
    t.job.nodes = std::max(1U, t.job.nodes / *c.segment) * *c.segment;
  }
  if (*rc::gen::inRange(0, 5) == 0) c.max_leaves = *rc::gen::inRange<std::uint32_t>(1, 5);
  if (*rc::gen::inRange(0, 5) == 0) c.max_pods = *rc::gen::inRange<std::uint32_t>(1, 3);
  if (*rc::gen::inRange(0, 6) == 0) c.exclusive = *rc::gen::element(config::LevelName::leaf, config::LevelName::pod);
  if (*rc::gen::inRange(0, 3) == 0) {
    std::string names;
    for (std::uint32_t n = 0; n < count; ++n) {
      if ((t.free >> n & 1U) == 0 || *rc::gen::inRange(0, 5) > 0) continue;
      t.required |= 1U << n;
      names += fmt::format("{}n{}", names.empty() ? "" : ",", n);
    }
    if (!names.empty()) c.required_nodes = config::Text{names, {}};
  }
  return t;
}

const std::vector<int>& domains(const Tree& tree, config::LevelName level) {
  return level == config::LevelName::nvlink ? tree.rack_of
         : level == config::LevelName::leaf ? tree.leaf_of
                                            : tree.pod_of;
}

// (pods, leaves) of the best legal subset.
std::optional<std::pair<std::size_t, std::size_t>> brute_force(const Trial& t) {
  const config::Constraints& c = t.job.constraints;
  const auto count = static_cast<std::uint32_t>(t.tree.leaf_of.size());
  std::uint32_t usable = t.free;
  if (c.exclusive) {
    const std::vector<int>& of = domains(t.tree, *c.exclusive);
    for (std::uint32_t n = 0; n < count; ++n)
      for (std::uint32_t m = 0; m < count; ++m)
        if (of[n] == of[m] && (t.free >> m & 1U) == 0) usable &= ~(1U << n);
  }
  std::optional<std::pair<std::size_t, std::size_t>> best;
  for (std::uint32_t set = 1; set < 1U << count; ++set) {
    if (std::popcount(set) != static_cast<int>(t.job.nodes) || (set & ~usable) != 0 || (t.required & ~set) != 0)
      continue;
    const std::pair cost(distinct(t.tree.pod_of, set), distinct(t.tree.leaf_of, set));
    if (c.max_pods && cost.first > *c.max_pods) continue;
    if (c.max_leaves && cost.second > *c.max_leaves) continue;
    if (c.segment && !whole_segments(domains(t.tree, c.segment_level), set, *c.segment)) continue;
    if (!best || cost < *best) best = cost;
  }
  return best;
}

TEST(SelectProperty, BestFitEqualsBruteForce) {
  EXPECT_TRUE(rc::check("pods and leaves touched are the fewest possible", [] {
    const Trial t = random_trial();
    const auto fabric = Fabric::build(t.tree.spec);
    RC_ASSERT(fabric.has_value());
    const auto resolved = resolve_job(*fabric, t.job);
    RC_ASSERT(resolved.has_value());
    const auto traffic = build_traffic(t.job, resolved->layout);
    RC_ASSERT(traffic.has_value());
    Request request{&t.job, resolved->layout, resolved->ranks_per_node, &*traffic, NodeMask(fabric->node_count())};
    for (std::uint32_t n = 0; n < fabric->node_count(); ++n) request.free[n] = (t.free >> n & 1U) != 0;

    const auto expected = brute_force(t);
    RC_CLASSIFY(!expected, "infeasible");
    RC_CLASSIFY(expected && expected->first > 1, "several pods");
    RC_CLASSIFY(expected && t.job.constraints.segment, "segments");
    const auto got = place(*fabric, request);
    if (!expected) {
      RC_ASSERT(!got.has_value());
      RC_ASSERT(got.error().code == ErrorCode::infeasible);
      RC_ASSERT(!got.error().message.empty());
      return;
    }
    if (!got) RC_FAIL(got.error().to_string());
    std::uint32_t set = 0;
    for (const NodeId n : got->nodes) set |= 1U << index(n);
    RC_ASSERT(std::popcount(set) == static_cast<int>(t.job.nodes));
    RC_ASSERT((set & ~t.free) == 0U);
    RC_ASSERT((t.required & ~set) == 0U);
    RC_ASSERT(std::pair(distinct(t.tree.pod_of, set), distinct(t.tree.leaf_of, set)) == *expected);
    const auto legal = check_placement(*fabric, request, *got);
    if (!legal) RC_FAIL(legal.error().to_string());
    // The same again gives the same.
    const auto again = place(*fabric, request);
    RC_ASSERT(again.has_value());
    RC_ASSERT(again->nodes == got->nodes);
    RC_ASSERT(again->ranks == got->ranks);
  }));
}

TEST(SelectProperty, EveryPolicyIsLegalOrRefuses) {
  EXPECT_TRUE(rc::check("a placement uses only what qualifies, each GPU once", [] {
    const Trial t = random_trial();
    const auto fabric = Fabric::build(t.tree.spec);
    RC_ASSERT(fabric.has_value());
    const auto resolved = resolve_job(*fabric, t.job);
    RC_ASSERT(resolved.has_value());
    const auto traffic = build_traffic(t.job, resolved->layout);
    Request request{&t.job, resolved->layout, resolved->ranks_per_node, &*traffic, NodeMask(fabric->node_count())};
    for (std::uint32_t n = 0; n < fabric->node_count(); ++n) request.free[n] = (t.free >> n & 1U) != 0;
    PlaceOptions options;
    options.policy = *rc::gen::element(Policy::weft, Policy::tree, Policy::block, Policy::first_fit, Policy::random);
    options.seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto got = place(*fabric, request, options);
    RC_CLASSIFY(got.has_value(), "placed");
    if (!got) {
      RC_ASSERT(got.error().code == ErrorCode::infeasible ||
                (options.policy == Policy::block && got.error().code == ErrorCode::unsupported));
      return;
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> gpus;
    for (const Slot& s : got->ranks) {
      RC_ASSERT((t.free >> index(s.node) & 1U) != 0U);
      RC_ASSERT(fabric->usable(s.node));
      RC_ASSERT(gpus.emplace(index(s.node), s.gpu).second);
    }
    const auto legal = check_placement(*fabric, request, *got);
    if (!legal) RC_FAIL(legal.error().to_string());
  }));
}

}  // namespace
}  // namespace weft::placement
