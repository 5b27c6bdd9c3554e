// SPDX-License-Identifier: BSD-3-Clause
//
// Why this exists: Slurm's trees and blocks, topograph models and Clos tables all say the same thing, namely which
// nodes hang under which switch and which switch under which. They say nothing of NICs, cables or speeds. This is their
// common form, and tree_spec() is the one place where the silence is filled in and every assumption is noted.
//
// ASSUMED WHERE THE FILE IS SILENT
//   - 8 GPUs and 8 NICs a node, joined by NVLink inside the node;
//   - one cable from every NIC to each leaf that lists the node, 400Gb/s;
//   - as many cables from a switch to the one above as there are cables into it from below (shared out over its parents
//     where it has several): such a file lists "virtual" switches that stand for a whole layer, so an oversubscription
//     read out of it would be made up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/fabric_spec.hpp"
#include "weft/topology/import.hpp"

namespace weft::topology {

/// A switch and what hangs under it: other switches (by index), nodes, or nothing.
struct TreeSwitch {
  std::string name;
  Position at;
  std::vector<std::uint32_t> children;  ///< indices into TreeFabric::switches, none twice
  std::vector<std::string> nodes;       ///< none twice
  Position nodes_at;
};

struct TreeDomain {
  std::string name;
  Position at;
  std::vector<std::string> nodes;
};

/// Switches in the file's order. A switch may have several parents, a node several leaves; a cycle is the caller's
/// fault.
struct TreeFabric {
  std::string name;
  std::vector<TreeSwitch> switches;
  std::vector<TreeDomain> nvlink_domains;
};

/// Node shape and cable that the options give or that are assumed. Adds a note for each assumption.
struct AssumedShape {
  std::string type_name = "node";
  std::uint32_t gpus = 8;
  std::uint32_t nics = 8;
  bool nvlink = true;
  std::optional<Bandwidth> nvlink_bandwidth;
  Bandwidth bandwidth{400'000'000'000};
};
[[nodiscard]] AssumedShape assume_shape(const ImportOptions& options, const Source& source, Notes& notes);

/// The spec of a tree: tier of a switch 1 where it has no switch below, else one above its highest child. Domains are
/// left out where the options say that there is no NVLink. O(n log n). Errors: limit (too many tiers).
[[nodiscard]] Result<config::FabricSpec> tree_spec(TreeFabric tree, const ImportOptions& options, const Source& source,
                                                   Notes& notes);

/// First switch, in the tree's order, that lies on a cycle, and the names along it, joined by " -> "; empty where there
/// is none. O(n + edges).
struct TreeCycle {
  std::uint32_t first = 0;
  std::string path;
};
[[nodiscard]] std::optional<TreeCycle> find_cycle(const TreeFabric& tree);

/// Notes a node that several leaves list, and a tree that falls apart into several. What Slurm says about both is a
/// warning.
void note_odd_tree(const TreeFabric& tree, const Source& source, Notes& notes);

// --- small things all importers of this kind share ---

/// File name without folder and extension, for the fabric's name; "fabric" where nothing is left.
[[nodiscard]] std::string stem_of(const Source& source);
void note_assumed(Notes& notes, const Source& source, std::string message);
void note_warning(Notes& notes, const Source& source, Position at, std::string message);
/// Names for a message: compressed, cut after some 60 bytes.
[[nodiscard]] std::string shown_names(std::span<const std::string> names);

/// A link entry over all NICs of the nodes in `from`.
[[nodiscard]] config::LinkSpec link_of(config::Text from, config::Text to, Bandwidth bandwidth,
                                       config::LinkPattern pattern = config::LinkPattern::all,
                                       std::uint32_t cables = 1);

/// A hostlist at `at`, expanded; repeated names are dropped with a warning. `offset_ok`: the text stands in the source
/// exactly so, and the error may point inside it.
[[nodiscard]] Result<std::vector<std::string>> expand_at(std::string_view text, Position at, bool offset_ok,
                                                         const Source& source, Notes& notes);

}  // namespace weft::topology
