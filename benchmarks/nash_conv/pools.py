"""Reads a league's pool as policies and a payoff, and computes NashConv as the pool grew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from api.store.core.engine import create_store_engine
from api.store.payoffs.cells import load_payoff
from api.store.players.weights import weights_of
from api.store.tables import Generation, ModelVersion, Player, Trial
from lanista.stack.control import reach
from lanista.stack.home import Home
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.matchmaking.psro import BY_RETURNS, meta_game
from league.payoff.table import PayoffView
from league.types import PlayerId, Role
from league.validation import Floats
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import load
from workers.games.exploitability import Policy as Probabilities
from workers.games.exploitability import nash_conv
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.inference.policy import Policy


@dataclass(frozen=True, kw_only=True)
class Point:
    """NashConv after a number of steps: of the version trained last, and of the pool's mixture."""

    steps: int
    """Of all players of the trial together; iterations or episodes of a reference."""
    last: float
    mixture: float
    seconds: float = 0.0
    """Since the training began."""


class LeagueReader:
    """The leagues of one game on a local stack, read straight from its store."""

    def __init__(self, home: Home, game: str) -> None:
        self._engine = create_store_engine(reach(home)["LANISTA_DATABASE_URL"])
        self._artifacts = ArtifactStore(str(home.artifacts))
        self._game = game

    def points(self, trial_id: str, most_steps: int | None = None) -> list[Point]:
        """One point for each snapshot within the budget, of the pool up to it.

        A trial ends with the generations under way, so that it may have a snapshot more than its budget allows, and
        a last one that nobody has met yet: that one is left out.
        """
        with Session(self._engine) as session:
            trained = _trained(session, trial_id)
            pool = _snapshots(session, trial_id)
            players = [PlayerId(player.id) for player, _ in pool]
            payoff = load_payoff(session, session.get_one(Trial, trial_id), min_games=1)
            met = all_met(players, payoff)
            if met < max(1, len(players) - 1):
                raise RuntimeError(f"trial {trial_id}: only {met} of {len(players)} snapshots have all met")
            pool, players = pool[:met], players[:met]
            game, unit = meta_game(payoff, players)
            if unit != BY_RETURNS:
                raise RuntimeError(f"trial {trial_id}: the payoff is one of {unit}")
            policies = [self._policy(version) for _, version in pool]
            found = []
            for size, (player, _) in enumerate(pool, start=1):
                steps, seconds = _spent(trained, player.created_commit)
                if most_steps is not None and steps > most_steps:
                    break
                last = _newest_main(trained, player.created_commit)
                found.append(
                    Point(
                        steps=steps,
                        last=nash_conv(self._make, [self._policy(last)]),
                        mixture=nash_conv(self._make, policies[:size], _nash(game[:size, :size])),
                        seconds=seconds,
                    )
                )
        return found

    def _make(self, tables: int) -> VectorGame:
        return make_game(self._game, tables)

    def _policy(self, version: ModelVersion) -> Probabilities:
        checkpoint = load(self._artifacts, weights_of(version))
        return probabilities(Policy.from_checkpoint(checkpoint, self._make(1).spec))


Trained = Sequence[Row[Generation, ModelVersion, Player]]


def all_met(players: Sequence[PlayerId], payoff: PayoffView) -> int:
    """How many of these players, from the first, have all played each other."""
    for count, player in enumerate(players):
        if not all(payoff.known(player, other) for other in players[:count]):
            return count
    return len(players)


def _trained(session: Session, trial_id: str) -> Trained:
    """The generations of all players with the versions that they trained, in order."""
    return session.execute(
        select(Generation, ModelVersion, Player)
        .join(ModelVersion, ModelVersion.id == Generation.version_id)
        .join(Player, Player.id == Generation.player_id)
        .where(Generation.trial_id == trial_id)
        .order_by(Generation.commit)
    ).all()


def _snapshots(session: Session, trial_id: str) -> Sequence[Row[Player, ModelVersion]]:
    """The frozen players with their versions, in order."""
    return session.execute(
        select(Player, ModelVersion)
        .join(ModelVersion, ModelVersion.player_id == Player.id)
        .where(Player.trial_id == trial_id, Player.role == Role.HISTORICAL)
        .order_by(Player.created_commit)
    ).all()


def _spent(trained: Trained, commit: int) -> tuple[int, float]:
    """Steps and seconds of the trial up to this commit."""
    done = [generation for generation, _, _ in trained if generation.commit <= commit]
    began = min(generation.started_at for generation, _, _ in trained)
    ended = max((generation.finished_at for generation in done), default=began)
    return sum(generation.steps for generation in done), (ended - began).total_seconds()


def _newest_main(trained: Trained, commit: int) -> ModelVersion:
    """The version that a main trained last up to this commit; its first where it has none yet."""
    mains = [(generation.commit, version) for generation, version, player in trained if player.role == Role.MAIN]
    found: ModelVersion = max(
        (each for each in mains if each[0] <= commit), default=mains[0], key=lambda each: each[0]
    )[1]
    return found


def _nash(game: Floats) -> list[float]:
    weights: list[float] = META_STRATEGIES["nash"](game, 0.0).tolist()
    return weights


def probabilities(policy: Policy) -> Probabilities:
    """The policy as a function from observations to the probabilities it samples by."""

    def of(observations: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.floating]:
        with torch.inference_mode():
            logits = policy.model(torch.from_numpy(observations), torch.from_numpy(legal))[0]
            chances: NDArray[np.float64] = torch.softmax(logits.double(), 1).numpy()
        return np.where(legal, chances, 0.0)

    return of
