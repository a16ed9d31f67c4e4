"""docs/evidence/load.md: a long run, reads of a large league, and fuzzing of the API."""

from __future__ import annotations

from typing import Any

from benchmarks.evidence.markdown import NO_RUN, document, table

Rows = dict[str, Any]
INTRODUCTION = """# Load, measured

This page is written from `benchmarks/results/` by `python -m benchmarks.evidence`; a test fails where it states
anything else. How each figure is counted is in [benchmarks](../benchmarks.md).
"""
LONG = """## Long runs

`python -m benchmarks.long_run`: twelve learning players of an `alphastar` league on connect four through a whole local
stack. Growth is the median memory of the last fifth of the samples over that of the second fifth; flat is within 5 %.
[How it is counted](../benchmarks.md#long-runs).

The first run recorded was not flat. Other measurements shared its cores and left it hardly any CPU in the first half
hour, so that its league of 12 players became one of 145 only afterwards. Actors grew by the opponents that they keep:
up to 96 MB of them then, and at most 256 since. Postgres' backends grew from 65 to 159 MB, the store worker from 184 to
229 MB, Temporal's server from 150 to 192 MB: why, and where they end, is not known yet. A page of metrics has up to
500 points of each of 100 series and is computed anew after each commit, so it takes longer while its series fill.
"""
READS = """## Reads of a large league

`python -m benchmarks.api_load`: 300 players, a million matches, 20 clients at once on the machine of the server; in
milliseconds, of the newest run. [How it is counted](../benchmarks.md#the-api-under-load).
"""
FUZZING = """## Fuzzing of every call

`python -m benchmarks.api_schemathesis`: requests made from the API's own document, each piece with a fresh seed and a
stack of its own. Failures are named as schemathesis names them; ST112 is an answer that took longer than it likes. The
5xx of the first piece was looked at: a 503 of an order to a sweep, which the store worker, on a machine with a load of
18, did not take within the 20 s that such an order waits; the answer says so, and that it may be sent again.
"""


def page(long_runs: Rows, reads: Rows, fuzzing: Rows) -> str:
    """The whole page."""
    return document(
        INTRODUCTION, LONG, long_table(long_runs), *map(parts_of_run, long_runs.items()),
        READS, *([reads_of(reads)] if reads else [NO_RUN]),
        FUZZING, fuzzing_table(fuzzing),
    )  # fmt: skip


def long_table(runs: Rows) -> str:
    """A line for each run that ended."""
    lines = []
    for name, row in runs.items():
        if found := row.get("result"):
            flat, load = "yes" if found["flat"] else "no", " to ".join(f"{each:.0f}" for each in found["load"])
            cells = [name, row["commit"], found["minutes"], f"{found['generations']:,}", found["players"], flat]
            database = f"{found['database_kb_a_generation']} kB"
            lines.append([*cells, f"{found['longest_history']:,}", database, load])
    heads = ("run", "commit", "minutes", "generations", "players", "memory flat", "longest history")
    return table((*heads, "database a generation", "load"), lines) or NO_RUN


def parts_of_run(named: tuple[str, Rows]) -> str:
    """Memory of each part, and the reads at the beginning and at the end."""
    name, row = named
    found = row.get("result")
    if not found:
        return ""
    growth = ", ".join(f"{part} {times:.3f}" for part, times in found["growth"].items())
    reads = ", ".join(f"{call} {early:.0f} then {late:.0f}" for call, (early, late) in found["p95_ms"].items())
    said = f"The run of {name}: memory of each part then over before: {growth}.\n"
    return said + f"95th percentile of reads in the second and in the last fifth, ms: {reads}."


def reads_of(runs: Rows) -> str:
    """The newest run, the slowest call first."""
    name, row = max(runs.items())
    timed = sorted((call for call in row["calls"]), key=lambda call: -float(call["p95"]))
    lines = [
        [call["call"], f"{call['p50']:.0f}", f"{call['p95']:.0f}", f"{call['limit']:.0f}", _cpu(call)] for call in timed
    ]
    stream = row["events"]
    within = sum(call["p95"] < call["limit"] for call in timed)
    said = (
        f"{name}, load {row['load']} before it: {row['players']} players, {row['matches']:,} matches, "
        f"{row['requests']} requests of each call; {within} of {len(timed)} calls within their limit. "
        f"{stream['complete']} of {stream['readers']} followers got all {stream['events']} events in order."
    )
    return f"{said}\n\n{table(('call', 'p50', 'p95', 'limit', 'CPU a request: API, Postgres'), lines)}"


def _cpu(call: Rows) -> str:
    return f"{call['api_cpu']:.1f}, {call['postgres_cpu']:.1f}" if "api_cpu" in call else ""


def fuzzing_table(rows: Rows) -> str:
    """A line for each piece, and their sum."""
    if not rows:
        return "No piece is recorded yet."
    lines = []
    for seed, row in rows.items():
        found = "; ".join(f"{kind}: {times}" for kind, times in row["failures"].items()) or "none"
        lines.append([seed, f"{row['cases']:,}", row["server_errors"], found, row["seconds"], row["load"]])
    requests, errors = (sum(row[name] for row in rows.values()) for name in ("cases", "server_errors"))
    said = f"{requests:,} requests in {len(rows)} pieces, {errors} answers with a 5xx."
    return f"{said}\n\n{table(('seed', 'requests', '5xx', 'failures', 'seconds', 'load after it'), lines)}"
