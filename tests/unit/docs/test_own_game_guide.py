"""The games of the guide are sound: one of each kind, played with random moves."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.documentation.blocks import ROOT, blocks_of
from lanista.games import check_game

GAMES = {"race": "Race", "bids": "Bids", "cards": "Cards", "aim": "Aim", "agree": "Agree"}


@pytest.mark.parametrize("name", GAMES)
def test_the_game_is_sound(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = [one for one in blocks_of(ROOT / "docs/start/own-game.md") if one.file == f"{name}.py"]
    (tmp_path / f"guide_{name}.py").write_text(block.text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = getattr(import_module(f"guide_{name}"), GAMES[name])
    report = check_game(lambda tables: made(tables=tables), games=40)
    assert report.problems == []
    assert {"play", "determinism", "rendering"} <= set(report.passed)
