"""Requests to a worker in a game of a person against a version."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.matches.finished_people_games import read_finished_game
from api.store.matches.people_games import answer_of
from api.store.matches.reads import moves_of, read_match
from api.store.players.contenders import contender
from api.store.players.pruned import refuse_pruned
from api.store.players.reads import get_version
from api.store.tables import PeopleGame, Player, Trial
from api.store.trials.spec import spec_of
from orchestrator.catalog import Component
from orchestrator.contracts.interactive import MoveRequest
from orchestrator.contracts.play import Contender


def opponent_of(session: Session, version_id: str, *, plays: bool = True) -> tuple[Contender, Component]:
    """A version as an opponent, and the game it plays; Conflict if it `plays` and its checkpoint was pruned."""
    if plays:
        refuse_pruned(session, version_id, lock=False)
    version, _ = get_version(session, version_id)
    player = session.get_one(Player, version.player_id)
    trial = session.get_one(Trial, version.trial_id)
    return contender(player, version), spec_of(trial).game.component


@dataclass(frozen=True, kw_only=True)
class RecordedStart:
    """The seed and the first actions of a recorded game."""

    seed: int
    moves: list[int]


def recorded_start(
    session: Session, version_id: str, *, match_id: int | None, game_id: str | None, moves: int
) -> RecordedStart:
    """A recorded position that a game against this version may begin with.

    Conflict if it plays another game; Gone if the recorded moves were pruned.
    """
    if match_id is not None:
        match = read_match(session, match_id)
        name, owner, seed, recorded = f"match {match_id}", match["version_id"], match["seed"], moves_of(match)
    else:
        row = read_finished_game(session, str(game_id))
        name, owner, seed, recorded = f"game {game_id}", row.version_id, row.seed, answer_of(row).moves
    if opponent_of(session, owner, plays=False)[1] != opponent_of(session, version_id)[1]:
        raise Conflict(f"{name} is of another game than version {version_id} plays")
    if moves >= len(recorded):
        raise Conflict(f"{name} has {len(recorded)} actions; keep fewer of them, not {moves}, to play on from there")
    return RecordedStart(seed=seed, moves=recorded[:moves])


def first_request(
    session: Session,
    version_id: str,
    *,
    seat: int,
    seed: int,
    sampled: bool | None,
    search: int | None = None,
    moves: list[int] | None = None,
) -> MoveRequest:
    """The request that begins a game against this version, after `moves` where it does not begin at the start."""
    return _request(
        session, version_id, seat=seat, seed=seed, sampled=sampled, moves=moves or [], action=None, search=search
    )


def next_request(
    session: Session, game: PeopleGame, action: int | None, numbers: list[float] | None = None
) -> MoveRequest:
    """The request that continues a game with the person's move: an action, or its numbers."""
    so_far = answer_of(game)
    return _request(
        session,
        game.version_id,
        seat=game.seat,
        seed=game.seed,
        sampled=game.sampled,
        moves=so_far.moves,
        action=action,
        numbers=numbers,
        search=so_far.search,
    )


def _request(
    session: Session,
    version_id: str,
    *,
    seat: int,
    seed: int,
    sampled: bool | None,
    moves: list[int],
    action: int | None,
    numbers: list[float] | None = None,
    search: int | None = None,
) -> MoveRequest:
    opponent, game = opponent_of(session, version_id)
    if search is not None and opponent.checkpoint is None:
        raise Conflict(f"{opponent.bot} is a bot; only versions search")
    return MoveRequest(
        game=game,
        seed=seed,
        moves=moves,
        person=seat,
        opponent=opponent,
        action=action,
        numbers=numbers,
        sampled=sampled,
        search=search,
    )
