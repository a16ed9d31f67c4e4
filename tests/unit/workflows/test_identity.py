"""Who a worker was: whether a process of this machine is dead is only said where it is known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.temporal import identity
from orchestrator.temporal.identity import own_identity, parse_identity


def test_a_process_knows_itself_and_a_dead_one() -> None:
    assert not parse_identity(own_identity()).is_dead()
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        called = f"{process.pid}@here lanista-1.0 {identity._place()}/{identity._began(process.pid)}"
        assert not parse_identity(called).is_dead()
        process.kill()
    assert parse_identity(called).is_dead()


def test_another_process_of_the_same_id_is_another_one() -> None:
    assert parse_identity(f"{os.getpid()}@here lanista-1.0 {identity._place()}/1").is_dead()


def test_a_process_that_cannot_be_seen_is_not_taken_for_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = own_identity()
    place = identity._place()
    monkeypatch.setattr(identity, "_place", lambda: place)
    monkeypatch.setattr(identity, "_PROC", tmp_path)  # as where /proc hides the processes of other users
    assert identity._began(os.getpid()) is None
    assert not parse_identity(called).is_dead()
    folder = tmp_path / str(os.getpid())
    folder.mkdir()
    for text in ("", "1 (x) S 1 2", "garbage"):
        (folder / "stat").write_text(text)
        assert not parse_identity(called).is_dead()


def test_nothing_is_said_of_other_places_and_earlier_releases() -> None:
    for called in ("1@there lanista-1.0 another-boot/17", "4711@older lanista-1.0", "words"):
        assert not parse_identity(called).is_dead()
    assert parse_identity("1@there lanista-1.0 another-boot/17").shown == "1@there lanista-1.0"
