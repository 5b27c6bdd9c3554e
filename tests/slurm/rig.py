# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster on one machine: munged, slurmctld and any number of slurmd, on the loopback of namespaces of its own.

Run under `namespaces()`: processes, mounts, host name and network are the cluster's alone, so nothing outlives the test and
clusters may stand side by side. Every wait is bounded. A `check` that fails prints what it saw and the tails of the logs. WEFT_RIG_KEEP=1 leaves a cluster's directory behind.
"""
import contextlib
import fcntl
import glob
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

GPUS = 8
CTLD = shutil.which("slurmctld", path="/usr/sbin:/usr/local/sbin")
SLURMD = shutil.which("slurmd", path="/usr/sbin:/usr/local/sbin")
SKIP = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def namespaces():
    """Runs this program again in namespaces of its own; returns inside."""
    if os.environ.get("WEFT_RIG_INSIDE") == "1":
        if os.getpid() == 1:
            _be_init()
        _loopback_up()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        for name in ("slurm", "slurmctld", "slurmd", "munge"):
            os.mkdir(f"/run/{name}", 0o755)
        socket.sethostname("ctl")
        with open("/run/hosts", "w", encoding="ascii") as f:
            f.write("127.0.0.1 localhost ctl\n")
        subprocess.run(["mount", "--bind", "/run/hosts", "/etc/hosts"], check=True)
        return
    if os.geteuid() != 0:
        skip("needs root: slurmd runs jobs as other users")
    if not CTLD or not SLURMD:
        skip("slurmctld or slurmd is not installed (packaging/setup slurm)")
    spaces = ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run(spaces + ["true"], capture_output=True).returncode != 0:
        skip("this machine allows no namespaces (unshare failed)")
    env = dict(os.environ, WEFT_RIG_INSIDE="1")
    sys.exit(subprocess.run(spaces + [sys.executable] + sys.argv, env=env).returncode)


def _be_init():
    """Process 1 buries what daemons leave behind; its child, in which this returns, is the test."""
    test = os.fork()
    if test == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == test:
            os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def _loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(sock, 0x8914, request)  # SIOCSIFFLAGS
        # A resolver that is asked for configured families (AI_ADDRCONFIG) does not count 127.0.0.1.
        address = struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("127.0.0.2"))
        fcntl.ioctl(sock, 0x8916, address)  # SIOCSIFADDR


def wait_for(what, probe, seconds=30, pause=0.1):
    """Calls probe() until it returns something true; that, or the last answer when the time is up."""
    end = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(pause)


class Result:
    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr

    def __repr__(self):
        return f"exit code {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class Cluster:
    """nodes: names in slurm.conf's order. files: name -> text, beside slurm.conf, with @DIR@ for their directory. conf: more lines of slurm.conf.
    wrap: a command that slurmctld runs under."""

    def __init__(self, nodes, topology="topology/weft", files=None, conf="", node_conf="", partitions=None, cloud=False,
                 plugins=None, spank=True, cpus=16, params="", log_level="debug", scheduler="sched/backfill", wrap=()):
        self.nodes, self.cloud, self.spank = list(nodes), cloud, spank
        self.dir = tempfile.mkdtemp(prefix="weft-slurm-")
        self.wrap = [part.replace("@DIR@", self.dir) for part in wrap]
        os.chmod(self.dir, 0o755)
        self.plugins = plugins or os.environ.get("WEFT_SLURM_PLUGINS", "")
        self.started = []
        self.checks = 0
        self.failed = []
        for name in ("state", "spool", "log", "gpu", "munge"):
            os.mkdir(self.path(name), 0o755)
        self.write("slurm.conf", self._conf(topology, conf, node_conf, partitions, cpus, params, log_level, scheduler))
        self.write("cgroup.conf", "CgroupPlugin=disabled\n")
        self.write("gres.conf", f"AutoDetect=off\nName=gpu File={self.path('gpu')}/gpu[0-{GPUS - 1}]\n")
        if spank:
            self.write("plugstack.conf", f"required {self._plugin('spank_weft.so')}\n")
        for name, text in (files or {}).items():
            self.write(name, self.in_place(text))
        for i in range(GPUS):  # any device files: Slurm does not open them
            os.mknod(self.path("gpu", f"gpu{i}"), 0o666 | 0o020000, os.makedev(240, i))
        self.env = dict(os.environ, SLURM_CONF=self.path("slurm.conf"), LC_ALL="C.UTF-8")
        for name in [n for n in self.env if n.startswith(("SLURM_", "SBATCH_", "SALLOC_", "SQUEUE_")) and n != "SLURM_CONF"]:
            del self.env[name]

    # files
    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def in_place(self, text):
        return text.replace("@DIR@", self.dir)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def _plugin(self, name):
        for place in self.plugins.split(":") + _plugin_dirs():
            if os.path.exists(os.path.join(place, name)):
                return os.path.join(place, name)
        return name

    def _conf(self, topology, conf, node_conf, partitions, cpus, params, log_level, scheduler):
        count = len(self.nodes)
        cloud = ""
        if self.cloud:
            cloud = ("SuspendProgram=/bin/true\nResumeProgram=/bin/true\nSuspendTime=INFINITE\nSuspendTimeout=5\n"
                     "ResumeTimeout=65000\nResumeRate=0\nSlurmctldParameters=idle_on_node_suspend\n")
        parts = partitions or "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={21000 + i}" for i, name in enumerate(self.nodes)
        ) if count <= 2000 else f"NodeName={compress(self.nodes)} NodeAddr=127.0.0.1"
        return f"""ClusterName=weft
SlurmctldHost=ctl(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={self.path('munge', 'socket')}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=19817
SlurmdPort=19818
StateSaveLocation={self.path('state')}
SlurmdSpoolDir={self.path('spool')}/%n
SlurmctldPidFile={self.path('slurmctld.pid')}
SlurmdPidFile={self.path('spool')}/%n.pid
SlurmctldLogFile={self.path('log')}/slurmctld.log
SlurmdLogFile={self.path('log')}/slurmd.log
SlurmctldDebug={log_level}
SlurmdDebug=info
PluginDir={':'.join([p for p in self.plugins.split(':') if p] + _plugin_dirs())}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout={0 if self.cloud else 300}
MessageTimeout=30
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType={scheduler}
SchedulerParameters={params or 'bf_interval=1,sched_interval=1,sched_min_interval=100000,default_queue_depth=1000,bf_max_job_test=1000'}
PriorityType=priority/basic
TopologyPlugin={topology}
GresTypes=gpu
MaxJobCount=20000
TreeWidth=16
KillWait=1
BatchStartTimeout=60
{cloud}{conf}
NodeName=DEFAULT Sockets=2 CoresPerSocket={cpus // 2} ThreadsPerCore=1 RealMemory=10000 Gres=gpu:{GPUS} State={'CLOUD' if self.cloud else 'UNKNOWN'} {node_conf}
{nodes}
{parts}
"""

    # daemons
    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.tails()
            raise
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None and not isinstance(value, SystemExit):
            self.tails()
        self.stop()
        if not os.environ.get("WEFT_RIG_KEEP"):
            shutil.rmtree(self.dir, ignore_errors=True)

    def start(self, seconds=120):
        self._start_munged()
        self.start_ctld()
        if not self.cloud:
            self.start_slurmd(self.nodes)
        idle = wait_for("nodes", lambda: self.count_idle() >= len(self.nodes), seconds, 0.2 if len(self.nodes) <= 2000 else 3)
        if not idle:
            raise RuntimeError(f"{self.count_idle()} of {len(self.nodes)} nodes came up in {seconds} s")

    def _start_munged(self):
        key = self.path("munge", "key")
        with open(key, "wb") as f:
            f.write(os.urandom(128))
        os.chmod(key, 0o400)
        subprocess.run(["munged", f"--socket={self.path('munge', 'socket')}", f"--key-file={key}", "--num-threads=4",
                        f"--pid-file={self.path('munge', 'pid')}", f"--log-file={self.path('munge', 'log')}",
                        f"--seed-file={self.path('munge', 'seed')}"], check=True, timeout=30, capture_output=True)

    def start_ctld(self, seconds=60, arguments=(), env=None):
        seconds *= 5 if self.wrap else 1
        started = subprocess.run([*self.wrap, CTLD, "-f", self.path("slurm.conf"), *arguments], env=dict(self.env, **(env or {})),
                                 timeout=seconds, capture_output=True, text=True)
        if started.returncode != 0:
            raise RuntimeError(f"slurmctld does not start: {started.stderr}")
        if not wait_for("slurmctld", self.ctld_answers, seconds):
            raise RuntimeError("slurmctld does not answer")

    def ctld_answers(self):
        return self.run(["scontrol", "ping"], seconds=15).out.count("UP") > 0

    def ctld_pid(self):
        with contextlib.suppress(OSError, ValueError), open(self.path("slurmctld.pid"), encoding="ascii") as f:
            pid = int(f.read())
            os.kill(pid, 0)
            return pid
        return None

    def stop_ctld(self, signal=15, seconds=60):
        seconds *= 5 if self.wrap else 1
        pid = self.ctld_pid()
        if pid:
            os.kill(pid, signal)
            if not wait_for("end of slurmctld", lambda: not _alive(pid), seconds):
                os.kill(pid, 9)

    def start_slurmd(self, names):
        """Side by side; a start can lose a race on a shared socket, so who is missing is started again."""
        for _ in range(5):
            missing = [n for n in names if not self.slurmd_pid(n)]
            for at in range(0, len(missing), 8):
                batch = [subprocess.Popen([SLURMD, "-f", self.path("slurm.conf"), "-N", n], env=self.env,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for n in missing[at:at + 8]]
                for process in batch:
                    process.wait(timeout=60)
            if wait_for("slurmd", lambda: all(self.slurmd_pid(n) for n in names), 5):
                return
        raise RuntimeError(f"no slurmd for {[n for n in names if not self.slurmd_pid(n)]}")

    def slurmd_pid(self, name):
        with contextlib.suppress(OSError, ValueError), open(self.path("spool", f"{name}.pid"), encoding="ascii") as f:
            pid = int(f.read())
            return pid if _alive(pid) else None
        return None

    def stop_slurmd(self, name):
        pid = self.slurmd_pid(name)
        if pid:
            os.kill(pid, 15)
            wait_for("end of slurmd", lambda: not _alive(pid), 10)

    def stop(self):
        self.stop_ctld(seconds=20)
        # The rest ends with the namespace; those with pid files are asked first.
        for name in self.nodes if not self.cloud else []:
            pid = self.slurmd_pid(name)
            if pid:
                os.kill(pid, 15)

    # commands
    def run(self, command, seconds=60, user=None, env=None, cwd="/tmp", text=None):
        more = {}
        if user:
            more = {"user": user, "group": "nogroup", "extra_groups": []}
        try:
            return Result(subprocess.run(command, env=dict(self.env, **(env or {})), cwd=cwd, timeout=seconds, input=text,
                                         capture_output=True, text=True, **more))
        except subprocess.TimeoutExpired as expired:
            return Result(subprocess.CompletedProcess(command, 124, str(expired.stdout or ""),
                                                      f"no end after {seconds} s\n{expired.stderr or ''}"))

    def count_idle(self):
        out = self.run(["sinfo", "-h", "-t", "idle", "-o", "%N"], seconds=60).out
        return len({node for part in out.split() for node in expand(part)})

    def sbatch(self, *arguments, script="sleep 300", user=None, env=None, fails=False):
        """The job's id; with fails=True the command's result."""
        text = script if script.startswith("#!") else f"#!/bin/sh\n{script}\n"
        out = self.path("log", "job-%j.out")
        os.chmod(self.path("log"), 0o1777)
        result = self.run(["sbatch", "--parsable", "-o", out, *arguments], user=user, env=env, text=text)
        if fails:
            return result
        if result.code != 0:
            raise RuntimeError(f"sbatch {arguments}: {result}")
        return int(result.out.strip().split(";")[0])

    def output(self, job):
        with contextlib.suppress(OSError), open(self.path("log", f"job-{job}.out"), encoding="utf-8") as f:
            return f.read()
        return ""

    def job(self, job):
        """scontrol show job as key -> value."""
        out = self.run(["scontrol", "show", "job", "-o", str(job)]).out
        return _fields(out)

    def state(self, job):
        return self.job(job).get("JobState", "")

    def wait_state(self, job, states, seconds=60):
        states = [states] if isinstance(states, str) else states
        wait_for("job", lambda: self.state(job) in states, seconds)
        return self.state(job)

    def job_nodes(self, job):
        return self.expand(self.job(job).get("NodeList", ""))

    def expand(self, hostlist):
        if not hostlist or hostlist == "(null)":
            return []
        return self.run(["scontrol", "show", "hostnames", hostlist]).out.split()

    def reason(self, job):
        return self.run(["squeue", "-h", "-j", str(job), "-o", "%r"]).out.strip()

    def cancel_all(self, seconds=60):
        self.run(["scancel", "--state=PENDING,RUNNING,SUSPENDED", "-u", "root,nobody"])
        self.run(["scancel", "-u", "root"])
        self.run(["scancel", "-u", "nobody"])
        done = wait_for("empty queue", lambda: not self.run(["squeue", "-h"]).out.strip(), seconds, 0.2)
        if done:
            wait_for("idle nodes", lambda: not self.run(["sinfo", "-h", "-t", "completing,allocated", "-N"]).out.strip(), seconds)
        return done

    def placement(self, job):
        """What Weft wrote into the job's record: key -> value, {} where nothing."""
        found = re.search(r"weft\{([^}]*)\}", self.job(job).get("SystemComment", ""))
        return dict(part.split("=", 1) for part in found.group(1).split() if "=" in part) if found else {}

    def rank_order(self, job):
        """Names in rank order: as published, else Slurm's."""
        placed = self.placement(job)
        return self.expand(placed["ranks"]) if "ranks" in placed else self.table_order(self.job_nodes(job))

    def table_order(self, nodes):
        """As Slurm ranks them: in the order of slurmctld's node table."""
        out = self.run(["scontrol", "show", "nodes", "-o"]).out
        table = re.findall(r"^NodeName=(\S+)", out, re.M)
        return [n for n in table if n in set(nodes)]

    def log(self, name="slurmctld"):
        with contextlib.suppress(OSError), open(self.path("log", f"{name}.log"), encoding="utf-8", errors="replace") as f:
            return f.read()
        return ""

    def decisions(self, name="decisions.jsonl"):
        """Lines of the decision log beside slurm.conf, [] where there is none."""
        with contextlib.suppress(OSError), open(self.path(name), encoding="ascii") as f:
            return [json.loads(line) for line in f]
        return []

    # checks
    def check(self, what, good, seen=""):
        self.checks += 1
        print(f"{'ok' if good else 'NOT OK'}  {what}", flush=True)
        if not good:
            self.failed.append(what)
            print(f"        saw: {seen}", flush=True)
        return bool(good)

    def equal(self, what, got, wanted):
        return self.check(what, got == wanted, f"{got!r}\n     wanted: {wanted!r}")

    def tails(self, lines=40):
        print("---- slurmctld.log, lines about weft")
        print("\n".join([line for line in self.log().splitlines() if "weft" in line][:lines]))
        for path in sorted(glob.glob(self.path("log", "slurm*.log"))):
            print(f"---- {os.path.basename(path)}")
            with open(path, encoding="utf-8", errors="replace") as f:
                print("".join(f.readlines()[-lines:]))

    def finish(self):
        """The case's exit code."""
        if self.failed:
            self.tails()
            print(f"{len(self.failed)} of {self.checks} checks failed: {self.failed}")
        else:
            print(f"{self.checks} checks passed")
        return 1 if self.failed or not self.checks else 0


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _plugin_dirs():
    return [d for d in sorted(glob.glob("/usr/lib/*/slurm-wlm") + glob.glob("/usr/lib*/slurm")) if os.path.isdir(d)]


def _fields(line):
    """scontrol -o: KEY=value pairs; a value runs to the next " KEY=" (SystemComment holds blanks and equals signs)."""
    text = re.sub(r"weft\{[^}]*\}", lambda m: m.group(0).replace(" ", "\0").replace("=", "\1"), line)
    pairs = re.findall(r"(?:^|(?<=\s))([A-Z][A-Za-z:/_]*)=(.*?)(?=\s+[A-Z][A-Za-z:/_]*=|\s*$)", text)
    return {key: value.replace("\0", " ").replace("\1", "=") for key, value in pairs}


def expand(hostlist):
    """Names of a hostlist as Slurm writes it: one bracket a part, ranges of equal width."""
    out = []
    for head, inner, tail in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?([^,\[]*)", hostlist):
        for part in inner.split(",") if inner else [None]:
            first, _, last = (part or "").partition("-")
            numbers = [f"{i:0{len(first)}d}" for i in range(int(first), int(last or first) + 1)] if part else [""]
            out += [f"{head}{number}{tail}" for number in numbers]
    return out


def compress(names):
    """Names of one prefix and width as a hostlist; others joined by commas."""
    parts = [re.fullmatch(r"(.*?)(\d+)", n) for n in names]
    if not names or not all(parts) or len({(p.group(1), len(p.group(2))) for p in parts}) != 1:
        return ",".join(names)
    runs = []
    for p in parts:
        i = int(p.group(2))
        if runs and runs[-1][1] + 1 == i:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    width = len(parts[0].group(2))
    inner = ",".join(f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in runs)
    return f"{parts[0].group(1)}[{inner}]"


def weft(*arguments, seconds=60, good=(0,)):
    """What the program prints, or an error that says why."""
    program = os.environ.get("WEFT_PROGRAM", "weft")
    done = subprocess.run([program, *arguments], timeout=seconds, capture_output=True, text=True)
    if done.returncode not in good:
        raise RuntimeError(f"weft {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def weft_json(*arguments):
    return json.loads(weft(*arguments))


RANKS = "srun sh -c 'echo rank $SLURM_PROCID $SLURMD_NODENAME'"


def ranks_of(text):
    """Node names in rank order from what RANKS printed, each node once."""
    lines = sorted((int(r), n) for r, n in re.findall(r"^rank (\d+) (\S+)$", text, re.M))
    order = []
    for _, name in lines:
        if name not in order:
            order.append(name)
    return order
