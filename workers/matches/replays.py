"""Replays for people, in parts that fit into a message, and names of moves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from html import unescape

from temporalio.exceptions import ApplicationError

from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.interactive import (
    Candidate,
    NamedMoves,
    NameMoves,
    Replay,
    ReplayedPosition,
    ReplayRequest,
)
from orchestrator.storage.artifacts import ArtifactStore
from workers.games.names import make_game
from workers.games.protocol import GameSpec, VectorGame
from workers.games.replay import Position, replay
from workers.inference.cache import PolicyCache
from workers.matches.annotate import Annotation, annotate

MOST_BYTES = 1_000_000
"""About what one part of a replay has as JSON. Temporal refuses messages of 2 MB."""
ACTION_BYTES, POSITION_BYTES = 120, 400
"""Of a legal action with its probabilities, and of a position without them."""
MOST_SEARCHED = 64
"""Positions of one part that are searched, so that it is answered within its time limit."""
_AREA = re.compile(r'data-action="(\d+)"[^>]*data-label="([^"]*)"')


def render_part(request: ReplayRequest, store: ArtifactStore) -> Replay:
    """The positions from `request.first` on, as many as fit into one part."""
    make = maker(request.game)
    spec = make(1).spec
    positions, names, following = _part(request, make, spec)
    if not positions:
        raise refusal(f"the game has no position {request.first}")
    annotations = _annotations(request, store, spec, range(request.first, request.first + len(positions)))
    return Replay(
        positions=[position_answer(each, spec, annotations.get(each.ply, [])) for each in positions],
        notation=notation(names, spec) if following is None else "",
        next=following,
    )


def _part(
    request: ReplayRequest, make: Callable[[int], VectorGame], spec: GameSpec
) -> tuple[list[Position], list[str], int | None]:
    """The positions, the names of all moves up to their end, and where the next part begins."""
    positions, names, size = list[Position](), list[str](), 0
    most = MOST_SEARCHED if request.search else None
    for each in replay(make, request.seed, request.moves, request.seat, request.first):
        if each.ply >= request.first:
            size += _size(each)
            if positions and (size > MOST_BYTES or len(positions) == most):
                return positions, names, each.ply
            positions.append(each)
        names += each.names
    return positions, names, None


def _size(position: Position) -> int:
    """About how many bytes the position has as JSON, with annotations."""
    actions = sum(map(len, position.legal))
    return len(json.dumps([position.text, position.svg, position.names])) + ACTION_BYTES * actions + POSITION_BYTES


def _annotations(
    request: ReplayRequest, store: ArtifactStore, spec: GameSpec, plies: range
) -> dict[int, list[Annotation]]:
    if request.annotator is None or request.annotator.checkpoint is None:
        return {}
    policy = PolicyCache(store, spec).get(request.annotator.checkpoint)
    found: dict[int, list[Annotation]] = {}
    opinions = annotate(request.game, request.seed, request.moves, policy, search=request.search, plies=plies)
    for annotation in opinions:
        found.setdefault(annotation.ply, []).append(annotation)
    return found


def names_of_moves(request: NameMoves) -> NamedMoves:
    """The labels of the moves on the board, else the names that the game gives them."""
    make = maker(request.game)
    labels = _labels(make)
    games = zip(request.openings, request.seeds, strict=True)
    return NamedMoves(openings=[_names(make, labels, moves, seed) for moves, seed in games])


def _names(make: Callable[[int], VectorGame], labels: dict[int, str], moves: Sequence[int], seed: int) -> list[str]:
    positions = replay(make, seed, moves, first=len(moves) + 1)
    return [
        labels.get(action, name) for each in positions for action, name in zip(each.actions, each.names, strict=False)
    ]


def _labels(make: Callable[[int], VectorGame]) -> dict[int, str]:
    """The labels of actions on the board at the start of a game."""
    start = next(replay(make, 0, []))
    return {int(action): unescape(label) for action, label in _AREA.findall(start.svg)}


def notation(names: Sequence[str], spec: GameSpec) -> str:
    """The moves in one line; numbered in pairs where two seats take turns."""
    if spec.seats != 2 or spec.simultaneous:
        return " ".join(names)
    return " ".join(f"{i // 2 + 1}. {name}" if i % 2 == 0 else name for i, name in enumerate(names))


def maker(game: Component) -> partial[VectorGame]:
    """Makes the game for a number of tables."""
    return partial(_make, game)


def _make(game: Component, tables: int) -> VectorGame:
    return make_game(game.id, tables, **game.options)


def refusal(words: str) -> ApplicationError:
    """A request that can never succeed."""
    return ApplicationError(words, type=Failure.BAD_INPUT, non_retryable=True)


def position_answer(position: Position, spec: GameSpec, annotations: Sequence[Annotation]) -> ReplayedPosition:
    """The position as the API is told it."""
    by_seat = {annotation.seat: annotation for annotation in annotations}
    return ReplayedPosition(
        teams=list(spec.teams),
        simultaneous=spec.simultaneous,
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
        searched_value=annotations[0].searched_value if annotations else None,
    )


def _candidate(action: int, spec: GameSpec, annotation: Annotation | None) -> Candidate:
    probability = None if annotation is None else annotation.probabilities[action]
    searched = annotation.searched[action] if annotation is not None and annotation.searched else None
    return Candidate(action=action, name=spec.action_name(action), probability=probability, searched=searched)
