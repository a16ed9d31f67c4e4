"""Pages of strength, search and load state the recorded rows and no others."""

from __future__ import annotations

from typing import Any

from benchmarks.evidence import load, search, strength
from benchmarks.evidence.__main__ import pages
from benchmarks.perfect_play.sets import SETS

SLIME: dict[str, Any] = {
    "equal": {"episodes": 1000},
    "league, 30 minutes, seed 1": {
        "cores": 1, "steps": 3_000_000, "main_steps": 1_000_000, "minutes": 30.5,
        "greedy": {"mean": 0.4, "deviation": 0.8, "half_width": 0.05},
        "sampled": {"mean": 0.1, "deviation": 0.9, "half_width": 0.05},
    },
}  # fmt: skip
GAMES = {"wins": 1, "draws": 2, "losses": 3, "held": 4.5, "length": 20.5}
JUDGED = {
    "keeps": {name: {"keeps": 0.9, "keeps_where_it_matters": 0.75 if name != "end-easy" else None} for name in SETS},
    "moving_first": GAMES,
    "moving_second": GAMES,
}
PERFECT: dict[str, Any] = {
    "mcts-100, seed 1, 1000 positions a set": {"bot": JUDGED, "cores": 2},
    "alphazero, 10 minutes, seed 1, 1000 positions a set": {"network": JUDGED, "search-64": JUDGED, "cores": 2},
}
POINTS = [[100, 0.5, 0.4, 1.0], [200, 0.25, 0.015, 2.0]]
EQUILIBRIUM: dict[str, Any] = {
    "a": {
        "game": "kuhn_poker",
        "preset": "psro",
        "minutes": 10,
        "seed": 1,
        "points": POINTS,
        "load": 2,
        "audit_agrees": True,
    },
    "b": {"game": "leduc_poker", "preset": "mmd", "minutes": 10, "load": 3, "points": [[9, 2.0, 1.5, 3.0]]},
    "c": {"game": "leduc_poker", "preset": "openspiel-cfr", "minutes": 10, "load": 3, "points": [[9, 0.1, 0.1, 3.0]]},
}


def test_every_page_states_the_recorded_rows() -> None:
    wrong = [str(path) for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    assert wrong == [], "run python -m benchmarks.evidence"


def test_scores_are_judged_by_their_interval() -> None:
    text = strength.page(SLIME, {}, {})
    assert "| league, 30 minutes, seed 1 | 1 | 3,000,000 | 1,000,000 | 30.5 | +0.400 ± 0.800 | +0.100 ± 0.900 |" in text
    assert "+0.400 ± 0.050 (95 % of the mean), not certainly above 0.353" in text
    for mean, verdict in ((0.5, ", above 0.353"), (0.3, ", below 0.353")):
        row = SLIME["league, 30 minutes, seed 1"]
        changed = {"x": {**row, "greedy": {**row["greedy"], "mean": mean}}}
        assert verdict in strength.slime_verdict(changed)


def test_players_of_a_run_have_a_line_each() -> None:
    text = strength.page({}, PERFECT, {})
    cells = "| 90.0 % (75.0 %) " * 5 + "| 90.0 % (-) |"
    for name in ("alphazero, 10 minutes, seed 1", "alphazero, 10 minutes, seed 1, search-64", "mcts-100"):
        assert f"| {name} | 2 {cells}" in text
        assert f"| {name} | 1, 2, 3 | 4.5 | 1, 2, 3 | 20.5 |" in text
    assert text.index("| alphazero") < text.index("| mcts-100")


def test_goals_are_those_of_leagues_alone() -> None:
    text = strength.page({}, {}, EQUILIBRIUM)
    assert "| kuhn_poker | psro | 10 | 0.2500 | 0.0150 | 200 | 2 | agrees | 2 |" in text
    assert "| leduc_poker | openspiel-cfr | 10 | 0.1000 | 0.1000 | 9 | 3 |  | 3 |" in text
    assert "- kuhn_poker: a mixture under 0.02 reached by `psro`; the lowest is `psro`'s 0.0150" in text
    assert "- leduc_poker: a mixture under 0.33 reached by none; the lowest is `mmd`'s 1.5000" in text
    other = {**EQUILIBRIUM["a"], "seed": 2, "points": [[100, 0.5, 0.4, 1.0]]}
    assert "under 0.02 reached by none" in strength.goals_of({**EQUILIBRIUM, "d": other}), "one of two seeds missed it"


def test_rates_and_errors_of_search() -> None:
    rate = {"engine": "lanista", "network": "conv-res", "cores": 1, "tables": 256}
    speed = {
        "a": {**rate, "simulations": 16, "moves_per_second": 1234.5, "share": 0.876, "load": 1.2},
        "b": {**rate, "simulations": 64, "moves_per_second": 99.0, "share": None, "load": 3.4},
    }
    errors = {way: {"error": share} for way, share in (("network", 0.14), ("search-64", 0.06), ("search-200", 0.04))}
    bot = {"network": {"wins": 1, "draws": 2, "losses": 3}}
    text = search.page(speed, {"run": {"steps": 1000, "errors": errors, "mcts-1000": bot, "load": 2.0}})
    assert "| lanista | conv-res | 1 | 1,234 (share 0.88) | 99 | 1 to 3 |" in text
    assert "| run | 1,000 | 14.0 % | 6.0 % | 4.0 % | 2.0 |" in text
    assert "| run | mcts-1000 | network | 1 | 2 | 3 |" in text


def test_what_load_came_to() -> None:
    result = {
        "minutes": 90.0, "generations": 1200, "players": 30, "growth": {"api": 1.01}, "flat": True, "bounded": True,
        "longest_history": 1500, "database_kb_a_generation": 2.5, "p95_ms": {"trial": [10.4, 12.0]}, "load": [1.2, 3.9],
    }  # fmt: skip
    call = {"call": "trial", "p50": 10.2, "p95": 20.6, "limit": 100.0, "api_cpu": 1.23, "postgres_cpu": 0.04}
    run = {"players": 300, "matches": 1_000_000, "requests": 400, "load": 0.5, "calls": [call, {**call, "p95": 120.0}]}
    stream = {"readers": 200, "complete": 200, "events": 500}
    piece = {"cases": 1500, "server_errors": 0, "failures": {"ST112 Slow": 2}, "seconds": 60, "load": 2.5}
    text = load.page(
        {"now": {"commit": "abc", "result": result}, "later": {}}, {"now": {**run, "events": stream}}, {"1": piece}
    )
    assert "| now | abc | 90.0 | 1,200 | 30 | yes | 1,500 | 2.5 kB | 1 to 4 |" in text
    assert "memory of each part then over before: api 1.010" in text and "trial 10 then 12" in text
    assert "1 of 2 calls within their limit. 200 of 200 followers got all 500 events" in text
    assert "| trial | 10 | 21 | 100 | 1.2, 0.0 |" in text
    assert (
        "1,500 requests in 1 pieces, 0 answers with a 5xx." in text and "| 1 | 1,500 | 0 | ST112 Slow: 2 | 60 |" in text
    )
    assert load.page({}, {}, {}).count("No run is recorded yet.") == 2


def test_what_was_not_run_is_said() -> None:
    assert search.page({}, {}).count("No run is recorded yet.") == 2
    assert strength.page({}, {}, {}).count("No run is recorded yet.") == 1
