"""The sampling loop over tables: decisions, trajectories and tallies, without Python code per table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import Bot
from workers.games.errors import BadGame
from workers.games.protocol import StepResult, Turn, VectorGame
from workers.games.spaces import columns
from workers.inference.actor import Actor, Columns, GameActor, Rate
from workers.inference.policy import Policy
from workers.rollout.batch import Experience
from workers.rollout.builder import TrajectoryBuilder
from workers.rollout.finite import explain_not_finite, require_finite
from workers.rollout.joint import nth_of_stream
from workers.rollout.mates import Mates
from workers.rollout.openings import OpeningRules, Openings, random_legal
from workers.rollout.opponents import Opponents
from workers.rollout.seating import LEARNER, MATE, Seating
from workers.rollout.tally import TallyBoard


class Sampler:
    """Plays a seating's games with the learner's policy and returns the learner's trajectories.

    The tables must have just been reset. Everything random comes from `rng` and the game's own seeds.
    """

    def __init__(
        self,
        *,
        game: VectorGame,
        seating: Seating,
        learner: Actor,
        opponents: Mapping[int, Policy | Bot] | None = None,
        mates: Mapping[int, Policy | Bot] | None = None,
        steps: int,
        rng: np.random.Generator,
        openings: OpeningRules | None = None,
        central: bool = False,
        restarts: bool = False,
    ) -> None:
        """`central` records the game's global state, where it declares one, as the column "global".

        With `restarts` the games of each batch begin anew, and the first at each table is tallied.
        """
        spec = game.spec
        self._game, self._seating, self._learner, self._rng = game, seating, learner, rng
        self._steps = steps
        self._seats = spec.seats
        self._streams_of = np.arange(game.tables * spec.seats).reshape(game.tables, spec.seats)
        """[tables, seats]: the stream of each seat."""
        self._owner = seating.owner.reshape(-1)
        self.board = TallyBoard(seating)
        self._opponents = Opponents(game, seating, opponents or {})
        self._mates = None if seating.mates is None else Mates(game, seating, mates or {})
        self._self_play_only = bool(seating.unrated.all())
        streams = game.tables * spec.seats
        rows = streams if spec.simultaneous else game.tables
        self._builder = TrajectoryBuilder(streams=streams, capacity=steps * rows, teams=spec.teams)
        self._states = {name: np.zeros((streams, *shape), np.float32) for name, shape in learner.state_shapes.items()}
        self._placed = bool(getattr(learner, "placed", False))
        self._judge = learner.judge if isinstance(learner, GameActor) else None
        if isinstance(learner, GameActor):
            learner.watch(game)
        self._central = game.shows_state = central and spec.state is not None
        rules = OpeningRules(share=0.0) if openings is None else openings
        self._openings = Openings(rules, spec, game.tables, rng)
        # Results against others count for the payoff, so those games are played from the real start.
        self._unrated = seating.unrated
        self._openings.left[~self._unrated] = 0
        self._finals: list[tuple[NDArray[np.int64], NDArray[np.int64], dict[str, NDArray[Any]]]] = []
        """Truncated games since the last batch: rows of the last decisions, their streams, the final observations."""
        self._restarts, self._begun = restarts, False
        if restarts:
            self.board.restart()
        self._played_out = 0
        self.steps = 0
        """Environment steps taken, one a table and turn; random opening moves are not counted."""
        self.explore: Rate = 0.0
        """The learner's exploration rate: one for all tables, or one for each."""
        self.acted_by = 0
        """The learner's update whose weights decide now."""

    def collect(self) -> Experience:
        """Play the fixed number of steps at every table; raises NotFinite if a number in the batch is not finite."""
        game = self._game.spec.id
        if self._restarts and self._begun:
            self._restart()
        self._begun = True
        try:
            for _ in range(self._steps):
                self._step(record=True)
        except Exception:
            # an action that was chosen by a NaN may be illegal: the NaN is the cause
            explain_not_finite(self._builder.take(), game)
            raise
        if self._finals:
            self._add_finals()
        batch = self._builder.take()
        require_finite(batch, game)
        return batch

    def _restart(self) -> None:
        """Drop the games under way and begin others at all tables."""
        everywhere = np.arange(self._game.tables)
        self._game.reset(self._rng.integers(0, 2**64, self._game.tables, dtype=np.uint64))
        self._builder.restart()
        self.board.restart()
        for states in self._states.values():
            states[:] = 0.0
        self._opponents.finish(everywhere)
        if self._mates is not None:
            self._mates.finish(everywhere)
        self._openings.begin(everywhere[self._unrated])

    def play_out(self, steps: int) -> int:
        """Play the counted games under way to their end, without recording samples; returns how many are left."""
        self.board.count_only_running_games()
        for _ in range(steps):
            if not self.board.waiting:
                break
            if self._played_out >= self._game.spec.max_steps:
                raise BadGame(f"{self._game.spec.id}: a game is longer than its max_steps, {self._played_out}")
            self._step(record=False)
            self._played_out += 1
        return self.board.waiting

    def _step(self, record: bool) -> None:
        turn = self._game.turn()
        rows = len(turn.tables)
        draws = self._rng.random(self._game.layout.draws_shape(rows), dtype=np.float32)
        streams = turn.tables * self._seats + turn.seats
        mine, actions = self._assign(turn, streams, draws)
        shown = observed(self._game, turn)
        if isinstance(mine, np.ndarray):
            shown = {name: column[mine] for name, column in shown.items()}
            draws, streams = draws[mine], streams[mine]
        if len(streams):
            for name, states in self._states.items():
                shown[name] = states[streams]
            decided = self._act(shown, streams, draws)
            actions[mine] = decided["action"]
            for name, states in self._states.items():
                states[streams] = decided[name]
            if record and self._central:
                shown["global"] = self._game.global_state()[streams // self._seats]
            if record:
                # `shown` last: its recurrent state, before the decision, replaces the one after it
                self._builder.add(streams, {**decided, **shown}, self.acted_by)
        self._take_in(self._game.step(actions), record)

    def _assign(
        self, turn: Turn, streams: NDArray[np.int64], draws: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64] | slice, NDArray[Any]]:
        """The rows that the learner decides, and the actions so far: opponents' and random openings'."""
        rows = len(turn.tables)
        actions = self._game.layout.empty(rows)
        if self._self_play_only and not self._openings.active:
            return slice(None), actions
        owner = self._owner[streams]
        learning = owner == LEARNER
        if self._mates is not None:
            self._mates.act(turn, owner, draws, actions)
            owner = np.where(owner == MATE, LEARNER, owner)
        if not self._self_play_only:
            self._opponents.act(turn, owner, draws, actions)
        if self._openings.active:
            opening = self._openings.left[turn.tables] > 0
            chosen = np.flatnonzero(opening)
            actions[chosen] = random_legal(self._game.legal_of(turn)[chosen], draws[chosen])
            learning &= ~opening
            self.steps -= int((self._openings.left > 0).sum())
            self._openings.left -= self._openings.left > 0
        return np.flatnonzero(learning), actions

    def _take_in(self, result: StepResult, record: bool) -> None:
        self.steps += self._game.tables
        if record:
            self._builder.earn(result.rewards.reshape(-1))
        self.board.step(result.rewards, result.done)
        over = result.done.nonzero()[0]
        if not len(over):
            return
        if record:
            self._end(over, result)
        for states in self._states.values():
            states[self._streams(over)] = 0.0
        self._opponents.finish(over)
        if self._mates is not None:
            self._mates.finish(over)
        if self._openings.active:
            self._openings.begin(over[self._unrated[over]])

    def _end(self, over: NDArray[np.int64], result: StepResult) -> None:
        truncated = result.truncated[over]
        if truncated.any():
            self._cut(self._streams(over[truncated]), result.final)
            over = over[~truncated]
        self._builder.end(self._streams(over))

    def _cut(self, streams: NDArray[np.int64], final: Turn | None) -> None:
        """End the streams of truncated games; those of `final` get a successor from which to bootstrap."""
        if final is None:
            self._builder.truncate(streams)
            return
        shown_to = final.tables * self._seats + final.seats
        decisions = self._builder.truncate(shown_to)
        mine = np.flatnonzero(decisions >= 0)
        if len(mine):
            shown = {name: column[mine] for name, column in observed(self._game, final).items()}
            for name, states in self._states.items():
                shown[name] = states[shown_to[mine]]
            if self._central:
                shown["global"] = final.state[mine]
            self._finals.append((decisions[mine], shown_to[mine], shown))
        others = np.setdiff1d(streams, shown_to)
        if self._game.spec.simultaneous:
            self._builder.end(others)  # these seats had left the game before
        else:
            self._builder.truncate(others)  # it was not their turn

    def _add_finals(self) -> None:
        """Let the learner see the final observations, all at once: its weights are those of the whole batch."""
        rows, streams = (np.concatenate([each[part] for each in self._finals]) for part in (0, 1))
        shown = {name: np.concatenate([each[2][name] for each in self._finals]) for name in self._finals[0][2]}
        draws = np.full(self._game.layout.draws_shape(len(rows)), 0.5, np.float32)  # actions are not played
        if self._judge is not None:
            seen = self._judge(shown)
        else:
            # a table may have had several final observations: its mates must not meet those of another game
            seen = self._act(shown, streams, draws, nth_of_stream(streams))
        self._builder.add_finals(rows, streams, {**seen, **shown}, self.acted_by)
        self._finals.clear()

    def _act(
        self, shown: Columns, streams: NDArray[np.int64], draws: NDArray[np.float32], game: NDArray[np.int64] | int = 0
    ) -> Columns:
        """What the learner decides for these rows; `game` tells games at one table apart."""
        explore = self.explore
        if isinstance(explore, np.ndarray):
            explore = explore[streams // self._seats]
        return self._learner.act({**shown, **self._places(streams, game)}, draws, explore)

    def _places(self, streams: NDArray[np.int64], game: NDArray[np.int64] | int = 0) -> dict[str, NDArray[np.int64]]:
        """The tables and seats of these streams, for a learner that must know them."""
        if not self._placed:
            return {}
        return {"table": streams // self._seats + game * self._game.tables, "seat": streams % self._seats}

    def _streams(self, tables: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._streams_of[tables].reshape(-1)


def observed(game: VectorGame, turn: Turn) -> dict[str, NDArray[Any]]:
    """What the rows of this turn show, as columns; "legal" only where actions can be masked."""
    legal = game.legal_of(turn)
    shown = columns(turn.observations)
    return shown if legal is None else {**shown, "legal": legal}
