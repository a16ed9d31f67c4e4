"""A small, complete league: at least one valid row in every table, and one behind every partial index."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from api.store.core.ids import new_id
from api.store.tables import (
    AlertChannel,
    AlertDelivery,
    AlertRule,
    Alias,
    AliasEvent,
    ApiToken,
    AuditEntry,
    BrowserSession,
    CanaryResult,
    Decision,
    Event,
    Gate,
    GateBatch,
    IdempotencyKey,
    Match,
    ModelVersion,
    Pairing,
    PeopleGame,
    Probe,
    ProbeTrial,
    PrunedVersion,
    Rating,
    RatingCovariance,
    RatingFit,
    Schedule,
    ShareLink,
    Sweep,
    SweepDecision,
    SweepTrial,
    SweepValue,
    Tournament,
    TournamentEntrant,
)
from tests.integration.store.learning_rows import NOW, SHA, LearningRows


class World(LearningRows):
    """The rows, by the names tests use."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._hold_tournament()
        self._promote()
        self._rate()
        self._sweep()
        self._alert()
        self._share()
        self._open_to_callers()
        session.commit()

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
                verdict="go_on",
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

    def _sweep(self) -> None:
        sweep = Sweep(id=new_id(), project_id=self.project.id, name="rates", spec={}, best_trial_id=self.trial.id)
        place = {"sweep_id": sweep.id, "number": 0}
        self.add(sweep)
        self.trial.sweep_id = sweep.id
        self.add(SweepTrial(**place, trial_id=self.trial.id, bracket=0, first_rung=0, point={"seed": 1}))
        self.add(SweepValue(**place, rung=0, trial_id=self.trial.id, commit=1, steps=10, value=0.5, source={}))
        probe = Probe(
            id=new_id(),
            project_id=self.project.id,
            trial_id=self.trial.id,
            version_id=self.trained.id,
            commit=1,
            target={"parts": []},
            spec={},
            tournament_id=self.tournament.id,
        )
        self.add(probe)
        self.add(PrunedVersion(version_id=self.trained.id))
        self.add(ProbeTrial(probe_id=probe.id, number=0, trial_id=self.trial.id))
        self.add(SweepDecision(**place, rung=0, verdict="go_on", reason="the only one"))

    def _share(self) -> None:
        until = datetime(2100, 1, 1, tzinfo=UTC)
        for number, shown in enumerate(({"trial_id": self.trial.id}, {"tournament_id": self.tournament.id})):
            sha256 = str(number) * 64
            self.add(ShareLink(id=new_id(), token_sha256=sha256, created_by="admin", expires_at=until, **shown))

    def _alert(self) -> None:
        channel = AlertChannel(id=new_id(), name="on-call", kind="slack", target="here", sealed=b"sealed", cursor=0)
        event = Event(trial_id=self.trial.id, type="workflow.restarted")
        self.add(channel, event)
        self.add(
            AlertRule(
                id=new_id(),
                channel_id=channel.id,
                kinds=["setback"],
                project_id=self.project.id,
                trial_id=self.trial.id,
                after_event=0,
            ),
            AlertDelivery(
                id=new_id(), channel_id=channel.id, event_id=event.id, kind="setback", text="lost", body="{}"
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
