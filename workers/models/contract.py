"""The interface of a model, and how a model is built and checked from its name.

A model is any subclass of `nn.Module` (or a function annotated to return one). It is made in one of two ways.

`factory(spec=..., outputs=..., **options)` gets the game's spec. Its `forward` takes observations as the game has them:
one tensor of the space's type, or a dict of tensors by the names of `spec.observation_parts`.

`factory(observation_shape=..., actions=..., **options)` is the short form. Its `forward` takes one float32 tensor, as
`workers.models.encoding` makes it from any observation.

    forward(observations, legal) -> (outputs, value)

`outputs` [rows, outputs] are what the action head takes (`workers.models.heads`): for Discrete actions one logit each.
`legal` is bool, [rows, outputs], or None where there is no mask; outputs are masked with `mask_logits`. `value` is
[rows]. A recurrent model has an attribute `state_size`, or `state_shapes` (see `workers.models.states`), and

    forward(observations, legal, state) -> (outputs, value, next state)

with float32 states [rows, state_size], or nested tensors of `state_shapes`; all zeros at the start of a game. The
option `normalise: true` puts `workers.models.normalised` around any model, and `head` chooses the distribution of Box
actions. Rollouts and matches run in eval mode, updates in train mode.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from orchestrator.catalog import Component, Kind, load_maker
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, Part
from workers.models.box_heads import BoxHead
from workers.models.encoding import Encoder, Observed
from workers.models.head_factory import make_head
from workers.models.heads import BadHead, Head
from workers.models.normalised import Normalised
from workers.models.states import pack_state, state_size, unpack_state

ILLEGAL = -1e9
"""Logit of a forbidden action: its probability is exactly 0, and it stays finite in products."""


_DRAWING = threading.RLock()
"""Torch has one random generator per process: two threads that draw weights at once would interleave draws."""
_HEAD, _ENCODER = "_lanista_head", "_lanista_encoder"
_PROBED = 2
"""Rows that a new model is tried with."""


class BadModel(ValueError):
    """The model cannot be built, or does not keep the contract; the message says where."""


def mask_logits(logits: Tensor, legal: Tensor | None) -> Tensor:
    """Logits with every forbidden action at ILLEGAL; without a mask as they are."""
    return logits if legal is None else torch.where(legal, logits, ILLEGAL)


def head_of(model: nn.Module) -> Head | None:
    """The action head of a model that `build_model` made; None means logits of Discrete actions."""
    head: Head | None = getattr(model, _HEAD, None)
    return head


def encoder_of(model: nn.Module) -> Encoder | None:
    """What encodes observations for a model of the short form; None where it takes them as they are."""
    encoder: Encoder | None = getattr(model, _ENCODER, None)
    return encoder


def encode(model: nn.Module, observed: Observed) -> Any:
    """Observations as the model's layers see them; calling the model does this by itself."""
    encoder = encoder_of(model)
    return observed if encoder is None else encoder(observed)


def see_raw_images(model: nn.Module, raw: bool) -> None:
    """Let the model see bytes of images as 0 to 255 (`Checkpoint.raw_images`), or as 0 to 1."""
    encoder: Encoder | None = getattr(model, _ENCODER, None)
    if encoder is not None:
        encoder.raw_images = raw


def sees_raw_images(model: nn.Module) -> bool:
    """Whether the game shows images and the model sees their bytes as 0 to 255."""
    encoder: Encoder | None = getattr(model, _ENCODER, None)
    return encoder is not None and encoder.raw_images and any(part.is_image for part in encoder.parts.values())


def run_model(
    model: nn.Module, observed: Observed, legal: Tensor | None, state: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Outputs, values and the next state of a recurrent model; states are flat, [rows, state_size]."""
    if not state_size(model):
        outputs, values = model(observed, legal)
        return outputs, values, None
    assert state is not None
    outputs, values, after = model(observed, legal, unpack_state(model, state))
    return outputs, values, pack_state(model, after)


@contextmanager
def drawing(seed: int) -> Iterator[None]:
    """Draw weights from this seed and leave torch's random generator as it was."""
    with _DRAWING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def model_maker(name: str) -> Callable[..., object]:
    """What makes the model of this name; not called yet."""
    made: Callable[..., object] = load_maker(Kind.MODEL, name, nn.Module, wanted="a subclass of torch.nn.Module")
    return made


def build_model(
    component: Component,
    spec: GameSpec,
    seed: int = 0,
    *,
    observation: spaces.Space[Any] | None = None,
    outputs: int | None = None,
    head: BoxHead | None = None,
) -> nn.Module:
    """Make the named model for a game, its weights drawn from the seed, and check that it keeps the contract.

    A network that does not act, such as a critic, may see another space, or have other outputs than the action head's:
    it then has no head and takes no mask. `head` is the distribution of Box actions in place of the component's.
    """
    factory = model_maker(component.id)
    options = dict(component.options)
    normalise = bool(options.pop("normalise", False))
    named: BoxHead = options.pop("head", None) or "gaussian"
    try:
        made = make_head(ActionLayout(spec.action), head or named)
    except BadHead as error:
        raise BadModel(f"model {component.id!r} in {spec.id}: {error}") from error
    shown = spec if observation is None else spec.seeing(observation)
    width = made.size if outputs is None else outputs
    with drawing(seed):
        try:
            model = _make(factory, shown, width, options, normalise)
        except (TypeError, ValueError) as error:
            given = ", ".join(options) or "none"
            raise BadModel(f"model {component.id!r} with options ({given}): {error}") from error
        if not isinstance(model, nn.Module):
            raise BadModel(f"model {component.id!r} made a {type(model).__name__}, not a torch nn.Module")
        model.eval()
        _probe(component.id, model, shown, width, _sample_mask(spec, made) if outputs is None else None)
    if outputs is None:
        object.__setattr__(model, _HEAD, made)
    return model


def _make(
    factory: Callable[..., object],
    spec: GameSpec,
    outputs: int,
    options: Mapping[str, Any],
    normalise: bool,
) -> object:
    by_spec, encoder = _takes_spec(factory), Encoder(spec.observation)
    if by_spec:
        model = factory(spec=spec, outputs=outputs, **options)
    else:
        model = factory(observation_shape=encoder.shape, actions=outputs, **options)
    if not isinstance(model, nn.Module):
        return model
    if normalise:
        if by_spec and encoder.needed:
            raise ValueError("normalise: true needs observations of one float32 array, or a model of the short form")
        model = Normalised(model, encoder.shape)
    if encoder.needed and not by_spec:
        # A hook and an attribute outside the module tree: the names of the weights stay those of the model.
        object.__setattr__(model, _ENCODER, encoder)
        model.register_forward_pre_hook(lambda _, inputs: (encoder(inputs[0]), *inputs[1:]))
    return model


def _takes_spec(factory: Callable[..., object]) -> bool:
    try:
        return "spec" in inspect.signature(factory).parameters
    except (TypeError, ValueError):  # a callable of a C extension has no signature
        return False


def _sample_mask(spec: GameSpec, head: Head) -> Tensor | None:
    """Masks of two rows, the second with forbidden actions; None where the game has none."""
    if spec.discrete:
        legal = torch.ones(_PROBED, spec.actions, dtype=torch.bool)
        legal[1, : spec.actions - 1] = False
        return legal
    return None if head.layout.mask_width is None else torch.ones(_PROBED, head.size, dtype=torch.bool)


def _probe(name: str, model: nn.Module, spec: GameSpec, size: int, legal: Tensor | None) -> None:
    """Run two rows through the model and look at what comes back."""
    arguments: list[Any] = [_sample(spec, _PROBED), legal]
    wanted = [(_PROBED, size), (_PROBED,)]
    width = state_size(model)
    if width:
        arguments.append(torch.zeros(_PROBED, width))
        wanted.append((_PROBED, width))
    try:
        with torch.no_grad():
            outputs = [output for output in run_model(model, *arguments) if output is not None]
            shapes = [tuple(output.shape) for output in outputs]
    except (TypeError, RuntimeError, ValueError, AttributeError, KeyError) as error:
        raise BadModel(f"model {name!r} does not take {len(arguments)} tensors as documented: {error}") from error
    if shapes != wanted:
        raise BadModel(f"model {name!r} returned shapes {shapes}; the contract says {wanted}")
    if not all(bool(torch.isfinite(output).all()) for output in outputs):
        raise BadModel(f"model {name!r} returned numbers that are not finite; mask with mask_logits, not -inf")
    if legal is not None and bool((outputs[0][~legal] > ILLEGAL / 2).any()):
        raise BadModel(f"model {name!r} does not mask forbidden actions; return mask_logits(logits, legal)")


def _sample(spec: GameSpec, rows: int) -> Observed:
    parts = {name: _sample_part(part, rows) for name, part in spec.observation_parts.items()}
    return parts[""] if list(parts) == [""] else parts


def _sample_part(part: Part, rows: int) -> Tensor:
    if np.issubdtype(part.dtype, np.floating):
        return torch.rand(rows, *part.shape).to(torch.from_numpy(part.zeros(0)).dtype)
    zeros = torch.from_numpy(part.zeros(rows))
    if isinstance(part.space, spaces.Discrete | spaces.MultiDiscrete):
        zeros = zeros + torch.from_numpy(np.asarray(part.space.start))
    return zeros


__all__ = [
    "ILLEGAL",
    "BadModel",
    "build_model",
    "encode",
    "encoder_of",
    "head_of",
    "mask_logits",
    "model_maker",
    "run_model",
    "see_raw_images",
    "sees_raw_images",
    "state_size",
]
