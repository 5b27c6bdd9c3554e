# SPDX-License-Identifier: BSD-3-Clause
"""12,500 CLOUD nodes: what a whole decision of slurmctld costs (REQUEST_JOB_WILL_RUN of `sbatch --test-only -N512`) with no topology, with
topology/tree and with topology/weft, on an empty and a half busy cluster, and Weft's own share of it.

The three clusters stand side by side and are asked in turn, so that what else the machine does strikes all alike. Jobs are asked for
without a layout and with one. Each question is asked twice, as the schedulers do while nothing changes (then Weft remembers its answer), and
excludes a node of its own. WEFT_SCALE_REQUESTS: requests a cell (default 12). WEFT_SCALE_LIMIT: largest ratio of weft's mean to no
topology's (default 1.5: means of so few requests differ by a third from run to run; the aim is 1.10)."""
import json
import os
import random
import re
import statistics
import subprocess
import sys

import rig
from fabrics import Tree

REQUESTS = int(os.environ.get("WEFT_SCALE_REQUESTS", "12"))
LIMIT = float(os.environ.get("WEFT_SCALE_LIMIT", "1.5"))
PLUGINS = ("default", "tree", "weft")
JOBS = {"plain": [], "layout": ["--gpus-per-node=8", "--extra=weft:tp=8,pp=8,dp=64"]}
TREE = Tree(leaves=500, size=25, pods=25)
BUSY = sorted(random.Random(3).sample(TREE.names, len(TREE.names) // 2))
HALF = rig.compress(BUSY)
FREE = sorted(set(TREE.names) - set(BUSY))


def serve(plugin):
    """One cluster: answers the lines of standard input, JSON for each."""
    rig.namespaces()
    files = {"tree": {"topology.conf": TREE.topology_conf()}, "default": {}, "weft": {
        "fabric.yaml": TREE.yaml(), "weft.yaml": "weft: 1\nfabric: fabric.yaml\ndecision_log: @DIR@/decisions.jsonl\n"}}[plugin]
    with rig.Cluster(TREE.names, topology=f"topology/{plugin}", files=files, cloud=True, spank=False, log_level="error") as c:
        print(json.dumps(c.ctld_pid()), flush=True)
        for line in sys.stdin:
            if line.strip() == "half":
                print(json.dumps(c.run(["scontrol", "update", f"NodeName={HALF}", "State=DRAIN", "Reason=busy"], seconds=120).code), flush=True)
            elif line.strip() == "end":
                c.stop_ctld()  # writes the decision log out
                print(json.dumps([[d["elapsed_us"], bool(d["job"].get("spec")), len(rig.expand(d["free"]["usable"])), "repeated" in d]
                                  for d in c.decisions() if "elapsed_us" in d]), flush=True)
            else:
                kind, number = line.split()
                print(json.dumps(ask(c, [*JOBS[kind], "-x", FREE[int(number)]])), flush=True)


def ask(c, arguments):
    """Microseconds of one request in slurmctld."""
    before = spent(c)
    answer = c.run(["sbatch", "--test-only", "-N512", "--exclusive", *arguments, "--wrap=true"])
    if answer.code != 0:
        raise RuntimeError(f"{answer}")
    return spent(c) - before


def spent(c):
    found = re.search(r"REQUEST_JOB_WILL_RUN\s.*?total_time:(\d+)", c.run(["sdiag"]).out)
    return int(found.group(1)) if found else 0


class Server:
    def __init__(self, plugin):
        self.process = subprocess.Popen([sys.executable, *sys.argv, plugin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self):
        line = self.process.stdout.readline()
        try:
            return json.loads(line)
        except json.JSONDecodeError:  # it says why in what follows
            print(line + self.process.communicate()[0])
            sys.exit(self.process.returncode or 1)

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.answer()


def main():
    servers = {}
    for plugin in PLUGINS:
        servers[plugin] = Server(plugin)
        servers[plugin].answer()  # it is up
    cells = {}
    for state in ("empty", "half busy"):
        if state != "empty":
            for server in servers.values():
                server.say("half")
        for kind in JOBS:
            for i in range(REQUESTS + 1):
                for plugin, server in servers.items():
                    took = server.say(f"{kind} {(i + 1) // 2}")
                    if i > 0:  # the first warms up
                        cells.setdefault((state, kind, plugin), []).append(took)
    own = servers["weft"].say("end")
    print(f"{len(TREE.names)} nodes, 512-node jobs, {REQUESTS} requests a cell; ms: mean (ratio to no topology), median\n")
    print("| | " + " | ".join(f"{state}, {kind}" for state in ("empty", "half busy") for kind in JOBS) + " |\n|---|---|---|---|---|")
    ratios = []
    for plugin in PLUGINS:
        texts = []
        for state in ("empty", "half busy"):
            for kind in JOBS:
                mean, base = statistics.mean(cells[state, kind, plugin]), statistics.mean(cells[state, kind, "default"])
                ratios += [mean / base] if plugin == "weft" else []
                texts.append(f"{mean / 1000:.1f} ({mean / base:.2f}), {statistics.median(cells[state, kind, plugin]) / 1000:.1f}")
        print(f"| topology/{plugin} | " + " | ".join(texts) + " |")
    p99s = []
    for name, wanted in (("p50, p99", (False, True)), ("first time", (False,)), ("again", (True,))):
        texts = []
        for half in (False, True):
            for with_spec in (False, True):
                part = sorted(us for us, spec, usable, again in own
                              if spec == with_spec and (usable <= len(TREE.names) // 2) == half and again in wanted)
                p99s.append(part[min(len(part) - 1, len(part) * 99 // 100)])
                texts.append(f"{part[len(part) // 2] / 1000:.2f}, {p99s[-1] / 1000:.2f}")
        print(f"| Weft's own share, {name} | " + " | ".join(texts) + " |")
    print()
    good = max(ratios) <= LIMIT and max(p99s) <= 10000
    print(f"{'ok' if good else 'NOT OK'}  ratios at most {LIMIT}, p99 at most 10 ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]) if len(sys.argv) > 1 else main())
