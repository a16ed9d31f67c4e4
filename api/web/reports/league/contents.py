"""Reads what the report of a league shows, in one snapshot of the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import yaml

from api.alerts.redaction import redacted
from api.schemas.enums import RatingMethod, TournamentStatus
from api.schemas.overview import Gain
from api.store.core.clock import now
from api.store.core.decisions import DecisionFilter, list_decisions
from api.store.core.engine import Session
from api.store.core.records import Record
from api.store.overview.milestones import Milestone, milestones
from api.store.overview.trial import trial_overview
from api.store.payoffs.matrices import payoff_matrices
from api.store.players.reads import list_players, read_version
from api.store.players.versions import version_name
from api.store.ratings.reads import list_ratings, newest_fit
from api.store.tournaments.reads import TournamentFilter, list_tournaments
from api.store.trials.failures import count_failures, list_failures
from api.store.trials.reads import get_trial, read_trial
from league.types import DecisionKind, Stream
from league.validation import Floats
from orchestrator.spec import TrialSpec

MOST_PLAYERS = 500
MOST_RATINGS = 5_000
MOST_RESETS = 1_000
MOST_TOLD = 40
MOST_TOURNAMENTS = 20
MOST_IN_MAP = 40
"""Players of the payoff map; of more, the best rated ones."""


@dataclass(frozen=True, kw_only=True)
class PayoffMap:
    """The payoff of the players that the map shows."""

    names: list[str]
    rates: Floats
    games: Floats
    min_games: int
    left_out: int


@dataclass(frozen=True, kw_only=True)
class LeagueReport:
    """Everything that the report shows; nothing of other trials but names of versions that this one met."""

    trial: Record
    made_at: datetime
    champion: str | None
    champion_since: datetime | None
    gain: Gain | None
    players: list[Record]
    ratings: list[Record]
    resets: list[Record]
    rated_games: int
    anchor: str | None
    payoff: PayoffMap
    told: list[Milestone]
    tournaments: list[Record]
    problems: int
    newest_problems: list[tuple[datetime, str]]
    spec: str


def league_report(session: Session, trial_id: str) -> LeagueReport:
    """The report's contents; `session` reads one snapshot."""
    trial = read_trial(session, trial_id)
    moment = now(session)
    overview = trial_overview(session, get_trial(session, trial_id), moment)
    players = list_players(session, trial_id, after=None, limit=MOST_PLAYERS)
    fit = newest_fit(session, trial_id, RatingMethod.BRADLEY_TERRY)
    ratings = [] if fit is None else list_ratings(session, fit["id"], trial_id, after=None, limit=MOST_RATINGS)
    finished = TournamentFilter(trial_id=trial_id, statuses=(TournamentStatus.COMPLETED,))
    champion = overview.champion
    own = champion is not None and read_version(session, champion.version_id)["trial_id"] == trial_id
    return LeagueReport(
        trial=trial,
        made_at=moment,
        champion=None
        if champion is None
        else version_name(session, champion.version_id)
        if own
        else "of another trial",
        champion_since=champion.since if champion is not None and own else None,
        gain=overview.gain,
        players=players,
        ratings=ratings,
        resets=_resets(session, trial_id),
        rated_games=0 if fit is None else fit["games"],
        anchor=_anchor(fit, ratings),
        payoff=_payoff(session, trial_id, trial["spec"], ratings),
        told=milestones(session, trial_id, MOST_TOLD),
        tournaments=list_tournaments(session, finished, before=None, limit=MOST_TOURNAMENTS),
        problems=count_failures(session, trial_id, trial["created_at"]),
        newest_problems=[(each.at, redacted(each.text)) for each in list_failures(session, trial_id, limit=10)],
        spec=yaml.safe_dump(trial["spec"], sort_keys=False, allow_unicode=True, width=100),
    )


def _resets(session: Session, trial_id: str) -> list[Record]:
    found = list_decisions(
        session, trial_id, DecisionFilter(kinds=(DecisionKind.RESET,)), before=None, limit=MOST_RESETS
    )
    return [each for each in found if each["verdict"] == DecisionKind.RESET]


def _anchor(fit: Record | None, ratings: list[Record]) -> str | None:
    """Who is zero, by name; None where it belongs to another trial."""
    if fit is None:
        return None
    return next((each["player"] for each in ratings if each["version_id"] == fit["anchor_version_id"]), None)


def _payoff(session: Session, trial_id: str, spec: dict[str, Any], ratings: list[Record]) -> PayoffMap:
    min_games = TrialSpec.model_validate(spec).league.payoff.min_games
    trial = get_trial(session, trial_id)
    streams = (Stream.TRAINING, Stream.RATING)
    matrices = payoff_matrices(session, trial_id, streams, decay=trial.payoff_decay, min_games=min_games)
    games = matrices.wins + matrices.draws + matrices.losses
    best: dict[str, int] = {}
    for place, each in enumerate(ratings):
        best.setdefault(each["player_id"], place)
    ids = [row[0] for row in matrices.players]
    met = [place for place in range(len(ids)) if games[place].sum() + games[:, place].sum() > 0]
    chosen = sorted(met, key=lambda place: (best.get(ids[place], len(ratings)), place))[:MOST_IN_MAP]
    index = np.ix_(chosen, chosen)
    return PayoffMap(
        names=[str(matrices.players[place][1]) for place in chosen],
        rates=matrices.win_rates[index],
        games=games[index],
        min_games=min_games,
        left_out=len(met) - len(chosen),
    )
