# SPDX-License-Identifier: BSD-3-Clause
"""slurmctld under valgrind: every process of it, those of a reconfiguration too, and what was found in Weft's objects."""
import glob
import re
import shutil

import rig

# Plugins are unloaded before the leaks are counted: their names must be kept until then.
VALGRIND = ("valgrind", "--quiet", "--tool=memcheck", "--leak-check=full", "--show-leak-kinds=definite", "--keep-debuginfo=yes", "--num-callers=40",
            "--trace-children=yes", "--trace-children-skip=*/true,*/sh,*/mail", "--log-file=@DIR@/log/valgrind.%p")


def need():
    if not shutil.which("valgrind"):
        rig.skip("valgrind is not installed (packaging/setup slurm)")


def findings(text):
    """Errors of a valgrind log, one string each, whose stack goes through an object, a file or a function of Weft."""
    blocks = re.split(r"^==\d+==[ \t]*$", text, flags=re.M)
    ours = re.compile(r"^==\d+==\s+(?:at|by) 0x[0-9A-F]+: .*weft", re.M | re.I)
    return [block.strip() for block in blocks if ours.search(block)]


def check(cluster):
    texts = []
    for path in glob.glob(cluster.path("log", "valgrind.*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            texts.append(f.read())
    cluster.check("valgrind watched slurmctld, its restarts and reconfigurations", len(texts) >= 3, len(texts))
    all_of_them = sum(len(re.findall(r"^==\d+==\s+at 0x", text, re.M)) for text in texts)
    found = [finding for text in texts for finding in findings(text)]
    cluster.check("valgrind finds nothing in Weft", not found, f"{len(found)}:\n" + "\n\n".join(found[:5]))
    print(f"valgrind: {len(texts)} processes, {all_of_them} findings in Slurm's own code and its libraries")
