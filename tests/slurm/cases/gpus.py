# SPDX-License-Identifier: BSD-3-Clause
"""The gres.conf of `weft affinity` in a real slurmctld and slurmd, and which GPUs jobs get by it."""
import os
import re
import sys
import tempfile

import rig
from gpu_rig import Kinds, own_devices

rig.namespaces()
own_devices([f"nvidia{i}" for i in range(8)])
FIXTURES = os.path.join(os.environ["WEFT_SOURCE_DIR"], "tests", "fixtures", "node")

# Three kinds of node: hwloc's XML, a table of nvidia-smi whose NVLinks are not alike, and one without NVLink.
TABLE = """\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV1\tNV1\tNV2\tPIX\tSYS\t0-3\t0
GPU1\tNV1\t X \tNV2\tNV1\tPIX\tSYS\t0-3\t0
GPU2\tNV1\tNV2\t X \tNV1\tSYS\tPIX\t4-7\t1
GPU3\tNV2\tNV1\tNV1\t X \tSYS\tPIX\t4-7\t1
NIC0\tPIX\tPIX\tSYS\tSYS\t X \tSYS
NIC1\tSYS\tSYS\tPIX\tPIX\tSYS\t X

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""
PLAIN = "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\t X \tSYS\tPIX\t0-5\nGPU1\tSYS\t X \tSYS\t6-11\nmlx5_0\tPIX\tSYS\t X \n"

# Per kind: its file, nodes, sockets and cores, and what slurmd must find: cores and links by GPU.
KINDS = [
    (os.path.join(FIXTURES, "hwloc2.xml"), ["a1", "a2"], (2, 2), ["0-1", "0-1", "2-3", "2-3"],
     ["-1,4,4,4", "4,-1,4,4", "4,4,-1,4", "4,4,4,-1"]),
    (TABLE, ["b1", "b2"], (2, 4), ["0-3", "0-3", "4-7", "4-7"], ["-1,1,1,2", "1,-1,2,1", "1,2,-1,1", "2,1,1,-1"]),
    (PLAIN, ["c1"], (2, 6), ["0-5", "6-11"], [None, None]),
]


def gres_conf():
    """What `weft affinity` says of all kinds, as an administrator would join it."""
    text = ""
    for source, nodes, *_ in KINDS:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="ascii") as f:
            if not os.path.exists(source):
                f.write(source)
                f.flush()
                source = f.name
            text += rig.weft("affinity", "-q", source, "--format", "gres.conf", "--nodes", ",".join(nodes))
    return text


with Kinds([(nodes, *sizes, len(cores)) for _, nodes, sizes, cores, _ in KINDS], topology="topology/default", spank=False,
           files={"gres.conf": gres_conf()}) as c:
    for _, nodes, _, cores, links in KINDS:
        for node in nodes:
            # What slurmd itself makes of the file.
            said = c.run([rig.SLURMD, "-f", c.path("slurm.conf"), "-N", node, "-G"])
            found = re.findall(r"Gres Name=gpu.*? Index=(\d+) .*?File=(\S+) Cores=(\S+)(?: CoreCnt=\d+)? Links=(\S+)", said.err + said.out)
            c.equal(f"slurmd -G on {node}", found,
                    [(str(i), f"/dev/nvidia{i}", cores[i], links[i] or "(null)") for i in range(len(cores))])
            shown = c.run(["scontrol", "show", "node", "-d", node]).out
            c.check(f"scontrol shows the GPUs of {node} on both sockets, none in use", f"Gres=gpu:{len(cores)}(S:0-1)\n" in shown
                    and "(IDX:N/A)" in shown and "State=IDLE" in shown, shown)

    # By socket: two GPUs of one socket, the one whose cores the job gets.
    for node, near in (("a1", [[0, 1], [2, 3]]), ("b1", [[0, 1], [2, 3]])):
        first, second = (c.sbatch("-w", node, "-n1", "--gpus-per-node=2", "--gres-flags=enforce-binding") for _ in range(2))
        for job in (first, second):
            c.equal(f"two GPUs on {node} start", c.wait_state(job, "RUNNING"), "RUNNING")
        c.equal(f"two jobs of two GPUs on {node} get a socket each", sorted([c.gpus(first).get(node), c.gpus(second).get(node)]), near)
    c.cancel_all()
    # The variables of a step name the devices that were granted.
    job = c.sbatch("-w", "a2", "-n1", "--gpus-per-node=2", script="echo $CUDA_VISIBLE_DEVICES; echo $SLURM_JOB_GPUS")
    c.wait_state(job, "COMPLETED")
    c.equal("CUDA_VISIBLE_DEVICES and SLURM_JOB_GPUS", c.output(job).split(), ["0,1", "0,1"])
    c.check("no complaint about gres.conf", not re.search(r"error:.*gres", c.log() + c.log("slurmd")),
            [line for line in (c.log() + c.log("slurmd")).splitlines() if "gres" in line and "error" in line][:10])
    sys.exit(c.finish())
