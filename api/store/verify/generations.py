"""Audits generations: each once, none missing, and the counts computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlalchemy import Integer, cast, exists, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import VersionOrigin
from api.store.forks.at_commit import first_generation, first_steps
from api.store.tables import (
    Decision,
    Event,
    Generation,
    LineupTally,
    Metric,
    ModelVersion,
    Player,
    ReturnTally,
    Tally,
    Trial,
)
from api.store.verify.report import Finding, FindingKind
from league.types import DecisionKind, Role, Stream

RETURN_METRIC = "return_mean"


def wrong_generations(session: Session) -> Iterator[Finding]:
    """Missing and duplicate generations, wrong counts of steps, and records of generations that do not exist."""
    for trial in session.scalars(select(Trial).order_by(Trial.id)):
        yield from _wrong_steps(session, trial)
        for player in session.scalars(select(Player).where(Player.trial_id == trial.id).order_by(Player.id)):
            if player.role.learns:
                yield from _wrong_numbers(session, trial, player)
    yield from _used_twice(session)
    yield from _unplanned(session)
    yield from _unjudged(session)
    yield from _without_generation(session)
    yield from _wrong_returns(session)
    yield from _lost_returns(session)
    yield from _wrong_events(session)


def _wrong_steps(session: Session, trial: Trial) -> Iterator[Finding]:
    own = session.scalar(select(func.sum(Generation.steps)).where(Generation.trial_id == trial.id)) or 0
    expected = first_steps(session, trial) + int(own)
    if trial.steps != expected:
        detail = f"{trial.steps} steps are stored, its generations have {expected}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=f"trial {trial.name}", detail=detail)


def _wrong_numbers(session: Session, trial: Trial, player: Player) -> Iterator[Finding]:
    subject = f"player {player.name} of trial {trial.name}"
    rows = session.execute(select(Generation.number, Generation.steps).where(Generation.player_id == player.id)).all()
    numbers = [row.number for row in rows]
    base = first_generation(session, trial, player)
    missing = sorted(set(range(base + 1, player.generation + 1)) - set(numbers))
    if missing:
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail=f"generations {missing} are missing")
    extra = sorted(number for number in numbers if not base < number <= player.generation)
    if extra:
        detail = f"generations {extra} are outside {base + 1} to {player.generation}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    began = session.scalar(
        select(ModelVersion.steps).where(ModelVersion.player_id == player.id).order_by(ModelVersion.number).limit(1)
    )
    expected = (began or 0) + sum(row.steps for row in rows)
    if player.steps != expected:
        detail = f"{player.steps} steps are stored, its generations have {expected}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _used_twice(session: Session) -> Iterator[Finding]:
    """A plan and a seed belong to one generation each."""
    for what, column in (("plan", Generation.plan_decision_id), ("seed", Generation.seed)):
        rows = session.execute(
            select(Player.name, Trial.name, func.array_agg(Generation.number))
            .join(Player, Player.id == Generation.player_id)
            .join(Trial, Trial.id == Generation.trial_id)
            .where(column.is_not(None))
            .group_by(Player.id, Player.name, Trial.name, column)
            .having(func.count() > 1)
        )
        for player, trial, numbers in rows:
            detail = f"generations {sorted(numbers)} come from one {what}"
            yield Finding(wrong=FindingKind.DOUBLED, subject=f"player {player} of trial {trial}", detail=detail)


def _unplanned(session: Session) -> Iterator[Finding]:
    """Every generation has its own plan."""
    rows = session.execute(
        select(Player.name, Trial.name, Generation.number, Decision.id)
        .join(Player, Player.id == Generation.player_id)
        .join(Trial, Trial.id == Generation.trial_id)
        .outerjoin(Decision, Decision.id == Generation.plan_decision_id)
        .where(
            Decision.id.is_(None)
            | (Decision.player_id != Generation.player_id)
            | (Decision.generation != Generation.number)
        )
    )
    for player, trial, number, decision in rows:
        yield Finding(
            wrong=FindingKind.LOST if decision is None else FindingKind.DISAGREEING,
            subject=f"player {player} of trial {trial}",
            detail=f"generation {number} has no plan of its own",
        )


def _unjudged(session: Session) -> Iterator[Finding]:
    """Every generation was judged, except the newest, which may be judged next."""
    rows = session.execute(
        select(Player.name, Trial.name, Generation.number)
        .join(Player, Player.id == Generation.player_id)
        .join(Trial, Trial.id == Generation.trial_id)
        .outerjoin(
            Decision,
            (Decision.player_id == Generation.player_id)
            & (Decision.generation == Generation.number)
            & (Decision.kind == DecisionKind.SNAPSHOT),
        )
        .where(Decision.id.is_(None), Generation.number < Player.generation)
    )
    for player, trial, number in rows:
        subject = f"player {player} of trial {trial}"
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail=f"generation {number} was never judged")


def _without_generation(session: Session) -> Iterator[Finding]:
    """Trained versions and judgements belong to a generation."""
    versions = session.execute(
        select(Player.name, Trial.name, ModelVersion.number)
        .join(Player, Player.id == ModelVersion.player_id)
        .join(Trial, Trial.id == ModelVersion.trial_id)
        .outerjoin(Generation, Generation.version_id == ModelVersion.id)
        .where(ModelVersion.origin == VersionOrigin.TRAINED, Generation.version_id.is_(None))
    )
    for player, trial, number in versions:
        detail = f"version {number} was trained in no recorded generation"
        yield Finding(wrong=FindingKind.ORPHANED, subject=f"player {player} of trial {trial}", detail=detail)
    judgements = session.execute(
        select(Player.name, Trial.name, Decision.generation)
        .join(Player, Player.id == Decision.player_id)
        .join(Trial, Trial.id == Decision.trial_id)
        .outerjoin(
            Generation,
            (Generation.player_id == Decision.player_id) & (Generation.number == Decision.generation),
        )
        .where(Decision.kind == DecisionKind.SNAPSHOT, Generation.number.is_(None), Player.role != Role.HISTORICAL)
    )
    for player, trial, judged in judgements:
        detail = f"generation {judged} was judged and is missing"
        yield Finding(wrong=FindingKind.ORPHANED, subject=f"player {player} of trial {trial}", detail=detail)


def _wrong_returns(session: Session) -> Iterator[Finding]:
    """Returns of games of one team: they cover every game of the generation and have the reported mean."""
    rows = session.execute(
        select(Player.name, Trial.name, Generation, ReturnTally, Metric.value)
        .join(Generation, Generation.version_id == ReturnTally.version_id)
        .join(Player, Player.id == Generation.player_id)
        .join(Trial, Trial.id == Generation.trial_id)
        .outerjoin(
            Metric,
            (Metric.player_id == Generation.player_id)
            & (Metric.generation == Generation.number)
            & (Metric.name == RETURN_METRIC),
        )
        .where(ReturnTally.stream == Stream.TRAINING)
    )
    for player, trial, generation, tally, mean in rows:
        subject = f"returns of generation {generation.number} of {player}, trial {trial}"
        games = tally.games + _mixed_games(session, generation)
        if games != generation.games:
            wrong = FindingKind.LOST if games < generation.games else FindingKind.DOUBLED
            detail = f"{games} games were counted, the generation has {generation.games}"
            yield Finding(wrong=wrong, subject=subject, detail=detail)
        elif mean is not None and not math.isclose(tally.mean, mean, rel_tol=1e-6, abs_tol=1e-6):
            detail = f"a mean of {tally.mean!r} is stored, the generation reported {mean!r}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _mixed_games(session: Session, generation: Generation) -> int:
    """Games of a generation in which the learner shared its team; in a game of one team each is in one tally."""
    query = select(func.sum(LineupTally.games)).where(LineupTally.version_id == generation.version_id)
    return int(session.scalar(query) or 0)


def _lost_returns(session: Session) -> Iterator[Finding]:
    """Once a trial counts returns, a generation with games but without returns or results has lost them."""
    began = (
        select(ReturnTally.trial_id, func.min(ReturnTally.commit).label("commit"))
        .where(ReturnTally.stream == Stream.TRAINING)
        .group_by(ReturnTally.trial_id)
        .subquery()
    )
    uncounted = (
        ~exists().where(tally.trial_id == Generation.trial_id, tally.commit == Generation.commit)
        for tally in (ReturnTally, Tally, LineupTally)
    )
    rows = session.execute(
        select(Player.name, Trial.name, Generation.number, Generation.games)
        .join(Player, Player.id == Generation.player_id)
        .join(Trial, Trial.id == Generation.trial_id)
        .join(began, began.c.trial_id == Generation.trial_id)
        .where(Generation.commit > began.c.commit, Generation.games > 0, *uncounted)
    )
    for player, trial, number, games in rows:
        subject = f"returns of generation {number} of {player}, trial {trial}"
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail=f"none were counted of {games} games")


def _wrong_events(session: Session) -> Iterator[Finding]:
    """Every recorded generation has exactly one event."""
    told = (
        select(
            Event.payload["player_id"].astext.label("player_id"),
            cast(Event.payload["generation"].astext, Integer).label("generation"),
            func.count().label("times"),
        )
        .where(Event.type == "generation.recorded")
        .group_by("player_id", "generation")
        .subquery()
    )
    rows = session.execute(
        select(Player.name, Trial.name, Generation.number, func.coalesce(told.c.times, 0))
        .join(Player, Player.id == Generation.player_id)
        .join(Trial, Trial.id == Generation.trial_id)
        .outerjoin(
            told,
            (told.c.player_id == cast(Generation.player_id, told.c.player_id.type))
            & (told.c.generation == Generation.number),
        )
        .where(func.coalesce(told.c.times, 0) != 1)
    )
    for player, trial, number, times in rows:
        yield Finding(
            wrong=FindingKind.DOUBLED if times else FindingKind.LOST,
            subject=f"player {player} of trial {trial}",
            detail=f"generation {number} has {times} events",
        )
