"""When a workflow goes on in a new run: by its own count, or by the server's suggestion in runs that know of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from temporalio import workflow

from orchestrator.workflows.new_runs import new_run_is_due


class Run:
    """What the run under test is told, and which patches it asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, suggested: bool, patched: bool = True) -> None:
        self.asked: list[str] = []
        info = SimpleNamespace(is_continue_as_new_suggested=lambda: suggested)
        monkeypatch.setattr(workflow, "info", lambda: info)
        monkeypatch.setattr(workflow, "patched", lambda patch: self.asked.append(patch) or patched)


def test_the_count_alone_is_enough_and_asks_for_no_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, suggested=True)
    assert new_run_is_due(counted=True)
    assert run.asked == [], "a marker would be in every history"


def test_the_servers_suggestion_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, suggested=True)
    assert new_run_is_due(counted=False)
    assert run.asked == ["continue-when-suggested"]


def test_a_run_of_an_earlier_release_does_not_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Run(monkeypatch, suggested=True, patched=False)
    assert not new_run_is_due(counted=False)


def test_without_count_or_suggestion_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, suggested=False)
    assert not new_run_is_due(counted=False)
    assert run.asked == []
