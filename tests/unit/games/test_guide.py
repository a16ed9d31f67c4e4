"""The guide to games is true: its code runs, and it names every game and bot of the catalog."""

import re
from pathlib import Path

import pytest

from orchestrator.catalog import Kind, names

GUIDE = (Path(__file__).parents[3] / "docs/guides/games.md").read_text()


def test_the_code_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    assert len(blocks) == 6
    scope: dict[str, object] = {}
    for block in blocks:
        exec(block, scope)
    printed = capsys.readouterr().out
    assert "o . .\n. x .\n. . x" in printed
    assert "4.747" in printed
    assert len(scope["moves"]) == 8  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Kind.GAME, Kind.BOT])
def test_the_guide_names_all_there_is(kind: Kind) -> None:
    for name, entry in names(kind).items():
        if entry.source == "built-in":
            assert f"`{name}`" in GUIDE
