"""Plays all games of a match to their end, batched over tables.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.storage.artifacts import ArtifactStore
from workers.bots.fixed_strategies import draw
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import StepResult, Turn, VectorGame
from workers.games.seeding import mix, uniform
from workers.inference.cache import PolicyCache
from workers.matches.game_queue import IDLE, GameQueue
from workers.matches.players import Player, make_player
from workers.matches.result import GameRecord, MatchResult
from workers.matches.task import MatchStopped, MatchTask
from workers.user_errors import NotFinite

_PLAY, _OPENING = 11, 12  # separate the draws of players and openings from other draws on the same seed
_MOST = 1.0 - 2.0**-24  # the largest draw that is still below 1 as a float32

Progress = Callable[[int, int], None]
"""Called with the games finished and the games scheduled."""


def play_match(
    task: MatchTask,
    *,
    store: ArtifactStore,
    policies: PolicyCache | None = None,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MatchResult:
    """Play the task's games. `policies` is a cache for this game: its checkpoints are not loaded again."""
    cache = PolicyCache(store, make_game(task.game.id, 1, **task.game.options).spec) if policies is None else policies
    spec = cache.spec
    task.check(spec)
    queue = GameQueue(task, spec)
    game = make_game(task.game.id, min(task.tables, len(queue)), **task.game.options)
    players = [make_player(e, game, cache, sampled=task.randomness.sampled) for e in task.entrants]
    match_tables = MatchTables(game, queue, players, opening=task.randomness.plies(spec))
    finished = 0
    while finished < len(queue):
        if should_stop is not None and should_stop():
            raise MatchStopped(f"stopped after {finished} of {len(queue)} games")
        finished += match_tables.step()
        if progress is not None:
            progress(finished, len(queue))
    return MatchResult(task=task, games=match_tables.records())


class MatchTables:
    """The tables of a match. Draws depend on a game's seed, ply and seat alone, never on the table."""

    def __init__(self, game: VectorGame, queue: GameQueue, players: Sequence[Player], *, opening: int) -> None:
        self._game, self._queue, self._players = game, queue, players
        self._opening = opening
        game.auto_reset = False  # the queue decides the next game of a table and its seed
        games, seats = len(queue), game.spec.seats
        self._at = np.full(game.tables, IDLE, np.int64)
        self._earned = np.zeros((game.tables, seats), np.float64)
        self._returns = np.zeros((games, seats), np.float64)
        self._lengths = np.zeros(games, np.int64)
        self._truncated = np.zeros(games, np.bool_)
        self._moves: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        game.reset(np.zeros(game.tables, np.uint64))
        self._start(np.arange(game.tables), queue.next_games(game.tables))

    def step(self) -> int:
        """Play one move at every table; returns how many games ended."""
        turn = self._game.turn()
        at = self._at[turn.tables]
        live = at != IDLE
        actions = self._choose(turn, at, live)
        self._moves.append((self._queue.keys(at[live]), self._game.layout.numbers(actions[live])))
        result = self._game.step(actions)
        self._earned += result.rewards
        self._refuse_endless(result)
        return self._finish(result)

    def _refuse_endless(self, result: StepResult) -> None:
        """Raise BadGame for a game longer than its `max_steps`: it might never end."""
        spec = self._game.spec
        if ((self._at != IDLE) & ~result.done & (self._game.plies >= spec.max_steps)).any():
            raise BadGame(f"{spec.id}: a game is longer than its max_steps, {spec.max_steps}")

    def records(self) -> tuple[GameRecord, ...]:
        """Every game, in the order of the queue; raises NotFinite if a return is not finite."""
        queue = self._queue
        if not np.isfinite(self._returns).all():
            game, seat = np.argwhere(~np.isfinite(self._returns))[0]
            number, seed = self._returns[game, seat], queue.seeds[game]
            raise NotFinite(f"{self._game.spec.id}: the return of seat {seat} is {number}, in the game of seed {seed}")
        keys = np.concatenate([keys for keys, _ in self._moves])
        actions = np.concatenate([actions for _, actions in self._moves])
        order = np.argsort(keys, kind="stable")
        keys, actions = keys[order], actions[order]
        final = queue.keys(np.arange(len(queue)))
        openings = queue.shortened(self._opening, np.arange(len(queue)))
        starts, ends = np.searchsorted(keys, final), np.searchsorted(keys, final, side="right")
        spec = self._game.spec
        teams = spec.teams if spec.team_count < spec.seats else ()
        return tuple(
            GameRecord(
                pair=int(queue.pair[game]),
                seating=tuple(queue.seating[game].tolist()),
                teams=teams,
                seed=int(queue.seeds[game]),
                returns=tuple(self._returns[game].tolist()),
                length=int(self._lengths[game]),
                moves=tuple(actions[starts[game] : ends[game]].ravel().tolist()),
                opening=int(openings[game]),
                truncated=bool(self._truncated[game]),
            )
            for game in range(len(queue))
        )

    def _choose(self, turn: Turn, at: NDArray[np.int64], live: NDArray[np.bool_]) -> NDArray[Any]:
        """One action per row: the opening's, the entrants', and at idle tables any legal one."""
        layout, legal = self._game.layout, self._game.legal_of(turn)
        actions = layout.any_legal(len(turn.tables), legal)
        plies = self._game.plies[turn.tables]
        queue = self._queue
        seeds = queue.seeds[at]
        opening = live & (plies < queue.shortened(self._opening, at))
        if opening.any():
            keys = mix(seeds[opening], plies[opening], _OPENING)
            actions[opening] = draw(legal[opening].astype(np.float64), keys)
        owner = queue.seating[at, turn.seats]
        for entrant, player in enumerate(self._players):
            rows = np.flatnonzero(live & ~opening & (owner == entrant))
            if len(rows):
                draws = self._draws(mix(seeds[rows], plies[rows], turn.seats[rows], _PLAY))
                actions[rows] = player.act(self._game, turn, rows, np.minimum(draws, _MOST).astype(np.float32))
        return layout.clip(actions)

    def _draws(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Uniform numbers for rows with these keys: one, or one for each number of an action."""
        if self._game.spec.discrete:
            return uniform(keys)
        return np.stack([uniform(mix(keys, number)) for number in range(self._game.layout.width)], axis=1)

    def _finish(self, result: StepResult) -> int:
        """Record the games that ended and start the next ones at their tables."""
        tables = np.flatnonzero(result.done)
        if not len(tables):
            return 0
        at = self._at[tables]
        early = (at != IDLE) & (self._game.plies[tables] <= self._queue.shortened(self._opening, at))
        over = (at != IDLE) & ~early
        booked = at[over]
        self._returns[booked] = self._earned[tables[over]]
        self._lengths[booked] = self._game.plies[tables[over]]
        self._truncated[booked] = result.truncated[tables[over]]
        self._queue.reseed(at[early])
        after = at.copy()
        after[~early] = self._queue.next_games(int((~early).sum()))
        self._start(tables, after)
        return len(booked)

    def _start(self, tables: NDArray[np.int64], games: NDArray[np.int64]) -> None:
        """Seat these games; idle tables replay some seed, since all tables move together."""
        self._at[tables] = games
        self._earned[tables] = 0.0
        self._game.start(tables, np.where(games == IDLE, np.uint64(0), self._queue.seeds[games]))
        for player in self._players:
            player.begin(tables)
