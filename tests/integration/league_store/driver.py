"""A league driven through the store's activities alone, with training and games made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session, sessionmaker

from api.activities import store_activities
from api.store.core.engine import session_factory
from api.store.core.ids import new_id
from api.store.tables import Base, Decision, Event, ModelVersion, Player, Trial
from api.store.trials.create import create_trial
from league.types import CheckpointRef, DecisionKind, Earned, ReturnTally, Tally, VersionId
from orchestrator.contracts.generations import (
    GenerationKey,
    GenerationOutcome,
    GenerationPlan,
    GenerationReport,
    Judgement,
    Recorded,
)
from orchestrator.contracts.trials import EnterPlayers, TrialBrief, TrialRequest
from orchestrator.spec.reading.checking import check_spec
from orchestrator.storage.artifacts import ArtifactStore

Row = TypeVar("Row", bound=Base)
Answer = TypeVar("Answer")

MAIN = {"name": "main", "role": "main"}
EXPLOITER = {"name": "exploiter", "role": "main_exploiter"}
RANDOM = {"name": "random", "role": "bot", "bot": "random"}
STEPS = 1000


def league_file(preset: str = "alphastar", players: Sequence[dict[str, Any]] = (MAIN, RANDOM), **league: Any) -> Any:
    """A small trial file; snapshots come every second generation unless it says otherwise."""
    rules = {"snapshot": {"min_steps": 2 * STEPS, "max_steps": 2 * STEPS, "win_rate": 1.0}} | league
    return {"game": {"id": "tic_tac_toe"}, "seed": 7, "league": {"preset": preset, "players": [*players], **rules}}


@dataclass(frozen=True)
class Store:
    """The activities by name, on one database and one folder of checkpoints."""

    engine: Engine
    artifacts: ArtifactStore
    sessions: sessionmaker[Session]
    activities: dict[str, Callable[..., Any]]

    @classmethod
    def open(cls, engine: Engine, artifacts: ArtifactStore) -> Store:
        activities = {activity.__name__: activity for activity in store_activities(engine, artifacts)}
        return cls(engine, artifacts, session_factory(engine), activities)

    def __call__(self, activity: str, message: Any) -> Any:
        return self.activities[activity](message)

    def at_once(self, activity: str, *messages: Any) -> list[Any]:
        """Deliver the messages at the same time, one thread each."""
        with ThreadPoolExecutor(len(messages)) as threads:
            return list(threads.map(lambda message: self(activity, message), messages))

    def weights(self, name: object) -> CheckpointRef:
        return self.artifacts.put(repr(name).encode(), kind="checkpoint")

    def found(self, file: Any | None = None, *, project: str | None = None) -> League:
        """A new trial, begun and with its players entered."""
        league = self.create(file, project=project)
        brief: TrialBrief = self("begin_trial", TrialRequest(trial=league.trial))
        initial = brief.initial or self.weights("initial")
        self("enter_players", EnterPlayers(trial=league.trial, initial=initial))
        return league

    def create(self, file: Any | None = None, *, project: str | None = None) -> League:
        spec = check_spec(league_file() if file is None else file)
        with self.sessions.begin() as session:
            trial = create_trial(session, project=project or new_id(), name=new_id(), spec=spec)
        return League(self, trial.id)

    def rows(self, model: type[Row], *conditions: Any) -> list[Row]:
        with self.sessions() as session:
            return list(session.scalars(select(model).where(*conditions)))

    def count(self, model: type[Base], *conditions: Any) -> int:
        with self.sessions() as session:
            return session.scalar(select(func.count()).select_from(model).where(*conditions)) or 0


@dataclass(frozen=True)
class League:
    """One trial and its players, by name."""

    store: Store
    trial: str

    @property
    def row(self) -> Trial:
        return self.store.rows(Trial, Trial.id == self.trial)[0]

    def player(self, name: str) -> Player:
        return self.store.rows(Player, Player.trial_id == self.trial, Player.name == name)[0]

    def names(self) -> list[str]:
        players = self.store.rows(Player, Player.trial_id == self.trial)
        return [player.name for player in sorted(players, key=lambda player: (player.created_commit, player.id))]

    def versions(self, name: str) -> list[ModelVersion]:
        found = self.store.rows(ModelVersion, ModelVersion.player_id == self.player(name).id)
        return sorted(found, key=lambda version: version.number)

    def decisions(self, kind: DecisionKind) -> list[Decision]:
        found = self.store.rows(Decision, Decision.trial_id == self.trial, Decision.kind == kind)
        return sorted(found, key=lambda decision: decision.id)

    def events(self, kind: str) -> list[dict[str, Any]]:
        found = self.store.rows(Event, Event.trial_id == self.trial, Event.type == kind)
        return [event.payload for event in sorted(found, key=lambda event: event.id)]

    def key(self, name: str, generation: int | None = None, attempt: int = 1) -> GenerationKey:
        player = self.player(name)
        number = player.generation + 1 if generation is None else generation
        return GenerationKey(trial=self.trial, player=player.id, generation=number, attempt=attempt)

    def plan(self, name: str, attempt: int = 1) -> GenerationPlan:
        plan: GenerationPlan = self.store("plan_generation", self.key(name, attempt=attempt))
        return plan

    def report(
        self,
        plan: GenerationPlan,
        *,
        wins: int = 6,
        losses: int = 2,
        weights: object = "",
        returns: ReturnTally | None = None,
        crews: int = 0,
        metrics: dict[str, float] | None = None,
    ) -> GenerationReport:
        """A report as training would bring it; `weights` makes attempts differ."""
        others = [opponent for opponent in plan.opponents if opponent.player != plan.player]
        tallies = [
            Tally(
                learner=VersionId(plan.version),
                opponent=VersionId(opponent.version),
                seat=seat,
                wins=wins,
                draws=1,
                losses=losses,
                earned=Earned(wins - 1.5 * losses, 1.5 * losses - wins),
            )
            for opponent in others
            for seat in (0, 1)
        ]
        outcome = GenerationOutcome(
            checkpoint=self.store.weights((plan.trial, plan.player_name, plan.generation, weights)),
            steps=STEPS,
            tallies=tallies,
            returns=returns,
            metrics={"loss": 0.5, "games": 100.0}
            | ({"return_mean": returns.mean} if returns else {})
            | (metrics or {}),
            started_at=1_800_000_000.0,
            finished_at=1_800_000_020.0,
            crews=crews,
        )
        return GenerationReport(
            trial=plan.trial, player=plan.player, generation=plan.generation, attempt=plan.attempt, outcome=outcome
        )

    def learn(self, name: str, **results: Any) -> Recorded:
        """Plan and record the next generation."""
        recorded: Recorded = self.store("record_generation", self.report(self.plan(name), **results))
        return recorded

    def judge(self, name: str) -> Judgement:
        judgement: Judgement = self.store("judge_generation", self.key(name, self.player(name).generation))
        return judgement

    def live(self, name: str, generations: int = 1, **results: Any) -> Judgement:
        """Whole generations; the judgement of the last."""
        for _ in range(generations):
            self.learn(name, **results)
            judgement = self.judge(name)
        return judgement
