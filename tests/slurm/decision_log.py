# SPDX-License-Identifier: BSD-3-Clause
"""What a decision log that slurmctld wrote must stand: `weft replay` to the byte, `weft stats` against a count of its own."""
import collections
import math
import re

import rig

SAMPLE = re.compile(r'([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="[^"\\\n]*",?)*)\})? (\S+)')


def parse_prometheus(text):
    """(family -> type, (name, labels) -> value) of the text exposition format; ValueError where a line breaks its rules."""
    types, samples = {}, {}
    if not text.endswith("\n"):
        raise ValueError("no line end at the end")
    for line in text[:-1].split("\n"):
        comment = re.fullmatch(r"# (HELP|TYPE) ([a-z_:][a-z0-9_:]*) (.+)", line)
        if comment:
            kind, name, rest = comment.groups()
            if kind == "TYPE":
                if name in types or rest not in ("counter", "gauge", "histogram"):
                    raise ValueError(line)
                types[name] = rest
            continue
        found = SAMPLE.fullmatch(line)
        if not found:
            raise ValueError(line)
        name, labels, value = found.groups()
        family = re.sub(r"_(bucket|sum|count)$", "", name)
        if types.get(name) != "counter" and types.get(family) != "histogram":
            raise ValueError(f"no TYPE before {line}")
        key = (name, tuple(sorted(re.findall(r'([a-z_]+)="([^"]*)"', labels or ""))))
        if key in samples:
            raise ValueError(f"twice: {line}")
        samples[key] = float(value)
    return types, samples


def bad_histograms(types, samples):
    """Families whose buckets do not rise to their count."""
    bad = []
    for family in [name for name, kind in types.items() if kind == "histogram"]:
        rising = sorted((float(dict(labels)["le"].replace("+Inf", "inf")), value) for (name, labels), value in samples.items()
                        if name == family + "_bucket")
        values = [value for _, value in rising]
        if not rising or rising[-1][0] != math.inf or values != sorted(values) or values[-1] != samples[(family + "_count", ())]:
            bad.append(family)
    return bad


def count(lines):
    """The samples that `weft stats` must give, but for buckets, from the log's lines."""
    wanted = collections.Counter()
    for line in lines:
        if "outcome_of" in line:
            wanted["weft_outcomes_total", (("taken", str(line["taken"]).lower()),)] += 1
            if not line["taken"]:
                wanted["weft_fallbacks_total", (("cause", "stock_overruled"),)] += 1
            continue
        choice, job = line["choice"], line["job"]
        wanted["weft_decisions_total", (("cause", choice["cause"]), ("mode", job["mode"]), ("verdict", choice["verdict"]))] += 1
        wanted["weft_decision_seconds_count", ()] += 1
        wanted["weft_decisions_repeated_total", ()] += "repeated" in line
        wanted["weft_decisions_to_wait_total", ()] += "worth_waiting" in choice
        wanted["weft_decision_seconds_sum", ()] += line["elapsed_us"] / 1e6
        if choice["verdict"] == "delegate":
            wanted["weft_fallbacks_total", (("cause", choice["cause"]),)] += 1
        if choice["verdict"] == "placed":
            for key, value in (("nodes_total", choice["node_count"]), ("leaves_sum", choice["leaves"]), ("leaves_count", 1),
                               ("pods_sum", choice["pods"]), ("pods_count", 1)):
                wanted[f"weft_placed_{key}", ()] += value
            wanted["weft_cross_spine_bytes_total", ()] += choice.get("cross_spine_bytes", 0)
    return wanted


def check(cluster, what, least=1):
    """Both, for the log beside slurm.conf. slurmctld must be stopped: it writes the last lines as it ends."""
    path, lines = cluster.path("decisions.jsonl"), cluster.decisions()
    decisions = [line for line in lines if "choice" in line]
    cluster.check(f"{what}: the log holds decisions", len(decisions) >= least, len(decisions))
    replayed = rig.weft("replay", path, "--config", cluster.path("weft.yaml"), seconds=600, good=(0, 1))
    wanted = f"{len(decisions)} decision{'s' if len(decisions) != 1 else ''}: {len(decisions)} equal, 0 different, 0 on another fabric"
    cluster.check(f"{what}: each decision made again is equal to the byte", wanted in replayed, replayed[-3000:])
    text = rig.weft("stats", path)
    try:
        types, samples = parse_prometheus(text)
    except ValueError as error:
        cluster.check(f"{what}: weft stats writes Prometheus text", False, error)
        return
    cluster.equal(f"{what}: buckets rise to their counts", bad_histograms(types, samples), [])
    seen = {key: value for key, value in samples.items() if not key[0].endswith("_bucket") and value}
    wanted = {key: value for key, value in count(lines).items() if value}
    differ = {key: (seen.get(key), wanted.get(key)) for key in sorted(set(seen) | set(wanted))
              if not math.isclose(seen.get(key, 0), wanted.get(key, 0), rel_tol=1e-9)}
    cluster.equal(f"{what}: weft stats counts what the log says", differ, {})
