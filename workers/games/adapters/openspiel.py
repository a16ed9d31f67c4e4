"""Any game of OpenSpiel as a VectorGame: one C++ state per table, arrays around them.

See docs/decisions/games-and-bots.md.
"""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Literal

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.observation import make_observation

from workers.games.adapters.openspiel_boards import without_colours
from workers.games.adapters.openspiel_pictures import SeatView, draw_state
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec, Snapshot, StepResult, Turn, VectorGame
from workers.games.seeding import mix_ints
from workers.games.teams import Teams, ask_for_teams, declared_teams

Sight = Literal["auto", "observation", "information_state"]
_Dynamics, _Chance, _Information = (
    pyspiel.GameType.Dynamics,
    pyspiel.GameType.ChanceMode,
    pyspiel.GameType.Information,
)
_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
_FEW_ACTIONS = 64
_CHANCE_DRAWS = 2  # separates chance draws from other draws on the same seed


class OpenSpielGame(VectorGame):
    """OpenSpiel's game of this name, parameters included: `game="leduc_poker(players=3)"`.

    `sight` is the tensor a mover sees: its `information_state` (all it ever learnt), its `observation`
    (what shows now), or by default the first in games of hidden information and the second in others.
    Chance is drawn from the table's seed. Moves are always checked against the legal mask. `teams` says which seats
    play together, which OpenSpiel does not.
    """

    def __init__(self, *, tables: int, game: str, sight: Sight = "auto", teams: Teams | None = None) -> None:
        self._game = _load(game)
        kind = self._game.get_type()
        seen = _sight(kind, sight)
        recall = pyspiel.IIGObservationType(perfect_recall=seen == "information_state")
        self._observer = make_observation(self._game, recall)
        seats = self._game.num_players()
        spec = GameSpec(
            id=f"openspiel/{game}",
            seats=seats,
            actions=self._game.num_distinct_actions(),
            observation_shape=tuple(getattr(self._game, f"{seen}_tensor_shape")()),
            simultaneous=kind.dynamics == _Dynamics.SIMULTANEOUS,
            hidden_information=kind.information != _Information.PERFECT_INFORMATION,
            chance=kind.chance_mode != _Chance.DETERMINISTIC,
            max_steps=self._game.max_game_length(),
            teams=declared_teams(teams, [f"seat {seat}" for seat in range(seats)], game),
            openspiel=game,
        )
        super().__init__(spec, tables)
        if teams is None and (seats > 2 or (seats > 1 and kind.utility == pyspiel.GameType.Utility.IDENTICAL)):
            self.teams_question = ask_for_teams(game, [f"seat {seat}" for seat in range(seats)])
        self._has_chance = spec.chance
        self._pays_at_end = kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
        self._states = [self._game.new_initial_state() for _ in range(tables)]
        self._movers = [0] * tables
        self._chance_seeds = [0] * tables
        self._paid = np.zeros((tables, seats), np.float32)
        self._rewards = np.zeros((tables, seats), np.float32)
        self._never = np.zeros(tables, np.bool_)
        rows = tables * seats if spec.simultaneous else tables
        self._observations = np.zeros((rows, *spec.observation_shape), np.float32)
        # Copying through memoryviews costs a quarter of numpy's assignment for rows this small.
        self._row_views = [row.data for row in self._observations.reshape(rows, -1)]
        self._legal = np.zeros((rows, spec.actions), np.bool_)
        self._turn: Turn | None = None

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._turn = None
        self._paid[tables] = 0
        for table, seed in zip(tables.tolist(), self.seeds_of(tables).tolist(), strict=True):
            state = self._states[table] = self._game.new_initial_state()
            self._chance_seeds[table] = mix_ints(seed, _CHANCE_DRAWS) if self._has_chance else 0
            self._movers[table] = self._settle(table, state.current_player())

    def turn(self) -> Turn:
        if self._turn is None:
            self._turn = self._look()
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self.turn())
        if self.spec.simultaneous:
            self._apply_jointly(actions, self.turn())
        else:
            for state, action in zip(self._states, actions.tolist(), strict=True):
                state.apply_action(action)
        self._turn = None
        self._movers = movers = [state.current_player() for state in self._states]
        for table, mover in enumerate(movers):
            if mover == _CHANCE:
                movers[table] = self._settle(table, mover)
        done = np.array(movers) == _TERMINAL
        self._collect(np.flatnonzero(done) if self._pays_at_end else np.arange(self.tables))
        return StepResult(self._rewards, done, self._never)

    def _collect(self, tables: NDArray[np.int64]) -> None:
        """The rewards of this step: the increase of the returns at these tables, 0 at the others."""
        self._rewards[:] = 0
        if len(tables):
            returns = np.array([self._states[table].returns() for table in tables.tolist()], np.float32)
            self._rewards[tables] = returns - self._paid[tables]
            self._paid[tables] = returns

    def history(self, table: int) -> list[int]:
        moves: list[int] = self._states[table].history()
        return moves

    def place(self, table: int, history: Sequence[int]) -> None:
        """Put the table into the position after this history; its seed then no longer determines the game."""
        state = self._states[table] = self._game.new_initial_state()
        for action in history:
            state.apply_action(action)
        self._turn = None
        self._movers[table] = self._settle(table, state.current_player())

    @property
    def copies_tables(self) -> bool:
        """Games of perfect information copy tables, by cloned states."""
        return not self.spec.hidden_information

    def _positions(self, tables: NDArray[np.int64]) -> Snapshot:
        numbers = tables.tolist()
        states = np.empty(len(numbers), object)
        states[:] = [self._states[table].clone() for table in numbers]
        # the hash of a state's history tells two rows of a snapshot apart, which states themselves do not
        named = [hash(tuple(self._states[table].history())) for table in numbers]
        chance = np.array([self._chance_seeds[table] for table in numbers], np.uint64)
        return {"state": states, "history": np.array(named, np.int64), "chance": chance, "paid": self._paid[tables]}

    def _put(self, tables: NDArray[np.int64], snapshot: Snapshot, seeds: NDArray[np.uint64] | None) -> None:
        self._turn = None
        self._paid[tables] = snapshot["paid"]
        if seeds is None:
            keys = snapshot["chance"].tolist()
        else:
            keys = [mix_ints(seed, _CHANCE_DRAWS) for seed in seeds.tolist()]
        for table, state, key in zip(tables.tolist(), snapshot["state"].tolist(), keys, strict=True):
            self._states[table] = state.clone()
            self._chance_seeds[table] = key
            self._movers[table] = state.current_player()

    def _history_of(self, tables: NDArray[np.int64]) -> Snapshot:
        """Nothing: OpenSpiel's states keep their own history."""
        return {}

    def _put_history(self, tables: NDArray[np.int64], snapshot: Snapshot) -> None:
        """Does nothing, for the same reason."""

    def render_text(self, table: int, seat: int | None = None) -> str:
        state = self._states[table]
        if seat is None or not self.spec.hidden_information:
            return without_colours(str(state))
        if self._game.get_type().provides_information_state_string:
            return str(state.information_state_string(seat))
        return str(state.observation_string(seat))

    def render_svg(self, table: int, seat: int | None = None) -> str:
        view = SeatView(self._game, self._states[table], seat, self.spec.hidden_information)
        return draw_state(view, title=self.render_text(table, seat))

    def action_text(self, table: int, seat: int, action: int) -> str:
        return str(self._states[table].action_to_string(seat, action))

    def _remember(self, actions: NDArray[np.int64]) -> None:
        """Does nothing: OpenSpiel's states keep their own history."""

    def _settle(self, table: int, mover: int) -> int:
        """Draw chance outcomes until a seat is to move or the game is over; returns the seat to move."""
        state = self._states[table]
        while mover == _CHANCE:
            self._chance_seeds[table] = key = mix_ints(self._chance_seeds[table])
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            at = bisect(list(accumulate(chances)), (key >> 11) * 2.0**-53)
            # Probabilities may add up to slightly less than 1; a draw above their sum takes the last outcome.
            state.apply_action(outcomes[min(at, len(outcomes) - 1)])
            mover = state.current_player()
        return mover

    def _look(self) -> Turn:
        """Fill one row for every seat that is to act."""
        if self.spec.simultaneous:
            acting = [(t, s) for t in range(self.tables) for s in self._acting(t)]
            tables = np.array([table for table, _ in acting], np.int64)
            seats = np.array([seat for _, seat in acting], np.int64)
            self._rows = len(acting)
            states = [self._states[table] for table, _ in acting]
        else:
            tables, seats, states = np.arange(self.tables), np.array(self._movers), self._states
        see, tensor = self._observer.set_from, self._observer.tensor.data
        movers = seats.tolist()
        for state, mover, row in zip(states, movers, self._row_views, strict=False):
            see(state, mover)
            row[:] = tensor
        rows = len(states)
        _mark_legal(states, movers, self._legal[:rows])
        return Turn(tables, seats, self._observations[:rows], self._legal[:rows])

    def _acting(self, table: int) -> list[int]:
        mover = self._movers[table]
        if mover >= 0:
            return [mover]
        state = self._states[table]
        return [seat for seat in range(self.spec.seats) if state.legal_actions(seat)]

    def _apply_jointly(self, actions: NDArray[np.int64], turn: Turn) -> None:
        joint = np.zeros((self.tables, self.spec.seats), np.int64)
        joint[turn.tables, turn.seats] = actions
        for state, mover, chosen in zip(self._states, self._movers, joint.tolist(), strict=True):
            if mover >= 0:
                state.apply_action(chosen[mover])
            else:
                state.apply_actions(chosen)


def _mark_legal(states: list[pyspiel.State], movers: list[int], legal: NDArray[np.bool_]) -> None:
    """Write each mover's legal mask: as masks where actions are few, as lists of actions where they are many."""
    pairs = zip(states, movers, strict=True)
    if legal.shape[1] <= _FEW_ACTIONS:
        masks = b"".join([bytes(state.legal_actions_mask(mover)) for state, mover in pairs])
        legal[:] = np.frombuffer(masks, np.bool_).reshape(legal.shape)
        return
    actions = [state.legal_actions(mover) for state, mover in pairs]
    legal[:] = False
    rows = np.repeat(np.arange(len(actions)), [len(allowed) for allowed in actions])
    legal[rows, list(chain.from_iterable(actions))] = True


def _load(game: str) -> pyspiel.Game:
    try:
        loaded = pyspiel.load_game(game)
    except pyspiel.SpielError as error:
        raise BadGame(f"OpenSpiel has no game {game!r}: {error}") from error
    kind = loaded.get_type()
    if kind.dynamics == _Dynamics.MEAN_FIELD:
        raise BadGame(f"{game}: mean-field games have no seats to play; allowed: sequential, simultaneous")
    if kind.chance_mode == _Chance.SAMPLED_STOCHASTIC:
        raise BadGame(f"{game}: it draws its own random numbers, so no seed determines a game; allowed: other games")
    return loaded


def _sight(kind: pyspiel.GameType, wanted: str) -> str:
    """The tensor to show a mover: the wanted one, or the best for the kind of game."""
    hidden = kind.information != _Information.PERFECT_INFORMATION
    best_first = ("information_state", "observation") if hidden else ("observation", "information_state")
    provided = [name for name in best_first if getattr(kind, f"provides_{name}_tensor")]
    if not provided:
        raise BadGame(f"{kind.short_name}: it provides no tensors, so there is nothing to learn from")
    if wanted not in ("auto", *provided):
        raise BadGame(f"{kind.short_name}: sight {wanted!r} is not provided; allowed: auto, {provided}")
    return provided[0] if wanted == "auto" else wanted
