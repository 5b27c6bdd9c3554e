# SPDX-License-Identifier: BSD-3-Clause
"""A short soak with slurmctld under valgrind: no error and no leak whose stack goes through Weft's objects."""
import os
import sys

os.environ.setdefault("WEFT_SOAK_OPERATIONS", "25")
os.environ.setdefault("WEFT_SOAK_NODES", "32")
os.environ["WEFT_SOAK_VALGRIND"] = "1"

import soak  # noqa: E402
import watched  # noqa: E402

# The look-out itself: an error of ours and one of Slurm's, as valgrind writes them.
SAMPLE = """==7== Invalid read of size 4
==7==    at 0x4C2A: choose (in /usr/lib/x/weft/libweft_slurm.so)
==7==    by 0x4C2B: main (in /usr/sbin/slurmctld)
==7==
==7== 8 bytes in 1 blocks are definitely lost in loss record 1 of 2
==7==    at 0x4844: malloc (vg_replace_malloc.c:446)
==7==    by 0x4C2B: main (in /usr/sbin/slurmctld)
"""

if __name__ == "__main__":
    if len(watched.findings(SAMPLE)) != 1 or watched.findings(SAMPLE.replace("weft", "x")):
        sys.exit("the look-out for valgrind's findings is blind")
    sys.exit(soak.main())
