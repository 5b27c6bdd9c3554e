# SPDX-License-Identifier: BSD-3-Clause
"""What an administrator sees: the topology with its faults, hostlist functions, RouteTree, files that lie about, nodes that only
one side knows, faults of the fabric, restarts."""
import re
import sys

import rig
from fabrics import Tree

rig.namespaces()
TREE = Tree(leaves=8, size=6, pods=2, shuffled=True)
HEALTH = "weft: 1\nhealth:\n  - {switch: leaf003, state: down}\n  - {link: [leaf005, spine02], bandwidth: 100Gb/s}\n"
WEFT = "weft: 1\nfabric: fabric.yaml\nhealth: health.yaml\ndeadline: 1s\n"
# Two nodes that the fabric does not know, and one of the fabric that Slurm does not know.
MISSING = TREE.leaf_nodes["leaf008"][-1]
NAMES = [n for n in TREE.names if n != MISSING] + ["x1", "x2"]
FILES = {"fabric.yaml": TREE.yaml(), "health.yaml": HEALTH, "weft.yaml": WEFT, "topology.yaml": "- topology: t\n",
         "topology.conf": "SwitchName=s0 Nodes=ALL\n"}
PARTS = (f"PartitionName=main Nodes={','.join(n for n in NAMES if n[0] == 'n')} Default=YES MaxTime=INFINITE State=UP\n"
         "PartitionName=odd Nodes=x1,x2 State=UP\nPartitionName=all Nodes=ALL State=UP\n")

with rig.Cluster(NAMES, files=FILES, partitions=PARTS, conf="TopologyParam=RouteTree\nDebugFlags=Route\n") as c:
    log = c.log()
    c.check("a stray topology.yaml is told", re.search(r"topology\.yaml is there.*remove it", log), log[:1500])
    c.check("and a topology.conf", re.search(r"topology\.conf is there", log), log[:1500])
    c.check("nodes that one side alone knows are counted", "2 only in slurm.conf, 1 only in the fabric" in log, log[:3000])
    c.check("and named", "x[1-2]" in log and MISSING in log, log[:3000])

    shown = c.run(["scontrol", "show", "topology"]).out
    lines = {m.group(1): m.group(0) for m in re.finditer(r"^SwitchName=(\S+).*$", shown, re.M)}
    c.equal("scontrol show topology lists every switch", sorted(lines), sorted(TREE.leaf_names + ["spine01", "spine02", "core"]))
    c.check("with tier, links and nodes", re.search(r"Tier=1 State=UP .*Links=\d+/\d+ .*NodeCnt=6 Nodes=n", lines["leaf001"]), lines["leaf001"])
    c.check("a switch that is down says so", "State=DOWN" in lines["leaf003"] and "Faults=" in lines["leaf003"], lines["leaf003"])
    c.check("and what hangs on it", "Tier=2" in lines["spine01"] and "leaf" in lines["spine01"], lines["spine01"])
    one = c.run(["scontrol", "show", "topology", "spine02"]).out.strip().splitlines()
    c.check("a switch filters", len(one) == 1 and one[0].startswith("SwitchName=spine02 "), one)
    node = TREE.leaf_nodes["leaf002"][0]
    above = c.run(["scontrol", "show", "topology", node]).out
    c.equal("a node filters", sorted(re.findall(r"SwitchName=(\S+)", above)), ["core", "leaf002", "spine01"])
    none = c.run(["scontrol", "show", "topology", "nowhere"])
    c.check("an unknown name is told", "no switch and no node named nowhere" in none.err, none)

    job = c.sbatch("-N6", "-w", "switch{leaf002}", "--exclusive")
    c.wait_state(job, "RUNNING")
    c.equal("switch{leaf002} in a node list", sorted(c.job_nodes(job)), TREE.leaf_nodes["leaf002"])
    c.cancel_all()
    made = c.run(["scontrol", "create", "reservation", "ReservationName=r", "StartTime=now", "Duration=10", "Users=root",
                  "Nodes=switch{leaf004}"])
    shown = c.run(["scontrol", "show", "reservation", "-o"]).out
    c.check("and in a reservation", made.code == 0 and "NodeCnt=6" in shown, (made, shown))
    c.run(["scontrol", "delete", "ReservationName=r"])

    # 35 good nodes are left of the fabric's; a job for all of them must not touch the leaf that is down.
    good = [n for n in NAMES if n[0] == "n" and TREE.leaf_of[n] != "leaf003"]
    job = c.sbatch(f"-N{len(good)}", "--exclusive", f"--extra=weft:dp={len(good)},tp=8", "--gpus-per-node=8", script=rig.RANKS)
    c.wait_state(job, ["COMPLETED", "FAILED"], 90)
    c.equal("a job on all sound nodes keeps off the leaf that is down", sorted(c.job_nodes(job)), sorted(good))
    c.equal("and starts everywhere, fanned out along the fabric", len(rig.ranks_of(c.output(job))), len(good))
    c.check("RouteTree is asked", "ROUTE: split_hostlist" in c.log(), "")
    more = c.sbatch(f"-N{len(good) + 1}", "--exclusive", f"--extra=weft:dp={len(good) + 1},tp=8", "--gpus-per-node=8")
    rig.wait_for("reason", lambda: c.reason(more) not in ("None", "Resources", "Priority"), 15)
    c.equal("a job for one more waits for the repair, neither refused nor held", (c.state(more), c.job(more).get("Priority") != "0"),
            ("PENDING", True))

    job = c.sbatch("-N2", "-p", "odd", script="srun hostname")
    c.equal("nodes that the fabric does not know still run jobs", c.wait_state(job, ["COMPLETED", "FAILED"]), "COMPLETED")

    # Broken in every way: the old model lives on.
    pid = c.ctld_pid()
    for what, name, text in (("a broken weft.yaml", "weft.yaml", "weft: 1\nfabric: [\n"), ("an unknown key", "weft.yaml", WEFT + "fabrik: x\n"),
                             ("a missing fabric", "weft.yaml", WEFT.replace("fabric.yaml", "gone.yaml")),
                             ("a broken fabric", "fabric.yaml", TREE.yaml() + "links: 3\n"), ("a broken health file", "health.yaml", "weft: 2\n")):
        c.write(name, text)
        bad = c.run(["scontrol", "reconfigure"])
        c.check(f"{what}: reconfigure is refused", bad.code != 0 and c.ctld_pid() == pid, bad)
        c.check(f"{what}: with file and line", re.search(r"reconfiguration refused: .*" + re.escape(name if "gone" not in text else "weft.yaml:2"),
                                                         c.log()), c.log()[-800:])
        c.write(name, FILES[name])
    c.check("the old model lives on", "State=DOWN" in c.run(["scontrol", "show", "topology", "leaf003"]).out)

    c.write("health.yaml", "weft: 1\nhealth: []\n")
    fixed = c.run(["scontrol", "reconfigure"])
    rig.wait_for("new slurmctld", lambda: c.ctld_pid() not in (None, pid) and c.ctld_answers(), 30)
    c.check("a mended fabric is taken at reconfigure", fixed.code == 0 and "State=UP" in c.run(["scontrol", "show", "topology", "leaf003"]).out, fixed)
    c.equal("and the job that waited for it runs", c.wait_state(more, "RUNNING"), "RUNNING")

    # A restart: running jobs keep what they have, waiting ones their SPEC.
    placed, nodes = c.placement(more), c.job_nodes(more)
    waiting = c.sbatch("-N6", "--exclusive", "--weft=tp=8,dp=6,max_leaves=1", "--gpus-per-node=8")
    c.stop_ctld()
    c.start_ctld()
    rig.wait_for("nodes", lambda: c.state(more) == "RUNNING", 30)
    c.equal("a restart: the running job is as it was", (c.state(more), c.job_nodes(more), c.placement(more)), ("RUNNING", nodes, placed))
    c.run(["scancel", str(more)])
    c.equal("a restart: the waiting job runs in its turn", c.wait_state(waiting, "RUNNING", 60), "RUNNING")
    c.equal("a restart: by its SPEC", len(TREE.leaves(c.job_nodes(waiting))), 1)
    c.cancel_all()

    # A cold start without a fabric.
    c.write("weft.yaml", "weft: 1\n")
    c.stop_ctld()
    c.start_ctld()
    c.check("a cold start with a bad file says so", "error: weft: no fabric; stock selection" in c.log(), c.log()[-1500:])
    c.check("scontrol show topology too", "Fabric=none" in c.run(["scontrol", "show", "topology"]).out)
    job = c.sbatch("-N4", "--exclusive", "--extra=weft:tp=8,dp=4", script=rig.RANKS)
    c.equal("and jobs run", c.wait_state(job, ["COMPLETED", "FAILED"], 60), "COMPLETED")
    sys.exit(c.finish())
