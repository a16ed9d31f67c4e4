"""Short activities for a person who waits: replays, moves, component checks, imported weights. No Ray."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from temporalio import activity
from temporalio.exceptions import ApplicationError
from torch import Tensor

from league.types import CheckpointRef, VersionId
from orchestrator.artifacts import ArtifactStore
from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.interactive import (
    Candidate,
    ComponentCheck,
    ComponentVerdict,
    ImportWeights,
    MoveAnswer,
    MoveRequest,
    Replay,
    ReplayedPosition,
    ReplayRequest,
    check_component,
    choose_move,
    import_weights,
    render_replay,
)
from orchestrator.contracts.play import Contender
from workers.activities.component_checks import try_component
from workers.activities.failures import map_errors
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, UnreadableCheckpoint, check_weights, decode, save
from workers.games.names import make_game
from workers.games.protocol import GameSpec, Turn, VectorGame
from workers.games.replay import Position, replay
from workers.inference.cache import PolicyCache
from workers.matches.annotate import Annotation, annotate
from workers.matches.players import Player, make_player
from workers.matches.task import Entrant


class InteractiveActivities:
    """Activities that the API calls for a user of the page."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    @activity.defn(name=render_replay.name)
    def render_replay(self, request: ReplayRequest) -> Replay:
        """Every position of a recorded game, annotated by a version if the request names one."""
        with map_errors():
            make = _maker(request.game)
            positions = list(replay(make, request.seed, request.moves, request.seat))
            annotations = self._annotations(request, make(1).spec)
            spec = make(1).spec
            return Replay(
                positions=[_position(each, spec, annotations.get(each.ply, [])) for each in positions],
                notation=notation([name for each in positions for name in each.names], spec),
            )

    def _annotations(self, request: ReplayRequest, spec: GameSpec) -> dict[int, list[Annotation]]:
        if request.annotator is None or request.annotator.checkpoint is None:
            return {}
        policy = PolicyCache(self._store, spec).get(request.annotator.checkpoint)
        found: dict[int, list[Annotation]] = {}
        for annotation in annotate(request.game, request.seed, request.moves, policy):
            found.setdefault(annotation.ply, []).append(annotation)
        return found

    @activity.defn(name=choose_move.name)
    def choose_move(self, request: MoveRequest) -> MoveAnswer:
        """Apply the person's action, then the opponent's, until the person is to move again."""
        with map_errors():
            make = _maker(request.game)
            game = make(1)
            _refuse_other_spaces(game.spec)
            cache = PolicyCache(self._store, game.spec)
            opponent = make_player(_entrant(request.opponent), game, cache, sampled=request.sampled)
            moves, answered = PersonsGame(game, opponent, request).play()
            *_, last = replay(make, request.seed, moves, request.person)
            return MoveAnswer(moves=moves, position=_position(last, game.spec, []), answered=answered)

    @activity.defn(name=check_component.name)
    def check_component(self, check: ComponentCheck) -> ComponentVerdict:
        """Import the component; a game is made, and a model and an algorithm are tried with it."""
        return try_component(check)

    @activity.defn(name=import_weights.name)
    def import_weights(self, request: ImportWeights) -> CheckpointRef:
        """Make a checkpoint from an uploaded checkpoint or from a safetensors file with the model's names."""
        with map_errors():
            weights, raw_images = _weights(self._store.get(request.uploaded))
            like, algorithm = fresh_weights(request.model, request.algorithm, _maker(request.game)(1).spec, 0)
            check_weights(weights, like)
            made = Checkpoint(
                model=request.model, game=request.game, weights=weights, algorithm=algorithm, raw_images=raw_images
            )
            return save(self._store, made)


class PersonsGame:
    """One game between a person and another player, continued from its record."""

    def __init__(self, game: VectorGame, opponent: Player, request: MoveRequest) -> None:
        self._game, self._opponent, self._request = game, opponent, request
        game.auto_reset = False
        game.reset(np.array([request.seed], np.uint64))
        opponent.begin(np.array([0]))

    def play(self) -> tuple[list[int], list[int]]:
        """All moves of the game, and the opponent's moves among the new ones."""
        moves, answered, layout = list(self._request.moves), list[int](), self._game.layout
        action, used, done = self._request.action, 0, False
        while not done:
            turn = self._game.turn()
            mine = turn.seats == self._request.person
            theirs = self._answers(turn, np.flatnonzero(~mine))
            if used < len(moves):
                now = layout.from_numbers(moves[used : used + len(turn.seats) * layout.width])
            elif mine.any() and action is None:
                break
            else:
                now = layout.empty(len(turn.seats))
                now[~mine] = theirs
                if mine.any():
                    now[mine], action = self._checked(action, turn, mine), None
                now = layout.clip(now)
                answered += layout.numbers(theirs).ravel().tolist()
                moves += layout.numbers(now).ravel().tolist()
            used += len(now) * layout.width
            done = bool(self._game.step(now).done[0])
        if action is not None:
            raise ApplicationError("the game is over", type=Failure.BAD_INPUT, non_retryable=True)
        return moves, answered

    def _answers(self, turn: Turn, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The opponent's actions. It is asked in recorded turns too, so that its recurrent state is restored."""
        if not len(rows):
            return self._game.layout.empty(0)
        rng = np.random.default_rng([self._request.seed, int(self._game.plies[0])])
        draws = rng.random(self._game.layout.draws_shape(len(rows)), np.float32)
        return self._game.layout.clip(self._opponent.act(self._game, turn, rows, draws))

    def _checked(self, action: int | None, turn: Turn, mine: NDArray[np.bool_]) -> int:
        legal = np.flatnonzero(self._game.legal_of(turn)[mine][0]).tolist()
        if action not in legal:
            allowed = ", ".join(f"{each} ({self._game.spec.action_name(each)})" for each in legal)
            words = f"action {action} is not legal here; allowed: {allowed}"
            raise ApplicationError(words, type=Failure.BAD_INPUT, non_retryable=True)
        return int(action)


def _refuse_other_spaces(spec: GameSpec) -> None:
    if not spec.discrete:
        words = f"a person chooses among Discrete actions; those of {spec.id} are {spec.action}"
        raise ApplicationError(words, type=Failure.BAD_INPUT, non_retryable=True)


def notation(names: Sequence[str], spec: GameSpec) -> str:
    """The moves in one line; numbered in pairs where two seats take turns."""
    if spec.seats != 2 or spec.simultaneous:
        return " ".join(names)
    return " ".join(f"{i // 2 + 1}. {name}" if i % 2 == 0 else name for i, name in enumerate(names))


def _maker(game: Component) -> partial[VectorGame]:
    return partial(_make, game)


def _make(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def _entrant(contender: Contender) -> Entrant:
    return Entrant(id=VersionId(contender.version), checkpoint=contender.checkpoint, bot=contender.bot)


def _position(position: Position, spec: GameSpec, annotations: Sequence[Annotation]) -> ReplayedPosition:
    by_seat = {annotation.seat: annotation for annotation in annotations}
    return ReplayedPosition(
        teams=list(spec.teams),
        ply=position.ply,
        seats=list(position.seats),
        actions=list(position.actions),
        names=list(position.names),
        returns=list(position.returns),
        done=position.done,
        text=position.text,
        svg=position.svg,
        legal=[
            [_candidate(action, spec, by_seat.get(seat)) for action in actions]
            for seat, actions in zip(position.seats, position.legal, strict=True)
        ],
        value=annotations[0].value if annotations else None,
    )


def _candidate(action: int, spec: GameSpec, annotation: Annotation | None) -> Candidate:
    probability = None if annotation is None else annotation.probabilities[action]
    return Candidate(action=action, name=spec.action_name(action), probability=probability)


def _weights(data: bytes) -> tuple[dict[str, Tensor], bool]:
    """The weights in an uploaded file, and whether they are of a checkpoint that sees images unscaled."""
    try:
        checkpoint = decode(data)
        return dict(checkpoint.weights), checkpoint.raw_images
    except UnreadableCheckpoint as error:
        try:
            return dict(load_tensors(data)), False
        except SafetensorError:
            raise error from None
