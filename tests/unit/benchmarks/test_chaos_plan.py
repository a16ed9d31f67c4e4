"""A campaign's pieces: what they plan, how they are added up, and where a stopped one goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults import chaos
from benchmarks.faults.campaign.plan import EVERYWHERE, GROUNDS, SPECIAL, ground_of, plan_piece
from benchmarks.faults.campaign.tally import audited, quiet, read_rows, summed, write_rows
from benchmarks.faults.kinds.table import FAULTS

CLEAN = {"lost": 0, "doubled": 0, "orphaned": 0, "damaged": 0, "ok": True}


def row(piece: int, *faults: tuple[str, float, float], audits: tuple[int, ...] = (), **values: Any) -> dict[str, Any]:
    made = [{"kind": kind, "recovery_s": waited, "load": load} for kind, waited, load in faults]
    found = {"piece": piece, "ground": "small disk", "state": "done", "generations": 10, "seconds": 100.0}
    found |= {"steps": 500, "calm_steps_s": 10, "faults": made}
    return found | {"audits": [{"after": after, **CLEAN} for after in audits]} | values


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_piece_makes_every_kind_of_its_ground_and_the_same_ones_again(ground: str) -> None:
    plan = plan_piece(3, ground, 30)
    assert plan == plan_piece(3, ground, 30) and len(plan) == 30
    assert set(SPECIAL[ground]) <= set(plan) <= set(FAULTS)
    assert plan.count("upgrade") == ("upgrade" in SPECIAL[ground])
    assert "postgres" not in plan or ground != "outside stores"
    assert len(plan_piece(3, ground, 4)) == 4


def test_a_campaign_makes_every_kind() -> None:
    pieces = [plan_piece(piece, ground_of(piece), 30) for piece in range(1, len(GROUNDS) + 1)]
    assert {kind for plan in pieces for kind in plan} == set(FAULTS)
    assert set(EVERYWHERE) <= set(FAULTS)


def test_pieces_are_added_up_and_only_audited_faults_count(tmp_path: Path) -> None:
    file = tmp_path / "chaos.json"
    first = row(1, ("api", 1.0, 0.5), ("postgres", 3.0, 9.0), ("api", 90.0, 0.5), audits=(1, 2))
    damaged = {"after": 1, **CLEAN, "damaged": 2, "ok": False}
    second = row(2, ("supervisor", 8.04, 2.0), steps=1500, audits=()) | {"audits": [damaged]}
    write_rows([first, second], file)
    rows = read_rows(file)
    assert rows == [first, second]
    assert summed(rows) == {
        "kills": {"api": 1, "postgres": 1, "supervisor": 1},
        "generations": 20,
        "lost": 0,
        "doubled": 0,
        "orphaned": 0,
        "damaged": 2,
        "audits": 3,
        "audits_clean": 2,
        "median_recovery_s": 3.0,
        "longest_recovery_s": 8.0,
        "throughput_share": 1.0,
    }
    assert [len(audited(each)) for each in rows] == [2, 1]
    assert summed(quiet(rows))["kills"] == {"api": 1, "supervisor": 1}
    alone = [{**row, "alone": True} for row in rows]
    assert sum(summed(quiet(alone))["kills"].values()) == 3, "of these it was said that nothing else ran"
    assert read_rows(tmp_path / "none.json") == []


def test_a_stopped_piece_goes_on_or_is_closed_at_its_last_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chaos.json"
    stopped = row(4, ("api", 1.0, 0.5), ("api", 2.0, 0.5), audits=(1,), state="running", plan=["api"] * 3, trial="t")
    write_rows([stopped], file)
    ran: list[tuple[int, str, int]] = []

    def run_piece(self: chaos.Campaign, piece: dict[str, Any]) -> None:
        ran.append((piece["piece"], piece["ground"], len(piece["faults"])))
        while len(piece["faults"]) < len(piece["plan"]):
            piece["faults"].append({"kind": "api", "recovery_s": 1.0, "load": 0.1})
        piece["audits"].append({"after": len(piece["faults"]), **CLEAN})
        piece["state"] = "done"

    monkeypatch.setattr(chaos.Campaign, "_run_piece", run_piece)
    (tmp_path / "data" / "piece-4").mkdir(parents=True)
    chaos.Campaign(file, tmp_path / "data", GROUNDS, 2).run(3)
    assert ran == [(4, "small disk", 2)]
    ran.clear()
    chaos.Campaign(file, tmp_path / "gone", GROUNDS, 2).run(3)
    assert ran == [(5, "older code", 0)], "a new piece makes up for the faults that no audit followed"


def test_a_ground_that_cannot_be_had_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: chaos.Campaign, piece: dict[str, Any]) -> None:
        raise chaos.Skipped("only root can")

    monkeypatch.setattr(chaos.Campaign, "_run_piece", refuse)
    campaign = chaos.Campaign(tmp_path / "chaos.json", tmp_path, ("two hosts", "small disk"), 5)
    campaign.run(10)
    assert read_rows(tmp_path / "chaos.json") == []


def test_unknown_grounds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        chaos.parser().parse_args(["--grounds", "moon"])
    assert "moon: allowed are small disk" in capsys.readouterr().err
