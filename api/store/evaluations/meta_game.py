"""The meta-game of a pool (PSRO): its members, the unplayed pairs, and a tournament of those pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TournamentPurpose
from api.store.checkpoints.damaged import damaged_sha256
from api.store.evaluations.unfinished import unfinished_evaluations
from api.store.players.versions import playing_version
from api.store.tables import ModelVersion, Payoff, Player, Tournament, TournamentEntrant, Trial
from api.store.trials.spec import spec_of
from league.types import Role, Stream
from orchestrator.spec.tournament import TournamentSpec

MAX_POOL = 200
"""The newest snapshots that play; older ones keep their payoff entries."""

Pair = frozenset[str]


def meta_game(session: Session, trial: Trial, seed: int) -> TournamentSpec | str:
    """A gauntlet of the unplayed pairs of the pool's meta-game, or the reason why there is none.

    The challengers are a vertex cover of the unplayed pairs: they play the members they have not met, and each other.
    If no pair is unplayed, the newest member plays all the others again.
    """
    pool = pool_of(session, trial.id)
    if len(pool) < 2 or not any(member.role is Role.HISTORICAL for member in pool):
        return "the pool has fewer than two members"
    under_way = _pairs_under_way(session, trial.id)
    ids = [member.id for member in pool]
    unplayed = {frozenset(pair) for pair in combinations(ids, 2)} - _known_pairs(session, trial) - under_way
    if not unplayed and under_way:
        return "the games of the unplayed pairs are under way"
    challengers = _vertex_cover(ids, unplayed) or ids[-1:]
    field = [each for each in ids if each not in challengers and _meets(each, challengers, unplayed)]
    version = {member.id: f"version:{playing_version(session, member).id}" for member in pool}
    pairings = len(challengers) * len(field) + len(challengers) * (len(challengers) - 1) // 2
    return TournamentSpec(
        trial=trial.name,
        format="gauntlet",
        challengers=tuple(version[each] for each in challengers),
        among_challengers=True,
        entrants=tuple(version[each] for each in field),
        games=_games(trial, pairings),
        seed=seed,
    )


def pool_of(session: Session, trial_id: str) -> list[Player]:
    """The bots and the newest snapshots, oldest first, each policy once, without damaged checkpoints."""
    members = select(Player).where(Player.trial_id == trial_id, Player.status == PlayerStatus.ACTIVE)
    bots = session.scalars(members.where(Player.role == Role.BOT).order_by(Player.created_commit, Player.id))
    newest = members.where(Player.role == Role.HISTORICAL).order_by(Player.created_commit.desc(), Player.id.desc())
    snapshots = session.scalars(newest.limit(MAX_POOL)).all()
    damaged = damaged_sha256(session, trial_id) | _withdrawn(session, trial_id)
    found: dict[str, Player] = {}
    for member in (*bots, *reversed(snapshots)):
        policy = playing_version(session, member).sha256 or f"bot:{member.bot}"
        if policy not in damaged:
            found.setdefault(policy, member)
    return list(found.values())


def _withdrawn(session: Session, trial_id: str) -> set[str]:
    """The checkpoints that a tournament of the trial found damaged."""
    query = (
        select(ModelVersion.sha256)
        .join(TournamentEntrant, TournamentEntrant.version_id == ModelVersion.id)
        .join(Tournament, Tournament.id == TournamentEntrant.tournament_id)
        .where(Tournament.trial_id == trial_id, TournamentEntrant.withdrawn.is_not(None))
    )
    return {sha256 for sha256 in session.scalars(query) if sha256 is not None}


def _known_pairs(session: Session, trial: Trial) -> set[Pair]:
    """Pairs with enough rating games for a payoff to count."""
    games = func.sum(Payoff.raw_wins + Payoff.raw_draws + Payoff.raw_losses)
    query = (
        select(Payoff.player_id, Payoff.opponent_id)
        .where(Payoff.trial_id == trial.id, Payoff.stream == Stream.RATING, Payoff.player_id < Payoff.opponent_id)
        .group_by(Payoff.player_id, Payoff.opponent_id)
        .having(games >= spec_of(trial).league.payoff.min_games)
    )
    return {frozenset((player, opponent)) for player, opponent in session.execute(query)}


def _pairs_under_way(session: Session, trial_id: str) -> set[Pair]:
    """Pairs of evaluations that are not over, such as another main's."""
    evaluations = unfinished_evaluations(session, trial_id, TournamentPurpose.FIELD_EVALUATION)
    return {pair for evaluation in evaluations for pair in _pairs_of(session, evaluation)}


def _pairs_of(session: Session, tournament_id: str) -> Iterator[Pair]:
    tournament = session.get_one(Tournament, tournament_id)
    entrants = session.scalars(
        select(ModelVersion.player_id)
        .join(TournamentEntrant, TournamentEntrant.version_id == ModelVersion.id)
        .where(TournamentEntrant.tournament_id == tournament_id)
        .order_by(TournamentEntrant.number)
    ).all()
    challengers = entrants[: tournament.spec["challenger_count"]]
    return (frozenset((challenger, other)) for challenger in challengers for other in entrants if other != challenger)


def _vertex_cover(ids: list[str], unplayed: set[Pair]) -> list[str]:
    """Greedy vertex cover of the unplayed pairs: always the member in most of them, the newest of equals."""
    left, chosen = set(unplayed), set[str]()
    while left:
        degree = Counter(member for pair in left for member in pair)
        largest = max(reversed(ids), key=degree.__getitem__)
        chosen.add(largest)
        left = {pair for pair in left if largest not in pair}
    return [member for member in ids if member in chosen]


def _meets(member: str, challengers: list[str], unplayed: set[Pair]) -> bool:
    return not unplayed or any(frozenset((member, challenger)) in unplayed for challenger in challengers)


def _games(trial: Trial, pairings: int) -> int:
    """Games per pairing: an even share of the evaluation's games, but enough for a payoff to count."""
    spec = spec_of(trial)
    enough = (spec.league.payoff.min_games + 1) // 2 * 2
    return spec.evaluation.games_per_pairing(pairings, enough)
