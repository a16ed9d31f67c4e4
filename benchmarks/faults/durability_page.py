"""Write docs/evidence/durability.md, and the sentence that other pages state, from the recorded rows.

    python -m benchmarks.durability_page [--check]

With `--check` it writes nothing, and ends with 1 where a page states something else. A test does the same.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.faults.campaign.tally import FILE, QUIET_LOAD, Row, audited, quiet, read_rows, summed

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "durability.md"
SENTENCE = re.compile(r"(<!-- durability -->\n).*?(\n<!-- end of durability -->)", re.DOTALL)
"""How other pages state the result."""
INTRODUCTION = """# Durability, measured

This page is written from `benchmarks/results/` by `python -m benchmarks.durability_page`; a test fails where it, or
another page, states anything else. `python -m benchmarks.chaos --kills 1000` adds to the rows: it goes on where it was
stopped.
"""
METHOD = f"""## How it is counted

- A piece is a league of its own: four learning players of an `alphastar` league play connect four, 40,000 steps a
  generation, with snapshots and gates, on a stack with a data folder of its own.
- A wait counts from the end of a fault (for a kill the kill itself, for a pause the moment when the part continues)
  until the league has committed another generation, and so has the player that the fault hit, where it hit one. Where
  the supervisor died too, the wait includes starting the stack again.
- `lanista audit` runs after every tenth fault, while the league trains, and at the end. Faults that no audit followed
  do not count.
- Each fault is recorded with the machine's load average before it. Up to {QUIET_LOAD:g} the two cores count as
  otherwise idle. So do they in a piece of which `--alone` said that nothing else ran: its league alone makes up to 5.
- A checkpoint that was cut short is put back once its player has gone on, as from a backup: the audit would rightly
  call it damaged for ever.
"""
FOUND = """## What it found

The campaign stopped on these faults, which were mended before it went on; the fault that had found one was made again:

- An object store that answered with what is no HTTP: its client's error counted as one in the user's code, and ended
  the trial after a few attempts. Errors of such clients are outages now, which a generation waits for.
- The clock of a train worker stepped back while it trained: the generation ended before it began, the database refused
  it, and nothing was committed for the 400 s after which the campaign gives up; they are not in the tables. Durations
  are taken from the monotonic clock now.
"""
PEER_METHOD = """
`python -m benchmarks.peer_kills` runs RLlib's league-based self-play on connect four: its own callback of its own
example, on a Ray of its own, saved after every iteration. It is hit by the same SIGKILL once its league has two
copies more than the six networks of its start. Where it does not go on by itself within 90 s, or its driver is gone,
it is restored as RLlib's documentation says: by `Algorithm.from_checkpoint` on the last checkpoint, after starting
Ray again where that died. Members are those that the league matches, not the stored networks. The wait ends with the
first iteration trained again; here a script reacts at once, where a person would have to notice first.

Beside each row is what the campaign above came to where the same part of Lanista was killed. The waits are not quite
the same: Lanista's ends with its next commit, which may be of a generation that was trained before the kill, RLlib's
with an iteration that began after it. What Lanista lost is what the audits of the whole campaign found, after faults of
all kinds. A fault after which Lanista does not go on stops the campaign, and is named above instead.
"""
COUNTERPARTS = {"driver": "train-worker", "env runner": "ray actor", "ray head": "ray head"}
"""What has the same duty in Lanista: the train worker drives the crews."""


def page(rows: list[Row], others: dict[str, Any]) -> str:
    """The whole page."""
    parts = [INTRODUCTION, sentence(rows)]
    if rows:
        parts += [by_kind(rows), by_piece(rows)]
    return (
        "\n\n".join(
            part.strip()
            for part in [*parts, FOUND, peer(others.get("peer_kills", {}), rows), other_runs(others), METHOD]
        )
        + "\n"
    )


def sentence(rows: list[Row]) -> str:
    """What other pages may state."""
    total = summed(rows)
    faults = sum(total["kills"].values())
    if not faults:
        return "The campaign of a thousand faults has no recorded piece yet."
    text = (
        f"{faults} faults of {len(total['kills'])} kinds in {len(rows)} leagues, {total['generations']:,} generations: "
        f"lost {total['lost']}, doubled {total['doubled']}, orphaned {total['orphaned']}, damaged {total['damaged']}; "
        f"{total['audits_clean']} of {total['audits']} audits clean. "
        f"The next commit came after {total['median_recovery_s']} s "
        f"(median), {total['longest_recovery_s']} s at most, and "
        f"the leagues kept {total['throughput_share']:.0%} of their "
        "undisturbed steps a second."
    )
    calm = summed(quiet(rows))
    if calm["median_recovery_s"] is not None and calm["kills"] != total["kills"]:
        text += (
            f" On an otherwise idle machine ({sum(calm['kills'].values())} "
            f"of them) it was {calm['median_recovery_s']} s and "
            f"{calm['longest_recovery_s']} s."
        )
    elif calm["median_recovery_s"] is None:
        text += " All of them hit a machine that was busy with other work."
    return text


def by_kind(rows: list[Row]) -> str:
    """A line for each kind of fault."""
    waits: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for fault in audited(row):
            waits[fault["kind"]].append(fault)
    lines = ["| fault | times | median wait | longest wait | load |", "| --- | --- | --- | --- | --- |"]
    for kind, faults in sorted(waits.items()):
        seconds = [fault["recovery_s"] for fault in faults]
        load = [fault["load"] for fault in faults]
        lines.append(
            f"| {kind} | {len(faults)} | {median(seconds):.1f} s | "
            f"{max(seconds):.1f} s | {min(load):.0f} to {max(load):.0f} |"
        )
    return "\n".join(lines)


def by_piece(rows: list[Row]) -> str:
    """A line for each league."""
    lines = ["| piece | ground | commit | faults | generations | audits clean | load |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        faults = audited(row)
        load = [fault["load"] for fault in faults] or [0.0]
        clean = f"{sum(audit['ok'] for audit in row['audits'])} of {len(row['audits'])}"
        lines.append(
            f"| {row['piece']} | {row['ground']} | {row['commit']} "
            f"| {len(faults)} | {row['generations']:,} | {clean} | "
            f"{min(load):.0f} to {max(load):.0f}{', alone' if row.get('alone') else ''} |"
        )
    return "\n".join(lines)


def other_runs(others: dict[str, Any]) -> str:
    """Campaigns against single subjects, each with a file of its own."""
    lines = ["## Other campaigns", ""]
    if gateways := others.get("gateway_chaos"):
        total = gateways["total"]
        lines.append(
            f"- Games that call in (`python -m benchmarks.gateway_chaos`): "
            f"{total['kills']} kills, {total['played']:,} games: "
            f"lost {total['lost']}, doubled {total['doubled']}, harmed {total['harmed']}; longest wait "
            f"{total['longest_recovery_s']} s."
        )
    if sweep := others.get("sweep_kills"):
        lines.append(
            f"- A sweep of {sweep['trials']} trials by ASHA (`python "
            f"-m benchmarks.sweep_kills`): {sweep['kills']} kills, "
            f"{sweep['decisions']} decisions: lost {sweep['lost']}, "
            f"doubled {sweep['doubled']}, orphaned {sweep['orphaned']}; "
            f"the audit decides alike in all but {sweep['disagreeing']}."
        )
    return "\n".join(lines)


def peer(rows: dict[str, Any], own: list[Row]) -> str:
    """RLlib's league under the same deaths, and what they came to here."""
    lines = ["## The same deaths in RLlib", "", PEER_METHOD.strip(), ""]
    if not rows:
        return "\n".join([*lines, "No kill of it is recorded yet."])
    lines += [
        "| league | killed | times | goes on by itself | median wait "
        "| steps lost | members lost | what a person does | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows.values():
        by_kind[row["kind"]].append(row)
    for kind, found in sorted(by_kind.items()):
        lines += [_peer_line(kind, found), *_own_line(COUNTERPARTS[kind], own)]
    return "\n".join(lines)


def _peer_line(kind: str, found: list[Row]) -> str:
    steps = [max(0, row["steps_before"] - row["steps_saved"]) if not row["by_itself"] else 0 for row in found]
    members = [
        f"{len(set(row['members_before']) - set(row['members_after']))} of {len(row['members_before'])}"
        for row in found
    ]
    needed = "; ".join(sorted({", ".join(row["person"]) or "nothing" for row in found}))
    load = [row["load"] for row in found]
    return (
        f"| RLlib | {kind} | {len(found)} | {sum(row['by_itself'] for row in found)} of {len(found)} "
        f"| {median(row['seconds'] for row in found):.1f} s | {_range(steps)} | {', '.join(members)} | {needed} "
        f"| {min(load):.0f} to {max(load):.0f} |"
    )


def _own_line(kind: str, own: list[Row]) -> list[str]:
    found = [fault for row in own for fault in audited(row) if fault["kind"] == kind]
    if not found:
        return []
    lost, load = summed(own)["lost"], [fault["load"] for fault in found]
    return [
        f"| Lanista | {kind} | {len(found)} | {len(found)} of {len(found)} "
        f"| {median(fault['recovery_s'] for fault in found):.1f} s | {lost} | {lost} | nothing "
        f"| {min(load):.0f} to {max(load):.0f} |"
    ]


def _range(values: list[int]) -> str:
    least, most = min(values), max(values)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def with_sentence(text: str, rows: list[Row]) -> str:
    """A page with the sentence between its comments as the rows have it."""
    return SENTENCE.sub(lambda found: found[1] + sentence(rows) + found[2], text)


def pages() -> dict[Path, str]:
    """Every page that states a figure, as the rows have it."""
    rows = read_rows()
    names = ("gateway_chaos", "sweep_kills", "peer_kills")
    files = {name: FILE.with_name(f"{name}.json") for name in names}
    others = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}
    found = {PAGE: page(rows, others)}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if SENTENCE.search(text):
            found[path] = with_sentence(text, rows)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page differs")
    check = parser.parse_args().check
    differ = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in differ:
        print(f"{path.relative_to(ROOT)}: {'differs from the rows' if check else 'written'}")
        if not check:
            path.write_text(pages()[path], encoding="utf-8")
    sys.exit(1 if check and differ else 0)


if __name__ == "__main__":
    main()
