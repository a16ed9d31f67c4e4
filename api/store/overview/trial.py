"""Reads whether a trial goes well: champion, gain, gates and tournaments under way, and problems."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus, RatingMethod, TournamentStatus
from api.schemas.overview import ChampionElsewhere, EndedGate, Gain, OpenGate, OpenTournament, TrialOverview
from api.store.aliases.champion import champion_alias, read_champion
from api.store.ratings.reads import difference_variances, newest_fit
from api.store.tables import AliasEvent, Gate, ModelVersion, Player, Rating, Trial
from api.store.tournaments.reads import TournamentFilter, list_tournaments
from api.store.trials.failures import count_failures, list_failures
from league.ratings.gain import compared_versions, rating_gain
from league.types import Role

MOST_MOVES = 10
MOST = 3
"""Gates and tournaments that are shown."""
HOUR = timedelta(hours=1)
RatedVersion = Row[str, str, int, float]
"""Line, version, steps and rating."""


def trial_overview(session: Session, trial: Trial, now: datetime) -> TrialOverview:
    """The answer; to be read in one snapshot, since a newer fit replaces the covariance of an older one."""
    failures = list_failures(session, trial.id, limit=1)
    return TrialOverview(
        champion=read_champion(session, trial),
        champion_elsewhere=_elsewhere(session, trial),
        gain=_gain(session, trial),
        last_gate=_last_gate(session, trial),
        gates=_gates(session, trial),
        tournaments=_tournaments(session, trial),
        problems_last_hour=count_failures(session, trial.id, now - HOUR),
        newest_problem=failures[0] if failures else None,
    )


def _elsewhere(session: Session, trial: Trial) -> list[ChampionElsewhere]:
    """Moves that the trial's own events do not tell: each is an event of the trial that the new champion is of."""
    found = session.execute(
        select(AliasEvent, ModelVersion.number, Player.name, Trial.id, Trial.name)
        .join(ModelVersion, ModelVersion.id == AliasEvent.to_version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .where(AliasEvent.project_id == trial.project_id, AliasEvent.game == trial.game)
        .where(AliasEvent.name == champion_alias(trial), ModelVersion.trial_id != trial.id)
        .where(AliasEvent.created_at >= trial.created_at)
        .order_by(AliasEvent.revision.desc())
        .limit(MOST_MOVES)
    )
    return [
        ChampionElsewhere(
            revision=move.revision,
            alias=move.name,
            at=move.created_at,
            version_id=move.to_version_id,
            player=player,
            number=number,
            trial_id=home,
            trial=home_name,
            gate_id=move.gate_id,
            reason=move.reason,
        )
        for move, number, player, home, home_name in found
    ]


def _gain(session: Session, trial: Trial) -> Gain | None:
    """Of the first main player that has been rated twice, or else of another learner."""
    fit = newest_fit(session, trial.id, RatingMethod.BRADLEY_TERRY)
    if fit is None:
        return None
    rated = _rated(session, trial.id, fit["id"])
    learners = session.execute(
        select(Player.id, Player.name)
        .where(Player.trial_id == trial.id, Player.role.in_([role for role in Role if role.learns]))
        .order_by(Player.role != Role.MAIN, Player.created_commit, Player.id)
    ).all()
    for player_id, name in learners:
        line = [row for row in rated if row.line == player_id]
        places = compared_versions([row.steps for row in line])
        if places is not None:
            earlier, newest = (line[place] for place in places)
            return _gain_between(session, fit["id"], (player_id, name), earlier, newest)
    return None


def _rated(session: Session, trial_id: str, fit_id: str) -> Sequence[RatedVersion]:
    line = func.coalesce(Player.parent_id, Player.id)  # a snapshot belongs to the line of its parent
    return session.execute(
        select(line.label("line"), ModelVersion.id, ModelVersion.steps, Rating.value)
        .select_from(Rating)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(Rating.fit_id == fit_id, ModelVersion.trial_id == trial_id)
        .order_by(ModelVersion.steps, ModelVersion.id)
    ).all()


def _gain_between(
    session: Session, fit_id: str, player: tuple[str, str], earlier: RatedVersion, newest: RatedVersion
) -> Gain:
    """`player`: its id and its name."""
    variances = difference_variances(session, fit_id, earlier.id, [newest.id])
    gain = rating_gain(
        difference=newest.value - earlier.value,
        variance=None if variances is None else variances[newest.id],
        steps=newest.steps - earlier.steps,
    )
    player_id, name = player
    return Gain(
        player=name,
        player_id=player_id,
        per_million_steps=gain.per_million,
        low=gain.low,
        high=gain.high,
        from_steps=earlier.steps,
        to_steps=newest.steps,
    )


def _gates(session: Session, trial: Trial) -> list[OpenGate]:
    running = (GateStatus.RUNNING, GateStatus.WAITING)
    gates = session.scalars(
        select(Gate).where(Gate.trial_id == trial.id, Gate.status.in_(running)).order_by(Gate.id.desc()).limit(MOST)
    ).all()
    named = _names(session, gates)
    return [
        OpenGate(
            id=gate.id,
            **_sides(gate, named),
            status=gate.status,
            pairs=gate.pairs,
            max_pairs=gate.max_pairs,
            llr=gate.llr,
            lower_bound=gate.lower_bound,
            upper_bound=gate.upper_bound,
        )
        for gate in gates
    ]


def _last_gate(session: Session, trial: Trial) -> EndedGate | None:
    gate = session.scalars(
        select(Gate)
        .where(Gate.trial_id == trial.id, Gate.finished_at.is_not(None))
        .order_by(Gate.finished_at.desc(), Gate.id.desc())
        .limit(1)
    ).one_or_none()
    if gate is None:
        return None
    named = _names(session, [gate])
    return EndedGate(
        id=gate.id,
        **_sides(gate, named),
        status=gate.status,
        reason=gate.status_reason,
        at=gate.finished_at,
    )


def _sides(gate: Gate, named: dict[str, tuple[str, str, str]]) -> dict[str, Any]:
    """Candidate and champion by name; the trial of a champion that is of another one."""
    candidate, _, _ = named[gate.candidate_version_id]
    if gate.champion_version_id is None:
        return {"candidate": candidate, "champion": None, "champion_trial": None}
    champion, trial_id, trial = named[gate.champion_version_id]
    elsewhere = None if trial_id == gate.trial_id else trial
    return {"candidate": candidate, "champion": champion, "champion_trial": elsewhere}


def _names(session: Session, gates: Sequence[Gate]) -> dict[str, tuple[str, str, str]]:
    """The versions of the gates, by id: name, id of the trial and its name."""
    versions = {each for gate in gates for each in (gate.candidate_version_id, gate.champion_version_id) if each}
    found = session.execute(
        select(ModelVersion.id, Player.name, ModelVersion.number, Trial.id, Trial.name)
        .join(Player, Player.id == ModelVersion.player_id)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .where(ModelVersion.id.in_(versions))
    )
    return {version: (f"{player} v{number}", home, name) for version, player, number, home, name in found}


def _tournaments(session: Session, trial: Trial) -> list[OpenTournament]:
    which = TournamentFilter(trial_id=trial.id, statuses=(TournamentStatus.RUNNING,))
    found = list_tournaments(session, which, before=None, limit=MOST)
    return [OpenTournament(**{field: row[field] for field in OpenTournament.model_fields}) for row in found]
