"""A generation with a game from an archive: the actors fetch it from the store, and an edited game is another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationOutcome
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code import code_archives
from orchestrator.user_code.code_importing import import_archives_from
from tests.unit.training.generation_task import TASK
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.user_errors import UserCodeError

pytestmark = pytest.mark.usefixtures("local_ray")
NIM = (Path(__file__).parents[3] / "examples" / "own_game.py").read_bytes()
BROKEN = b"\n\nclass Broken(Nim):\n    def advance(self, actions):\n        raise KeyError('no such stone')\n"


@pytest.fixture
def crews(store: ArtifactStore) -> Iterator[CrewPool]:
    import_archives_from(store)
    pool = CrewPool(store)
    yield pool
    pool.close()


def train(store: ArtifactStore, crews: CrewPool, source: bytes, name: str) -> GenerationOutcome:
    code = store.put(code_archives.pack({"nim_of_mine.py": source}), kind=code_archives.KIND)
    game = Component(id=code_archives.archived_name(code.sha256, f"nim_of_mine:{name}"), options={"most": 9})
    task = replace(TASK, game=game, opponents=TASK.opponents[:0])
    return run_generation(task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews)


def test_edited_code_is_used_by_the_next_generation(store: ArtifactStore, crews: CrewPool) -> None:
    assert train(store, crews, NIM, "Nim").steps > 0
    with pytest.raises(UserCodeError, match="no such stone") as raised:
        train(store, crews, NIM + BROKEN, "Broken")
    assert 'File "nim_of_mine.py", line ' in raised.value.frames and "raise KeyError" in raised.value.frames
