// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "node_shape.hpp"
#include "slurm_records.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::size_t kLargestRing = 16;  // Slurm's MAX_RING_SIZE

std::uint32_t width_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(text.size(), 1));
}

std::string range(std::uint32_t low, std::uint32_t high) {
  return low == high ? std::to_string(low) : fmt::format("[{}-{}]", low, high);
}

// What a grid of switches with a node at each needs of a spec: the parts that ring and torus share.
class GridSpec {
 public:
  explicit GridSpec(const SlurmContext& at) : at_(at), shape_(assume_shape(at.options, at.source, at.notes)) {
    spec_.name = at.name;
    spec_.source = at.source;
    spec_.node_types.push_back(node_type_of(shape_));
  }

  void switches(std::string names, Position where) {
    spec_.switches.push_back({.names = {std::move(names), where}, .tier = 1});
  }

  // `nodes` one to one at `cells`. Nodes seen before are attached once more, not defined twice.
  void nodes(const std::vector<std::string>& nodes, std::string cells, Position where) {
    std::vector<std::string> fresh;
    for (const std::string& node : nodes) {
      if (seen_.insert(node).second) fresh.push_back(node);
    }
    if (!fresh.empty()) {
      spec_.nodes.push_back(
          {.names = {config::compress_hostlist(fresh), where}, .type = spec_.node_types.front().name});
    }
    spec_.links.push_back(link_of({config::compress_hostlist(nodes), where}, {std::move(cells), where},
                                  shape_.bandwidth, config::LinkPattern::zip));
  }

  void neighbours(std::string from, std::string to, Position where) {
    spec_.links.push_back(link_of({std::move(from), where}, {std::move(to), where}, shape_.bandwidth,
                                  config::LinkPattern::zip, std::max<std::uint32_t>(shape_.nics, 1)));
  }

  [[nodiscard]] bool empty() const { return seen_.empty(); }

  config::FabricSpec take(std::string_view place) {
    note_assumed(at_.notes, at_.source,
                 fmt::format("a switch at each {}: one cable to it from every NIC of its node, and as many cables to "
                             "each neighbour as a node has NICs",
                             place));
    return std::move(spec_);
  }

 private:
  const SlurmContext& at_;
  AssumedShape shape_;
  config::FabricSpec spec_;
  std::unordered_set<std::string> seen_;
};

// Names before "-p0" or "-z0y0x0": none twice, and none that would give a switch the name of a node.
class Stems {
 public:
  void avoid(const std::vector<std::string>& nodes) {
    for (const std::string& node : nodes) {
      for (const std::string_view mark : {"-p", "-z"}) {
        const std::size_t at = node.rfind(mark);
        if (at != std::string::npos) taken_.insert(node.substr(0, at));
      }
    }
  }
  std::string free(std::string name) {
    while (!taken_.insert(name).second) name += "-switch";
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
};

class Names {
 public:
  Names(std::string_view what, const SlurmContext& at) : what_(what), at_(at) {}

  Result<void> add(const std::string& name, Position where) {
    if (auto ok = check_slurm_name(name, where, what_, 0, at_.source); !ok) return ok;
    const auto [it, fresh] = lines_.emplace(name, where.line);
    if (fresh) return {};
    return fail(error_at(ErrorCode::duplicate, at_.source, where, width_of(name),
                         fmt::format("{} {} is defined twice, first in line {}", what_, name, it->second),
                         fmt::format("each {} once", what_)));
  }

 private:
  std::string_view what_;
  const SlurmContext& at_;
  std::unordered_map<std::string, std::uint32_t> lines_;
};

std::string dims_text(const Torus3dDims& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }
std::uint64_t cells_of(const Torus3dDims& d) { return std::uint64_t{d.x} * d.y * d.z; }

// Cells from `low` (each inclusive) over `size`, z slowest and x fastest, as Slurm numbers them.
std::string cells(const std::string& stem, const std::array<std::uint32_t, 3>& low,
                  const std::array<std::uint32_t, 3>& size) {
  return fmt::format("{}-z{}y{}x{}", stem, range(low[2], low[2] + size[2] - 1), range(low[1], low[1] + size[1] - 1),
                     range(low[0], low[0] + size[0] - 1));
}

Error dims_error(const SlurmContext& at, Position where, std::string message, std::string expected) {
  return error_at(ErrorCode::bad_value, at.source, where, 1, std::move(message), std::move(expected));
}

Result<void> check_dims(const SlurmTorus& torus, const SlurmContext& at) {
  if (torus.dims.x == 0 || torus.dims.y == 0 || torus.dims.z == 0) {
    return fail(dims_error(at, torus.dims.at.line != 0 ? torus.dims.at : torus.at,
                           fmt::format("torus {} has dims {}", torus.name, dims_text(torus.dims)),
                           "x, y and z of at least 1"));
  }
  if (cells_of(torus.dims) > config::kMaxHostlistNames) {
    return fail(
        error_at(ErrorCode::limit, at.source, torus.dims.at, 1,
                 fmt::format("torus {} of {} has {} cells", torus.name, dims_text(torus.dims), cells_of(torus.dims)),
                 fmt::format("at most {}", config::kMaxHostlistNames)));
  }
  if (torus.nodes && !torus.regions.empty()) {
    return fail(error_at(ErrorCode::conflict, at.source, torus.nodes->at, 1,
                         fmt::format("torus {} has both nodes and regions", torus.name), "one of the two"));
  }
  return {};
}

Result<void> check_placements(const SlurmTorus& torus, const SlurmContext& at) {
  const Torus3dDims& d = torus.dims;
  for (const SlurmTorus::Placement& p : torus.placements) {
    if (p.dims.x == 0 || p.dims.y == 0 || p.dims.z == 0) {
      return fail(dims_error(at, p.dims.at, fmt::format("a placement with dims {}", dims_text(p.dims)),
                             "x, y and z of at least 1"));
    }
    if (p.dims.x > d.x || p.dims.y > d.y || p.dims.z > d.z) {
      return fail(dims_error(
          at, p.dims.at,
          fmt::format("placement {} does not fit into torus {} of {}", dims_text(p.dims), torus.name, dims_text(d)),
          fmt::format("at most {}", dims_text(d))));
    }
    if (p.spacing.x > d.x || p.spacing.y > d.y || p.spacing.z > d.z) {
      return fail(dims_error(at, p.spacing.at,
                             fmt::format("anchor_spacing {} does not fit into torus {} of {}", dims_text(p.spacing),
                                         torus.name, dims_text(d)),
                             fmt::format("at most {}", dims_text(d))));
    }
    if (p.seed.x >= d.x || p.seed.y >= d.y || p.seed.z >= d.z) {
      return fail(dims_error(at, p.seed.at,
                             fmt::format("anchor_seed x {} y {} z {} is outside torus {} of {}", p.seed.x, p.seed.y,
                                         p.seed.z, torus.name, dims_text(d)),
                             "a cell of the torus, counted from 0"));
    }
  }
  return {};
}

using Cells = std::vector<std::vector<std::string>>;  // node lists, one a region

Result<std::vector<std::string>> nodes_for(const SlurmList& list, const Torus3dDims& dims, const std::string& what,
                                           const SlurmContext& at) {
  auto names = expand_at(list.text, list.at, list.exact, at.source, at.notes);
  if (!names) return names;
  if (names->size() != cells_of(dims)) {
    return fail(error_at(ErrorCode::bad_value, at.source, list.at, list.exact ? width_of(list.text) : 1,
                         fmt::format("{} of {} has {} cells, but {} node{}", what, dims_text(dims), cells_of(dims),
                                     names->size(), names->size() == 1 ? "" : "s"),
                         fmt::format("{} nodes, one a cell", cells_of(dims))));
  }
  return names;
}

// The region's nodes; also marks its cells in `used`.
Result<std::vector<std::string>> region_nodes(const SlurmTorus& torus, const SlurmTorus::Region& region,
                                              std::vector<bool>& used, const SlurmContext& at) {
  const Torus3dDims& d = torus.dims;
  if (!region.nodes) {
    return fail(error_at(ErrorCode::missing, at.source, region.at, 1,
                         fmt::format("a region of torus {} without nodes", torus.name), "nodes: a hostlist"));
  }
  const auto outside = [](std::uint32_t low, std::uint32_t size, std::uint32_t limit) {
    return std::uint64_t{low} + size > limit;
  };
  if (cells_of(region.dims) == 0 || outside(region.anchor.x, region.dims.x, d.x) ||
      outside(region.anchor.y, region.dims.y, d.y) || outside(region.anchor.z, region.dims.z, d.z)) {
    return fail(
        dims_error(at, region.at,
                   fmt::format("region {} at x {} y {} z {} is not inside torus {} of {}", dims_text(region.dims),
                               region.anchor.x, region.anchor.y, region.anchor.z, torus.name, dims_text(d)),
                   "anchor plus dims within the torus; regions do not wrap around"));
  }
  auto names = nodes_for(*region.nodes, region.dims, fmt::format("a region of torus {}", torus.name), at);
  if (!names) return names;
  for (std::uint32_t z = region.anchor.z; z < region.anchor.z + region.dims.z; ++z) {
    for (std::uint32_t y = region.anchor.y; y < region.anchor.y + region.dims.y; ++y) {
      for (std::uint32_t x = region.anchor.x; x < region.anchor.x + region.dims.x; ++x) {
        const std::size_t cell = (std::size_t{z} * d.y + y) * d.x + x;
        if (used[cell]) {
          return fail(
              error_at(ErrorCode::conflict, at.source, region.at, 1,
                       fmt::format("two regions of torus {} share the cell x {} y {} z {}", torus.name, x, y, z),
                       "regions apart from each other"));
        }
        used[cell] = true;
      }
    }
  }
  return names;
}

void add_torus_links(GridSpec& grid, const SlurmTorus& torus, const std::string& stem) {
  const std::array<std::uint32_t, 3> full{torus.dims.x, torus.dims.y, torus.dims.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint32_t n = full[axis];
    if (n < 2) continue;
    std::array<std::uint32_t, 3> low{0, 0, 0};
    std::array<std::uint32_t, 3> size = full;
    size[axis] = n - 1;
    const std::string from = cells(stem, low, size);
    low[axis] = 1;
    grid.neighbours(from, cells(stem, low, size), torus.at);
    if (n < 3) continue;  // around a ring of two lies the same neighbour
    size[axis] = 1;
    low[axis] = n - 1;
    const std::string last = cells(stem, low, size);
    low[axis] = 0;
    grid.neighbours(last, cells(stem, low, size), torus.at);
  }
}

// The node lists of a torus, one a region, or the one of the whole.
Result<Cells> nodes_of(const SlurmTorus& torus, std::unordered_map<std::string, std::string>& owner,
                       const SlurmContext& at) {
  Cells lists;
  std::vector<bool> used(cells_of(torus.dims), false);
  if (torus.nodes) {
    auto names = nodes_for(*torus.nodes, torus.dims, "torus " + torus.name, at);
    if (!names) return fail(std::move(names.error()));
    lists.push_back(std::move(*names));
  }
  for (const SlurmTorus::Region& region : torus.regions) {
    auto names = region_nodes(torus, region, used, at);
    if (!names) return fail(std::move(names.error()));
    lists.push_back(std::move(*names));
  }
  for (const auto& list : lists) {
    for (const std::string& node : list) {
      const auto [it, fresh] = owner.emplace(node, torus.name);
      if (fresh) continue;
      return fail(error_at(ErrorCode::conflict, at.source, torus.at, width_of(torus.name),
                           fmt::format("node {} has two cells, in torus {} and in {}", node, it->second, torus.name),
                           "each node in one cell of one torus"));
    }
  }
  return lists;
}

void add_torus(GridSpec& grid, const SlurmTorus& torus, const Cells& lists, const std::string& stem) {
  const std::array<std::uint32_t, 3> full{torus.dims.x, torus.dims.y, torus.dims.z};
  grid.switches(cells(stem, {0, 0, 0}, full), torus.at);
  if (torus.nodes) grid.nodes(lists.front(), cells(stem, {0, 0, 0}, full), torus.nodes->at);
  for (std::size_t i = 0; i < torus.regions.size(); ++i) {
    const SlurmTorus::Region& region = torus.regions[i];
    grid.nodes(
        lists[i],
        cells(stem, {region.anchor.x, region.anchor.y, region.anchor.z}, {region.dims.x, region.dims.y, region.dims.z}),
        region.nodes->at);
  }
  add_torus_links(grid, torus, stem);
}

}  // namespace

Result<config::FabricSpec> slurm_ring(const std::vector<SlurmGroup>& rings, const SlurmContext& at) {
  if (rings.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no ring in the topology",
                         fmt::format("at least one {}", at.ring_key)));
  }
  Names names("ring", at);
  Stems stems;
  Cells lists;
  for (const SlurmGroup& ring : rings) {
    if (auto ok = names.add(ring.name, ring.at); !ok) return fail(std::move(ok.error()));
    if (!ring.nodes) {
      note_warning(at.notes, at.source, ring.at, fmt::format("ring {} has no nodes; left out", ring.name));
      lists.emplace_back();
      continue;
    }
    auto nodes = expand_at(ring.nodes->text, ring.nodes->at, ring.nodes->exact, at.source, at.notes);
    if (!nodes) return fail(std::move(nodes.error()));
    if (nodes->size() > kLargestRing) {
      return fail(error_at(ErrorCode::limit, at.source, ring.nodes->at,
                           ring.nodes->exact ? width_of(ring.nodes->text) : 1,
                           fmt::format("ring {} has {} nodes", ring.name, nodes->size()),
                           fmt::format("at most {}, as in Slurm", kLargestRing)));
    }
    stems.avoid(*nodes);
    lists.push_back(std::move(*nodes));
  }
  GridSpec grid(at);
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (lists[i].empty()) continue;
    const std::string stem = stems.free(rings[i].name) + "-p";
    const auto last = static_cast<std::uint32_t>(lists[i].size() - 1);
    grid.switches(stem + range(0, last), rings[i].at);
    grid.nodes(lists[i], stem + range(0, last), rings[i].nodes->at);
    if (last >= 1) grid.neighbours(stem + range(0, last - 1), stem + range(1, last), rings[i].at);
    if (last >= 2) grid.neighbours(stem + std::to_string(last), stem + "0", rings[i].at);
  }
  if (grid.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no ring has a node in it", "nodes in the rings"));
  }
  return grid.take("position of a ring");
}

Result<config::FabricSpec> slurm_torus3d(const std::vector<SlurmTorus>& toruses, const SlurmContext& at) {
  if (toruses.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no torus in the topology", "at least one torus"));
  }
  Names names("torus", at);
  Stems stems;
  std::vector<Cells> lists;
  std::unordered_map<std::string, std::string> owner;
  bool shapes = false;
  for (const SlurmTorus& torus : toruses) {
    if (auto ok = names.add(torus.name, torus.at); !ok) return fail(std::move(ok.error()));
    if (auto ok = check_dims(torus, at); !ok) return fail(std::move(ok.error()));
    if (auto ok = check_placements(torus, at); !ok) return fail(std::move(ok.error()));
    auto nodes = nodes_of(torus, owner, at);
    if (!nodes) return fail(std::move(nodes.error()));
    for (const auto& list : *nodes) stems.avoid(list);
    lists.push_back(std::move(*nodes));
    shapes = shapes || !torus.placements.empty();
  }
  GridSpec grid(at);
  for (std::size_t i = 0; i < toruses.size(); ++i) {
    add_torus(grid, toruses[i], lists[i], stems.free(toruses[i].name));
  }
  if (grid.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no torus has a node in it",
                         "nodes or regions in the toruses"));
  }
  if (shapes) {
    note_warning(at.notes, at.source, at.at, "placements are a rule of Slurm's for jobs, not of the fabric; left out");
  }
  return grid.take("cell of the torus");
}

}  // namespace weft::topology
