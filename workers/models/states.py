"""The state of recurrent models: nested tensors for the model, one flat vector a row for everybody else.

A model says what its state is by `state_size = 64`, or by `state_shapes`: a shape, or a mapping or sequence of them,
nested as deep as you like. `state_shapes = {"lstm": ((64,), (64,)), "seen": (8, 8)}` gives `forward` a state
`{"lstm": (tensor, tensor), "seen": tensor}` with rows first. Samplers, batches and match players store it flat, so that
one copy moves it whatever it is made of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

Shape = tuple[int, ...]
Nested = Any
"""A tensor, or a mapping or sequence of them, nested."""


def state_size(model: nn.Module) -> int:
    """Numbers in a recurrent model's state; 0 for a model that has none."""
    shapes = getattr(model, "state_shapes", None)
    if shapes is None:
        return int(getattr(model, "state_size", 0))
    return sum(math.prod(shape) for shape in _shapes(shapes))


def unpack_state(model: nn.Module, flat: Tensor) -> Nested:
    """The state as the model's `forward` takes it."""
    shapes = getattr(model, "state_shapes", None)
    if shapes is None:
        return flat
    sizes = [math.prod(shape) for shape in _shapes(shapes)]
    return _nest(shapes, iter(torch.split(flat, sizes, 1)))


def pack_state(model: nn.Module, state: Nested) -> Tensor:
    """The state as one flat vector a row: the inverse of `unpack_state`."""
    shapes = getattr(model, "state_shapes", None)
    if shapes is None:
        assert isinstance(state, Tensor)
        return state
    return torch.cat([part.flatten(1) for part in _tensors(shapes, state)], 1)


def _is_shape(shapes: Any) -> bool:
    return isinstance(shapes, int) or (
        isinstance(shapes, Sequence) and bool(shapes) and all(isinstance(size, int) for size in shapes)
    )


def _shape(shapes: Any) -> Shape:
    return (shapes,) if isinstance(shapes, int) else tuple(shapes)


def _shapes(shapes: Any) -> Iterator[Shape]:
    if _is_shape(shapes):
        yield _shape(shapes)
        return
    for part in shapes.values() if isinstance(shapes, Mapping) else shapes:
        yield from _shapes(part)


def _nest(shapes: Any, parts: Iterator[Tensor]) -> Nested:
    if _is_shape(shapes):
        return next(parts).reshape(-1, *_shape(shapes))
    if isinstance(shapes, Mapping):
        return {name: _nest(part, parts) for name, part in shapes.items()}
    return tuple(_nest(part, parts) for part in shapes)


def _tensors(shapes: Any, state: Nested) -> Iterator[Tensor]:
    if _is_shape(shapes):
        yield state
        return
    names = shapes if isinstance(shapes, Mapping) else range(len(shapes))
    for name in names:
        yield from _tensors(shapes[name], state[name])
