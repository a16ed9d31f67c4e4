"""Users' own agents in the league: imported from archives of code, cutting episodes, reporting metrics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanista.agents import GenericAgent
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code import code_archives, code_importing
from orchestrator.user_code.code_archives import archived_name, pack
from tests.unit.gateway.league_games import GAME, GatewayThread
from tests.unit.gateway.test_remote_sampler import Trainer, play_out, task
from workers.rollout.remote import MOST_AGENT_METRICS
from workers.user_errors import UserCodeError

AGENT = b"""
from lanista.agents import GenericAgent
from scale import FACTOR

class Meter(GenericAgent):
    async def on_tick(self, data):
        self.metric("factor", FACTOR)
        return await super().on_tick(data)
"""


class Talkative(GenericAgent):
    """Reports metrics under names of its own for every session."""

    def on_end(self, data: Any) -> Any:
        for number in range(20):
            self.metric(f"{self.session} {number}", 1.0)
        return super().on_end(data)


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GatewayThread]:
    monkeypatch.setattr(code_importing, "_private_folder", lambda: tmp_path)
    thread = GatewayThread(tmp_path / "artifacts")
    yield thread
    thread.stop()
    for name in [name for name in sys.modules if name.startswith(code_archives.PACKAGE)]:
        del sys.modules[name]


def trainer_of(gateway: GatewayThread, **options: Any) -> Trainer:
    game = Component(id="remote", options={**GAME.options, **options})
    return Trainer(replace(task(), game=game), gateway)


def test_an_agent_comes_from_its_archive_and_its_metrics_are_averaged(gateway: GatewayThread) -> None:
    files = {"meter.py": AGENT, "scale.py": b"FACTOR = 3\n"}
    sha256 = ArtifactStore(str(gateway.store)).put(pack(files), kind=code_archives.KIND).sha256
    trainer = trainer_of(gateway, agent=archived_name(sha256, "meter:Meter"), episode_length=2)
    sampler = trainer.sampler()
    batch = sampler.collect()
    assert len(batch.finals), "games of more than two decisions a seat were cut"
    assert batch.table.max() + 1 == batch.tables and batch.trainable_rows == 8 * 16
    play_out(sampler)
    total, games = sampler.board.counts().metrics["agent/factor"]
    assert games > 0 and total == 3 * games
    trainer.close()


def test_names_of_metrics_that_differ_by_session_are_refused(gateway: GatewayThread) -> None:
    trainer = trainer_of(gateway, agent=f"{__name__}:Talkative")
    sampler = trainer.sampler()
    with pytest.raises(UserCodeError, match=f"more than {MOST_AGENT_METRICS} different metrics"):
        for _ in range(20):
            sampler.collect()
    trainer.close()
