"""NashConv of a trial: which policies are measured after a generation, and the metrics that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from api.store.core.errors import NotFound
from api.store.evaluations.gauntlet import POOL_PRESET
from api.store.evaluations.meta_game import pool_of
from api.store.payoffs.cells import load_payoff
from api.store.players.roster import player_of
from api.store.players.versions import playing_version
from api.store.tables import Generation, Metric, ModelVersion, Player, Trial
from api.store.trials.spec import spec_of
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.matchmaking.psro import meta_game
from league.types import PlayerId
from orchestrator.contracts.nash_conv import OF_MIXTURE, OF_PLAYER

SMALLEST_WEIGHT = 1e-9
UNIFORM = "random"
"""The only bot whose probabilities are known."""


@dataclass(frozen=True, kw_only=True)
class MeasuredMixture:
    """The policies behind one metric, each with its weight."""

    metric: str
    members: tuple[tuple[Player, ModelVersion], ...]
    weights: tuple[float, ...]


def mixtures_to_measure(session: Session, trial_id: str, player_id: str, generation: int) -> list[MeasuredMixture]:
    """The generation's version by itself; with the preset psro also the pool, by the Nash equilibrium of its payoff."""
    player = player_of(session, trial_id, player_id)
    trial = session.get_one(Trial, trial_id)
    version = session.get_one(ModelVersion, _generation(session, player_id, generation).version_id)
    found = [MeasuredMixture(metric=OF_PLAYER, members=((player, version),), weights=(1.0,))]
    if spec_of(trial).league.preset == POOL_PRESET:
        found += _pool(session, trial)
    return found


def record_nash_conv(
    session: Session, player_id: str, generation: int, values: Mapping[str, float]
) -> dict[str, float]:
    """Record the values once, as metrics of the generation; returns those that are recorded."""
    row = _generation(session, player_id, generation)
    steps = session.get_one(ModelVersion, row.version_id).steps
    at = {"player_id": player_id, "generation": generation, "trial_id": row.trial_id, "steps": steps}
    if values:
        rows = [{**at, "name": name, "value": value} for name, value in values.items()]
        session.execute(insert(Metric).values(rows).on_conflict_do_nothing())
    recorded = select(Metric.name, Metric.value).where(
        Metric.player_id == player_id, Metric.generation == generation, Metric.name.in_((OF_PLAYER, OF_MIXTURE))
    )
    return {row.name: row.value for row in session.execute(recorded)}


def _generation(session: Session, player_id: str, generation: int) -> Generation:
    row = session.get(Generation, (player_id, generation))
    if row is None:
        raise NotFound(f"generation {generation} of player {player_id} is not recorded")
    return row


def _pool(session: Session, trial: Trial) -> list[MeasuredMixture]:
    """The mixture that is the outcome of psro; none before the pool has a member. Unplayed pairs count as even."""
    members = [each for each in pool_of(session, trial.id) if each.bot in (None, UNIFORM)]
    if not members:
        return []
    payoff = load_payoff(session, trial, min_games=spec_of(trial).league.payoff.min_games)
    game, _ = meta_game(payoff, [PlayerId(member.id) for member in members])
    weights = META_STRATEGIES["nash"](game, 0.0)
    kept = [
        (member, float(weight)) for member, weight in zip(members, weights, strict=True) if weight > SMALLEST_WEIGHT
    ]
    total = sum(weight for _, weight in kept)
    return [
        MeasuredMixture(
            metric=OF_MIXTURE,
            members=tuple((member, playing_version(session, member)) for member, _ in kept),
            weights=tuple(weight / total for _, weight in kept),
        )
    ]
