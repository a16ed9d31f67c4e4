"""Replays a recorded game position by position from its seed and its actions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workers.games.errors import BadGame
from workers.games.protocol import Turn, VectorGame


@dataclass(frozen=True, kw_only=True)
class Position:
    """One position of a replayed game; at the end no seat is to act and `done` is true."""

    ply: int
    seats: tuple[int, ...]
    """The seats to act here, none at the end."""
    legal: tuple[tuple[int, ...], ...]
    """The legal actions of each of `seats`; empty for each where actions are not Discrete."""
    actions: tuple[int, ...]
    """The recorded actions of `seats` here, as `ActionLayout.numbers`; empty at the last recorded position."""
    names: tuple[str, ...]
    """What people call `actions`."""
    returns: tuple[float, ...]
    """What each seat has earned so far."""
    done: bool
    text: str
    svg: str


def replay(
    make: Callable[[int], VectorGame], seed: int, actions: Sequence[int], seat: int | None = None, first: int = 0
) -> Iterator[Position]:
    """Every position of the game with this seed and these actions, the last one included.

    `make` builds the game for a number of tables. `actions` runs in the order of the rows of each turn;
    a record that stops early is an unfinished game. `seat` limits the pictures to what that seat sees.
    Positions before `first` are not drawn: their `text` and `svg` are empty.
    """
    game = make(1)
    game.auto_reset = False
    game.reset(np.array([seed], np.uint64))
    returns = np.zeros(game.spec.seats)
    used, done, ply = 0, False, 0
    while True:
        turn = None if done else game.turn()
        numbers = 0 if turn is None else len(turn.seats) * game.layout.width
        now = tuple(int(a) for a in actions[used : used + numbers])
        if len(now) not in (0, numbers):
            raise BadGame(f"{game.spec.id}: the record ends in the middle of move {ply}")
        if done and used < len(actions):
            raise BadGame(f"{game.spec.id}: the game ended after {used} of {len(actions)} recorded actions")
        yield Position(
            ply=ply,
            seats=() if turn is None else tuple(turn.seats.tolist()),
            legal=() if turn is None else _legal(game, turn),
            actions=now,
            names=() if turn is None else _names(game, turn, now),
            returns=tuple(returns.tolist()),
            done=done,
            text=game.render_text(0, seat) if ply >= first else "",
            svg=game.render_svg(0, seat) if ply >= first else "",
        )
        if not now:
            return
        result = game.step(game.layout.from_numbers(now))
        returns += result.rewards[0]
        used, done, ply = used + numbers, bool(result.done[0]), ply + 1


def _names(game: VectorGame, turn: Turn, actions: tuple[int, ...]) -> tuple[str, ...]:
    chosen = [game.layout.value(action) for action in game.layout.from_numbers(actions)]
    return tuple(game.action_text(0, seat, action) for seat, action in zip(turn.seats.tolist(), chosen, strict=False))


def _legal(game: VectorGame, turn: Turn) -> tuple[tuple[int, ...], ...]:
    legal = game.legal_of(turn) if game.spec.discrete else None
    if legal is None:
        return ((),) * len(turn.seats)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in legal)
