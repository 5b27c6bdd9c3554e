// SPDX-License-Identifier: BSD-3-Clause
//
// Faulty texts and what is said of each, to the letter.
#pragma once

#include <array>
#include <string_view>

namespace weft::topology::faults {

struct BadText {
  std::string_view text;
  std::string_view error;
};

// "$K" stands for this list.
inline constexpr std::string_view kFabrics =
    "fabric.yaml, ibnetdiscover or iblinkinfo output, Slurm topology.conf or topology.yaml, a topograph model, or a "
    "CSV "
    "of host, ASW, PSW, DSW";

inline constexpr auto kConf = std::to_array<BadText>({
    {"SwitchName=a Nodes=n[1-2",
     "f:1:21: error: \"[\" without its \"]\"; expected \"]\"\n"
     "  SwitchName=a Nodes=n[1-2\n"
     "                      ^"},
    {"SwitchName=a Nodes=n1\n"
     "SwitchName=a Nodes=n2",
     "f:2:12: error: switch a is defined twice, first in line 1; expected each switch once\n"
     "  SwitchName=a Nodes=n2\n"
     "             ^"},
    {"SwitchName=a Nodes=n1 Switches=b",
     "f:1:12: error: switch a has both nodes and switches below it; expected Nodes on leaf switches, Switches on the "
     "others\n"
     "  SwitchName=a Nodes=n1 Switches=b\n"
     "             ^"},
    {"SwitchName=a Nodes=n1\n"
     "SwitchName=b Switches=a,c",
     "f:2:25: error: switch b has c below it, which is not defined; expected a SwitchName line or entry for c\n"
     "  SwitchName=b Switches=a,c\n"
     "                          ^"},
    {"SwitchName=a Nodes=n1\n"
     "SwitchName=b Switches=b",
     "f:2:23: error: switch b has itself below it; expected another switch\n"
     "  SwitchName=b Switches=b\n"
     "                        ^"},
    {"SwitchName=a Nodes=n1\n"
     "SwitchName=b Switches=c\n"
     "SwitchName=c Switches=b,a",
     "f:2:12: error: the switches are not a tree: b -> c -> b; expected no switch below itself\n"
     "  SwitchName=b Switches=c\n"
     "             ^"},
    {"SwitchName=s[0-3] Nodes=n1",
     "f:1:12: error: a list in a switch name, which Slurm would take literally; expected an entry for each switch\n"
     "  SwitchName=s[0-3] Nodes=n1\n"
     "             ^^^^^^"},
    {"SwitchName=a Foo=1",
     "f:1:14: error: unknown key Foo; expected lines of SwitchName with Nodes or Switches, and LinkSpeed\n"
     "  SwitchName=a Foo=1\n"
     "               ^^^"},
    {"SwitchName=a Nodes=n1 LinkSpeed=fast",
     "f:1:33: error: LinkSpeed is no number; expected a whole number of 32 bits\n"
     "  SwitchName=a Nodes=n1 LinkSpeed=fast\n"
     "                                  ^^^^"},
    {"SwitchName=a Level=0 Nodes=n1",
     "f:1:14: error: unknown key Level; expected lines of SwitchName with Nodes or Switches, and LinkSpeed; this looks "
     "like the output of 'scontrol show topology'\n"
     "  SwitchName=a Level=0 Nodes=n1\n"
     "               ^^^^^"},
    {"SwitchName=a Nodes=n1\n"
     "BlockName=b Nodes=n2",
     "f:2:1: error: unknown key BlockName; expected in this file lines of SwitchName with Nodes or Switches, and "
     "LinkSpeed\n"
     "  BlockName=b Nodes=n2\n"
     "  ^^^^^^^^^"},
    {"SwitchName=a Nodes=n1\n"
     "Switches=a SwitchName=b",
     "f:2:1: error: unknown key Switches; expected in this file lines of SwitchName with Nodes or Switches, and "
     "LinkSpeed\n"
     "  Switches=a SwitchName=b\n"
     "  ^^^^^^^^"},
    {"SwitchName=a Nodes n1",
     "f:1:14: error: 'Nodes' is no Key=value; expected such as SwitchName=s1 Nodes=n[1-4]\n"
     "  SwitchName=a Nodes n1\n"
     "               ^^^^^"},
    {"SwitchName=a Nodes=",
     "f:1:14: error: 'Nodes=' is no Key=value; expected such as SwitchName=s1 Nodes=n[1-4]\n"
     "  SwitchName=a Nodes=\n"
     "               ^^^^^^"},
    {"SwitchName=a Nodes=\"n1\n"
     "SwitchName=b Nodes=n2",
     "f:1:20: error: \"\"\" in a name; expected letters, digits, dots, dashes, underscores\n"
     "  SwitchName=a Nodes=\"n1\n"
     "                     ^"},
    {"SwitchName=a",
     "f:1:1: error: no switch has a node below it; expected nodes under the leaf switches\n"
     "  SwitchName=a\n"
     "  ^"},
    {"Include more.conf\n"
     "SwitchName=a Nodes=n1",
     "f:1:1: error: Include names another file, which Weft does not follow; expected the included lines in place of "
     "it\n"
     "  Include more.conf\n"
     "  ^^^^^^^"},
    {"SwitchName=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm Nodes=n1",
     "f:1:12: error: the switch name has 65 characters; expected at most 64, as in Slurm\n"
     "  SwitchName=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm Nodes=n1\n"
     "             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"},
    {"SwitchName=a Nodes=n1,,n2:3",
     "f:1:26: error: \":\" in a name; expected letters, digits, dots, dashes, underscores\n"
     "  SwitchName=a Nodes=n1,,n2:3\n"
     "                           ^"},
    {"SwitchName=a Nodes=n[1-9999999]",
     "f:1:21: error: more than 1048576 names\n"
     "  SwitchName=a Nodes=n[1-9999999]\n"
     "                      ^^^^^^^^^^"},
    {"BlockSizes=4",
     "f:1:1: error: no block in the file; expected at least one BlockName line\n"
     "  BlockSizes=4\n"
     "  ^"},
    {"BlockName=a Nodes=n1\n"
     "BlockName=a Nodes=n2",
     "f:2:11: error: block a is defined twice, first in line 1; expected each block once\n"
     "  BlockName=a Nodes=n2\n"
     "            ^"},
    {"BlockName=a Nodes=n1\n"
     "BlockSizes=4,x",
     "f:2:14: error: a block size that is no number; expected numbers of nodes, as in BlockSizes=4,8,16\n"
     "  BlockSizes=4,x\n"
     "               ^"},
    {"BlockName=a Nodes=n1\n"
     "BlockSizes=4,6",
     "f:2:14: error: block size 6 is not 4 times a power of two; expected the base block size 4, then 8, 16 and so on "
     "up to 32768 times it\n"
     "  BlockSizes=4,6\n"
     "               ^"},
    {"BlockName=a Nodes=n1\n"
     "BlockSizes=0",
     "f:2:12: error: a block size of 0; expected at least 1\n"
     "  BlockSizes=0\n"
     "             ^"},
    {"BlockName=a\n"
     "BlockName=b",
     "f:1:1: error: no block has a node in it; expected nodes in the blocks\n"
     "  BlockName=a\n"
     "  ^"},
    {"BlockName=a Nodes=n1 Switches=b",
     "f:1:22: error: unknown key Switches; expected lines of BlockName with Nodes, and one of BlockSizes\n"
     "  BlockName=a Nodes=n1 Switches=b\n"
     "                       ^^^^^^^^"},
    {"BlockName=a Nodes=n1\n"
     "BlockSizes=1 Nodes=n2",
     "f:2:14: error: unknown key Nodes; expected BlockSizes alone in its line\n"
     "  BlockSizes=1 Nodes=n2\n"
     "               ^^^^^"},
    {"RingName=r Nodes=n[1-17]",
     "f:1:18: error: ring r has 17 nodes; expected at most 16, as in Slurm\n"
     "  RingName=r Nodes=n[1-17]\n"
     "                   ^^^^^^^"},
    {"RingName=r",
     "f:1:1: error: no ring has a node in it; expected nodes in the rings\n"
     "  RingName=r\n"
     "  ^"},
    {"RingName=r Nodes=n1\n"
     "RingName=r Nodes=n2",
     "f:2:10: error: ring r is defined twice, first in line 1; expected each ring once\n"
     "  RingName=r Nodes=n2\n"
     "           ^"},
});

inline constexpr auto kYaml = std::to_array<BadText>({
    {"- topology: t\n"
     "  tree:\n"
     "    switches:\n"
     "      - {switch: a, children: b}",
     "f:4:31: error: switch a has b below it, which is not defined; expected a switch line or entry for b\n"
     "        - {switch: a, children: b}\n"
     "                                ^"},
    {"- topology: t\n"
     "  tree:\n"
     "    switches:\n"
     "      - {nodes: n1}",
     "f:4:9: error: a switch without a name; expected switch: NAME\n"
     "        - {nodes: n1}\n"
     "          ^"},
    {"- topology: t\n"
     "  tree:\n"
     "    switches:\n"
     "      - {switch: a, nodes: [n1, n2]}",
     "f:4:28: error: nodes is a list; expected a hostlist, as in n[1-4]\n"
     "        - {switch: a, nodes: [n1, n2]}\n"
     "                             ^"},
    {"- topology: t\n"
     "  tree: {}",
     "f:1:3: error: topology 't' has no type; expected one of block, flat (true), ring, torus3d or tree\n"
     "  - topology: t\n"
     "    ^"},
    {"- topology: t\n"
     "  flat: true",
     "f:1:3: error: topology 't' is flat, which names no nodes; expected a tree, block, ring or torus3d topology\n"
     "  - topology: t\n"
     "    ^"},
    {"- topology: t\n"
     "  flat: maybe",
     "f:2:9: error: flat is \"maybe\"; expected true or false\n"
     "    flat: maybe\n"
     "          ^^^^^"},
    {"- topology: t\n"
     "  cluster_default: 3\n"
     "  flat: true",
     "f:2:20: error: cluster_default is \"3\"; expected true or false\n"
     "    cluster_default: 3\n"
     "                     ^"},
    {"- topology: t\n"
     "  block: {block_sizes: [4, 4.5], blocks: [{block: a, nodes: n1}]}",
     "f:2:28: error: a block size is \"4.5\"; expected a whole number from 1 to 2147483647\n"
     "    block: {block_sizes: [4, 4.5], blocks: [{block: a, nodes: n1}]}\n"
     "                             ^^^"},
    {"- topology: t\n"
     "  block: {blocks: []}",
     "f:2:10: error: no block in the topology; expected at least one block\n"
     "    block: {blocks: []}\n"
     "           ^"},
    {"- topology: t\n"
     "  torus3d: {toruses: [{name: a, dims: {x: 0, y: 1, z: 1}, nodes: n1}]}",
     "f:2:39: error: torus a has dims 0x1x1; expected x, y and z of at least 1\n"
     "    torus3d: {toruses: [{name: a, dims: {x: 0, y: 1, z: 1}, nodes: n1}]}\n"
     "                                        ^"},
    {"- topology: t\n"
     "  torus3d: {toruses: [{name: a, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\", regions: [{nodes: n1}]}]}",
     "f:2:67: error: torus a has both nodes and regions; expected one of the two\n"
     "    torus3d: {toruses: [{name: a, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\", regions: [{nodes: n1}]}]}\n"
     "                                                                    ^"},
    {"- topology: t\n"
     "  torus3d: {toruses: [{name: a, dims: {x: 2, y: 1, z: 1}, regions: [{anchor: {x: 1}, dims: {x: 2, y: 1, z: 1}, "
     "nodes: \"n[1-2]\"}]}]}",
     "f:2:69: error: region 2x1x1 at x 1 y 0 z 0 is not inside torus a of 2x1x1; expected anchor plus dims within the "
     "torus; regions do not wrap around\n"
     "  ...d: {toruses: [{name: a, dims: {x: 2, y: 1, z: 1}, regions: [{anchor: {x: 1}, dims: {x: 2, y: 1, z: 1}, "
     "nodes: \"n[1-2]\"}]...\n"
     "                                                                 ^"},
    {"- topology: t\n"
     "  torus3d:\n"
     "    toruses:\n"
     "      - name: a\n"
     "        dims: {x: 2, y: 1, z: 1}\n"
     "        regions:\n"
     "          - {dims: {x: 1, y: 1, z: 1}, nodes: n1}\n"
     "          - {dims: {x: 2, y: 1, z: 1}, nodes: \"n[2-3]\"}",
     "f:8:13: error: two regions of torus a share the cell x 0 y 0 z 0; expected regions apart from each other\n"
     "            - {dims: {x: 2, y: 1, z: 1}, nodes: \"n[2-3]\"}\n"
     "              ^"},
    {"- topology: t\n"
     "  torus3d:\n"
     "    toruses:\n"
     "      - name: a\n"
     "        dims: {x: 2, y: 1, z: 1}\n"
     "        nodes: n[1-2]\n"
     "        placements: {dims: {x: 1, y: 1, z: 2}}",
     "f:7:28: error: placement 1x1x2 does not fit into torus a of 2x1x1; expected at most 2x1x1\n"
     "          placements: {dims: {x: 1, y: 1, z: 2}}\n"
     "                             ^"},
    {"- topology: t\n"
     "  torus3d:\n"
     "    toruses:\n"
     "      - name: a\n"
     "        dims: {x: 2, y: 1, z: 1}\n"
     "        nodes: n[1-2]\n"
     "        placements: [{dims: {x: 1, y: 1, z: 1}, anchor_seed: {x: 2}}]",
     "f:7:62: error: anchor_seed x 2 y 0 z 0 is outside torus a of 2x1x1; expected a cell of the torus, counted from "
     "0\n"
     "          placements: [{dims: {x: 1, y: 1, z: 1}, anchor_seed: {x: 2}}]\n"
     "                                                               ^"},
    {"- topology: t\n"
     "  torus3d:\n"
     "    toruses:\n"
     "      - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n1}\n"
     "      - {name: b, dims: {x: 1, y: 1, z: 1}, nodes: n1}",
     "f:5:16: error: node n1 has two cells, in torus a and in b; expected each node in one cell of one torus\n"
     "        - {name: b, dims: {x: 1, y: 1, z: 1}, nodes: n1}\n"
     "                 ^"},
    {"- topology: t\n"
     "  torus3d:\n"
     "    toruses:\n"
     "      - {name: a, dims: {x: 65535, y: 65535, z: 2}, nodes: n1}",
     "f:4:25: error: torus a of 65535x65535x2 has 8589672450 cells; expected at most 1048576\n"
     "        - {name: a, dims: {x: 65535, y: 65535, z: 2}, nodes: n1}\n"
     "                          ^"},
    {"- topology: t\n"
     "  ring: {rings: [{ring: r, nodes: \"n[1-]\"}]}",
     "f:2:38: error: the range \"1-\" has no end; expected numbers and ranges, such as [1-4,7]\n"
     "    ring: {rings: [{ring: r, nodes: \"n[1-]\"}]}\n"
     "                                       ^^"},
});

inline constexpr auto kRest = std::to_array<BadText>({
    {"switches: {a: {switches: [b]}, b: {switches: [a]}}\n"
     "blocks: [{switch: a, nodes: [n1]}]",
     "f:1:12: error: the switches are not a tree: a -> b -> a; expected no switch below itself\n"
     "  switches: {a: {switches: [b]}, b: {switches: [a]}}\n"
     "             ^"},
    {"switches: {a: {switches: [c]}, b: {switches: [c]}}\n"
     "blocks: [{switch: c, nodes: [n1]}]",
     "f:1:47: error: switch c has two parents, a and b; expected one parent at most\n"
     "  switches: {a: {switches: [c]}, b: {switches: [c]}}\n"
     "                                                ^"},
    {"switches: {a: {}}\n"
     "blocks: [{switch: b, nodes: [n1]}]",
     "f:2:19: error: switch b is not in switches; expected a switch of the map, or a child of one\n"
     "  blocks: [{switch: b, nodes: [n1]}]\n"
     "                    ^"},
    {"switches: {a: }\n"
     "blocks: [{switch: a, nodes: [n1]}]",
     "f:1:12: error: switch a is empty; expected a map with labels, annotations and switches\n"
     "  switches: {a: }\n"
     "             ^"},
    {"switches: {a: {}}\n"
     "blocks: [{switch: a, nodes: [n1, \"n[1-2]\"]}]",
     "f:2:34: error: node n1 is in more than one block; expected each node once\n"
     "  blocks: [{switch: a, nodes: [n1, \"n[1-2]\"]}]\n"
     "                                   ^^^^^^^^"},
    {"switches: {a: {}}\n"
     "blocks: [{switch: a}]",
     "f:2:10: error: a block without nodes; expected nodes: a list of names or ranges\n"
     "  blocks: [{switch: a}]\n"
     "           ^"},
    {"switches: {a: {name: b}}\n"
     "blocks: [{switch: a, nodes: [n1]}]",
     "f:1:22: error: switch a is named \"b\"; expected the name of its key, or none\n"
     "  switches: {a: {name: b}}\n"
     "                       ^"},
    {"switches: {a: {}}",
     "f:1:1: error: no blocks, and so no nodes, in the model; expected blocks: a list of maps with switch and nodes\n"
     "  switches: {a: {}}\n"
     "  ^"},
    {"switches: {a: {}}\n"
     "blocks: nodes",
     "f:2:9: error: blocks is \"nodes\"; expected a list\n"
     "  blocks: nodes\n"
     "          ^^^^^"},
    {"host,ASW,PSW\n"
     "h1,S1",
     "f:2:1: error: 2 fields; expected 3, as in the header\n"
     "  h1,S1\n"
     "  ^^^^^"},
    {"host,ASW,PSW\n"
     "h1,,P1",
     "f:2:4: error: an empty field; expected a host and its switches in every row\n"
     "  h1,,P1\n"
     "     ^"},
    {"host,ASW\n"
     "\"h1,S1",
     "f:2:1: error: a quote that is not closed; expected a closing quote before the end of the line\n"
     "  \"h1,S1\n"
     "  ^"},
    {"ASW,PSW,DSW\n"
     "S1,P1,G1",
     "f:1:1: error: no column for the host or for its ASW, or one of them twice; expected a header with the columns "
     "host (or ip), ASW, PSW and DSW\n"
     "  ASW,PSW,DSW\n"
     "  ^^^^^^^^^^^"},
    {"host,ASW\n"
     "h 1,S1",
     "f:2:1: error: not a name; expected letters, digits, '.', '_' and '-'\n"
     "  h 1,S1\n"
     "  ^^^"},
    {"host,ASW",
     "f:1:1: error: no host below the header; expected one row a host\n"
     "  host,ASW\n"
     "  ^"},
    {"weft: 1\n"
     "name: j\n"
     "nodes: 4\n"
     "layout: {tp: 8}",
     "f:1:1: error: a job (job.yaml), not a fabric; expected $K\n"
     "  weft: 1\n"
     "  ^"},
    {"{\"weft\": 1, \"job\": \"j\", \"ranks\": []}",
     "f:1:1: error: a placement, not a fabric; expected the fabric that it was made for\n"
     "  {\"weft\": 1, \"job\": \"j\", \"ranks\": []}\n"
     "  ^"},
    {"weft: 1\n"
     "fabric: f.yaml\n"
     "objective: traffic",
     "f:1:1: error: Weft's settings (weft.yaml), not a fabric; expected the file that its key fabric names\n"
     "  weft: 1\n"
     "  ^"},
    {"weft: 1\n"
     "health:\n"
     "  - {switch: s, state: down}",
     "f:1:1: error: a health file, not a fabric; expected the fabric whose health it tells\n"
     "  weft: 1\n"
     "  ^"},
    {"<!DOCTYPE html><html><body>404</body></html>",
     "f:1:1: error: an HTML page, perhaps an error page in place of a download; expected $K\n"
     "  <!DOCTYPE html><html><body>404</body></html>\n"
     "  ^"},
    {"<?xml version=\"1.0\"?>\n"
     "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
     "<topology/>",
     "f:1:1: error: an hwloc file, which describes one node; expected a fabric; name the hwloc file in a node type of "
     "fabric.yaml\n"
     "  <?xml version=\"1.0\"?>\n"
     "  ^"},
    {"; Version: 2.2\n"
     "; MaxNodes: 4",
     "f:1:1: error: a job trace (SWF), not a fabric; expected $K\n"
     "  ; Version: 2.2\n"
     "  ^"},
    {"1 0 5 100 8 -1 -1 8 200 -1 1 3 2 -1 1 1 -1 -1",
     "f:1:1: error: a job trace (SWF), not a fabric; expected $K\n"
     "  1 0 5 100 8 -1 -1 8 200 -1 1 3 2 -1 1 1 -1 -1\n"
     "  ^"},
    {"ClusterName=c\n"
     "NodeName=n[1-4] CPUs=8",
     "f:1:1: error: a slurm.conf, which does not say how nodes are connected; expected the topology.conf or "
     "topology.yaml beside it\n"
     "  ClusterName=c\n"
     "  ^"},
    {"# SwitchName=a\n"
     "# no more",
     "f:1:1: error: nothing but comments in the file; expected $K\n"
     "  # SwitchName=a\n"
     "  ^"},
    {"\n"
     " \t\n",
     "f:1:1: error: the file is empty; expected $K"},
    {"job_id,num_gpu,submit_time\n"
     "1,8,0",
     "f:1:1: error: a table without columns for a host and the switches above it; expected a header with the columns "
     "host (or ip), ASW, PSW and DSW\n"
     "  job_id,num_gpu,submit_time\n"
     "  ^"},
    {"0x0002c90200417670 \"leaf-1\"",
     "f:1:1: error: a map of GUIDs to node names, not a fabric; expected the fabric it belongs to; the map goes with "
     "--names\n"
     "  0x0002c90200417670 \"leaf-1\"\n"
     "  ^"},
    {"Hello, world",
     "f:1:1: error: not a format that Weft knows; expected $K\n"
     "  Hello, world\n"
     "  ^"},
    {"[1, 2, 3]",
     "f:1:1: error: JSON of a kind that Weft does not know; expected $K\n"
     "  [1, 2, 3]\n"
     "  ^"},
});

}  // namespace weft::topology::faults
