# SPDX-License-Identifier: BSD-3-Clause
"""What the shared objects show and need: exactly the symbols of their series, the shim and the SPANK plugin without C++."""
import os
import re
import subprocess
import sys

PLUGINS = os.environ["WEFT_SLURM_PLUGINS"]
SOURCE = os.environ["WEFT_SOURCE_DIR"]
failed = []


def equal(what, got, wanted):
    print(f"{'ok' if got == wanted else 'NOT OK'}  {what}")
    if got != wanted:
        failed.append(what)
        print(f"        too many: {sorted(got - wanted)}\n        missing: {sorted(wanted - got)}")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def exported(name):
    lines = output("nm", "-D", "--defined-only", os.path.join(PLUGINS, name)).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def needed(name):
    text = output("readelf", "-d", os.path.join(PLUGINS, name))
    return set(re.findall(r"\(NEEDED\).*\[(.*?)\]", text))


def asked_for():
    """syms[] of the series' own src/interfaces/topology.c, read in the tree that the plugin was built against."""
    with open(os.path.join(os.environ["WEFT_SLURM_TREE"], "src/interfaces/topology.c"), encoding="utf-8") as f:
        table = re.search(r"static const char \*syms\[\] = \{(.*?)\};", f.read(), re.S).group(1)
    return set(re.findall(r'"(\w+)"', table))


# Every plugin: what plugin.c looks for. And the two data symbols of topology/common that slurmctld's own must replace.
every = {"plugin_name", "plugin_type", "plugin_version", "init", "fini"}
series = asked_for()
equal("the series asks for 14 symbols", {str(len(series))}, {"14"})
equal("topology_weft.so shows them and nothing else", exported("topology_weft.so"),
      series | every | {"part_list", "idle_node_bitmap"})
equal("spank_weft.so shows a SPANK plugin's", exported("spank_weft.so"),
      {"plugin_name", "plugin_type", "plugin_version", "spank_plugin_version", "slurm_spank_init", "slurm_spank_init_post_opt",
       "slurm_spank_user_init", "slurm_spank_exit"})
equal("job_submit_weft.so shows a job_submit plugin's", exported("job_submit_weft.so"), every | {"job_submit", "job_modify"})
if os.path.exists(os.path.join(PLUGINS, "libweft_slurm.so")):
    equal("libweft_slurm.so shows the bridge alone", {s for s in exported("libweft_slurm.so") if not s.startswith("weft_bridge_")}, {"WEFT_BRIDGE_1"})
for name in ("topology_weft.so", "spank_weft.so", "job_submit_weft.so"):
    equal(f"{name} needs the C library alone", {n for n in needed(name) if not re.match(r"lib[cm]\.so|ld-linux", n)}, set())
    flags = output("readelf", "-d", os.path.join(PLUGINS, name))
    equal(f"{name} resolves functions when called, and lets others replace its data",
          set(re.findall(r"BIND_NOW|SYMBOLIC|\bNOW\b", flags)), set())
with open(os.path.join(SOURCE, "plugin/shim/24.11/topology_weft.c"), encoding="utf-8") as f:
    plugin_id = int(re.search(r"plugin_id = (0x[0-9a-f]+)", f.read()).group(1), 16)
equal("plugin_id is nobody else's and fits", {104 < plugin_id < 2**31}, {True})
print(f"{len(failed)} failed")
sys.exit(1 if failed else 0)
