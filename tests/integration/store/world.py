"""A small, complete league: at least one valid row in every table, and one behind every partial index."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from api.store.core.ids import new_id
from api.store.tables import (
    Alias,
    AliasEvent,
    ApiToken,
    AuditEntry,
    Base,
    BrowserSession,
    CanaryResult,
    Commit,
    Decision,
    Event,
    Gate,
    GateBatch,
    Generation,
    IdempotencyKey,
    LineupTally,
    Match,
    Metric,
    ModelVersion,
    Pairing,
    Payoff,
    PeopleGame,
    Player,
    Project,
    Rating,
    RatingCovariance,
    RatingFit,
    ReturnTally,
    Schedule,
    Tally,
    Tournament,
    TournamentEntrant,
    Trial,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SHA = "ab" * 32


class World:
    """The rows, by the names tests use."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._found_trial()
        self._learn()
        self._hold_tournament()
        self._promote()
        self._rate()
        self._open_to_callers()
        session.commit()

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

    def _hold_tournament(self) -> None:
        self.schedule = Schedule(
            id=new_id(),
            project_id=self.project.id,
            trial_id=self.trial.id,
            name="nightly",
            every_seconds=60,
            tournament={},
        )
        self.tournament = Tournament(
            id=new_id(),
            project_id=self.project.id,
            trial_id=self.trial.id,
            schedule_id=self.schedule.id,
            occasion="nightly 1",
            game="tic_tac_toe",
            name="night",
            format="swiss",
            seed=3,
            spec={},
        )
        evaluation = Tournament(
            id=new_id(),
            project_id=self.project.id,
            trial_id=self.trial.id,
            purpose="field_evaluation",
            player_id=self.main.id,
            generation=1,
            game="tic_tac_toe",
            name="main after generation 1",
            format="gauntlet",
            seed=4,
            spec={},
        )
        self.add(
            self.schedule,
            self.tournament,
            evaluation,
            TournamentEntrant(tournament_id=self.tournament.id, number=0, version_id=self.trained.id, label="main"),
            TournamentEntrant(
                tournament_id=self.tournament.id, number=1, version_id=self.bot_version.id, label="random"
            ),
            Pairing(
                tournament_id=self.tournament.id,
                round=1,
                pair=0,
                first=0,
                second=1,
                games=2,
                seed=9,
                status="played",
                wins=1,
                trial_id=self.trial.id,
                commit=3,
                played_at=NOW,
            ),
            self.match(stream="rating", tournament_id=self.tournament.id),
        )

    def match(self, **occasion: str) -> Match:
        return Match(
            trial_id=self.trial.id,
            round=1,
            pair=0,
            seat=0,
            seed=9,
            player_id=self.main.id,
            version_id=self.trained.id,
            opponent_id=self.bot.id,
            opponent_version_id=self.bot_version.id,
            result="win",
            moves=[4, 0, 8],
            **occasion,
        )

    def gate(self, candidate: ModelVersion, champion: ModelVersion | None, **state: object) -> Gate:
        return Gate(
            id=new_id(),
            project_id=self.project.id,
            trial_id=self.trial.id,
            game="tic_tac_toe",
            alias="champion",
            candidate_version_id=candidate.id,
            champion_version_id=None if champion is None else champion.id,
            elo0=0,
            elo1=35,
            alpha=0.05,
            beta=0.05,
            lower_bound=-2.9,
            upper_bound=2.9,
            max_pairs=100,
            seed=1,
            **state,
        )

    def _promote(self) -> None:
        key = {"project_id": self.project.id, "game": "tic_tac_toe", "name": "champion"}
        self.running = self.gate(self.snapshot, self.start, status="running")
        self.waiting = self.gate(self.trained, self.start, opened_after_id=self.running.id)
        self.alias = Alias(version_id=self.snapshot.id, revision=1, **key)
        batch = GateBatch(gate_id=self.running.id, number=1, pairs=5, pentanomial=[0, 1, 2, 1, 1], llr=0.4)
        self.add(
            self.running,
            self.waiting,
            batch,
            self.match(stream="gating", gate_id=self.running.id),
            Decision(
                trial_id=self.trial.id,
                kind="promotion",
                verdict="promoted",
                reason="won",
                gate_id=self.running.id,
                version_id=self.snapshot.id,
            ),
            self.alias,
            AliasEvent(
                revision=2,
                move="promoted",
                from_version_id=self.start.id,
                to_version_id=self.snapshot.id,
                reason="won",
                actor="gate",
                gate_id=self.running.id,
                tournament_id=self.tournament.id,
                **key,
            ),
            CanaryResult(
                report_id=new_id(),
                project_id=self.project.id,
                game="tic_tac_toe",
                alias="champion",
                champion_version_id=self.snapshot.id,
                canary_version_id=self.trained.id,
                losses=1,
                draws=0,
                wins=2,
                champion_sessions=27,
                champion_returns=9.0,
                canary_sessions=3,
                canary_returns=1.0,
                llr=0.1,
                status="running",
                actor="server",
            ),
        )

    def _rate(self) -> None:
        fit = RatingFit(
            id=new_id(),
            project_id=self.project.id,
            game="tic_tac_toe",
            method="bradley_terry",
            tournament_id=self.tournament.id,
            anchor_version_id=self.bot_version.id,
            games=1,
            last_match_id=1,
        )
        self.add(
            fit,
            Rating(fit_id=fit.id, version_id=self.trained.id, value=10, deviation=2, games=1, rank=1),
            RatingCovariance(
                fit_id=fit.id, versions=[self.trained.id, self.snapshot.id], upper_triangle=[4.0, 1.0, 3.0]
            ),
        )

    def _open_to_callers(self) -> None:
        token = ApiToken(id=new_id(), name="admin", token_sha256=SHA, scope="admin")
        self.add(
            token,
            IdempotencyKey(token_id=token.id, method="POST", path="/trials", key="k", request_sha256=SHA),
            BrowserSession(id=new_id(), token_id=token.id, expires_at=datetime(2100, 1, 1, tzinfo=UTC)),
            AuditEntry(token_id=token.id, actor="admin", action="trial.create"),
            Event(trial_id=self.trial.id, type="trial.created"),
            Event(type="pairing.retried", payload={"key": "once"}),
            PeopleGame(
                id=new_id(),
                token_id=token.id,
                version_id=self.trained.id,
                seat=0,
                seed=1,
                sampled=False,
                turn=0,
                answer={},
            ),
        )
