# SPDX-License-Identifier: BSD-3-Clause
"""GPUs for the Slurm tests: device files under the names that real drivers give them, node kinds, and who got which."""
import os
import re
import subprocess

import rig


def own_devices(names):
    """A /dev of the test's own, with `names` as character devices beside what programs need. After rig.namespaces()."""
    old = "/run/dev"
    os.mkdir(old)
    for command in (["mount", "--rbind", "/dev", old], ["mount", "--make-rslave", old],
                    ["mount", "-t", "tmpfs", "-o", "mode=755,dev", "tmpfs", "/dev"]):
        subprocess.run(command, check=True)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7), ("random", 8), ("urandom", 9)):
        os.mknod(f"/dev/{name}", 0o020666, os.makedev(1, minor))
        os.chmod(f"/dev/{name}", 0o666)
    os.mkdir("/dev/shm", 0o1777)
    os.symlink("/proc/self/fd", "/dev/fd")
    for i, name in enumerate(names):  # Slurm does not open them
        os.mknod(f"/dev/{name}", 0o020666, os.makedev(240, i))


def numbers(text):
    """0-1,4 as a list."""
    out = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


class Kinds(rig.Cluster):
    """kinds: (nodes, sockets, cores a socket, GPUs), each node with these in slurm.conf."""

    def __init__(self, kinds, **more):
        self.kinds = kinds
        super().__init__([node for kind in kinds for node in kind[0]], **more)

    def _conf(self, *arguments):
        text = super()._conf(*arguments)
        for nodes, sockets, cores, count in self.kinds:
            for node in nodes:
                text = text.replace(f"NodeName={node} ", f"NodeName={node} Sockets={sockets} CoresPerSocket={cores} Gres=gpu:{count} ")
        return text

    def gpus(self, job):
        """node -> indices of its GPUs, as slurmctld handed them out."""
        text = self.run(["scontrol", "show", "job", "-d", str(job)]).out
        out = {}
        for names, indices in re.findall(r"Nodes=(\S+) CPU_IDs=\S+ Mem=\S+ GRES=gpu(?::\w+)?:\d+\(IDX:([0-9,-]+)\)", text):
            for name in self.expand(names):
                out[name] = numbers(indices)
        return out
