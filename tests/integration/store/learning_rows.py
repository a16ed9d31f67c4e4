"""The trial, players, versions and the first generation of the small league of `world`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from api.store.core.ids import new_id
from api.store.tables import (
    Base,
    Commit,
    Decision,
    Generation,
    LineupTally,
    Metric,
    ModelVersion,
    Payoff,
    Player,
    Project,
    ReturnTally,
    Tally,
    Trial,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SHA = "ab" * 32


class LearningRows:
    """A trial that learnt for one generation."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._found_trial()
        self._learn()

    def add(self, *rows: Base) -> None:
        """Rows in the order of their dependencies, which models without relationships do not tell."""
        for row in rows:
            self.session.add(row)
            self.session.flush()

    def version(
        self, player: Player, number: int, origin: str, parent: ModelVersion | None, commit: int
    ) -> ModelVersion:
        checkpoint = {} if origin == "bot" else {"uri": f"memory://{SHA}", "sha256": SHA, "size": 10}
        return ModelVersion(
            id=new_id(),
            trial_id=player.trial_id,
            player_id=player.id,
            number=number,
            origin=origin,
            parent_id=None if parent is None else parent.id,
            steps=number * 100,
            commit=commit,
            **checkpoint,
        )

    def _found_trial(self) -> None:
        self.project = Project(id=new_id(), name="board-games")
        self.origin = Trial(
            id=new_id(),
            project_id=self.project.id,
            name="first",
            game="tic_tac_toe",
            seed=1,
            spec={},
            payoff_decay=0.99,
        )
        self.trial = Trial(
            id=new_id(),
            project_id=self.project.id,
            name="second",
            game="tic_tac_toe",
            seed=7,
            spec={},
            payoff_decay=0.99,
            last_commit=4,
            forked_from_trial_id=self.origin.id,
            forked_at_commit=0,
        )
        member = {"trial_id": self.trial.id, "created_commit": 0}
        elder = Player(id=new_id(), trial_id=self.origin.id, created_commit=0, name="main", role="main")
        self.main = Player(id=new_id(), name="main", role="main", forked_from_player_id=elder.id, **member)
        self.bot = Player(id=new_id(), name="random", role="bot", bot="random", **member)
        self.past = Player(id=new_id(), name="main-1", role="historical", parent_id=self.main.id, **member)
        bots = Trial(
            id=new_id(),
            project_id=self.project.id,
            name="bots of tic_tac_toe",
            kind="project_bots",
            game="tic_tac_toe",
            seed=0,
            spec={},
            payoff_decay=0.99,
        )
        self.add(
            self.project,
            bots,
            self.origin,
            Commit(trial_id=self.origin.id, number=0, kind="created"),
            self.trial,
            *(
                Commit(trial_id=self.trial.id, number=number, kind=kind)
                for number, kind in enumerate(["created", "generation", "snapshot", "pairing", "rollback"])
            ),
            elder,
            self.main,
            self.bot,
            self.past,
        )

    def _learn(self) -> None:
        self.start = self.version(self.main, 0, "initial", None, 0)
        self.trained = self.version(self.main, 1, "trained", self.start, 1)
        self.snapshot = self.version(self.past, 0, "snapshot", self.trained, 2)
        self.bot_version = self.version(self.bot, 0, "bot", None, 0)
        of_generation = {"trial_id": self.trial.id, "player_id": self.main.id, "generation": 1, "reason": "as ruled"}
        plan = Decision(kind="matchmaking", verdict="plan", commit=1, **of_generation)
        self.add(self.start, self.trained, self.snapshot, self.bot_version, plan)
        self.add(
            Decision(kind="rollback", verdict="back", version_id=self.trained.id, **of_generation),
            Generation(
                trial_id=self.trial.id,
                player_id=self.main.id,
                number=1,
                commit=1,
                parent_version_id=self.start.id,
                version_id=self.trained.id,
                plan_decision_id=plan.id,
                steps=100,
                games=6,
                seed=5,
                started_at=NOW,
                finished_at=NOW + timedelta(seconds=20),
            ),
            Tally(
                trial_id=self.trial.id,
                commit=1,
                learner_version_id=self.trained.id,
                opponent_version_id=self.bot_version.id,
                seat=0,
                opponent_seat=1,
                stream="training",
                wins=3,
                draws=2,
                losses=1,
                returns=2.0,
                opponent_returns=-2.0,
            ),
            ReturnTally(
                trial_id=self.trial.id,
                commit=1,
                version_id=self.trained.id,
                stream="training",
                games=2,
                mean=0.5,
                deviations=0.1,
            ),
            LineupTally(
                trial_id=self.trial.id,
                commit=1,
                version_id=self.trained.id,
                lineup=[self.trained.id, self.bot_version.id],
                opponent_version_id=self.bot_version.id,
                seat=0,
                opponent_seat=1,
                games=3,
                wins=2,
                draws=0,
                losses=1,
                returns=1.0,
                opponent_returns=-1.0,
            ),
            Metric(trial_id=self.trial.id, player_id=self.main.id, generation=1, name="loss", steps=100, value=0.1),
            Payoff(
                trial_id=self.trial.id,
                stream="training",
                player_id=self.main.id,
                opponent_id=self.bot.id,
                seat=0,
                opponent_seat=1,
                wins=2.9,
                draws=1.9,
                losses=0.9,
                raw_wins=3,
                raw_draws=2,
                raw_losses=1,
                returns=1.9,
                opponent_returns=-1.9,
                revision=1,
            ),
        )
