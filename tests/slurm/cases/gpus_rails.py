# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on parts of nodes: under topology/weft they get GPUs on the same rails of all their nodes, near the cores they get; under
topology/tree, on the same busy cluster, they do not."""
import json
import random
import sys

import rig
from fabrics import Tree
from gpu_rig import Kinds, numbers

rig.namespaces()
TREE = Tree(leaves=2, size=8, pods=2)
LOW, HIGH = [0, 1, 2, 3], [4, 5, 6, 7]
CORES = 8  # a socket; GPUs 0-3 are on the first, 4-7 on the second
GRES = "AutoDetect=off\n" + "".join(f"Name=gpu File=@DIR@/gpu/gpu{i} Cores={'0-7' if i < 4 else '8-15'} Links={links}\n" for i in range(8)
                                    for links in [",".join("-1" if i == j else "18" for j in range(8))])
WEFT = "weft: 1\nfabric: fabric.yaml\ndeadline: 1s\ndecision_log: @DIR@/log/decisions.jsonl\n"


def cluster(plugin, gres=GRES):
    files = {"gres.conf": gres, "topology.conf": TREE.topology_conf()}
    if plugin == "topology/weft":
        files = {"gres.conf": gres, "fabric.yaml": TREE.yaml(), "weft.yaml": WEFT}
    return Kinds([(TREE.names, 2, CORES, rig.GPUS)], topology=plugin, files=files, spank=False)


def occupy(c, busy):
    """busy: node -> GPUs that other jobs hold, LOW or HIGH. One core each, so that cores are no reason to go elsewhere."""
    first = {}
    for node in busy:
        first[node] = c.sbatch("-w", node, "-N1", "-n1", "--gpus-per-node=4")
    for node, job in first.items():
        c.wait_state(job, "RUNNING")
    second = {node: c.sbatch("-w", node, "-N1", "-n1", "--gpus-per-node=4") for node in busy if busy[node] == HIGH}
    for node, job in second.items():
        c.wait_state(job, "RUNNING")
        c.run(["scancel", str(first[node])])
        rig.wait_for("end", lambda job=first[node]: c.state(job) in ("CANCELLED", "COMPLETED"), 20)
    held = {node: c.gpus((second if node in second else first)[node]).get(node) for node in busy}
    c.equal("the other jobs hold what they are to hold", held, busy)


def wrong_rails(gpus):
    """GPUs that are not on the rail that most nodes use for this place."""
    places = list(zip(*gpus.values()))
    return sum(len(p) - max(p.count(g) for g in p) for p in places)


def patterns():
    """Busy patterns in which each leaf has nodes of both kinds, and whole free ones."""
    rng = random.Random(11)
    for _ in range(3):
        busy = {}
        for nodes in TREE.leaf_nodes.values():
            kinds = [LOW] * 3 + [HIGH] * 3 + [None] * 2
            rng.shuffle(kinds)
            busy.update({node: kind for node, kind in zip(nodes, kinds) if kind})
        yield busy


def jobs(c):
    """Wrong rails of jobs one after another on each pattern, and how many GPUs they had."""
    wrong = had = 0
    for busy in patterns():
        occupy(c, busy)
        for nodes, count in ((3, 4), (4, 2), (5, 4)):
            job = c.sbatch(f"-N{nodes}", f"-n{nodes}", f"--gpus-per-node={count}")
            c.equal(f"{nodes} nodes of {count} GPUs start", c.wait_state(job, "RUNNING", 20), "RUNNING")
            gpus = c.gpus(job)
            c.check(f"each of {nodes} nodes gives {count} GPUs that nobody has",
                    len(gpus) == nodes and all(len(g) == count and not set(g) & set(busy.get(n, [])) for n, g in gpus.items()), gpus)
            wrong += wrong_rails(gpus)
            had += nodes * count
            c.last = gpus
            if c.weft:
                c.equal(f"{nodes} nodes of {count}: the same GPUs on all", len({tuple(g) for g in gpus.values()}), 1)
                near(c, job, gpus)
            c.run(["scancel", str(job)])
            rig.wait_for("end", lambda: c.state(job) == "CANCELLED", 20)
        c.cancel_all()
    return wrong, had


def near(c, job, gpus):
    """The cores are on the socket of the GPUs."""
    import re
    text = c.run(["scontrol", "show", "job", "-d", str(job)]).out
    for names, cores in re.findall(r"Nodes=(\S+) CPU_IDs=(\S+) Mem=\S+ GRES=", text):
        for name in c.expand(names):
            c.equal(f"cores of {name} are near its GPUs", {n // CORES for n in numbers(cores)}, {g // 4 for g in gpus[name]})


with cluster("topology/tree") as c:
    c.weft = False
    stock = jobs(c)
    code = c.finish()
if code:
    sys.exit(code)
with cluster("topology/weft") as c:
    c.weft = True
    ours = jobs(c)
    print(f"GPUs on the wrong rail: topology/tree {stock[0]} of {stock[1]}, topology/weft {ours[0]} of {ours[1]}")
    c.equal("no GPU on the wrong rail", ours[0], 0)
    c.check("where Slurm's own choice mixes", stock[0] > 0, stock)

    # What a task sees, and a SPEC.
    busy = dict(zip(TREE.order(), [LOW, HIGH, None, LOW, HIGH, HIGH, LOW, None] * 2))
    occupy(c, {n: g for n, g in busy.items() if g})
    job = c.sbatch("-N3", "-n6", "--ntasks-per-node=2", "--gpus-per-node=2", "--extra=weft:tp=2,dp=3",
                   script="srun sh -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'; sleep 60")
    c.wait_state(job, "RUNNING")
    gpus = c.gpus(job)
    seen = rig.wait_for("output", lambda: c.output(job).count("\n") == 6 and c.output(job), 30) or ""
    c.equal("tasks see the GPUs granted", {tuple(line.split()) for line in seen.splitlines()},
            {(n, ",".join(map(str, g))) for n, g in gpus.items()})
    c.equal("with a SPEC too they are the same on all nodes", len({tuple(g) for g in gpus.values()}), 1)
    c.equal("under one leaf", len(TREE.leaves(list(gpus))), 1)
    c.equal("the job's summary is Weft's", "by" in c.placement(job), False)
    # GPUs of a task; nodes that must be taken; more than is left on one rail.
    job = c.sbatch("-N2", "--ntasks-per-node=2", "--gpus-per-task=1", "-n4")
    c.wait_state(job, "RUNNING")
    c.equal("--gpus-per-task", len({tuple(g) for g in c.gpus(job).values()}), 1)
    c.check("the queue empties", c.cancel_all())
    occupy(c, {n: g for n, g in busy.items() if g})
    whole = next(n for n in TREE.order() if not busy[n])
    high = next(n for n in TREE.order() if busy[n] == LOW)
    job = c.sbatch("-N2", "-n2", "--gpus-per-node=2", "-w", f"{whole},{high}")
    c.wait_state(job, "RUNNING")
    c.equal("nodes that must be taken align too", c.gpus(job), {whole: [4, 5], high: [4, 5]})
    job = c.sbatch("-N16", "-n16", "--gpus-per-node=2")
    c.equal("a job that must mix rails still runs", c.wait_state(job, "RUNNING", 20), "RUNNING")
    gpus = c.gpus(job)
    c.check("on as few wrong rails as can be", len(gpus) == 16 and wrong_rails(gpus) <= 2 * 6, (wrong_rails(gpus), gpus))
    c.check("the queue empties", c.cancel_all())
    # Will it run, and when: the answer must not change what Slurm holds.
    blockers = c.sbatch("-N16", "-n16", "--gpus-per-node=8", "-t5")
    c.wait_state(blockers, "RUNNING")
    told = c.run(["sbatch", "--test-only", "-N2", "-n2", "--gpus-per-node=2", "--wrap=true"])
    c.check("--test-only on busy GPUs names a start", "to start at" in told.err, told)
    waits = c.sbatch("-N2", "-n2", "--gpus-per-node=2")
    c.equal("a job for busy GPUs waits", c.state(waits), "PENDING")
    c.run(["scancel", str(blockers)])
    c.equal("and runs when they are free", c.wait_state(waits, "RUNNING", 30), "RUNNING")
    c.equal("on the same rails", len({tuple(g) for g in c.gpus(waits).values()}), 1)
    c.cancel_all()
    # Every decision can be made again offline, the GPUs among it.
    lines = [json.loads(line) for line in open(c.path("log", "decisions.jsonl"), encoding="ascii")]
    chosen = [line["choice"]["gpus"] for line in lines if line.get("choice", {}).get("gpus")]
    c.check("decisions are logged with their GPUs", len(chosen) > 20, len(chosen))
    again = rig.weft("replay", c.path("log", "decisions.jsonl"))
    c.check("and replay to the byte", " 0 different" in again or "0 differ" in again, again[-500:])
    c.check("no fault", "internal fault" not in c.log() and "error: weft" not in c.log(),
            [line for line in c.log().splitlines() if "error" in line][:10])
    code = c.finish()
if code:
    sys.exit(code)

# A gres.conf without cores: Slurm counts devices, hands out the lowest, and says so to nobody but the record.
with cluster("topology/weft", "AutoDetect=off\nName=gpu File=@DIR@/gpu/gpu[0-7]\n") as c:
    busy = dict(zip(TREE.leaf_nodes["leaf001"], [LOW, HIGH, LOW, HIGH, LOW, HIGH, LOW, HIGH]))
    occupy(c, busy)
    others = c.sbatch("-N8", "-n8", "--gpus-per-node=8", "-w", rig.compress(TREE.leaf_nodes["leaf002"]))
    c.wait_state(others, "RUNNING")
    for count in (4, 2):
        job = c.sbatch("-N4", "-n4", f"--gpus-per-node={count}")
        c.wait_state(job, "RUNNING")
        c.equal(f"{count} GPUs without cores in gres.conf: the same on all nodes", [len(c.gpus(job)), len({tuple(g) for g in c.gpus(job).values()})], [4, 1])
        c.run(["scancel", str(job)])
        rig.wait_for("end", lambda: c.state(job) == "CANCELLED", 20)
    sys.exit(c.finish())
