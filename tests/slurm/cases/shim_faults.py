# SPDX-License-Identifier: BSD-3-Clause
"""What the shim makes of a bridge that fails, lies or has nothing to say. The bridge is a double (double/)."""
import os
import sys

import rig

rig.namespaces()
NODES = [f"n{i:02d}" for i in range(1, 17)]


def last(count):
    return NODES[-count:]


with rig.Cluster(NODES, files={"weft.yaml": "double\n"}, plugins=os.environ["WEFT_SLURM_DOUBLE"]) as c:
    log = c.log()
    c.check("the engine is told in the log", "weft: engine double loaded" in log, log[-2000:])

    job = c.sbatch("-N4", "--exclusive")
    c.wait_state(job, "RUNNING")
    c.equal("the bridge's nodes are the job's", c.job_nodes(job), last(4))
    c.equal("its rank order is in the job's record", c.rank_order(job), last(4)[::-1])
    c.check("and its summary", c.placement(job).get("leaves") == "1", c.job(job))
    c.cancel_all()

    job = c.sbatch("-N3", "--exclusive", "--extra=weft:say=error")
    c.wait_state(job, "RUNNING")
    c.equal("a bridge that refuses the request: stock selection", c.job_nodes(job), NODES[:3])
    c.cancel_all()

    for order, word in (("deadline", "too slow"), ("internal", "threw")):
        for round_ in (1, 2):
            job = c.sbatch("-N3", "--exclusive", f"--extra=weft:say={order}")
            c.wait_state(job, "RUNNING")
            c.equal(f"{order}: stock selection (job {round_})", c.job_nodes(job), NODES[:3])
            c.check(f"{order}: no placement claimed (job {round_})", c.placement(job).get("by") == "slurm", c.job(job))
            c.cancel_all()
        errors = [line for line in c.log().splitlines() if "error: weft" in line and word in line]
        c.check(f"{order}: logged as an error once", len(errors) == 1, errors)

    job = c.sbatch("-N3", "--exclusive", "--extra=weft:say=bad_index")
    c.wait_state(job, "RUNNING")
    c.equal("a node index out of range: stock selection", c.job_nodes(job), NODES[:3])
    c.cancel_all()

    never = c.sbatch("-N3", "--extra=weft:say=never", fails=True)
    c.check("an impossible job is refused at submission", never.code != 0 and "opology" in never.err, never)
    c.check("with the reason in slurmctld's log", "can never run: the double will never have it" in c.log(), c.log()[-1500:])
    test_only = c.run(["sbatch", "--test-only", "-N3", "--extra=weft:say=never", "--wrap=true"])
    c.check("and by --test-only", test_only.code != 0, test_only)

    busy = c.sbatch("-N16", "--exclusive")
    c.wait_state(busy, "RUNNING")
    job = c.sbatch("-N2", "--exclusive")
    told = rig.wait_for("reason", lambda: c.reason(job) == "Resources", 5)
    c.check("a job without free nodes waits for Slurm's own reason", told, c.reason(job))
    c.cancel_all()

    # Held back by the bridge although nodes are idle, in words, for as long as it takes.
    busy = c.sbatch("-N1", "--exclusive")
    c.wait_state(busy, "RUNNING")
    job = c.sbatch("-N2", "--exclusive", "--extra=weft:say=not_now")
    told = rig.wait_for("reason", lambda: "double wants to wait" in c.reason(job), 15)
    c.check("squeue says in words why a job waits", told, c.reason(job))
    c.equal("it waits and is not held", (c.state(job), c.job(job).get("Priority") != "0"), ("PENDING", True))
    c.run(["scancel", str(busy)])
    c.equal("and runs when it can", c.wait_state(job, "RUNNING"), "RUNNING")
    c.equal("with no reason left", c.reason(job), "None")
    c.cancel_all()

    # What no node can mend: the job must stay, neither refused nor held.
    job = c.sbatch("-N2", "--exclusive", "--extra=weft:say=repair")
    told = rig.wait_for("reason", lambda: "double wants to wait" in c.reason(job), 15)
    c.check("a job that waits for a repair says so", told, c.reason(job))
    c.equal("it waits and is not held", (c.state(job), c.job(job).get("Priority") != "0"), ("PENDING", True))
    c.check("the user may change its mind", c.run(["scontrol", "update", f"JobId={job}", "Extra=none"]).code == 0)
    c.equal("and the job runs", c.wait_state(job, "RUNNING"), "RUNNING")
    c.cancel_all()

    # Nodes that Slurm's own code cannot use.
    job = c.sbatch("-N2", "--exclusive", "--extra=weft:say=too_few", fails=True)
    c.check("a choice that breaks the job's size is never run", job.code != 0, job)

    job = c.sbatch("-N2", "--switches=1@00:00:03", "--exclusive", "--extra=weft:say=switches")
    c.equal("--switches holds a job back", c.state(job), "PENDING")
    c.equal("until its time is up", c.wait_state(job, "RUNNING", 30), "RUNNING")
    c.cancel_all()

    job = c.sbatch("-N2", "--spread-job", "-n8", "--exclusive")
    c.wait_state(job, "RUNNING")
    c.check("--spread-job is Slurm's affair", NODES[0] in c.job_nodes(job), c.job_nodes(job))
    c.cancel_all()

    kept = "burst buffer note"
    job = c.sbatch("-N2", "-H", "--exclusive")
    c.run(["scontrol", "update", f"JobId={job}", f"AdminComment={kept}"])
    c.run(["scontrol", "release", str(job)])
    c.wait_state(job, "RUNNING")
    c.check("what others wrote into the record stays", kept in c.job(job).get("AdminComment", ""), c.job(job))
    c.cancel_all()

    # The topology of a bridge that has none to show, and routing that it cannot do.
    shown = c.run(["scontrol", "show", "topology"])
    c.check("scontrol show topology says so", "Fabric=none" in shown.out, shown)
    wrong = c.run(["sbatch", "-N1", "-w", "switch{nowhere}", "--wrap=true"])
    c.check("an unknown switch is an error", wrong.code != 0, wrong)

    pid = c.ctld_pid()
    c.write("weft.yaml", "broken\n")
    bad = c.run(["scontrol", "reconfigure"])
    c.check("scontrol reconfigure with a bad file fails", bad.code != 0, bad)
    c.check("and says why", "nothing good" in bad.err + bad.out + c.log(), bad)
    c.equal("the old slurmctld lives on", c.ctld_pid(), pid)
    job = c.sbatch("-N4", "--exclusive")
    c.wait_state(job, "RUNNING")
    c.equal("with the old model", c.job_nodes(job), last(4))

    c.write("weft.yaml", "double reverse\n")
    good = c.run(["scontrol", "reconfigure"])
    c.check("a good file is taken", good.code == 0, good)
    rig.wait_for("new slurmctld", lambda: c.ctld_pid() not in (None, pid) and c.ctld_answers(), 30)
    c.check("by a new process", c.ctld_pid() != pid, c.ctld_pid())
    c.equal("the running job kept its nodes", (c.state(job), c.job_nodes(job)), ("RUNNING", last(4)))
    after = c.sbatch("-N4", "--exclusive")
    c.wait_state(after, "RUNNING")
    c.equal("the new node order is in force", sorted(c.job_nodes(after)), NODES[:4])
    c.cancel_all()

    held = c.sbatch("-N2", "--exclusive")
    c.wait_state(held, "RUNNING")
    nodes = c.job_nodes(held)
    c.write("weft.yaml", "broken\n")
    c.stop_ctld()
    c.start_ctld()
    c.check("a cold start with a bad file comes up, and says so", "error: weft: no fabric; stock selection" in c.log(), c.log()[-1500:])
    c.check("and why", "nothing good" in c.log().split("Terminate signal")[-1], c.log()[-1500:])
    c.equal("nodes keep the order that running jobs are stored in", c.table_order(NODES), NODES[::-1])
    c.check("which is told", "weft: nodes are in the last good start's order" in c.log(), c.log()[-1500:])
    c.equal("the running job kept its nodes", (c.state(held), c.job_nodes(held)), ("RUNNING", nodes))
    job = c.sbatch("-N2", "--exclusive", "--extra=weft:say=never")
    c.equal("jobs run by stock selection", c.wait_state(job, "RUNNING"), "RUNNING")
    c.cancel_all()

    # No good start before: stock order too.
    c.stop_ctld()
    os.unlink(c.path("state", "weft_node_order"))
    c.start_ctld()
    c.equal("without a kept order: by name", c.table_order(NODES), NODES)
    c.check("all nodes come back", rig.wait_for("idle nodes", lambda: c.count_idle() == len(NODES), 60), c.run(["sinfo", "-N"]).out)
    job = c.sbatch("-N2", "--exclusive")
    c.wait_state(job, "RUNNING")
    c.equal("and the first free nodes, as without a plugin", c.job_nodes(job), NODES[:2])
    c.cancel_all()
    sys.exit(c.finish())
