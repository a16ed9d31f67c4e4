"""docs/evidence/strength.md: slime volleyball, perfect play in connect four, and distance from equilibrium."""

from __future__ import annotations

from typing import Any

from benchmarks.evidence.markdown import NO_RUN, document, percent, score, table
from benchmarks.perfect_play.__main__ import BY as PERFECT_BY
from benchmarks.perfect_play.sets import SETS
from benchmarks.slime_volley.__main__ import PUBLISHED
from benchmarks.strength.exploitability import BY, GAMES, GOALS

Rows = dict[str, Any]
BEST_PUBLISHED = "GA, self-play"
"""The best self-play row that the package's documentation has."""
INTRODUCTION = """# Strength, measured

This page is written from `benchmarks/results/` by `python -m benchmarks.evidence`; a test fails where it states
anything else. What each measurement does, and how it is counted, is in [benchmarks](../benchmarks.md). A row is one
run; `cores` are those that it had, mostly shared with other measurements.
"""
SLIME = """## Slime volleyball

`python -m benchmarks.slime_volley` trains leagues that never meet the policy that comes with the package
`slimevolleygym`, and lets the main's newest version play 1,000 episodes against it. The score of an episode is points
won minus points lost, ± the deviation of single episodes. [How it is counted](../benchmarks.md#slime-volleyball).
"""
PERFECT = """## Connect four against perfect play

`python -m benchmarks.perfect_play` asks an exact solver. The share of positions in which the chosen move keeps the
game's value, in all positions of a set and, in brackets, in those where some moves give it away. Without a word on
search a player looks at the position once. [How it is counted](../benchmarks.md#perfect-play).
"""
EQUILIBRIUM = """## Distance from equilibrium

`python -m benchmarks.exploitability`: NashConv at the end of a run, 0 at an equilibrium, by seed where there are
several. A league ends after ten minutes or 40 generations, whichever is first; `seconds` are those of training until
then. OpenSpiel's own ran with low priority beside them, so that they had less than a core; CFR and PSRO know the whole
game. [How it is counted](../benchmarks.md#exploitability).
"""


def page(slime: Rows, perfect: Rows, equilibrium: Rows) -> str:
    """The whole page."""
    return document(
        INTRODUCTION, SLIME, slime_table(slime), slime_verdict(slime), PERFECT, perfect_table(perfect),
        solver_table(perfect), PUBLISHED_PERFECT, EQUILIBRIUM, equilibrium_table(equilibrium), goals_of(equilibrium),
        "![NashConv over minutes](../images/exploitability_minutes.svg)" if equilibrium else "",
    )  # fmt: skip


PUBLISHED_PERFECT = """AlphaZero.jl publishes errors of about 7 % in begin-hard, 2 % in begin-medium and 2 to 3 % in
middle-medium, with 600 simulations a move after hours on a GPU: shares of 93, 98 and 97 to 98 %."""


def slime_table(rows: Rows) -> str:
    """A line for each run, and the published scores below."""
    lines: list[list[object]] = [
        [key, row["cores"], f"{row['steps']:,}", f"{row['main_steps']:,}", row["minutes"]]
        + [score(row[way]["mean"], row[way]["deviation"]) for way in ("greedy", "sampled")]
        for key, row in rows.items()
        if "greedy" in row
    ]
    published = [
        [f"published: {name}", "", "", "", "", score(found["mean"], found["deviation"]), ""]
        for name, found in PUBLISHED.items()
    ]
    heads = ("run", "cores", "steps of all players", "steps of the main", "minutes", "greedy", "sampled")
    return table(heads, [*lines, *published])


def slime_verdict(rows: Rows) -> str:
    """Whether a run beats the best published self-play, said for each."""
    best = PUBLISHED[BEST_PUBLISHED]["mean"]
    said = [
        f"- {key}: {row['greedy']['mean']:+.3f} ± {row['greedy']['half_width']:.3f} (95 % of the mean), "
        f"{'above' if row['greedy']['mean'] - row['greedy']['half_width'] > best else _near(row, best)} {best:.3f}"
        for key, row in rows.items()
        if "greedy" in row
    ]
    return "\n".join([f"The best published self-play is {BEST_PUBLISHED.partition(',')[0]}'s {best:.3f}:", "", *said])


def _near(row: Rows, best: float) -> str:
    return "not certainly above" if row["greedy"]["mean"] > best else "below"


def perfect_table(rows: Rows) -> str:
    """A line for each player of each run."""
    lines = []
    for key, row in _ordered(rows):
        for player, found in _players(row):
            cells = [
                f"{percent(found['keeps'][name]['keeps'])} ({percent(found['keeps'][name]['keeps_where_it_matters'])})"
                for name in SETS
            ]
            lines.append([_name(key, player), row["cores"], *cells])
    return table(("player", "cores", *SETS), lines) or NO_RUN


def solver_table(rows: Rows) -> str:
    """Games from the empty board against the solver."""
    lines = []
    for key, row in _ordered(rows):
        for player, found in _players(row):
            first, second = found["moving_first"], found["moving_second"]
            cells = _name(key, player), _result(first), first["held"], _result(second), second["length"]
            lines.append(cells)
    heads = ("player", "moving first", "moves until the value was lost", "moving second", "length of those games")
    games = table(heads, lines)
    return f"Games against the solver, won, drawn and lost:\n\n{games}" if games else ""


def _ordered(rows: Rows) -> list[tuple[str, Rows]]:
    return sorted(rows.items(), key=lambda each: PERFECT_BY.index(each[0].partition(",")[0]))


def _players(row: Rows) -> list[tuple[str, Rows]]:
    return [(name, found) for name, found in row.items() if isinstance(found, dict) and "keeps" in found]


def _name(key: str, player: str) -> str:
    by, _, rest = key.partition(", ")
    told = rest.partition(" positions a set")[0].rpartition(",")[0] if "minutes" in rest else ""
    return ", ".join(part for part in (by, told, player if player.startswith("search") else "") if part)


def _result(found: Rows) -> str:
    return f"{found['wins']}, {found['draws']}, {found['losses']}"


def equilibrium_table(rows: Rows) -> str:
    """A line for each game and kind of training, at the end of its time."""
    by_case: dict[tuple[str, str, float], list[Rows]] = {}
    for row in rows.values():
        by_case.setdefault((row["game"], row["preset"], row["minutes"]), []).append(row)
    lines = []
    for (game, by, minutes), found in sorted(by_case.items(), key=lambda each: (GAMES.index(each[0][0]), _at(each))):
        ends = [row["points"][-1] for row in found]
        last, mixture = ([f"{end[column]:.4f}" for end in ends] for column in (1, 2))
        audits = [row.get("audit_agrees") for row in found]
        steps, seconds = (", ".join(f"{end[column]:,.0f}" for end in ends) for column in (0, 3))
        loads = ", ".join(f"{row['load']:.0f}" for row in found)
        audit = "" if None in audits else "agrees" if all(audits) else "disagrees"
        lines.append([game, by, f"{minutes:g}", ", ".join(last), ", ".join(mixture), steps, seconds, audit, loads])
    heads = (
        "game",
        "by",
        "minutes",
        "last version",
        "the pool's mixture",
        "steps, iterations or episodes",
        "seconds",
        "audit",
    )
    return table(heads, lines)


def _at(case: tuple[tuple[str, str, float], list[Rows]]) -> tuple[int, float]:
    return BY.index(case[0][1]), case[0][2]


def goals_of(rows: Rows) -> str:
    """Which leagues reached the goal of each game, with every seed that was run."""
    said = []
    for game, goal in GOALS.items():
        leagues = [row for row in rows.values() if row["game"] == game and not row["preset"].startswith("openspiel")]
        if not leagues:
            continue
        best = min(leagues, key=lambda row: float(row["points"][-1][2]))
        missed = {row["preset"] for row in leagues if row["points"][-1][2] >= goal}
        reached = sorted({row["preset"] for row in leagues} - missed, key=BY.index)
        who = f"reached by {', '.join(f'`{by}`' for by in reached)}" if reached else "reached by none"
        lowest = f"the lowest is `{best['preset']}`'s {best['points'][-1][2]:.4f}"
        said.append(f"- {game}: a mixture under {goal:g} {who}; {lowest}")
    return "\n".join(said)
