"""Short activities for a person who waits: replays, moves, component checks, imported weights. No Ray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from temporalio import activity

from league.types import CheckpointRef, VersionId
from orchestrator.contracts.interactive import (
    ActionNumber,
    ComponentCheck,
    ComponentVerdict,
    DrawnGame,
    DrawRecordedGame,
    ImportWeights,
    MoveAnswer,
    MoveRequest,
    NamedMoves,
    NameMoves,
    Replay,
    ReplayRequest,
    check_component,
    choose_move,
    draw_recorded_game,
    import_weights,
    name_moves,
    render_replay,
)
from orchestrator.contracts.play import Contender
from orchestrator.searching import searching_bot
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.recorded_games import RecordedGames
from workers.activities.component_checks import try_component
from workers.activities.failures import map_errors
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, check_weights, read_weights, save
from workers.games.protocol import GameSpec, Turn, VectorGame
from workers.games.replay import replay
from workers.gateway.recording.drawing import draw_game
from workers.inference.cache import PolicyCache
from workers.matches.players import Player, make_player
from workers.matches.replays import maker, names_of_moves, position_answer, refusal, render_part
from workers.matches.task import Entrant


class InteractiveActivities:
    """Activities that the API calls for a user of the page."""

    def __init__(self, store: ArtifactStore, folders: Sequence[Path] | None = None, buffer_memory: int = 0) -> None:
        """`folders`: those that data sets may be read from (None: any); `buffer_memory`: bytes for all buffers."""
        self._store, self._folders, self._buffer_memory = store, folders, buffer_memory

    @activity.defn(name=render_replay.name)
    def render_replay(self, request: ReplayRequest) -> Replay:
        """A part of a recorded game position by position, annotated by a version if the request names one."""
        with map_errors():
            return render_part(request, self._store)

    @activity.defn(name=name_moves.name)
    def name_moves(self, request: NameMoves) -> NamedMoves:
        """What people call the moves."""
        with map_errors():
            return names_of_moves(request)

    @activity.defn(name=choose_move.name)
    def choose_move(self, request: MoveRequest) -> MoveAnswer:
        """Apply the person's action, then the opponent's, until the person is to move again."""
        with map_errors():
            make = maker(request.game)
            game = make(1)
            cache = PolicyCache(self._store, game.spec)
            sampled = suits_sampling(game.spec) if request.sampled is None else request.sampled
            opponent = make_player(_entrant(request.opponent, request.search), game, cache, sampled=sampled)
            moves, answered = PersonsGame(game, opponent, request).play()
            *_, last = replay(make, request.seed, moves, request.person)
            position = position_answer(last, game.spec, [])
            if not game.spec.discrete:
                position = replace(position, numbers=action_numbers(game, None if last.done else request.person))
            return MoveAnswer(moves=moves, position=position, answered=answered, search=request.search, sampled=sampled)

    @activity.defn(name=check_component.name)
    def check_component(self, check: ComponentCheck) -> ComponentVerdict:
        """Import the component; a game is made, and a model and an algorithm are tried with it."""
        return try_component(check, self._folders, self._buffer_memory, self._store)

    @activity.defn(name=import_weights.name)
    def import_weights(self, request: ImportWeights) -> CheckpointRef:
        """Make a checkpoint from an uploaded checkpoint or from a safetensors file with the model's names."""
        with map_errors():
            weights, raw_images = read_weights(self._store.get(request.uploaded))
            like, algorithm = fresh_weights(request.model, request.algorithm, maker(request.game)(1).spec, 0)
            check_weights(weights, like)
            made = Checkpoint(
                model=request.model, game=request.game, weights=weights, algorithm=algorithm, raw_images=raw_images
            )
            return save(self._store, made)

    @activity.defn(name=draw_recorded_game.name)
    def draw_recorded_game(self, request: DrawRecordedGame) -> DrawnGame:
        """Draw a recorded game by its trial's function, and store the picture beside it."""
        with map_errors():
            return draw_game(request, RecordedGames(self._store.root_url))


class PersonsGame:
    """One game between a person and another player, continued from its record."""

    def __init__(self, game: VectorGame, opponent: Player, request: MoveRequest) -> None:
        self._game, self._opponent, self._request = game, opponent, request
        if request.person >= game.spec.seats:
            raise refusal(f"{game.spec.id} has no seat {request.person}; its seats are 0 to {game.spec.seats - 1}")
        game.auto_reset = False
        game.reset(np.array([request.seed], np.uint64))
        opponent.begin(np.array([0]))

    def play(self) -> tuple[list[int], list[int]]:
        """All moves of the game, and the opponent's moves among the new ones."""
        moves, answered, layout = list(self._request.moves), list[int](), self._game.layout
        given, used, done = self._given, 0, False
        while not done:
            turn = self._game.turn()
            mine = turn.seats == self._request.person
            recorded = used < len(moves)
            asked = not recorded or self._opponent.remembers
            theirs = self._answers(turn, np.flatnonzero(~mine)) if asked else layout.empty(0)
            if recorded:
                now = layout.from_numbers(self._recorded(used, len(turn.seats) * layout.width))
            elif mine.any() and not given:
                break
            else:
                now = layout.empty(len(turn.seats))
                now[~mine] = theirs
                if mine.any():
                    now[mine], given = self._chosen(turn, mine), False
                now = layout.clip(now)
                answered += layout.numbers(theirs).ravel().tolist()
                moves += layout.numbers(now).ravel().tolist()
            used += len(now) * layout.width
            done = bool(self._game.step(now).done[0])
        if given or used < len(moves):
            raise refusal("the game is over")
        return moves, answered

    def _recorded(self, used: int, numbers: int) -> list[int]:
        """The next recorded actions, one for each seat to move."""
        now = self._request.moves[used : used + numbers]
        if len(now) < numbers:
            raise refusal(
                f"{len(self._request.moves)} actions end in the middle of a move, in which {numbers} are made"
            )
        return now

    def _answers(self, turn: Turn, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The opponent's actions. It is asked in recorded turns too, so that its recurrent state is restored."""
        if not len(rows):
            return self._game.layout.empty(0)
        rng = np.random.default_rng([self._request.seed, int(self._game.plies[0])])
        draws = rng.random(self._game.layout.draws_shape(len(rows)), np.float32)
        return self._game.layout.clip(self._opponent.act(self._game, turn, rows, draws))

    @property
    def _given(self) -> bool:
        """Whether the person moves."""
        return self._request.action is not None or self._request.numbers is not None

    def _chosen(self, turn: Turn, mine: NDArray[np.bool_]) -> Any:
        """The person's action; refused with what is allowed."""
        if self._game.spec.discrete:
            if self._request.action is None:
                raise refusal("this game's actions are Discrete: give the number of one as action")
            return self._checked(self._request.action, turn, mine)
        if self._request.numbers is None:
            raise refusal(f"the actions of {self._game.spec.id} are {self._game.spec.action}: give their numbers")
        return check_numbers(self._game, self._request.person, self._request.numbers)

    def _checked(self, action: int, turn: Turn, mine: NDArray[np.bool_]) -> int:
        legal = np.flatnonzero(self._game.legal_of(turn)[mine][0]).tolist()
        if action not in legal:
            allowed = ", ".join(f"{each} ({self._game.spec.action_name(each)})" for each in legal)
            raise refusal(f"action {action} is not legal here; allowed: {allowed}")
        return action


def suits_sampling(spec: GameSpec) -> bool:
    """Whether a version plays a person by its probabilities: where a move must not be foreseen, else its best one."""
    return spec.hidden_information or spec.simultaneous


def action_numbers(game: VectorGame, seat: int | None) -> list[ActionNumber]:
    """What the numbers of the seat's next action may be, or those of any action where no seat is to move.

    The game has one table, and its actions are not Discrete.
    """
    low, high = game.layout.bounds
    whole = np.concatenate([np.full(part.width, not part.continuous) for part in game.layout.parts or [game.layout]])
    choices: list[list[int]] = [[] for _ in low]
    turn = None if seat is None else game.turn()
    if turn is not None and turn.legal is not None and game.layout.choices:
        legal = turn.legal[turn.seats == seat][0]
        choices = [np.flatnonzero(legal[at]).tolist() for at in game.layout.mask_slices()]
    return [
        ActionNumber(
            low=float(low[number]) if np.isfinite(low[number]) else None,
            high=float(high[number]) if np.isfinite(high[number]) else None,
            whole=bool(whole[number]),
            choices=choices[number],
        )
        for number in range(len(low))
    ]


def check_numbers(game: VectorGame, seat: int, numbers: Sequence[float]) -> NDArray[Any]:
    """The action of these numbers; refused with the first that is not allowed."""
    allowed = action_numbers(game, seat)
    if len(numbers) != len(allowed):
        raise refusal(f"an action of {game.spec.id} has {len(allowed)} numbers, not {len(numbers)}")
    for place, (number, each) in enumerate(zip(numbers, allowed, strict=True)):
        low, high = (-np.inf if each.low is None else each.low), (np.inf if each.high is None else each.high)
        fits = low <= number <= high and (not each.whole or number == int(number))
        if not fits or (each.choices and int(number) not in each.choices):
            raise refusal(f"number {place} is {number:g}; allowed there: {_range(each)}")
    return np.array(numbers, np.float64).astype(game.layout.dtype).reshape(game.layout.shape)


def _range(number: ActionNumber) -> str:
    if number.choices:
        return ", ".join(map(str, number.choices))
    kind = "whole numbers" if number.whole else "numbers"
    bounds = [f"from {number.low:g}"] if number.low is not None else []
    bounds += [f"to {number.high:g}"] if number.high is not None else []
    return " ".join([kind, *bounds])


def _entrant(contender: Contender, search: int | None = None) -> Entrant:
    """The contender; with `search`, its version by so many simulations a move."""
    if search is not None and contender.checkpoint is not None:
        return Entrant(id=VersionId(contender.version), bot=searching_bot(search, contender.checkpoint.sha256))
    return Entrant(id=VersionId(contender.version), checkpoint=contender.checkpoint, bot=contender.bot)
