"""A learner: named networks, their optimisers, lagged copies and counters, with all their state."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.algorithms.errors import BadAlgorithm, UpdateStopped
from workers.algorithms.lagged import Lagged
from workers.algorithms.optimiser import FlatAdam
from workers.checkpoints import State, check_weights
from workers.user_errors import NotFinite


class Reduce(Protocol):
    """Averages a tensor over all training processes, in place."""

    def __call__(self, tensor: Tensor, meanwhile: Callable[[], object] | None = None, /) -> None:
        """`meanwhile` is called once, before this process waits for the others."""


ShouldStop = Callable[[], bool]
"""Whether this process has been asked to stop."""

POLICY = "policy"
"""The network that acts. It is the trial file's model; its weights are what versions, exports and matches use."""
_TAIL = 3
"""Numbers that are averaged beside the gradients, before one for each optimiser: see `Learner._exchange`."""


class Learner:
    """Networks and all that trains them.

    Several processes train one learner together: `descend` averages the gradients of all of them, so all must take the
    same steps in the same order. A process that has nothing to learn from calls `skip`; one that is done before the
    others takes their steps with them in `join`.
    """

    def __init__(self, nets: nn.Module | Mapping[str, nn.Module]) -> None:
        """One network alone is the policy."""
        self.nets = nn.ModuleDict({POLICY: nets} if isinstance(nets, nn.Module) else dict(nets))
        if POLICY not in self.nets:
            raise BadAlgorithm(f"a learner needs a network named {POLICY!r}, which acts; it has {', '.join(self.nets)}")
        self.optimisers: dict[str, FlatAdam] = {}
        self.counters: dict[str, float] = {}
        """Numbers that are part of the learner's state: name -> value."""
        self._owners: dict[str, tuple[str, ...]] = {}
        self._lagged: dict[str, Lagged] = {}
        self._reduce: Reduce | None = None
        self._should_stop: ShouldStop = lambda: False
        self._message = torch.zeros(0)
        self._tail: Any = None
        """What is averaged beside the gradients: see `_exchange`."""
        self.device = torch.device("cpu")
        """Where the networks are."""
        self._autocast: torch.dtype | None = None
        self._last_loss: Tensor | None = None

    # Set up, in `Algorithm.build`

    def optimiser(
        self, name: str = POLICY, nets: Sequence[str] = (POLICY,), *, learning_rate: float, gradient_clip: float = 0.0
    ) -> FlatAdam:
        """Adam over the parameters of these networks; a network belongs to one optimiser."""
        taken = {net: owner for owner, owned in self._owners.items() for net in owned}
        for net in nets:
            if net not in self.nets or net in taken:
                reason = (
                    f"belongs to optimiser {taken[net]!r}" if net in taken else f"is none of {', '.join(self.nets)}"
                )
                raise BadAlgorithm(f"optimiser {name!r}: network {net!r} {reason}")
        made = FlatAdam([self.nets[net] for net in nets], learning_rate=learning_rate, gradient_clip=gradient_clip)
        self.optimisers[name] = made
        self._owners[name] = tuple(nets)
        self._lay_out()
        return made

    def lag(self, net: str = POLICY, *, tau: float = 1.0, every: int = 1) -> nn.Module:
        """Make a lagged copy (target network); every `every`-th gradient step moves it by `tau` to the network."""
        if not 0.0 < tau <= 1.0 or every < 1:
            raise BadAlgorithm(f"a lagged copy needs 0 < tau <= 1 and every >= 1, not {tau} and {every}")
        module = copy.deepcopy(self.nets[net]).requires_grad_(False).eval()
        self._lagged[net] = Lagged(net, module, tau, every)
        self._lay_out()
        return module

    def lagged(self, net: str = POLICY) -> nn.Module:
        """The lagged copy of this network."""
        return self._lagged[net].module

    def to(self, device: torch.device, autocast: torch.dtype | None = None) -> None:
        """Move everything to the device; with `autocast` losses are computed in this type."""
        self.device, self._autocast = device, autocast
        for optimiser in self.optimisers.values():
            optimiser.to(device)
        for net in self.all_nets().values():
            net.to(device)  # buffers, and networks without an optimiser
        self._lay_out()

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """The array as a tensor on the learner's device; on the CPU it shares its memory."""
        return torch.from_numpy(array).to(self.device)

    def autocast(self) -> AbstractContextManager[object]:
        """The context in which networks compute while they learn."""
        if self._autocast is None:
            return nullcontext()
        return torch.autocast(self.device.type, dtype=self._autocast)

    @property
    def autocasts(self) -> bool:
        """Whether networks compute in another type than their weights'."""
        return self._autocast is not None

    @property
    def compute_type(self) -> torch.dtype:
        """The type in which networks compute while they learn."""
        return self._autocast or torch.float32

    def connect(self, reduce: Reduce | None, should_stop: ShouldStop = lambda: False) -> None:
        """Average gradients with other processes by this from now on; see `raise_if_stopped` for `should_stop`."""
        self._reduce, self._should_stop = reduce, should_stop

    def raise_if_stopped(self) -> None:
        """Raise UpdateStopped if this process, which trains alone, was asked to stop.

        Processes that train together all raise in the same exchange, or one of them would wait for the others.
        """
        if self._reduce is None and self._should_stop():
            raise UpdateStopped("the update was asked to stop")

    @property
    def model(self) -> nn.Module:
        """The network that acts."""
        return self.nets[POLICY]

    def all_nets(self) -> dict[str, nn.Module]:
        """Every network by its name, and every lagged copy as "lagged/<name>"."""
        return {**self.nets, **{f"lagged/{name}": lagged.module for name, lagged in self._lagged.items()}}

    @property
    def updates(self) -> int:
        """Gradient steps taken, of all optimisers."""
        return sum(optimiser.updates for optimiser in self.optimisers.values())

    # Gradient steps, in `Algorithm.update`

    def descend(self, loss: Tensor, optimiser: str = POLICY) -> None:
        """Take a gradient step of this loss: backward, average over the processes, clip, Adam, lagged copies."""
        self.optimisers[optimiser].clear()
        self._last_loss = loss.detach()
        loss.backward()  # type: ignore[no-untyped-call]
        self.step(optimiser)

    def step(
        self,
        optimiser: str = POLICY,
        reduced_scalar: float = 0.0,
        meanwhile: Callable[[], object] | None = None,
    ) -> float:
        """Apply the gradient that the parameters hold; returns `reduced_scalar` averaged over all processes.

        `meanwhile` is work that does not depend on the weights. It is called while the gradients of other processes
        are waited for, so that a process that is a little ahead loses nothing; one that trains alone does not call it.
        """
        mine = self.optimisers[optimiser]
        mine.collect()
        if self._reduce is not None:
            reduced_scalar = self._exchange(optimiser, reduced_scalar, meanwhile=meanwhile)
        mine.step()
        self._follow(optimiser)
        return reduced_scalar

    def step_alike(self, optimiser: str = POLICY) -> None:
        """Apply a gradient that is the same in all processes, so that nothing is averaged."""
        mine = self.optimisers[optimiser]
        mine.collect()
        mine.step()
        self._follow(optimiser)

    def average(self, tensor: Tensor) -> None:
        """Average numbers over all processes, in place; every process must call it equally often.

        Raises UpdateStopped in all of them if one was asked to stop.
        """
        if self._reduce is not None:
            message = torch.cat([tensor.flatten(), tensor.new_tensor([float(self._should_stop())])])
            self._reduce(message)
            if message[-1]:
                raise UpdateStopped("the processes of the crew were asked to stop")
            tensor.copy_(message[:-1].view_as(tensor))

    def skip(self) -> None:
        """Take no step of one's own, as while a buffer fills; the steps of other processes are taken with them."""
        if self._reduce is not None:
            self._take_others(running=True)

    def join(self) -> None:
        """Take the steps of the other processes with them until all have ended their update."""
        while self._reduce is not None and self._take_others(running=False):
            pass

    def require_finite(self) -> None:
        """Raise NotFinite if a gradient step has made a weight NaN or infinite; a sum for each optimiser."""
        for name, optimiser in self.optimisers.items():
            if not math.isfinite(float(optimiser.flat.sum())) and not bool(torch.isfinite(optimiser.flat).all()):
                loss = "" if self._last_loss is None else f"; the last loss was {float(self._last_loss)}"
                raise NotFinite(
                    f"a gradient step made weights of {', '.join(self._owners[name])} NaN or infinite"
                    f" (optimiser {name!r}, {optimiser.updates:,} steps){loss}; a lower learning_rate or a "
                    "gradient_clip may help where the loss itself is sound"
                )

    # State, in the checkpoint

    def weights(self, *, share: bool = False) -> dict[str, Tensor]:
        """The acting network's weights and buffers: a copy, or, with `share`, the tensors that it learns with."""
        return _tensors(self.model, share)

    def state(self, *, share: bool = False) -> dict[str, Any]:
        """All state beside `weights`: other networks, lagged copies, optimisers, counters."""
        found: dict[str, Any] = {}
        for name, net in self.nets.items():
            if name != POLICY:
                found |= _below(f"nets/{name}", _tensors(net, share))
        for name, lagged in self._lagged.items():
            found |= _below(f"lagged/{name}", _tensors(lagged.module, share))
        for name, optimiser in self.optimisers.items():
            found |= _below(f"optimisers/{name}", optimiser.state(share=share))
        return found | _below("counters", self.counters)

    def load(self, weights: Mapping[str, Tensor], state: State) -> None:
        """Restore a learner; with an empty state only the acting network's weights are set and all else starts anew."""
        _put(self.model, weights)
        for name, net in self.nets.items():
            if name != POLICY and state:
                _put(net, _part(state, f"nets/{name}"))
        for name, lagged in self._lagged.items():
            kept = _part(state, f"lagged/{name}")
            _put(lagged.module, kept) if kept else lagged.follow(self.nets[name], 1.0)
        for name, optimiser in self.optimisers.items():
            optimiser.load(_part(state, f"optimisers/{name}"))
        self.counters = dict(_part(state, "counters"))

    # Averaging over processes

    def _lay_out(self) -> None:
        """Put the gradients of all optimisers side by side, then what is averaged with them: see `_exchange`."""
        sizes = [len(optimiser.flat) for optimiser in self.optimisers.values()]
        self._message = torch.zeros(sum(sizes) + _TAIL + len(sizes), device=self.device)
        tail = self._message[sum(sizes) :]
        # on the CPU as an array, which is many times faster at single numbers
        self._tail = tail.numpy() if self.device.type == "cpu" else tail
        for optimiser, part in zip(
            self.optimisers.values(), torch.split(self._message[: sum(sizes)], sizes), strict=True
        ):
            optimiser.use(part)
        for name, lagged in self._lagged.items():
            lagged.lay_out(self.nets[name], self.optimisers.values())

    def _exchange(
        self,
        stepping: str | None,
        scalar: float,
        *,
        running: bool = True,
        meanwhile: Callable[[], object] | None = None,
    ) -> float:
        """Average gradients, the scalar, and shares of processes: those still updating, those asked to stop, and those
        that step each optimiser.
        """
        assert self._reduce is not None
        names, tail = list(self.optimisers), self._tail
        tail[:] = 0.0
        tail[0], tail[1], tail[2] = scalar, float(running), float(self._should_stop())
        if stepping is not None:
            tail[_TAIL + names.index(stepping)] = 1.0
        for name, optimiser in self.optimisers.items():
            if name != stepping:
                optimiser.gradient.zero_()
        self._reduce(self._message, meanwhile)
        if tail[2]:
            raise UpdateStopped("the processes of the crew were asked to stop")
        others = [name for name, share in zip(names, tail[_TAIL:].tolist(), strict=True) if share and name != stepping]
        if stepping is not None and others:
            raise BadAlgorithm(
                f"the processes of a crew must step their optimisers in the same order; one steps {stepping!r} "
                f"while another steps {others[0]!r}"
            )
        return float(tail[0])

    def _take_others(self, running: bool) -> bool:
        """Take part in one step with no gradient; returns whether any process is still updating."""
        self._exchange(None, 0.0, running=running)
        tail = self._tail.tolist()
        for name, share in zip(list(self.optimisers), tail[_TAIL:], strict=True):
            if share:
                self.optimisers[name].step()
                self._follow(name)
        return bool(tail[1])

    def _follow(self, optimiser: str) -> None:
        """Move the lagged copies of the networks that this optimiser has just stepped."""
        if self._lagged:
            updates = self.optimisers[optimiser].updates
            for net in self._owners[optimiser]:
                lagged = self._lagged.get(net)
                if lagged is not None and updates % lagged.every == 0:
                    lagged.follow(self.nets[net], lagged.tau)


def _tensors(net: nn.Module, share: bool) -> dict[str, Tensor]:
    found = {name: tensor.detach() for name, tensor in net.state_dict().items()}
    return found if share else {name: tensor.cpu().clone() for name, tensor in found.items()}


def _put(net: nn.Module, weights: Mapping[str, Tensor]) -> None:
    check_weights(weights, net.state_dict())
    net.load_state_dict(dict(weights))


def _below(prefix: str, state: State) -> dict[str, Any]:
    return {f"{prefix}/{name}": value for name, value in state.items()}


def _part(state: State, prefix: str) -> dict[str, Any]:
    return {name[len(prefix) + 1 :]: value for name, value in state.items() if name.startswith(f"{prefix}/")}
