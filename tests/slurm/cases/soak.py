# SPDX-License-Identifier: BSD-3-Clause
"""Random submissions, cancels, requeues, node failures and returns, reconfigurations (some with broken files) and restarts of
slurmctld, all from one seed, on nodes with a slurmd each. Nothing may crash, no node may be given twice, every job must end.

WEFT_SOAK_OPERATIONS sets the number of operations (default 150; the long run is 2000 on 256 nodes), WEFT_SOAK_NODES that of nodes
(default 64), WEFT_SOAK_SEED the seed. WEFT_SOAK_VALGRIND=1: slurmctld runs under valgrind, whose findings in Weft's objects fail the test."""
import collections
import os
import random
import re
import sys
import time

import decision_log
import rig
import watched
from fabrics import Tree

OPERATIONS = int(os.environ.get("WEFT_SOAK_OPERATIONS", "150"))
NODES = int(os.environ.get("WEFT_SOAK_NODES", "64"))
SEED = int(os.environ.get("WEFT_SOAK_SEED", "1"))
VALGRIND = os.environ.get("WEFT_SOAK_VALGRIND", "") == "1"
GOOD = "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\npatience_limit: 5s\ndecision_log: @DIR@/decisions.jsonl\n"
# Answers that leave a job to Slurm or make it wait, and are as they should be. The clock is not itself under valgrind.
EXPLAINED = {"capacity", "constraint", "spec"} | ({"deadline"} if VALGRIND else set())
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "NODE_FAIL", "TIMEOUT", "PREEMPTED"}


class Soak:
    def __init__(self, cluster, tree, rng):
        self.c, self.tree, self.rng = cluster, tree, rng
        self.jobs, self.down, self.restarts, self.refused, self.looks, self.twice = [], set(), 0, 0, 0, []
        self.reconfigured = {"good": 0, "bad": 0}
        self.agent_deaths = 0

    def submit(self):
        nodes = self.rng.choice([n for n in (1, 2, 4, 8, 12, 16, 24, 32, 48) if n <= NODES // 4])
        spec = self.rng.choice((None, None, f"tp=8,dp={nodes}", f"tp=8,dp={nodes},patience=2", f"tp=8,dp={nodes},max_leaves={max(1, nodes // 8 + 1)}",
                                f"tp=8,dp={nodes},segment=2" if nodes % 2 == 0 else None, "tp=7,dp=3"))
        arguments = [f"-N{nodes}", f"-t{self.rng.randint(1, 30)}", "--requeue"]
        arguments += self.rng.choice((["--exclusive"], ["--exclusive"], ["--gpus-per-node=8"], ["--exclusive=topo"]))
        if spec:
            arguments.append(self.rng.choice(("--weft=", "--extra=weft:")) + spec)
        answer = self.c.sbatch(*arguments, script=f"sleep {self.rng.uniform(0.2, 6):.1f}", fails=True)
        if answer.code == 0:
            self.jobs.append(int(answer.out))
        else:
            self.refused += 1

    def some_job(self):
        return self.rng.choice(self.jobs[-40:]) if self.jobs else None

    def cancel(self):
        for _ in range(3):
            if self.jobs:
                self.c.run(["scancel", str(self.some_job())])

    def requeue(self):
        if self.jobs:
            self.c.run(["scontrol", "requeue", str(self.some_job())])

    def fail(self):
        """Half of them by the death of the node's slurmd."""
        node = self.rng.choice(self.tree.names)
        if self.rng.random() < 0.5:
            self.c.stop_slurmd(node)
        self.c.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=soak"])
        self.down.add(node)

    def repair(self):
        if self.down:
            node = self.rng.choice(sorted(self.down))
            self.c.start_slurmd([node])
            self.c.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"])
            self.down.discard(node)

    def free_stuck_nodes(self, done):
        """A node that failed and came back between a job's end and its clean-up may wait for it for ever. As an administrator would."""
        if done:
            return
        stuck = self.c.run(["sinfo", "-h", "-N", "-t", "completing", "-o", "%N"]).out.split()
        print(f"completing for a minute, set down and up again: {stuck}")
        for node in sorted(set(stuck)):
            self.c.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=stuck"])
            self.c.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"])

    def reconfigure(self):
        bad = self.rng.random() < 0.5
        pid, told = self.c.ctld_pid(), len(self.c.log())
        if bad:
            self.c.write("weft.yaml", self.rng.choice(("weft: 1\n", "weft: [", "weft: 1\nfabric: none.yaml\n", "\0\xff")))
        answer = self.c.run(["scontrol", "reconfigure"], seconds=300)
        self.c.write("weft.yaml", self.c.in_place(GOOD))
        self.reconfigured["bad" if bad else "good"] += 1
        rig.wait_for("slurmctld", lambda: self.c.ctld_answers() or not self.c.ctld_pid(), 300)
        if answer.code != 0 and self.c.ctld_pid() != pid and "agent_fini: left" in self.c.log()[told:]:
            # Slurm's own, where nodes are slow to answer: agent threads outlive agent_fini(), and the first that hears of
            # a job's end (job_epilog_complete, delete_step_records) calls the accounting plugin, which is gone. The new slurmctld, forked
            # before, may live on.
            self.agent_deaths += 1
            if not self.c.ctld_pid():
                self.c.start_ctld()
        elif bad and (answer.code == 0 or self.c.ctld_pid() != pid):
            self.c.check("a broken file is refused and the old slurmctld stays", False, answer)
        if not rig.wait_for("slurmctld", self.c.ctld_answers, 300):
            self.c.check("slurmctld answers after a reconfigure", False, answer)

    def restart(self):
        self.c.stop_ctld()
        self.c.start_ctld()
        self.restarts += 1

    def holders(self):
        """node -> jobs that hold it; every job of this test takes whole nodes or all of their GPUs."""
        out = {}
        for line in self.c.run(["squeue", "-h", "-t", "R,CF", "-o", "%i %N"]).out.splitlines():
            job, _, nodes = line.partition(" ")
            for node in rig.expand(nodes):
                out.setdefault(node, []).append(job)
        return out

    def look(self):
        self.looks += 1
        twice = {n: jobs for n, jobs in self.holders().items() if len(jobs) > 1}
        if twice:
            self.twice.append(twice)
        if not self.c.ctld_pid():
            self.c.check("slurmctld lives", False, "")

    def states(self):
        """JobId -> state, of all jobs that slurmctld knows."""
        out = self.c.run(["scontrol", "show", "jobs", "-o"]).out
        return {int(job): state for job, state in re.findall(r"^JobId=(\d+) .*? JobState=(\S+)", out, re.M)}

    def quarter_done(self):
        return sum(state == "COMPLETED" for state in self.states().values()) * 4 > len(self.jobs)

    def ended(self):
        states = self.states()
        return states if set(states.values()) <= ENDED else None

    def run(self, operations):
        kinds = ([self.submit] * 60 + [self.cancel] * 14 + [self.requeue] * 6 + [self.fail] * 6 + [self.repair] * 8 + [self.reconfigure] * 3)
        restart_at = {operations // 3, 2 * operations // 3}
        for i in range(operations):
            self.restart() if i in restart_at else self.rng.choice(kinds)()
            if i % 5 == 4:
                self.look()


def check_log(c):
    """What slurmctld said, and what Weft decided."""
    lines = c.log().splitlines()
    # A choice that is complete but late, on a machine that is starved, is told too ("deadline overrun"), and taken.
    unexplained = [l for l in lines if "error: weft: JobId" in l]
    c.check("no complaint about a job in slurmctld's log", not unexplained or VALGRIND, unexplained[:5])
    # (node_state mis-count, in plenty after --exclusive=topo, is Slurm's own: topology/block has it in the same soak.)
    fatal = [l for l in lines if re.search(r"fatal|assert|segfault|sigsegv|sigabrt", l, re.I) and "reconfiguration refused" not in l]
    c.check("nothing fatal in the log", not fatal, fatal[:5])
    decisions = c.decisions()
    odd = [d for d in decisions if "choice" in d and d["choice"]["verdict"] != "placed" and d["choice"]["cause"] not in EXPLAINED]
    c.check("no unexplained fallback", not odd, odd[:3])
    # Nodes that Weft chose and Slurm's code could not use.
    overruled = [d for d in decisions if d.get("taken") is False]
    c.check("Slurm could use what was chosen", not overruled, (len(overruled), overruled[:3]))


def main():
    rig.namespaces()
    if VALGRIND:
        watched.need()
    rng = random.Random(SEED)
    tree = Tree(leaves=NODES // 16, size=16, pods=max(1, NODES // 64), shuffled=True)
    with rig.Cluster(tree.names, files={"fabric.yaml": tree.yaml(), "weft.yaml": GOOD}, log_level="info",
                     conf="MinJobAge=86400\n", wrap=watched.VALGRIND if VALGRIND else ()) as c:
        c.check("Weft is at work", f"weft: fabric bound: {NODES} nodes" in c.log(), c.log()[-1500:])
        soak = Soak(c, tree, rng)
        start = time.monotonic()
        soak.run(OPERATIONS)
        soak.look()
        c.check(f"no node was given twice, in {soak.looks} looks", not soak.twice, soak.twice[:3])
        c.equal("two restarts", soak.restarts, 2)
        lost = sorted(set(soak.jobs) - set(soak.states()))
        c.check("no job was lost", not lost, lost)
        rig.wait_for("jobs that end by themselves", soak.quarter_done, 90, 1)
        soak.free_stuck_nodes(c.cancel_all(60))
        c.check("jobs can be cancelled to the last", c.cancel_all(60), c.run(["squeue"]).out)
        states = rig.wait_for("ends", soak.ended, 60, 1) or soak.states()
        left = {j: states.get(j) for j in soak.jobs if states.get(j) not in ENDED}
        c.check("every job ended", not left, left)
        by_weft = len(re.findall(r"weft\{leaves=", c.run(["scontrol", "show", "jobs", "-o"]).out))
        completed = sum(state == "COMPLETED" for state in states.values())
        c.check("many jobs ran to their end", completed * 4 > len(soak.jobs), collections.Counter(states.values()))
        c.check("many jobs were placed by Weft", by_weft * 5 > len(soak.jobs), (by_weft, len(soak.jobs)))
        c.stop_ctld()
        check_log(c)
        decision_log.check(c, "soak", OPERATIONS // 5)
        if VALGRIND:
            watched.check(c)
        print(f"{OPERATIONS} operations, {NODES} nodes, seed {SEED}: {len(soak.jobs)} jobs ({completed} completed), {soak.refused} refused, "
              f"{soak.reconfigured} reconfigurations, {soak.agent_deaths} deaths of slurmctld by its own agent threads, {len(c.decisions())} lines of decisions, {time.monotonic() - start:.0f} s")
        return c.finish()


if __name__ == "__main__":
    sys.exit(main())
