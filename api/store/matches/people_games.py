"""Games of people against versions: started, continued, kept when finished, else deleted a day after the last move."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.store.core.errors import Conflict, NotFound
from api.store.core.records import Record
from api.store.tables import PeopleGame
from orchestrator.contracts.interactive import MoveAnswer, MoveRequest, ReplayedPosition

KEPT = timedelta(hours=24)
"""How long an unfinished game is stored after its last move."""
_ANSWER = TypeAdapter(MoveAnswer)


def begin_people_game(
    session: Session,
    game_id: str,
    token_id: str,
    request: MoveRequest,
    answer: MoveAnswer,
    start: dict[str, Any] | None = None,
) -> PeopleGame:
    """Store a game that has just started."""
    row = PeopleGame(
        id=game_id,
        token_id=token_id,
        version_id=request.opponent.version,
        seat=request.person,
        seed=request.seed,
        sampled=answer.sampled,
        turn=0,
        answer=_dumped(answer),
        start=start,
    )
    _finish_if_over(row, answer)
    session.add(row)
    session.flush()
    return row


def find_people_game(session: Session, game_id: str, token_id: str, *, lock: bool = False) -> PeopleGame:
    """The game, if it was started with this token."""
    query = select(PeopleGame).where(PeopleGame.id == game_id, PeopleGame.token_id == token_id)
    row = session.scalars(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        hours = int(KEPT.total_seconds() // 3600)
        raise NotFound(f"there is no game {game_id} of yours; games are kept for {hours} hours after their last move")
    return row


def answer_of(game: PeopleGame) -> MoveAnswer:
    """The worker's last answer: all moves, and the position."""
    return _ANSWER.validate_python(game.answer)


def game_record(game: PeopleGame) -> Record:
    """The game as answers show it."""
    known = {name: game.answer[name] for name in ("moves", "answered", "position")}
    return {
        "id": game.id,
        "version_id": game.version_id,
        "seat": game.seat,
        "search": game.answer.get("search"),
        "sampled": game.sampled,
        "start": game.start,
        "result": game.result,
        **known,
    }


def continue_people_game(session: Session, game_id: str, token_id: str, *, turn: int, answer: MoveAnswer) -> PeopleGame:
    """Store the position after a move at this turn; Conflict if another move was made first."""
    row = find_people_game(session, game_id, token_id, lock=True)
    if row.turn != turn:
        raise Conflict("another move was made in this game meanwhile; read the game again")
    row.turn += 1
    row.answer = _dumped(answer)
    row.touched_at = func.now()
    _finish_if_over(row, answer)
    session.flush()
    return row


def delete_expired_people_games(session: Session) -> None:
    """Delete unfinished games whose last move is too long ago."""
    session.execute(
        delete(PeopleGame).where(PeopleGame.finished_at.is_(None), PeopleGame.touched_at < func.now() - KEPT)
    )


def persons_result(position: ReplayedPosition, seat: int) -> MatchResult:
    """By the final order of the teams' returns, as of a match; where all play in one team, a draw."""
    teams = position.teams or list(range(len(position.returns)))
    earned: dict[int, float] = {}
    for team, returned in zip(teams, position.returns, strict=True):
        earned[team] = earned.get(team, 0.0) + returned
    own = earned.pop(teams[seat])
    ahead = sum((own > other) - (own < other) for other in earned.values())
    return MatchResult.WIN if ahead > 0 else MatchResult.LOSS if ahead < 0 else MatchResult.DRAW


def _finish_if_over(row: PeopleGame, answer: MoveAnswer) -> None:
    if answer.position.done:
        row.result = persons_result(answer.position, row.seat)
        row.finished_at = func.now()


def _dumped(answer: MoveAnswer) -> dict[str, Any]:
    dumped: dict[str, Any] = _ANSWER.dump_python(answer, mode="json")
    return dumped
