# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in Weft's order: 64 nodes that run srun. Host numbers do not follow the switches, so the order of a job that spans
leaves is one that Slurm alone would not give."""
import os
import re
import sys

import rig
from fabrics import Tree

rig.namespaces()
TREE = Tree(leaves=8, size=8, pods=2, shuffled=True)
FILES = {"fabric.yaml": TREE.yaml(), "weft.yaml": "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\n"}
# Enough ranks a node for all GPUs, and a pipeline that makes the order of nodes matter.
SPEC = "tp=8,pp=4,dp=3"


def grouped(order, of):
    """Runs of one domain: nodes of a domain stand side by side where each occurs in one run."""
    runs = [of[n] for i, n in enumerate(order) if i == 0 or of[order[i - 1]] != of[n]]
    return len(runs) == len(set(runs))


def job_env(text):
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"(WEFT_\w+|MASTER_ADDR|SLURM_HOSTFILE)=", line))


with rig.Cluster(TREE.names, files=FILES) as c:
    # Busy nodes on every leaf, so that a job of 12 nodes must span leaves.
    blockers = [c.sbatch("-w", ",".join(nodes[:2]), "-N2", "--exclusive") for nodes in TREE.leaf_nodes.values()]
    for b in blockers:
        c.wait_state(b, "RUNNING")
    show = "env | sort; ls -ldn $(dirname $WEFT_HOSTFILE) $WEFT_HOSTFILE $WEFT_RANKFILE; cat $WEFT_HOSTFILE; cat $WEFT_RANKFILE"

    for how, arguments in (("--weft", [f"--weft={SPEC}"]), ("--extra", [f"--extra=weft:{SPEC}"])):
        job = c.sbatch("-N12", "--gpus-per-node=8", "--ntasks-per-node=8", "--exclusive", *arguments, user="nobody",
                       script=f"{show}\n{rig.RANKS}\nsrun env | grep -E '^(SLURM_HOSTFILE|MASTER_ADDR)=' | sort -u")
        c.equal(f"{how}: the job runs", c.wait_state(job, ["COMPLETED", "FAILED"]), "COMPLETED")
        out, order = c.output(job), c.rank_order(job)
        c.equal(f"{how}: leaves of the placement are as few as can be", len(TREE.leaves(order)), 2)
        c.check(f"{how}: the record tells the placement in a line", re.search(r"weft\{leaves=2 pods=1 .*cross_spine=\S+",
                                                                          c.job(job).get("SystemComment", "")), c.job(job))
        c.equal(f"{how}: ranks under a plain srun follow Weft's order", rig.ranks_of(out), order)
        c.equal(f"{how}: all ranks run", len(re.findall(r"^rank \d+ n", out, re.M)), 96)
        c.check(f"{how}: nodes of a leaf stand side by side", grouped(order, TREE.leaf_of), order)
        env = job_env(out)
        c.equal(f"{how}: MASTER_ADDR is rank 0's node", env.get("MASTER_ADDR"), order[0])
        c.check(f"{how}: WEFT_HOSTFILE names the nodes in order", "\n".join(order) + "\n" in out, out[-3000:])
        c.check(f"{how}: WEFT_RANKFILE names the ranks", f"rank 95={order[11]} slot=7" in out, out[-3000:])
        c.check(f"{how}: the files are the user's alone", re.search(r"^drwx------ .* 65534 ", out, re.M) and
                len(re.findall(r"^-rw------- .* 65534 ", out, re.M)) == 2, out[-3000:])
        c.check(f"{how}: and gone after the job", rig.wait_for("removal", lambda: not os.path.exists(env.get("WEFT_HOSTFILE", "/")), 10), env)
        c.check(f"{how}: tasks see no SLURM_HOSTFILE of ours", "SLURM_HOSTFILE=" not in out.split("rank 0 ")[-1], out[-500:])

    # Within salloc, and srun alone; each finds all nodes free.
    rig.wait_for("the nodes of the batch job", lambda: c.count_idle() == 64, 10)
    out = c.run(["salloc", "-N12", "--gpus-per-node=8", "--exclusive", f"--weft={SPEC}", "sh", "-c",
                 f"scontrol show job $SLURM_JOB_ID -o; {rig.RANKS}"], user="nobody")
    placed = re.search(r"ranks=(\S+?)[ }]", out.out)
    wanted = c.expand(placed.group(1)) if placed else []
    c.check("salloc: the order is one of its own", len(wanted) == 12, out)
    c.equal("salloc: ranks under a plain srun follow it", rig.ranks_of(out.out), wanted)
    rig.wait_for("the nodes of salloc's job", lambda: c.count_idle() == 64, 10)
    out = c.run(["srun", "-N12", "--gpus-per-node=8", "--exclusive", f"--weft={SPEC}", "sh", "-c",
                 "echo rank $SLURM_PROCID $SLURMD_NODENAME"], user="nobody")
    c.equal("srun alone takes the same nodes", sorted(rig.ranks_of(out.out)), sorted(wanted))

    # The user's own word counts.
    script = f"""
        scontrol show hostnames $SLURM_JOB_NODELIST | sort -r > /tmp/own.$SLURM_JOB_ID
        chmod 600 /tmp/own.$SLURM_JOB_ID
        echo 'A'; srun -m cyclic sh -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'
        echo 'B'; srun -N2 -n2 sh -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'
        echo 'C'; SLURM_HOSTFILE=/tmp/own.$SLURM_JOB_ID srun sh -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'
        echo 'D'; MASTER_ADDR=mine srun sh -c 'echo $MASTER_ADDR' | sort -u
        echo 'E'; srun -w $SLURMD_NODENAME -N1 -n1 sh -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'
        echo 'F'; srun sh -c 'srun --version; echo inner $SLURM_HOSTFILE' | sort -u
        rm /tmp/own.$SLURM_JOB_ID"""
    job = c.sbatch("-N12", "--gpus-per-node=8", "--exclusive", f"--weft={SPEC}", script=script, user="nobody")
    c.wait_state(job, ["COMPLETED", "FAILED"])
    parts = dict(re.findall(r"^([A-F])\n(.*?)(?=^[A-F]\n|\Z)", c.output(job), re.S | re.M))
    listed, order = c.job_nodes(job), c.rank_order(job)
    listed = c.table_order(listed)
    c.check("the job's order is told", sorted(order) == sorted(listed) and len(order) == 12, order)
    c.equal("srun -m keeps Slurm's order", rig.ranks_of(parts.get("A", "")), listed)
    c.equal("srun -N -n likewise", rig.ranks_of(parts.get("B", "")), listed[:2])
    c.equal("a hostfile of the user's own is kept", rig.ranks_of(parts.get("C", "")), sorted(listed, reverse=True))
    c.equal("MASTER_ADDR of the user's own is kept", parts.get("D", "").split()[-1:], ["mine"])
    c.equal("srun -w likewise", len(rig.ranks_of(parts.get("E", ""))), 1)
    c.check("a step inside a task sees no hostfile", "inner\n" in parts.get("F", ""), parts.get("F"))

    # sbatch -m goes into the job's environment.
    job = c.sbatch("-N12", "--gpus-per-node=8", "--exclusive", "-m", "block", f"--weft={SPEC}", script=rig.RANKS)
    c.wait_state(job, ["COMPLETED", "FAILED"])
    c.equal("sbatch -m keeps Slurm's order", rig.ranks_of(c.output(job)), c.table_order(c.job_nodes(job)))

    # A job that says nothing: nodes in fabric order.
    job = c.sbatch("-N12", "--exclusive", script=rig.RANKS)
    c.wait_state(job, ["COMPLETED", "FAILED"])
    c.check("a plain job's ranks follow the fabric", grouped(rig.ranks_of(c.output(job)), TREE.leaf_of), c.output(job))

    # Arrays and heterogeneous jobs. Slurm hands --weft of one part on to those after it; their own --extra wins.
    array = c.sbatch("-N6", "--array=0-2", "--gpus-per-node=8", "--exclusive", "--weft=tp=8,pp=2,dp=3", script=rig.RANKS + "; sleep 1")
    rig.wait_for("array", lambda: not c.run(["squeue", "-h", "-j", str(array)]).out.strip(), 90)
    for task in range(3):
        id_ = c.job(f"{array}_{task}").get("JobId", "0")
        out = open(c.path("log", f"job-{id_}.out"), encoding="utf-8").read()
        c.equal(f"array task {task} ran in its order", rig.ranks_of(out), c.rank_order(f"{array}_{task}"))
        c.equal(f"array task {task} sits under one leaf", len(TREE.leaves(c.job_nodes(f"{array}_{task}"))), 1)
    het = c.run(["sbatch", "--parsable", "-o", c.path("log", "het.out"), "-N2", "--gpus-per-node=8", "--exclusive",
                 "--weft=tp=8,dp=2", ":", "-N1", "--exclusive", "--extra=weft:tp=8"], text=f"#!/bin/sh\n{rig.RANKS}\nsleep 1\n")
    c.check("a heterogeneous job is taken", het.code == 0, het)
    rig.wait_for("het job", lambda: not c.run(["squeue", "-h", "-j", het.out.strip()]).out.strip(), 60)
    c.equal("its first part ran", len(rig.ranks_of(open(c.path("log", "het.out"), encoding="utf-8").read())), 2)

    pid = c.ctld_pid()
    c.check("slurmctld is the one that started", pid and c.ctld_answers(), pid)
    sys.exit(c.finish())
