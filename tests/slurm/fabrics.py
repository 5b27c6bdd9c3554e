# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics for the Slurm tests: three tiers, names that follow the switches or do not, as fabric.yaml and as topology.conf."""
import random

from rig import GPUS, compress


class Tree:
    """leaves x size nodes; `pods` pods of equal numbers of leaves, joined by a core where there are several."""

    def __init__(self, leaves=8, size=8, pods=2, shuffled=False, seed=4, prefix="n"):
        count = leaves * size
        width = max(2, len(str(count)))
        self.names = [f"{prefix}{i:0{width}d}" for i in range(1, count + 1)]
        order = list(self.names)
        if shuffled:
            random.Random(seed).shuffle(order)
        self.leaf_nodes = {f"leaf{k + 1:03d}": sorted(order[k * size:(k + 1) * size]) for k in range(leaves)}
        self.leaf_names = list(self.leaf_nodes)
        each = leaves // pods
        self.pod_leaves = {f"spine{p + 1:02d}": self.leaf_names[p * each:(p + 1) * each] for p in range(pods)}
        self.leaf_of = {n: leaf for leaf, nodes in self.leaf_nodes.items() for n in nodes}
        self.pod_of = {n: pod for pod, leaves_ in self.pod_leaves.items() for leaf in leaves_ for n in self.leaf_nodes[leaf]}

    def yaml(self, extra=""):
        """One spine switch a pod, so that Slurm's tree and the fabric have the same switches."""
        lines = ["weft: 1", "name: test", "node_types:", f"  h100: {{gpus: {GPUS}, nics: {GPUS}, nvlink: {{domain: node, "
                 "bandwidth: 450GB/s}}", "switches:"]
        lines += [f'  - {{name: "{name}", tier: 1}}' for name in self.leaf_names]
        lines += [f'  - {{name: "{name}", tier: 2}}' for name in self.pod_leaves]
        if len(self.pod_leaves) > 1:
            lines.append("  - {name: core, tier: 3}")
        lines += ["nodes:", f'  - {{name: "{compress(self.names)}", type: h100}}', "links:"]
        for leaf, nodes in self.leaf_nodes.items():
            lines.append(f'  - {{from: "{compress(nodes)}", to: {leaf}, pattern: all, bandwidth: 400Gb/s}}')
        for spine, leaves in self.pod_leaves.items():
            lines.append(f'  - {{from: "{compress(leaves)}", to: {spine}, pattern: all, bandwidth: 400Gb/s, cables: 16}}')
            if len(self.pod_leaves) > 1:
                lines.append(f'  - {{from: {spine}, to: core, pattern: all, bandwidth: 400Gb/s, cables: 32}}')
        return "\n".join(lines) + "\n" + extra

    def topology_conf(self):
        lines = [f"SwitchName={leaf} Nodes={compress(nodes)}" for leaf, nodes in self.leaf_nodes.items()]
        lines += [f"SwitchName={spine} Switches={compress(leaves)}" for spine, leaves in self.pod_leaves.items()]
        if len(self.pod_leaves) > 1:
            lines.append(f"SwitchName=core Switches={compress(list(self.pod_leaves))}")
        return "\n".join(lines) + "\n"

    def block_conf(self):
        lines = [f"BlockName={leaf} Nodes={compress(nodes)}" for leaf, nodes in self.leaf_nodes.items()]
        size = len(next(iter(self.leaf_nodes.values())))
        return "\n".join(lines) + f"\nBlockSizes={size}\n"

    def leaves(self, nodes):
        return sorted({self.leaf_of[n] for n in nodes})

    def pods(self, nodes):
        return sorted({self.pod_of[n] for n in nodes})

    def order(self):
        """Nodes leaf by leaf."""
        return [n for nodes in self.leaf_nodes.values() for n in nodes]
