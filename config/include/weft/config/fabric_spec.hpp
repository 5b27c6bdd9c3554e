// SPDX-License-Identifier: BSD-3-Clause
//
// A fabric as its file says it: parsed, not yet checked against itself, every name still with its place in the text.
// topology::Fabric::build turns it into the immutable, validated value that everything else works on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/config/error.hpp"
#include "weft/config/units.hpp"

namespace weft::config {

/// A word of the file and where it stood.
/// `at` is the first byte of the value itself, past an opening quote, so that a place inside the value is at.column
/// plus its offset.
struct Text {
  std::string value;
  Position at;
  friend bool operator==(const Text& a, const Text& b) { return a.value == b.value; }
};

/// Which GPUs NVLink joins before `nvlink_domains` enlarges it.
enum class NvlinkScope : std::uint8_t { node, none };

/// `node_types.NAME`.
struct NodeTypeSpec {
  Text name;
  std::uint32_t gpus = 0;                 ///< 0 = as the hwloc file says
  std::uint32_t nics = 0;                 ///< default: gpus; with hwloc 0 = as the file says
  std::vector<std::uint32_t> nic_of_gpu;  ///< size gpus; empty = GPU g uses NIC g*nics/gpus (identity where equal)
  NvlinkScope nvlink = NvlinkScope::node;
  std::optional<Bandwidth> nvlink_bandwidth;  ///< per GPU, each way
  std::optional<Text> hwloc;                  ///< file of the node's inside, of any kind; gives nic_of_gpu
  std::vector<Text> hwloc_nics;  ///< NIC i of the type is the file's NIC of this name (mlx5_0); empty = by order
};

/// One entry of `switches`: a hostlist and its tier (found where absent).
struct SwitchSpec {
  Text names;
  std::optional<std::uint32_t> tier;
};

/// One entry of `nodes`.
struct NodeSpec {
  Text names;
  Text type;
  std::uint32_t weight = 1;
};

/// How the two lists of a link entry pair up (FORMATS.md).
enum class LinkPattern : std::uint8_t {
  all,    ///< each from to each to
  zip,    ///< i-th to i-th; equal lengths
  split,  ///< from cut into equal contiguous runs, the k-th run to the k-th to
  rail,   ///< NIC i of every from node to the i-th to
};

/// One entry of `links`. `from` may be nodes or switches, `to` switches.
struct LinkSpec {
  Text from;
  Text to;
  LinkPattern pattern = LinkPattern::all;
  Bandwidth bandwidth;        ///< per cable and direction
  std::uint32_t cables = 1;   ///< parallel cables between each pair
  std::optional<Text> nics;   ///< node links: index list such as "0-3,6"; default all
  std::optional<Text> plane;  ///< name; default found
};

/// One entry of `nvlink_domains`.
struct NvlinkDomainSpec {
  Text name;
  Text nodes;
};

/// One entry of `health`. Exactly one target: a switch, a node, a port ("node:nic"), or a link of two ends.
/// Names are single: an entry of the file that says `switch: "spine[3-4]"` gives two of these.
struct HealthSpec {
  enum class Target : std::uint8_t { switch_, node, port, link };
  Target target = Target::switch_;
  Text a;  ///< switch, node, "node:nic", or the link's first end
  Text b;  ///< the link's second end
  bool down = false;
  std::optional<Bandwidth> bandwidth;   ///< slowed to this, per cable
  std::optional<std::uint32_t> cables;  ///< of a link with several cables: how many of them are meant; default all
  std::string reason;                   ///< free text, kept and shown
};

/// A whole fabric file.
struct FabricSpec {
  std::string name;
  std::vector<NodeTypeSpec> node_types;
  std::vector<SwitchSpec> switches;
  std::vector<NodeSpec> nodes;
  std::vector<LinkSpec> links;
  std::vector<NvlinkDomainSpec> nvlink_domains;
  std::vector<HealthSpec> health;
  Source source;  ///< what the positions refer to; null for a generated fabric
};

/// Parses `fabric.yaml`. Errors carry file, line, column. Only the file itself is checked (keys, kinds, units, hostlist
/// syntax); names are resolved by Fabric::build.
[[nodiscard]] Result<FabricSpec> parse_fabric_yaml(const Source& source);

/// Writes `fabric.yaml`: parse_fabric_yaml(write_fabric_yaml(s)) equals s but for positions. Deterministic.
[[nodiscard]] std::string write_fabric_yaml(const FabricSpec& spec);

/// Parses a `health` file: `weft: 1` and `health: [...]`, to be appended to a fabric's own.
[[nodiscard]] Result<std::vector<HealthSpec>> parse_health_yaml(const Source& source);

}  // namespace weft::config
