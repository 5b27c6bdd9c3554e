# SPDX-License-Identifier: BSD-3-Clause
"""Patience: a job that would lie scattered waits for nearer nodes, says so, and does not wait for ever."""
import sys
import time

import rig
from fabrics import Tree

rig.namespaces()
TREE = Tree(leaves=4, size=4, pods=2, shuffled=True)
LIMIT = 12
FILES = {"fabric.yaml": TREE.yaml(), "weft.yaml": f"weft: 1\nfabric: fabric.yaml\ndeadline: 1s\npatience: 2\npatience_limit: {LIMIT}s\n"
                                                 "decision_log: @DIR@/decisions.jsonl\n"}
HALF = [nodes[:2] for nodes in TREE.leaf_nodes.values()]
PARTS = ("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO\n"
         f"PartitionName=few Nodes={','.join(HALF[0] + HALF[2])} State=UP OverSubscribe=NO\n")

with rig.Cluster(TREE.names, files=FILES, partitions=PARTS, node_conf="Feature=all") as c:
    JOB = ("-N4", "--gpus-per-node=8", "--exclusive")

    def job(*arguments):
        return c.sbatch(*JOB, *arguments, user="nobody")

    def leaves(which):
        return len(TREE.leaves(c.job_nodes(which)))

    def half_full():
        held = [c.sbatch("-N2", "-w", ",".join(nodes), "--exclusive", "--weft=tp=8,patience=0") for nodes in HALF]
        for each in held:
            c.wait_state(each, "RUNNING")
        return held

    first = job("--weft=tp=8,dp=4")
    c.equal("where a leaf is free nobody waits", (c.wait_state(first, "RUNNING"), leaves(first)), ("RUNNING", 1))
    c.cancel_all()

    held = half_full()
    patient = job("--weft=tp=8,dp=4")
    rig.wait_for("reason", lambda: "nearer" in c.reason(patient), 10)
    c.check("squeue says what it waits for", "waits for nearer nodes: 96GiB a step" in c.reason(patient), c.reason(patient))
    c.equal("it is pending and not held", (c.state(patient), c.job(patient).get("Priority") != "0"), ("PENDING", True))
    c.equal("it claims no placement", c.placement(patient), {})
    hasty = c.sbatch("-N4", "--gpus-per-node=8", "--exclusive", "--weft=tp=8,dp=4,patience=0", user="nobody", script="sleep 2")
    c.equal("patience=0 starts at once", c.wait_state(hasty, ["RUNNING", "COMPLETED"]), "RUNNING")
    plain = c.sbatch("-N3", "--exclusive", script="sleep 2")
    c.equal("so does a job without a layout", c.wait_state(plain, ["RUNNING", "COMPLETED"]), "RUNNING")
    c.run(["scancel", str(held[1]), str(hasty), str(plain)])
    c.equal("a leaf comes free: it runs there", (c.wait_state(patient, "RUNNING", 30), leaves(patient)), ("RUNNING", 1))
    c.cancel_all()

    held = half_full()
    start = time.monotonic()
    patient = job("--extra=weft:tp=8,dp=4")
    c.equal("when its time is up it takes what there is", c.wait_state(patient, "RUNNING", 60), "RUNNING")
    took = time.monotonic() - start
    c.check("not before", took >= LIMIT - 2 and leaves(patient) == 2, (took, c.job_nodes(patient)))
    c.run(["scancel", str(patient)])

    few = job("-p", "few", "--weft=tp=8,dp=4")
    c.run(["scancel", *map(str, held)])
    c.equal("a partition that has no nearer nodes", (c.wait_state(few, "RUNNING", 30), leaves(few)), ("RUNNING", 2))
    c.cancel_all()
    apart = ",".join(HALF[0] + HALF[3])
    made = c.run(["scontrol", "create", "reservation", "ReservationName=res", "StartTime=now", "Duration=60", "Users=nobody,root",
                  f"Nodes={apart}"])
    c.check("a reservation is made", made.code == 0, made)
    inside = job("--reservation=res", "--weft=tp=8,dp=4")
    c.equal("nor has it nearer ones inside a reservation", (c.wait_state(inside, "RUNNING", 10), leaves(inside)), ("RUNNING", 2))
    c.cancel_all()
    c.run(["scontrol", "delete", "ReservationName=res"])
    c.run(["scontrol", "update", f"NodeName={apart}", "AvailableFeatures=all,new", "ActiveFeatures=all,new"])
    new = job("-C", "all&new", "--weft=tp=8,dp=4")
    c.equal("nor with a feature that only these have", (c.wait_state(new, "RUNNING", 10), leaves(new)), ("RUNNING", 2))
    c.cancel_all()

    # Tests of a job that waits say when it would run, and refuse nothing.
    held = half_full()
    ready = c.run(["sbatch", "--test-only", *JOB, "--weft=tp=8,dp=4", "--wrap=true"])
    c.check("--test-only tells a start", ready.code == 0 and "to start at" in ready.err, ready)
    c.cancel_all()
    c.stop_ctld()
    waited = [d["choice"] for d in c.decisions() if d.get("choice", {}).get("worth_waiting")]
    c.check("the decision log says who waits", len(waited) > 2 and all(w["leaves"] > 1 for w in waited), len(waited))
    sys.exit(c.finish())
