"""The interface of a model, and how a model is built and checked from its name.

A model is any subclass of `nn.Module` (or a function annotated to return one) that is made by
`factory(observation_shape=..., actions=..., **options)` and has

    forward(observations, legal) -> (logits, value)

on float32 [rows, *observation_shape] and bool [rows, actions]; logits [rows, actions] are masked with
`mask_logits`, value is [rows]. A recurrent model has an attribute `state_size` and

    forward(observations, legal, state) -> (logits, value, next state)

with float32 states [rows, state_size], all zeros at the start of a game. The option `normalise: true` puts
`workers.models.normalised` around any of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn

from orchestrator.catalog import Component, Kind, load_maker
from workers.games.protocol import GameSpec
from workers.models.normalised import Normalised

ILLEGAL = -1e9
"""Logit of a forbidden action: its probability is exactly 0, and it stays finite in products."""


_DRAWING = threading.Lock()
"""Torch has one random generator per process: two threads that draw weights at once would interleave draws."""


class BadModel(ValueError):
    """The model cannot be built, or does not keep the contract; the message says where."""


def mask_logits(logits: Tensor, legal: Tensor) -> Tensor:
    """Logits with every forbidden action at ILLEGAL."""
    return torch.where(legal, logits, ILLEGAL)


def state_size(model: nn.Module) -> int:
    """Width of a recurrent model's state; 0 for one that has none."""
    return int(getattr(model, "state_size", 0))


def model_maker(name: str) -> Callable[..., object]:
    """What makes the model of this name; not called yet."""
    made: Callable[..., object] = load_maker(Kind.MODEL, name, nn.Module, wanted="a subclass of torch.nn.Module")
    return made


def build_model(component: Component, spec: GameSpec, seed: int = 0) -> nn.Module:
    """Make the named model for a game, its weights drawn from the seed, and check that it keeps the contract."""
    factory = model_maker(component.id)
    options = dict(component.options)
    normalise = bool(options.pop("normalise", False))
    with _DRAWING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            model = factory(observation_shape=spec.observation_shape, actions=spec.actions, **options)
        except (TypeError, ValueError) as error:
            given = ", ".join(options) or "none"
            raise BadModel(f"model {component.id!r} with options ({given}): {error}") from error
        if not isinstance(model, nn.Module):
            raise BadModel(f"model {component.id!r} made a {type(model).__name__}, not a torch nn.Module")
        _probe(component.id, model, spec)
    return Normalised(model, spec.observation_shape) if normalise else model


def _probe(name: str, model: nn.Module, spec: GameSpec) -> None:
    """Run two rows through the model, one with a forbidden action, and look at what comes back."""
    rows = 2
    observations = torch.rand(rows, *spec.observation_shape)
    legal = torch.ones(rows, spec.actions, dtype=torch.bool)
    legal[1, : spec.actions - 1] = False
    arguments = [observations, legal]
    wanted = [(rows, spec.actions), (rows,)]
    if state_size(model):
        arguments.append(torch.zeros(rows, state_size(model)))
        wanted.append((rows, state_size(model)))
    try:
        with torch.no_grad():
            outputs = cast("tuple[Tensor, ...]", model(*arguments))
    except (TypeError, RuntimeError) as error:
        raise BadModel(f"model {name!r} does not take {len(arguments)} tensors as documented: {error}") from error
    shapes = [tuple(output.shape) for output in outputs]
    if shapes != wanted:
        raise BadModel(f"model {name!r} returned shapes {shapes}; the contract says {wanted}")
    if not all(bool(torch.isfinite(output).all()) for output in outputs):
        raise BadModel(f"model {name!r} returned numbers that are not finite; mask with mask_logits, not -inf")
    if bool((outputs[0][~legal] > ILLEGAL / 2).any()):
        raise BadModel(f"model {name!r} does not mask forbidden actions; return mask_logits(logits, legal)")
