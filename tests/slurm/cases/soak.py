# SPDX-License-Identifier: BSD-3-Clause
"""Random submissions, cancels, requeues, node failures and returns, reconfigurations (some with broken files) and restarts of
slurmctld on CLOUD nodes, all from one seed. Nothing may crash, no node may be given twice, every job must end.

WEFT_SOAK_OPERATIONS sets the number of operations (default 150; the long run is 2000), WEFT_SOAK_NODES that of nodes, WEFT_SOAK_SEED
the seed."""
import os
import random
import re
import sys
import time

import rig
from fabrics import Tree

OPERATIONS = int(os.environ.get("WEFT_SOAK_OPERATIONS", "150"))
NODES = int(os.environ.get("WEFT_SOAK_NODES", "256"))
SEED = int(os.environ.get("WEFT_SOAK_SEED", "1"))
GOOD = "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\n"
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "NODE_FAIL", "TIMEOUT", "PREEMPTED"}


class Soak:
    def __init__(self, cluster, tree, rng):
        self.c, self.tree, self.rng = cluster, tree, rng
        self.jobs, self.down, self.restarts, self.refused = [], set(), 0, 0
        self.reconfigured = {"good": 0, "bad": 0}

    def submit(self):
        nodes = self.rng.choice((1, 2, 4, 8, 12, 16, 24, 32, 48))
        spec = self.rng.choice((None, None, f"tp=8,dp={nodes}", f"tp=8,dp={nodes},max_leaves={max(1, nodes // 8 + 1)}",
                                f"tp=8,dp={nodes},segment=2" if nodes % 2 == 0 else None, "tp=7,dp=3"))
        arguments = [f"-N{nodes}", f"-t{self.rng.randint(1, 30)}", "--requeue"]
        arguments += self.rng.choice((["--exclusive"], ["--exclusive"], ["--gpus-per-node=8"], ["--exclusive=topo"]))
        if spec:
            arguments.append(self.rng.choice(("--weft=", "--extra=weft:")) + spec)
        answer = self.c.sbatch(*arguments, fails=True)
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
        node = self.rng.choice(self.tree.names)
        self.c.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=soak"])
        self.down.add(node)

    def repair(self):
        if self.down:
            node = self.rng.choice(sorted(self.down))
            self.c.run(["scontrol", "update", f"NodeName={node}", "State=RESUME"])
            self.down.discard(node)

    def reconfigure(self):
        bad = self.rng.random() < 0.5
        pid = self.c.ctld_pid()
        if bad:
            self.c.write("weft.yaml", self.rng.choice(("weft: 1\n", "weft: [", "weft: 1\nfabric: none.yaml\n", "\0\xff")))
        answer = self.c.run(["scontrol", "reconfigure"])
        self.c.write("weft.yaml", GOOD)
        self.reconfigured["bad" if bad else "good"] += 1
        if bad and (answer.code == 0 or self.c.ctld_pid() != pid):
            self.c.check("a broken file is refused and the old slurmctld stays", False, answer)
        if not rig.wait_for("slurmctld", self.c.ctld_answers, 60):
            self.c.check("slurmctld answers after a reconfigure", False, answer)

    def restart(self):
        self.c.stop_ctld()
        self.c.start_ctld()
        self.restarts += 1

    def holders(self):
        """node -> whole-node jobs that hold it."""
        out = {}
        lines = self.c.run(["squeue", "-h", "-t", "R,CF", "-o", "%i %N"]).out.splitlines()
        for line in lines:
            job, _, nodes = line.partition(" ")
            for node in self.c.expand(nodes):
                out.setdefault(node, []).append(job)
        return out

    def look(self):
        twice = {n: jobs for n, jobs in self.holders().items() if len(jobs) > 1}
        if twice:
            self.c.check("no node is given twice", False, twice)
        if not self.c.ctld_pid():
            self.c.check("slurmctld lives", False, "")

    def run(self, operations):
        kinds = ([self.submit] * 60 + [self.cancel] * 14 + [self.requeue] * 6 + [self.fail] * 6 + [self.repair] * 8 + [self.reconfigure] * 3)
        restart_at = {operations // 3, 2 * operations // 3}
        for i in range(operations):
            self.restart() if i in restart_at else self.rng.choice(kinds)()
            if i % 25 == 24:
                self.look()


def main():
    rig.namespaces()
    rng = random.Random(SEED)
    tree = Tree(leaves=NODES // 16, size=16, pods=max(1, NODES // 64), shuffled=True)
    with rig.Cluster(tree.names, files={"fabric.yaml": tree.yaml(), "weft.yaml": GOOD}, cloud=True, log_level="info",
                     conf="MinJobAge=86400\n") as c:
        c.check("Weft is at work", f"weft: fabric bound: {NODES} nodes" in c.log(), c.log()[-1500:])
        soak = Soak(c, tree, rng)
        start = time.monotonic()
        soak.run(OPERATIONS)
        soak.look()
        c.check("no node was given twice", not c.failed, c.failed)
        c.equal("two restarts", soak.restarts, 2)
        known = {int(m) for m in re.findall(r"^JobId=(\d+) ", c.run(["scontrol", "show", "jobs", "-o"]).out, re.M)}
        c.check("no job was lost", not set(soak.jobs) - known, sorted(set(soak.jobs) - known))
        c.check("jobs can be cancelled to the last", c.cancel_all(120), c.run(["squeue"]).out)
        # Those whose nodes were taken down are told to end again and again; that takes slurmctld a while.
        rig.wait_for("ends", lambda: all(c.state(j) in ENDED for j in soak.jobs[-60:]), 90, 1)
        states = {j: c.state(j) for j in soak.jobs}
        c.check("every job ended", set(states.values()) <= ENDED, {j: s for j, s in states.items() if s not in ENDED})
        lines = c.log().splitlines()
        unexplained = [l for l in lines if "error: weft: JobId" in l]
        c.check("no unexplained fallback", not unexplained, unexplained[:5])
        fatal = [l for l in lines if re.search(r"fatal|assert|segfault", l) and "reconfiguration refused" not in l]
        c.check("nothing fatal in the log", not fatal, fatal[:5])
        by_weft = len(re.findall(r"weft\{leaves=", c.run(["scontrol", "show", "jobs", "-o"]).out))
        c.check("many jobs were placed by Weft", by_weft * 5 > len(soak.jobs), (by_weft, len(soak.jobs)))
        print(f"{OPERATIONS} operations, seed {SEED}: {len(soak.jobs)} jobs, {soak.refused} refused, {soak.reconfigured} reconfigurations, "
              f"{time.monotonic() - start:.0f} s")
        return c.finish()


if __name__ == "__main__":
    sys.exit(main())
