# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's own options keep their meaning under topology/weft, with a SPEC and without."""
import sys
import time

import rig
from fabrics import Tree

rig.namespaces()
TREE = Tree(leaves=8, size=8, pods=2, shuffled=True)
FILES = {"fabric.yaml": TREE.yaml(), "weft.yaml": "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\n"}
HALF = TREE.leaf_names[:4]
PARTS = ("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO PriorityTier=1 PreemptMode=REQUEUE\n"
         f"PartitionName=few Nodes={','.join(TREE.leaf_nodes['leaf001'] + TREE.leaf_nodes['leaf003'])} State=UP PriorityTier=1\n"
         "PartitionName=urgent Nodes=ALL State=UP PriorityTier=9 PreemptMode=OFF\n")
CONF = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"

with rig.Cluster(TREE.names, files=FILES, partitions=PARTS, conf=CONF, node_conf="Feature=all") as c:
    def nodes_of(*arguments, wait="RUNNING", seconds=30):
        job = c.sbatch(*arguments)
        state = c.wait_state(job, wait, seconds)
        nodes = c.job_nodes(job)
        c.last = job
        if state != wait:
            print(f"        {arguments}: {state} {c.reason(job)}")
        return nodes

    def done():
        c.check("the queue empties", c.cancel_all())

    free_leaf = TREE.leaf_nodes["leaf005"]
    nodes = nodes_of("-N8", "--exclusive")
    c.equal("eight nodes sit under one leaf", len(TREE.leaves(nodes)), 1)
    nodes = nodes_of("-N4", "-w", f"{TREE.names[3]},{TREE.names[40]}", "--exclusive")
    c.check("--nodelist is kept and filled up", {TREE.names[3], TREE.names[40]} <= set(nodes) and len(nodes) == 4, nodes)
    done()
    nodes = nodes_of("-N4", "-x", rig.compress(TREE.order()[4:]), "--exclusive")
    c.equal("--exclude leaves what is left", sorted(nodes), sorted(TREE.order()[:4]))
    done()
    nodes = nodes_of("-N8", "--switches=1", "--exclusive")
    c.equal("--switches=1", len(TREE.leaves(nodes)), 1)
    # Every leaf half busy: one switch cannot do, so the job waits its time and then takes two.
    blockers = [c.sbatch("-N4", "-w", ",".join(n[:4]), "--exclusive") for n in TREE.leaf_nodes.values() if n[0] not in nodes]
    time.sleep(1)
    start = time.monotonic()
    job = c.sbatch("-N8", "--switches=1@00:00:05", "--exclusive")
    c.equal("--switches=1@5: waits", c.state(job), "PENDING")
    c.wait_state(job, "RUNNING", 30)
    c.check("--switches=1@5: runs on more when the time is up", time.monotonic() - start >= 4 and len(TREE.leaves(c.job_nodes(job))) > 1,
            (time.monotonic() - start, c.job_nodes(job)))
    done()
    nodes = nodes_of("-N12", "--segment=4", "--exclusive")
    counts = sorted(len([n for n in nodes if TREE.leaf_of[n] == leaf]) % 4 for leaf in TREE.leaves(nodes))
    c.check("--segment=4: whole fours under a leaf", len(nodes) == 12 and set(counts) == {0}, nodes)
    done()
    nodes = nodes_of("-N4", "--contiguous", "--exclusive")
    table = [n for n in c.run(["sinfo", "-h", "-N", "-o", "%N"]).out.split()]
    c.check("--contiguous: neighbours in the node table", len(nodes) == 4, nodes)
    done()
    nodes = nodes_of("-N2-6", "--exclusive")
    c.equal("-N2-6 takes what is there", len(nodes), 6)
    done()
    nodes = nodes_of("-n40", "--exclusive")
    c.equal("-n 40 without -N: as many nodes as the tasks need", len(nodes), 3)
    c.equal("-n 40: under one leaf", len(TREE.leaves(nodes)), 1)
    done()
    nodes = nodes_of("--gpus=20", "-c1")
    c.equal("--gpus=20 without -N: three nodes of 8", len(nodes), 3)
    c.equal("--gpus=20: under one leaf", len(TREE.leaves(nodes)), 1)
    done()
    nodes = nodes_of("-n24", "--gpus-per-task=1")
    c.check("-n24 --gpus-per-task=1: three nodes under a leaf", len(nodes) == 3 and len(TREE.leaves(nodes)) == 1, nodes)
    done()
    a, b = nodes_of("-N1", "-n1", "--gpus-per-node=4"), nodes_of("-N1", "-n1", "--gpus-per-node=4")
    c.check("jobs that want part of a node share one", len(a) == 1 and len(b) == 1, (a, b))
    done()
    spread = nodes_of("-n8", "--spread-job", "--ntasks-per-node=1")
    c.check("--spread-job: a node a task", len(spread) == 8, spread)
    done()
    nodes = nodes_of("-N8", "-p", "few", "--exclusive")
    c.check("partition: only its nodes", set(TREE.leaves(nodes)) <= {"leaf001", "leaf003"} and len(nodes) == 8, nodes)
    c.equal("partition: one leaf of it", len(TREE.leaves(nodes)), 1)
    done()

    # --exclusive=topo: leaves that nobody shares.
    first = nodes_of("-N3", "--exclusive=topo")
    second = nodes_of("-N40", "--exclusive")
    c.check("--exclusive=topo: nobody else on its leaf", not set(TREE.leaves(first)) & set(TREE.leaves(second)) and len(second) == 40,
            (first, second))
    done()

    # A reservation, and a job inside it.
    made = c.run(["scontrol", "create", "reservation", "ReservationName=res", "StartTime=now", "Duration=60", "Users=root",
                  f"Nodes={','.join(free_leaf)}"])
    c.check("a reservation is made", made.code == 0, made)
    nodes = nodes_of("-N8", "--reservation=res", "--exclusive")
    c.equal("a job inside it gets its nodes", sorted(nodes), sorted(free_leaf))
    nodes = nodes_of("-N20", "--exclusive", "-t1:00:00")
    c.check("others keep off", not set(nodes) & set(free_leaf) and len(nodes) == 20, nodes)
    done()
    c.run(["scontrol", "delete", "ReservationName=res"])

    # Constraints by feature.
    c.run(["scontrol", "update", f"NodeName={','.join(free_leaf[:5])}", "AvailableFeatures=all,new", "ActiveFeatures=all,new"])
    nodes = nodes_of("-N4", "-C", "new", "--exclusive")
    c.check("--constraint: only nodes that have it", set(nodes) <= set(free_leaf[:5]) and len(nodes) == 4, nodes)
    done()

    # Preemption: an urgent job takes the nodes of ordinary ones, which come again.
    low = [c.sbatch("-N8", "--exclusive", "--requeue") for _ in range(8)]
    for job in low:
        c.wait_state(job, "RUNNING")
    job = c.sbatch("-N8", "-p", "urgent", "--exclusive", "--weft=tp=8,dp=8,max_leaves=1")
    c.equal("an urgent job preempts", c.wait_state(job, "RUNNING", 60), "RUNNING")
    c.equal("and still sits under one leaf", len(TREE.leaves(c.job_nodes(job))), 1)
    states = [c.state(j) for j in low]
    c.equal("one job of the lower tier made room", sorted(states)[:1] + [states.count("RUNNING")], ["PENDING", 7])
    c.run(["scancel", str(job)])
    c.check("and runs again", rig.wait_for("requeue", lambda: all(c.state(j) == "RUNNING" for j in low), 180, 0.5), [c.state(j) for j in low])
    done()

    # Backfill: a short job may pass a long one that waits for the whole machine, a long one may not.
    c.sbatch("-N32", "--exclusive", "-t10")
    whole = c.sbatch("-N64", "--exclusive", "-t10")
    time.sleep(2)
    short = c.sbatch("-N8", "--exclusive", "-t5")
    long = c.sbatch("-N8", "--exclusive", "-t60")
    c.equal("backfill starts a short job", c.wait_state(short, "RUNNING", 30), "RUNNING")
    time.sleep(3)
    c.equal("and neither the long nor the large one", (c.state(long), c.state(whole)), ("PENDING", "PENDING"))
    done()

    # A job array that fills the machine, each task under its leaf.
    job = c.sbatch("-N8", "--array=0-7", "--exclusive")
    c.check("an array of eight fills it", rig.wait_for("array", lambda: len(c.run(["squeue", "-h", "-t", "R"]).out.split("\n")) > 8, 30))
    for task in range(8):
        c.equal(f"array task {task} sits under one leaf", len(TREE.leaves(c.job_nodes(f"{job}_{task}"))), 1)
    done()
    c.check("no fallback but for --spread-job", "weft: JobId" not in "\n".join(l for l in c.log().splitlines() if "error:" in l), "")
    sys.exit(c.finish())
