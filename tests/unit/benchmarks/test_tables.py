"""The guide states the figures of the committed rows, and a table says what was not reached."""

from pathlib import Path

import pytest

from benchmarks.algorithms import lanista, peers
from benchmarks.algorithms.cases import CASES
from benchmarks.algorithms.rows import Results, Row
from benchmarks.tables import GUIDE, SEEDS, algorithms_table, breakout_table, cooperative_table, with_tables


def test_the_guide_states_the_committed_figures() -> None:
    stated = GUIDE.read_text()
    assert with_tables(stated) == stated, "run python -m benchmarks.tables"


def test_another_figure_in_the_guide_is_found() -> None:
    stated = GUIDE.read_text()
    wrong = stated.replace(" ± 0.", " ± 9.", 1)
    assert wrong != stated and with_tables(wrong) != wrong


def test_a_guide_without_a_table_is_refused() -> None:
    with pytest.raises(SystemExit, match="must have the table algorithms once, not 0 times"):
        with_tables("no tables")


def test_what_was_not_reached_is_said(tmp_path: Path) -> None:
    results, case = Results(tmp_path / "rows.json"), CASES["dqn"]
    assert "dqn" not in algorithms_table(results)
    for seed, value in zip(SEEDS, (480.0, 490.0, 300.0), strict=True):
        results.add(Row.of(lanista.key(case, seed), [[5_000, 2.0, 20.0], [10_000, 4.0, value]]))
        results.add(Row.of(peers.key(case, seed), [[20_000, 16.0, 500.0]]))
    row = algorithms_table(results).splitlines()[2]
    assert "| 10,000, 10,000, not reached (best 300) | 4.0, 4.0, 4.0 |" in row
    assert "| sb3 | 20,000, 20,000, 20,000 | 16.0, 16.0, 16.0 | |" in row, "no ratio where a seed was not reached"
    results.add(Row.of(lanista.key(case, SEEDS[2]), [[5_000, 4.0, 500.0]]))
    assert algorithms_table(results).splitlines()[2].endswith("| 4.0 |")


def test_a_team_beats_ppo_where_the_intervals_are_apart() -> None:
    def rows(label: str, *returns: float) -> list[dict[str, object]]:
        return [{"task": "two_step", "algorithm": label, "return": value} for value in returns]

    found = cooperative_table([*rows("ppo", 7.0, 7.1, 7.2), *rows("qmix", 8.0, 8.0, 8.0), *rows("vdn", 7.0, 8.0, 9.0)])
    ppo, qmix, vdn = found.splitlines()[2:]
    assert ppo.endswith("| 7.00, 7.10, 7.20 | 7.10 ± 0.25 | |")
    assert qmix.endswith("| 8.00 ± 0.00 | yes |") and vdn.endswith("| no |")


def test_frames_a_second_are_steps_by_seconds() -> None:
    assert "| lanista | 6,000 | 600 | 12.5 |" in breakout_table(
        {"lanista": {"steps": 6_000, "seconds": 10.0, "return": 12.5}}
    )
