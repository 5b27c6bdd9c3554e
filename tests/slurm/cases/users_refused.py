# SPDX-License-Identifier: BSD-3-Clause
"""What is refused and how a job that waits says why: SPECs that are wrong, that do not fit, that no cluster could serve, and
that are meant ill."""
import sys

import rig
from fabrics import Tree

rig.namespaces()
TREE = Tree(leaves=4, size=4, pods=2, shuffled=True)
FILES = {"fabric.yaml": TREE.yaml(), "weft.yaml": "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\n"}

with rig.Cluster(TREE.names, files=FILES, conf="JobSubmitPlugins=weft\n") as c:
    def refused(what, arguments, *words):
        for command in (["sbatch", "--wrap=true"], ["salloc", "true"], ["srun", "true"], ["sbatch", "--test-only", "--wrap=true"]):
            result = c.run([command[0], *command[1:-1], *arguments, command[-1]], user="nobody")
            good = result.code != 0 and all(w in result.err for w in words)
            c.check(f"{what}: {' '.join(command[:-1])} says {words}", good, result)

    refused("an unknown key", ["-N1", "--weft=tpp=8"], "tpp", "expected tp, cp, ep")
    refused("a SPEC without a value", ["-N1", "--weft=tp="], "tp")
    refused("ranks that do not multiply up", ["-N2", "--gpus-per-node=8", "--weft=tp=8,pp=4,dp=3"], "96", "16")
    refused("likewise in --extra", ["-N2", "--gpus-per-node=8", "--extra=weft:tp=8,pp=4,dp=3"], "96", "16")
    refused("more leaves' worth of nodes than allowed", ["-N6", "--gpus-per-node=8", "--exclusive", "--weft=tp=8,dp=6,max_leaves=1"], "configuration is not available")
    refused("more nodes than there are", ["-N17", "--weft=tp=8"], "")
    c.check("the log says why it can never run", "can never run" in c.log(), c.log()[-1500:])

    # Ill-meant: control bytes, quotes, a terminal's escapes, length.
    for evil in ("tp=8,\x1b[31mred\x07", 'tp="8"\n{"a":1}', "tp=8," + "a" * 5000, "tp=%s%n", "tp=8" * 500):
        for option in ("--weft=", "--extra=weft:"):
            result = c.run(["sbatch", "-N1", "--gpus-per-node=8", option + evil, "--wrap=true"], user="nobody")
            c.check(f"{option}{evil[:12]!r}... is refused", result.code != 0, result)
    lines = [line for line in c.log().splitlines() if "weft" in line]
    c.check("no control byte reaches slurmctld's log", not any(ord(ch) < 32 and ch != "\t" for line in lines for ch in line), "")
    c.check("slurmctld lives", c.ctld_answers())

    # Waiting, in words: two leaves half busy, a job that wants one leaf.
    blockers = [c.sbatch("-N1", "-w", nodes[0], "--exclusive") for nodes in TREE.leaf_nodes.values()]
    for b in blockers:
        c.wait_state(b, "RUNNING")
    job = c.sbatch("-N4", "--gpus-per-node=8", "--exclusive", "--weft=tp=8,dp=4,max_leaves=1", user="nobody")
    rig.wait_for("reason", lambda: "leaf" in c.reason(job) or "leaves" in c.reason(job), 15)
    c.check("squeue says what a job waits for", "lea" in c.reason(job), c.reason(job))
    c.equal("it waits and is not held", (c.state(job), c.job(job).get("Priority") != "0"), ("PENDING", True))
    c.equal("it claims no placement", c.placement(job), {})
    other = c.sbatch("-N2", "--exclusive", script="true")
    c.equal("others pass it", c.wait_state(other, ["COMPLETED"]), "COMPLETED")
    c.run(["scancel", str(blockers[1])])
    c.equal("it runs once a leaf is free", c.wait_state(job, "RUNNING"), "RUNNING")
    c.equal("on one leaf", len(TREE.leaves(c.job_nodes(job))), 1)
    c.cancel_all()

    # The text of a waiting job is the user's to change.
    blocker = c.sbatch("-N16", "--exclusive")
    c.wait_state(blocker, "RUNNING")
    job = c.sbatch("-N2", "--gpus-per-node=8", "--exclusive", "--extra=weft:tp=8,dp=2", user="nobody")
    bad = c.run(["scontrol", "update", f"JobId={job}", "Extra=weft:tpp=1"], user="nobody")
    c.check("a bad change is refused", bad.code != 0, bad)
    good = c.run(["scontrol", "update", f"JobId={job}", "Extra=weft:tp=4,pp=2,dp=2"], user="nobody")
    c.check("a good one is taken", good.code == 0, good)
    c.run(["scancel", str(blocker)])
    c.equal("and the job runs", c.wait_state(job, "RUNNING"), "RUNNING")
    c.cancel_all()
    sys.exit(c.finish())
