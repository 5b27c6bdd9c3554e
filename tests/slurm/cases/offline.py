# SPDX-License-Identifier: BSD-3-Clause
"""A job gets inside Slurm the nodes and the rank order that `weft place` gives offline for the same free nodes; and the log that
slurmctld wrote of it stands `weft replay` and `weft stats`."""
import json
import os
import random
import sys
import tempfile

import decision_log
import rig
from fabrics import Tree

rig.namespaces()
rng = random.Random(7)
# As the SPEC parser takes traffic, and the same in job.yaml.
TERMS = {"tp": [("allreduce", "12GiB")], "pp": [("neighbour", "512MiB")], "dp": [("reduce_scatter", "4GiB"), ("allgather", "4GiB")]}


def job_yaml(nodes, sizes, constraints):
    dims = [d for d in TERMS if sizes[d] > 1]
    lines = ["weft: 1", "name: job", f"nodes: {nodes}", "ranks_per_node: 8",
             "layout: {" + ", ".join(f"{d}: {sizes[d]}" for d in sizes) + "}", "traffic:"]
    for d in dims:
        terms = [f"{{collective: {c}, bytes: {b}}}" for c, b in TERMS[d]]
        lines.append(f"  {d}: {terms[0]}" if len(terms) == 1 else f"  {d}: [{', '.join(terms)}]")
    if constraints:
        lines += ["constraints:"] + [f"  {line}" for line in constraints]
    return "\n".join(lines) + "\n"


def spec_text(sizes, extra):
    parts = [f"{d}={sizes[d]}" for d in sizes]
    parts += [f"{d}_traffic=" + "+".join(f"{c}:{b}" for c, b in TERMS[d]) for d in TERMS if sizes[d] > 1]
    return ",".join(parts + extra)


CASES = [  # nodes, sizes, more of the SPEC, the same for job.yaml
    (4, {"tp": 8, "pp": 1, "dp": 4}, [], []),
    (12, {"tp": 8, "pp": 4, "dp": 3}, [], []),
    (16, {"tp": 8, "pp": 4, "dp": 4}, ["segment=4"], ["segment: 4", "segment_level: leaf"]),
    (24, {"tp": 8, "pp": 8, "dp": 3}, [], []),
    (20, {"tp": 4, "pp": 4, "dp": 10}, ["max_leaves=5"], ["max_spread: {leaf: 5}"]),
    (10, {"tp": 8, "pp": 1, "dp": 10}, [], []),
]

WEFT = "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\ndecision_log: @DIR@/decisions.jsonl\n"

for shuffled in (False, True):
    tree = Tree(leaves=8, size=8, pods=2, shuffled=shuffled)
    with rig.Cluster(tree.names, files={"fabric.yaml": tree.yaml(), "weft.yaml": WEFT}, cloud=True) as c:
        for nodes, sizes, extra, constraints in CASES:
            busy = sorted(rng.sample(tree.names, rng.choice((0, 8, 20))))
            if len(tree.names) - len(busy) < nodes:
                busy = busy[:8]
            if busy:
                c.run(["scontrol", "update", f"NodeName={rig.compress(busy)}", "State=DRAIN", "Reason=busy"])
            with tempfile.TemporaryDirectory() as place:
                job_file = os.path.join(place, "job.yaml")
                with open(job_file, "w", encoding="utf-8") as f:
                    f.write(job_yaml(nodes, sizes, constraints))
                wanted = json.loads(rig.weft("place", "--quiet", "--fabric", c.path("fabric.yaml"), "--job", job_file, "--format", "json",
                                             *(["--busy", rig.compress(busy)] if busy else [])))["nodes"]
            job = c.sbatch(f"-N{nodes}", "--gpus-per-node=8", "--exclusive", f"--extra=weft:{spec_text(sizes, extra)}")
            c.wait_state(job, ["CONFIGURING", "RUNNING"], 20)
            title = f"{'shuffled' if shuffled else 'ordered'} names, {nodes} nodes, {len(busy)} busy, {spec_text(sizes, extra)[:40]}"
            c.equal(f"{title}: the same nodes", sorted(c.job_nodes(job)), sorted(wanted))
            c.equal(f"{title}: the same rank order", c.rank_order(job), wanted)
            c.run(["scancel", str(job)])
            rig.wait_for("end", lambda: c.state(job) == "CANCELLED", 10)
            if busy:
                c.run(["scontrol", "update", f"NodeName={rig.compress(busy)}", "State=UNDRAIN"])
        # Kinds that the comparison above has none of: refused for good, waiting, left to Slurm.
        c.sbatch("-N4", "--exclusive", "--gpus-per-node=8", "--extra=weft:tp=7,dp=4", fails=True)
        c.sbatch("-N10", "--exclusive", "--gpus-per-node=8", "--extra=weft:tp=8,dp=10,max_leaves=1", fails=True)
        all_but = c.sbatch("-N60", "--exclusive", "--gpus-per-node=8")
        c.wait_state(all_but, ["CONFIGURING", "RUNNING"], 20)
        c.sbatch("-N4", "--exclusive", "--gpus-per-node=8", "--extra=weft:tp=8,dp=4,exclusive=leaf")
        c.sbatch("-N2", "-n4", "--exclusive", "--spread-job")
        c.stop_ctld()  # writes the log's last lines
        decision_log.check(c, f"{'shuffled' if shuffled else 'ordered'} names", len(CASES))
        verdicts = {line["choice"]["verdict"] for line in c.decisions() if "choice" in line}
        c.check("decisions of three kinds at least", {"placed", "never", "not_now"} <= verdicts, verdicts)
        code = c.finish()
    if code:
        sys.exit(code)
