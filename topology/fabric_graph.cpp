// SPDX-License-Identifier: BSD-3-Clause
//
// Graph stage of Fabric::build, the only file that knows Boost.Graph: tiers, planes and the hop tables between leaves.
//
// Hop tables: one breadth-first search a leaf over links that are up, carrying along the lowest possible highest tier
// of the shortest paths found so far; when a switch is taken from the queue all its predecessors were, so its value is
// final. Leaves with the same neighbours (every leaf of a fat-tree pod) have the same row up to a swap, so one search
// serves them all; planes of equal build share a table.
#include "fabric_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/range/iterator_range.hpp>
#include <limits>
#include <utility>

#include "fabric_names.hpp"

namespace weft::topology {
namespace {

constexpr std::uint32_t kNone = FabricData::kNone;

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                 boost::no_property, std::uint32_t, std::uint32_t>;
using Edge = std::pair<std::uint32_t, std::uint32_t>;

// Both directions of the switch links that `use` picks, parallels folded, sorted.
template <typename Use>
Graph make_graph(const FabricData& data, Use use) {
  std::vector<std::uint32_t> begin(data.switch_count() + 1, 0);
  const auto each = [&](auto visit) {
    for (const Link& link : data.links) {
      if (!link.a.is_switch || !use(link)) continue;
      visit(link.a.id, link.b.id);
      visit(link.b.id, link.a.id);
    }
  };
  each([&](std::uint32_t from, std::uint32_t) { ++begin[from + 1]; });
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Edge> edges(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  each([&](std::uint32_t from, std::uint32_t to) { edges[next[from]++] = {from, to}; });
  for (std::uint32_t s = 0; s < data.switch_count(); ++s) {
    const auto first = edges.begin() + begin[s];
    const auto last = edges.begin() + begin[s + 1];
    if (!std::is_sorted(first, last)) std::sort(first, last);
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return Graph(boost::edges_are_sorted, edges.begin(), edges.end(), data.switch_count());
}

auto adjacent(const Graph& graph, std::uint32_t sw) {
  const auto [first, last] = boost::adjacent_vertices(sw, graph);
  return boost::make_iterator_range(first, last);
}

// Distance of each switch from the nearest node, in switches; kNone where no node is connected.
std::vector<std::uint32_t> distances(const Graph& graph, const std::vector<std::uint8_t>& has_nodes) {
  std::vector<std::uint32_t> out(has_nodes.size(), kNone);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t s = 0; s < out.size(); ++s) {
    if (has_nodes[s] != 0) out[s] = 1, queue.push_back(s);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const std::uint32_t next : adjacent(graph, queue[head])) {
      if (out[next] != kNone) continue;
      out[next] = out[queue[head]] + 1;
      queue.push_back(next);
    }
  }
  return out;
}

Done find_tiers(const config::FabricSpec& spec, const Graph& all, const std::vector<std::uint8_t>& has_nodes,
                FabricData& data) {
  const std::vector<std::uint32_t> distance = distances(all, has_nodes);
  for (std::uint32_t s = 0; s < data.switch_count(); ++s) {
    std::uint8_t& tier = data.tier[s];
    if (tier == 0) {
      const std::uint32_t found = distance[s] == kNone ? 1 : distance[s];
      if (found > kMaxTier) {
        return fail(
            error_at(ErrorCode::limit, spec.source, {}, 1,
                     fmt::format("switch '{}' is {} switches away from the nearest node", data.switch_names[s], found),
                     fmt::format("at most {} tiers, or a tier on the entry under switches", kMaxTier)));
      }
      tier = static_cast<std::uint8_t>(found);
    }
    data.max_tier = std::max(data.max_tier, tier);
  }
  return {};
}

// --- planes ---

class Planes {
 public:
  Planes(const config::FabricSpec& spec, const std::vector<std::uint8_t>& has_nodes, FabricData& data)
      : spec_(spec), has_nodes_(has_nodes), data_(data), components_(data.switch_count()) {}

  Done run(std::span<const PlaneClaim> claims) {
    for (const Link& link : data_.links) {
      if (link.a.is_switch) components_.join(link.a.id, link.b.id);
    }
    claim_.assign(data_.switch_count(), nullptr);
    for (const PlaneClaim& claim : claims) {
      for (const std::uint32_t sw : claim.switches) {
        if (auto done = apply(claim, sw); !done) return done;
      }
    }
    number();
    return {};
  }

 private:
  Done apply(const PlaneClaim& claim, std::uint32_t sw) {
    const config::Text& plane = *spec_.links[claim.entry].plane;
    const config::Text*& known = claim_[components_.find(sw)];
    if (known == nullptr) known = &plane;
    if (known->value == plane.value) return {};
    return fail(text_error(spec_, ErrorCode::conflict, plane,
                           fmt::format("plane '{}' is joined to plane '{}' ({}) at switch '{}'", plane.value,
                                       known->value, where(known->at), data_.switch_names[sw]),
                           "one name for switches that are connected"));
  }

  // In the order of the first switch. Components without nodes carry nothing and are no planes of their own: they are
  // counted to the plane of the same name, else to the first.
  void number() {
    std::vector<std::uint32_t> plane_of(data_.switch_count(), kNone);  // by component
    std::vector<std::uint8_t> attached(data_.switch_count(), 0);
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      if (has_nodes_[s] != 0) attached[components_.find(s)] = 1;
    }
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      const std::uint32_t c = components_.find(s);
      if (attached[c] == 0 || plane_of[c] != kNone) continue;
      plane_of[c] = named(claim_[c]);
    }
    if (data_.plane_names.empty() && data_.switch_count() > 0) data_.plane_names.emplace_back();
    for (std::uint32_t i = 0, number = 0; i < data_.plane_names.size(); ++i, ++number) {
      while (data_.plane_names[i].empty()) {
        const std::string name = fmt::format("plane{}", number);
        const auto& taken = data_.plane_names;
        if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
          ++number;
        } else {
          data_.plane_names[i] = name;
        }
      }
    }
    data_.plane.resize(data_.switch_count());
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      const std::uint32_t c = components_.find(s);
      data_.plane[s] = plane_of[c] == kNone ? 0 : plane_of[c];
    }
  }

  std::uint32_t named(const config::Text* claim) {
    const auto fresh = static_cast<std::uint32_t>(data_.plane_names.size());
    if (claim == nullptr) {
      data_.plane_names.emplace_back();
      return fresh;
    }
    const auto it = std::find(data_.plane_names.begin(), data_.plane_names.end(), claim->value);
    if (it != data_.plane_names.end()) return static_cast<std::uint32_t>(it - data_.plane_names.begin());
    data_.plane_names.push_back(claim->value);
    return fresh;
  }

  const config::FabricSpec& spec_;
  const std::vector<std::uint8_t>& has_nodes_;
  FabricData& data_;
  Components components_;
  std::vector<const config::Text*> claim_;  // by component
};

// --- hop tables ---

struct PlaneMap {
  std::vector<std::uint32_t> switches;  // ascending
  std::vector<std::uint32_t> leaves;    // ascending
};

class HopTables {
 public:
  HopTables(const Graph& up, FabricData& data) : up_(up), data_(data), planes_(data.plane_names.size()) {}

  Done run(const config::FabricSpec& spec, const std::vector<std::uint8_t>& has_nodes) {
    data_.leaf_pos.assign(data_.switch_count(), kNone);
    local_.resize(data_.switch_count());
    for (std::uint32_t s = 0; s < data_.switch_count(); ++s) {
      PlaneMap& plane = planes_[data_.plane[s]];
      local_[s] = static_cast<std::uint32_t>(plane.switches.size());
      plane.switches.push_back(s);
      if (has_nodes[s] == 0) continue;
      data_.leaf_pos[s] = static_cast<std::uint32_t>(plane.leaves.size());
      plane.leaves.push_back(s);
    }
    std::vector<std::uint32_t> first_of_table;  // plane that each table was made for
    std::uint64_t bytes = 0;
    for (std::uint32_t p = 0; p < planes_.size(); ++p) {
      const auto same = std::find_if(first_of_table.begin(), first_of_table.end(),
                                     [&](std::uint32_t q) { return equal_build(p, q); });
      data_.table_of_plane.push_back(static_cast<std::uint32_t>(same - first_of_table.begin()));
      if (same != first_of_table.end()) continue;
      first_of_table.push_back(p);
      const std::uint64_t leaves = planes_[p].leaves.size();
      bytes += leaves * leaves * sizeof(Path);
      if (bytes > kMaxHopTableBytes) {
        return fail(error_at(ErrorCode::limit, spec.source, {}, 1,
                             fmt::format("{} leaves in plane '{}' are too many", leaves, data_.plane_names[p]),
                             fmt::format("hop tables of at most {} MiB", kMaxHopTableBytes >> 20)));
      }
      data_.tables.push_back(make_table(planes_[p]));
      if (too_far_) {
        return fail(error_at(ErrorCode::limit, spec.source, {}, 1,
                             fmt::format("plane '{}' is too wide", data_.plane_names[p]),
                             "paths of at most 255 switches"));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool equal_build(std::uint32_t p, std::uint32_t q) const;
  [[nodiscard]] HopTable make_table(const PlaneMap& plane);
  [[nodiscard]] std::vector<std::uint32_t> twins(const PlaneMap& plane) const;
  void search(std::uint32_t start);

  const Graph& up_;
  FabricData& data_;
  std::vector<PlaneMap> planes_;
  std::vector<std::uint32_t> local_;  // by switch: place in its plane
  std::vector<Path> reached_;         // by switch, of the search
  std::vector<std::uint32_t> queue_;
  bool too_far_ = false;
};

bool HopTables::equal_build(std::uint32_t p, std::uint32_t q) const {
  const PlaneMap& a = planes_[p];
  const PlaneMap& b = planes_[q];
  if (a.switches.size() != b.switches.size() || a.leaves.size() != b.leaves.size()) return false;
  for (std::size_t i = 0; i < a.switches.size(); ++i) {
    const std::uint32_t x = a.switches[i];
    const std::uint32_t y = b.switches[i];
    if (data_.tier[x] != data_.tier[y] || data_.switch_up[x] != data_.switch_up[y]) return false;
    if (data_.leaf_pos[x] != data_.leaf_pos[y]) return false;
    const auto near_x = adjacent(up_, x);
    const auto near_y = adjacent(up_, y);
    if (!std::equal(near_x.begin(), near_x.end(), near_y.begin(), near_y.end(),
                    [&](std::uint32_t s, std::uint32_t t) { return local_[s] == local_[t]; })) {
      return false;
    }
  }
  return true;
}

void HopTables::search(std::uint32_t start) {
  for (const std::uint32_t s : queue_) reached_[s] = {};
  queue_.assign(1, start);
  reached_[start] = {1, data_.tier[start]};
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const Path here = reached_[queue_[head]];
    for (const std::uint32_t next : adjacent(up_, queue_[head])) {
      Path& there = reached_[next];
      const std::uint8_t tier = std::max(here.tier, data_.tier[next]);
      if (there.hops == 0) {
        if (here.hops == std::numeric_limits<std::uint8_t>::max()) {
          too_far_ = true;
          return;
        }
        there = {static_cast<std::uint8_t>(here.hops + 1), tier};
        queue_.push_back(next);
      } else if (there.hops == here.hops + 1) {
        there.tier = std::min(there.tier, tier);
      }
    }
  }
}

// For each leaf of the plane the first with the same neighbours and tier. Such a pair is never adjacent (there are no
// self-links), so their rows differ only in the two entries of the pair itself.
std::vector<std::uint32_t> HopTables::twins(const PlaneMap& plane) const {
  const auto less = [&](std::uint32_t i, std::uint32_t j) {
    const std::uint32_t x = plane.leaves[i];
    const std::uint32_t y = plane.leaves[j];
    if (data_.tier[x] != data_.tier[y]) return data_.tier[x] < data_.tier[y];
    const auto a = adjacent(up_, x);
    const auto b = adjacent(up_, y);
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  std::vector<std::uint32_t> order(plane.leaves.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), less);
  std::vector<std::uint32_t> out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out[order[i]] = i > 0 && !less(order[i - 1], order[i]) ? out[order[i - 1]] : order[i];
  }
  return out;
}

HopTable HopTables::make_table(const PlaneMap& plane) {
  HopTable table;
  table.leaves = static_cast<std::uint32_t>(plane.leaves.size());
  table.paths.resize(static_cast<std::size_t>(table.leaves) * table.leaves);
  reached_.assign(data_.switch_count(), Path{});
  queue_.clear();
  const std::vector<std::uint32_t> twin = twins(plane);
  for (std::uint32_t i = 0; i < table.leaves; ++i) {
    Path* const row = &table.paths[static_cast<std::size_t>(i) * table.leaves];
    const std::uint32_t first = twin[i];
    if (first == i) {
      search(plane.leaves[i]);
      for (std::uint32_t j = 0; j < table.leaves; ++j) row[j] = reached_[plane.leaves[j]];
    } else {
      const Path* const other = &table.paths[static_cast<std::size_t>(first) * table.leaves];
      std::copy(other, other + table.leaves, row);
      row[first] = other[i];
    }
    const std::uint32_t sw = plane.leaves[i];
    row[i] = data_.switch_up[sw] != 0 ? Path{1, data_.tier[sw]} : Path{};
  }
  return table;
}

// --- ports and neighbours ---

void attach_ports(FabricData& data) {
  const std::uint32_t slots = data.nic_base.back();
  data.ports.begin.assign(slots + 1, 0);
  for (const Link& link : data.links) {
    if (!link.a.is_switch && link.up) ++data.ports.begin[data.slot(link.a.id, link.a.nic) + 1];
  }
  for (std::uint32_t i = 0; i < slots; ++i) data.ports.begin[i + 1] += data.ports.begin[i];
  data.ports.items.resize(data.ports.begin.back());
  std::vector<std::uint32_t> next(data.ports.begin.begin(), data.ports.begin.end() - 1);
  for (std::uint32_t i = 0; i < data.links.size(); ++i) {
    const Link& link = data.links[i];
    if (link.a.is_switch || !link.up) continue;
    data.ports.items[next[data.slot(link.a.id, link.a.nic)]++] = {LinkId{i}, SwitchId{link.b.id}};
  }
}

void attach_neighbours(FabricData& data) {
  Groups<Fabric::Neighbour>& out = data.neighbours;
  out.begin.assign(data.switch_count() + 1, 0);
  for (const Link& link : data.links) {
    if (link.a.is_switch && link.up) ++out.begin[link.a.id + 1], ++out.begin[link.b.id + 1];
  }
  for (std::uint32_t i = 0; i < data.switch_count(); ++i) out.begin[i + 1] += out.begin[i];
  out.items.resize(out.begin.back());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (std::uint32_t i = 0; i < data.links.size(); ++i) {
    const Link& link = data.links[i];
    if (!link.a.is_switch || !link.up) continue;
    out.items[next[link.a.id]++] = {SwitchId{link.b.id}, LinkId{i}};
    out.items[next[link.b.id]++] = {SwitchId{link.a.id}, LinkId{i}};
  }
  const auto before = [](const Fabric::Neighbour& x, const Fabric::Neighbour& y) {
    return std::pair(x.sw, x.link) < std::pair(y.sw, y.link);
  };
  for (std::uint32_t s = 0; s < data.switch_count(); ++s) {
    const auto first = out.items.begin() + out.begin[s];
    const auto last = out.items.begin() + out.begin[s + 1];
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
  }
}

}  // namespace

Done build_graph(const config::FabricSpec& spec, std::span<const PlaneClaim> claims, FabricData& data) {
  std::vector<std::uint8_t> has_nodes(data.switch_count(), 0);
  bool any_down = false;
  for (const Link& link : data.links) {
    if (!link.a.is_switch) has_nodes[link.b.id] = 1;
    any_down = any_down || !link.up;
  }
  const Graph all = make_graph(data, [](const Link&) { return true; });
  if (auto done = find_tiers(spec, all, has_nodes, data); !done) return done;
  if (auto done = Planes(spec, has_nodes, data).run(claims); !done) return done;
  const Graph up = any_down ? make_graph(data, [](const Link& link) { return link.up; }) : Graph();
  if (auto done = HopTables(any_down ? up : all, data).run(spec, has_nodes); !done) return done;
  attach_ports(data);
  attach_neighbours(data);
  return {};
}

}  // namespace weft::topology
