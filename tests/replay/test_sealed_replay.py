"""Histories replay with sealing as well: those from before it began, and those that it sealed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from api.worker import WORKFLOWS, sandbox
from orchestrator.sealing import KeyRing, KeyUse, sealed_options
from tests.replay.record import SEALED, SECRETS
from tests.replay.test_replay import FOLDER, HISTORIES, load

RECORDED = sorted(SEALED.glob("*.json"))


def replayer(since: datetime | None = None, ring: KeyRing | None = None) -> Replayer:
    options = sealed_options(ring or KeyRing(SECRETS), namespace="default", since=since, serves=True)
    return Replayer(
        workflows=WORKFLOWS,
        workflow_runner=sandbox(),
        data_converter=options["data_converter"],
        interceptors=options["interceptors"],
        namespace="default",  # seals are bound to it, and to the workflow's id, which is the name of the file
    )


PLAIN = [path for path in HISTORIES if path.parent == max(each.parent for each in HISTORIES)]
"""Those of the newest folder: the rest differ in what workflows did, not in how it was sent."""


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: str(path.relative_to(FOLDER).with_suffix("")))
async def test_a_history_from_before_sealing_replays(path: Path) -> None:
    await replayer(since=datetime.now(UTC)).replay_workflow(load(path))


async def test_a_plain_history_of_a_run_that_began_later_is_refused() -> None:
    with pytest.raises(NondeterminismError):  # the recorded run went on, this one fails at its start
        await replayer().replay_workflow(load(PLAIN[0]))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_a_sealed_history_replays(path: Path) -> None:
    await replayer().replay_workflow(WorkflowHistory.from_json(path.stem, path.read_text()))


async def test_a_sealed_history_waits_for_its_key() -> None:
    """It fails the workflow task, which is repeated, and not the workflow."""
    path = RECORDED[0]
    other = KeyRing({KeyUse.LEAGUE: ["n" * 32], KeyUse.TRAIN: ["m" * 32]})
    with pytest.raises(Exception, match="a key that this process does not have"):
        await replayer(ring=other).replay_workflow(WorkflowHistory.from_json(path.stem, path.read_text()))


def test_there_are_sealed_histories_of_a_trial_and_a_player() -> None:
    assert {path.stem for path in RECORDED} == {"trial-completed", "player-main-1"}
