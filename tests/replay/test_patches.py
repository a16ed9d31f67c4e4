"""The table of patches in the documentation is that of the code, and of what the recorded histories need."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner

from api.worker import WORKFLOWS
from tests.replay.test_replay import FOLDER, HISTORIES, load

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "changing-workflows.md"
CALL = re.compile(r"workflow\.(patched|deprecate_patch)\(\s*\"([^\"]+)\"")
STATES = {"patched": "active", "deprecate_patch": "deprecated"}


def rows() -> dict[str, list[str]]:
    """The table's rows by patch: workflow, state, change, histories."""
    found = re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert len({name for name, _ in found}) == len(found), "a patch has one row"
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in found}


def test_every_patch_in_the_code_has_a_row_with_its_state() -> None:
    sources = sorted((ROOT / "orchestrator" / "workflows").glob("*.py"))
    calls = [call for path in sources for call in CALL.findall(path.read_text(encoding="utf-8"))]
    assert len(calls) == len({name for _, name in calls}), "an id is used in one place"
    assert {name: STATES[kind] for kind, name in calls} == {name: cells[1] for name, cells in rows().items()}


async def test_the_table_names_the_histories_that_need_a_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    without: dict[str, set[str]] = defaultdict(set)
    patched = workflow.patched

    def note(name: str) -> bool:
        taken = patched(name)
        if not taken:
            without[name].add(str(path.parent.relative_to(FOLDER)))
        return taken

    monkeypatch.setattr(workflow, "patched", note)
    replayer = Replayer(
        workflows=WORKFLOWS, workflow_runner=UnsandboxedWorkflowRunner(), data_converter=pydantic_data_converter
    )
    for path in HISTORIES:
        await replayer.replay_workflow(load(path))
    documented = {name: set(re.findall(r"`([a-z.-]+)`", cells[3])) for name, cells in rows().items()}
    assert {name: folders for name, folders in documented.items() if folders} == without
