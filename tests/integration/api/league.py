"""A league with results in every table that the API reads, and names for its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, sessionmaker

from api.store.aliases.moves import AliasKey, Promotion, move_alias
from api.store.generations.record import record_generation
from api.store.tables import (
    Decision,
    Gate,
    GateBatch,
    Match,
    Metric,
    Pairing,
    Rating,
    RatingCovariance,
    RatingFit,
    Tournament,
    TournamentEntrant,
    Trial,
)
from league.types import ReturnTally
from tests.integration.store.league import League

RETURNS = ReturnTally(games=4, mean=0.5, deviations=12.0)


@dataclass(frozen=True)
class ReadableLeague:
    """The league and what was put into it."""

    league: League
    project: str
    gate_id: str
    match_ids: list[int]
    fit_id: str

    @property
    def trial_id(self) -> str:
        return self.league.trial_id


def readable_league(sessions: sessionmaker[Session]) -> ReadableLeague:
    """Two generations, a gate with a path, rating games with ratings, a moved alias, decisions and metrics."""
    league = League.found(sessions)
    for generation in (1, 2):
        with sessions.begin() as session:
            record_generation(session, replace(league.outcome("main", generation), returns=RETURNS))
    main, rival = league.version_of("main"), league.version_of("rival")
    with sessions.begin() as session:
        trial = session.get_one(Trial, league.trial_id)
        key = AliasKey(project_id=trial.project_id, game=trial.game, name=f"champion-{trial.id[-12:]}")
        for version in (rival, main):
            move_alias(session, key, version.id, Promotion(reason="seen to be better", actor="test"))
        gate = _gate(session, trial, main.id, rival.id)
        matches = _rating_games(session, trial, league, main.id, rival.id)
        fit = RatingFit(
            project_id=trial.project_id,
            game=trial.game,
            method="bradley_terry",
            anchor_version_id=rival.id,
            games=4,
            last_match_id=matches[-1],
        )
        session.add(fit)
        session.flush()
        session.add_all(
            [
                Rating(fit_id=fit.id, version_id=main.id, value=100.0, deviation=10.0, games=4, rank=1),
                Rating(fit_id=fit.id, version_id=rival.id, value=0.0, deviation=None, games=4, rank=2),
            ]
        )
        # by versions in their order: variances 100 of the main and 25 of the rival, between them 20
        versions = sorted([main.id, rival.id])
        triangle = [100.0, 20.0, 25.0] if versions[0] == main.id else [25.0, 20.0, 100.0]
        session.add(RatingCovariance(fit_id=fit.id, versions=versions, upper_triangle=triangle))
        _decide(session, league)
        project = str(session.scalar(select(Trial.project_id).where(Trial.id == trial.id)))
    return ReadableLeague(league, project, gate.id, matches, fit.id)


def _gate(session: Session, trial: Trial, candidate: str, champion: str) -> Gate:
    gate = Gate(
        project_id=trial.project_id,
        trial_id=trial.id,
        game=trial.game,
        alias=f"gated-{trial.id[-12:]}",
        candidate_version_id=candidate,
        champion_version_id=champion,
        status="passed",
        finished_at=datetime.now(UTC),
        elo0=0,
        elo1=35,
        alpha=0.05,
        beta=0.05,
        lower_bound=-2.9,
        upper_bound=2.9,
        max_pairs=100,
        seed=1,
        settings={"model": "normalized"},
        pairs=10,
        pentanomial=[0, 2, 4, 2, 2],
        llr=3.0,
    )
    session.add(gate)
    session.flush()
    for number, llr in ((1, 1.5), (2, 3.0)):
        session.add(GateBatch(gate_id=gate.id, number=number, pairs=5, pentanomial=[0, 1, 2, 1, 1], llr=llr))
    session.flush()
    return gate


def _rating_games(session: Session, trial: Trial, league: League, main: str, rival: str) -> list[int]:
    tournament = Tournament(
        project_id=trial.project_id, trial_id=trial.id, game=trial.game, name="t", format="round_robin", seed=1, spec={}
    )
    session.add(tournament)
    session.flush()
    for number, version in enumerate((main, rival)):
        session.add(TournamentEntrant(tournament_id=tournament.id, number=number, version_id=version, label=version))
    session.flush()
    session.add(Pairing(tournament_id=tournament.id, round=1, pair=0, first=0, second=1, games=4, seed=1))
    session.flush()
    matches = [
        Match(
            stream="rating",
            trial_id=trial.id,
            tournament_id=tournament.id,
            round=1,
            pair=0,
            seat=game % 2,
            seed=game,
            player_id=league.players["main"],
            version_id=main,
            opponent_id=league.players["rival"],
            opponent_version_id=rival,
            result="win",
            moves=[4, 0, 8],
        )
        for game in range(4)
    ]
    for match in matches:
        session.add(match)
        session.flush()
    return [match.id for match in matches]


def _decide(session: Session, league: League) -> None:
    about = {"trial_id": league.trial_id, "player_id": league.players["main"], "reason": "as the rules have it"}
    session.add(Decision(kind="matchmaking", verdict="plan", generation=3, evidence={"opponents": 2}, **about))
    session.add(Decision(kind="snapshot", verdict="wait", generation=2, **about))
    session.add(
        Metric(
            trial_id=league.trial_id,
            player_id=league.players["main"],
            generation=1,
            name="diverged",
            steps=1000,
            value=float("nan"),
        )
    )
