"""A league on a real database, driven by the store's own transactions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from api.store.core.ids import new_id
from api.store.generations.outcome import OpponentTally, TrainedGeneration
from api.store.players.roster import enter_players
from api.store.players.versions import present_version
from api.store.tables import Event, ModelVersion, Player
from api.store.trials.create import create_trial
from league.types import CheckpointRef, Earned
from orchestrator.spec.trial import TrialSpec

NOW = datetime(2030, 1, 1, tzinfo=UTC)

SPEC = TrialSpec.model_validate(
    {
        "game": {"id": "tic_tac_toe"},
        "seed": 7,
        "league": {
            "players": [
                {"name": "main", "role": "main"},
                {"name": "rival", "role": "main"},
                {"name": "random", "role": "bot", "bot": "random"},
            ],
            "payoff": {"memory_games": 100},
        },
    }
)


def checkpoint(seed: object) -> CheckpointRef:
    """A checkpoint by name alone; the store never opens one."""
    sha256 = hashlib.sha256(repr(seed).encode()).hexdigest()
    return CheckpointRef(uri=f"memory://{sha256}", sha256=sha256, size=10)


INITIAL = checkpoint("initial")


@dataclass(frozen=True)
class League:
    """One trial with two learners and a bot."""

    sessions: sessionmaker[Session]
    trial_id: str
    players: dict[str, str]

    @classmethod
    def found(cls, sessions: sessionmaker[Session]) -> League:
        with sessions.begin() as session:
            trial = create_trial(session, project="board-games", name=new_id(), spec=SPEC)
            players = session.scalars(select(Player).where(Player.trial_id == trial.id)).all()
        with sessions.begin() as session:
            enter_players(session, trial.id, INITIAL)
        return cls(sessions, trial.id, {player.name: player.id for player in players})

    def version_of(self, name: str) -> ModelVersion:
        with self.sessions() as session:
            version = present_version(session, self.players[name])
        assert version is not None
        return version

    def outcome(self, name: str, generation: int, *, attempt: int = 1, wins: int = 5) -> TrainedGeneration:
        """What an attempt at a generation delivers; other attempts end with other weights."""
        tallies = [
            OpponentTally(
                opponent_version_id=self.version_of(opponent).id,
                seat=seat,
                wins=wins,
                draws=2,
                losses=1,
                earned=Earned(wins - 1.0, 1.0 - wins),
            )
            for opponent in self.players
            if opponent != name
            for seat in (0, 1)
        ]
        return TrainedGeneration(
            trial_id=self.trial_id,
            player_id=self.players[name],
            generation=generation,
            parent_version_id=self.version_of(name).id,
            checkpoint=checkpoint((name, generation, attempt)),
            steps=1000,
            games=sum(tally.games for tally in tallies),
            seed=generation,
            attempt=attempt,
            started_at=NOW,
            finished_at=NOW + timedelta(seconds=20),
            tallies=tuple(tallies),
            metrics={"loss": 0.5, "entropy": 1.0},
        )


def events_of(session: Session, trial_id: str) -> Sequence[Event]:
    """The trial's events, in order."""
    return session.scalars(select(Event).where(Event.trial_id == trial_id).order_by(Event.id)).all()
