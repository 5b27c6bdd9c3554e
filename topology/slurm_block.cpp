// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "slurm_records.hpp"
#include "weft/config/hostlist.hpp"

namespace weft::topology {
namespace {

constexpr std::uint64_t kMostBlocksInGroup = 1U << 15;  // Slurm keeps sizes as powers of two up to this

std::uint32_t width_of(const std::string& text) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(text.size(), 1));
}

// Blocks in a group of each level, ascending, the first 1; cut after the first that holds all blocks, as in Slurm.
Result<std::vector<std::uint64_t>> group_sizes(const std::vector<SlurmBlockSize>& sizes, std::size_t blocks,
                                               const SlurmContext& at) {
  std::vector<std::uint64_t> all{1};
  if (sizes.empty()) {
    all = {1, 2, 4, 8, 16};
    note_assumed(at.notes, at.source,
                 "no block sizes in the file: base blocks and groups of 2, 4, 8 and 16 of them, as Slurm");
  }
  for (const SlurmBlockSize& size : sizes) {
    const std::uint64_t base = sizes.front().nodes;
    const std::uint64_t times = base == 0 || size.nodes % base != 0 ? 0 : size.nodes / base;
    if (times == 0 || (times & (times - 1)) != 0 || times > kMostBlocksInGroup) {
      return fail(error_at(ErrorCode::bad_value, at.source, size.at, size.width,
                           base == 0 ? std::string("a block size of 0")
                                     : fmt::format("block size {} is not {} times a power of two", size.nodes, base),
                           base == 0 ? std::string("at least 1")
                                     : fmt::format("the base block size {}, then {}, {} and so on up to {} times it",
                                                   base, 2 * base, 4 * base, kMostBlocksInGroup)));
    }
    all.push_back(times);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const auto enough = std::find_if(all.begin(), all.end(), [blocks](std::uint64_t n) { return n >= blocks; });
  if (enough != all.end()) all.erase(enough + 1, all.end());
  return all;
}

Result<TreeFabric> base_blocks(const std::vector<SlurmGroup>& blocks, const SlurmContext& at) {
  TreeFabric tree;
  tree.name = at.name;
  std::unordered_map<std::string, Position> names;
  std::unordered_map<std::string, std::string> block_of;
  for (const SlurmGroup& block : blocks) {
    if (auto ok = check_slurm_name(block.name, block.at, "block", 0, at.source); !ok)
      return fail(std::move(ok.error()));
    const auto [it, fresh] = names.emplace(block.name, block.at);
    if (!fresh) {
      return fail(error_at(ErrorCode::duplicate, at.source, block.at, width_of(block.name),
                           fmt::format("block {} is defined twice, first in line {}", block.name, it->second.line),
                           "each block once"));
    }
    TreeSwitch sw{.name = block.name, .at = block.at, .children = {}, .nodes = {}, .nodes_at = block.at};
    if (block.nodes) {
      auto nodes = expand_at(block.nodes->text, block.nodes->at, block.nodes->exact, at.source, at.notes);
      if (!nodes) return fail(std::move(nodes.error()));
      sw.nodes_at = block.nodes->at;
      std::vector<std::string> taken;
      for (std::string& node : *nodes) {
        if (block_of.emplace(node, block.name).second) {
          sw.nodes.push_back(std::move(node));
        } else {
          taken.push_back(std::move(node));
        }
      }
      if (!taken.empty()) {
        note_warning(at.notes, at.source, sw.nodes_at,
                     fmt::format("{} in block {} too; left in block {} alone", shown_names(taken), block.name,
                                 block_of.at(taken.front())));
      }
      if (block_of.size() > config::kMaxHostlistNames) {
        return fail(error_at(ErrorCode::limit, at.source, sw.nodes_at, 1, "too many nodes in all",
                             fmt::format("at most {}", config::kMaxHostlistNames)));
      }
    }
    if (!sw.nodes.empty()) {
      tree.nvlink_domains.push_back({.name = block.name, .at = block.at, .nodes = sw.nodes});
    }
    tree.switches.push_back(std::move(sw));
  }
  if (block_of.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no block has a node in it", "nodes in the blocks"));
  }
  return tree;
}

void note_small_blocks(const TreeFabric& tree, std::uint64_t base, const SlurmContext& at) {
  std::vector<std::string> small;
  Position where;
  for (const TreeSwitch& block : tree.switches) {
    if (block.nodes.size() >= base) continue;
    if (small.empty()) where = block.at;
    small.push_back(block.name);
  }
  if (small.empty()) return;
  note_warning(at.notes, at.source, where,
               fmt::format("fewer nodes than the base block size {} in {} (Slurm before 25.05 refuses that)", base,
                           shown_names(small)));
}

std::string free_name(std::string name, std::unordered_set<std::string>& taken) {
  while (!taken.insert(name).second) name += "-group";
  return name;
}

// Groups of consecutive blocks, level by level. `covers` are the switches that hold the blocks so far, in block order.
void add_groups(TreeFabric& tree, const std::vector<std::uint64_t>& sizes, std::unordered_set<std::string>& names,
                std::vector<std::uint32_t>& covers) {
  const std::size_t blocks = tree.switches.size();
  std::vector<std::size_t> first(blocks);  // first block under each cover
  for (std::size_t i = 0; i < blocks; ++i) first[i] = i;
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    std::vector<std::uint32_t> next;
    std::vector<std::size_t> next_first;
    std::size_t i = 0;
    while (i < covers.size()) {
      const std::size_t begin = first[i];
      const std::size_t end = std::min<std::size_t>(begin + sizes[level], blocks);
      std::size_t stop = i;
      while (stop < covers.size() && first[stop] < end) ++stop;
      next_first.push_back(begin);
      if (stop == i + 1) {
        next.push_back(covers[i]);  // the smaller size covers the rest already
      } else {
        TreeSwitch group{.name = free_name(tree.switches[begin].name + "-to-" + tree.switches[end - 1].name, names),
                         .at = tree.switches[begin].at,
                         .children = {covers.begin() + static_cast<std::ptrdiff_t>(i),
                                      covers.begin() + static_cast<std::ptrdiff_t>(stop)},
                         .nodes = {},
                         .nodes_at = {}};
        next.push_back(static_cast<std::uint32_t>(tree.switches.size()));
        tree.switches.push_back(std::move(group));
      }
      i = stop;
    }
    covers = std::move(next);
    first = std::move(next_first);
  }
}

}  // namespace

Result<config::FabricSpec> slurm_block(const std::vector<SlurmGroup>& blocks, const std::vector<SlurmBlockSize>& sizes,
                                       const SlurmContext& at) {
  if (blocks.empty()) {
    return fail(error_at(ErrorCode::missing, at.source, at.at, 1, "no block in the topology",
                         fmt::format("at least one {}", at.block_key)));
  }
  auto tree = base_blocks(blocks, at);
  if (!tree) return fail(std::move(tree.error()));
  const auto groups = group_sizes(sizes, blocks.size(), at);
  if (!groups) return fail(groups.error());
  if (!sizes.empty()) note_small_blocks(*tree, sizes.front().nodes, at);

  std::unordered_set<std::string> names;
  std::vector<std::uint32_t> covers;
  for (std::uint32_t i = 0; i < tree->switches.size(); ++i) {
    names.insert(tree->switches[i].name);
    covers.push_back(i);
  }
  add_groups(*tree, *groups, names, covers);
  if (at.options.nvlink.value_or(true)) {
    note_assumed(at.notes, at.source, "each block is one NVLink domain under a leaf switch of its own");
  } else {
    note_assumed(at.notes, at.source, "each block has a leaf switch of its own");
  }
  if (covers.size() > 1) {
    note_assumed(at.notes, at.source,
                 fmt::format("one switch above the {} largest groups of blocks joins them all", covers.size()));
    tree->switches.push_back({.name = free_name("all-blocks", names),
                              .at = tree->switches.front().at,
                              .children = covers,
                              .nodes = {},
                              .nodes_at = {}});
  }
  return tree_spec(std::move(*tree), at.options, at.source, at.notes);
}

}  // namespace weft::topology
