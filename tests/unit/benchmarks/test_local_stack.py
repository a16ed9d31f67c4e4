"""The stack of a measurement starts on a busy machine too, and says why it cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.stacks.local_stack import NOT_READY, LocalStack
from lanista.stack import control


@pytest.mark.parametrize(
    ("said", "started"), [(f"Error: {NOT_READY} 120 s", True), ("Error: api keeps failing", False)]
)
def test_it_goes_on_waiting_where_up_gave_up(
    said: str, started: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def refuse(self: LocalStack, *arguments: str, check: bool = True) -> str:
        raise RuntimeError(said)

    monkeypatch.setattr(LocalStack, "lanista", refuse)
    monkeypatch.setattr(LocalStack, "start", lambda self: begun.append("start"))
    stack = LocalStack(tmp_path, {})
    if started:
        stack.up()
    else:
        with pytest.raises(RuntimeError, match="keeps failing"):
            stack.up()
    assert bool(begun) == started


def test_these_are_the_words_of_up() -> None:
    assert NOT_READY in Path(control.__file__).read_text(encoding="utf-8")
