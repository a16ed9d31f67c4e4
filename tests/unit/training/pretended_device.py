"""Runs an update of every built-in algorithm with its networks on a device that only pretends to compute.

A build of torch without CUDA cannot index or move fake tensors on cuda. A device that is registered from Python can:
under FakeTensorMode its tensors have shapes and a device and no numbers, and an operation on tensors of two devices
raises. Run in a process of its own, since a device is registered once and for all.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.algorithms.test_exact_resume import task_of
from tests.unit.training.learning.test_exact_resume import new_process
from workers.algorithms.building import build_learner
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.models import contract

_setup_privateuseone_for_python_backend("pretend")
DEVICE = torch.device("pretend:0")
_NUMBERS = {
    torch.Tensor.__float__: 0.5,
    torch.Tensor.item: 0.5,
    torch.Tensor.__int__: 1,
    torch.Tensor.__bool__: False,
}


class Numbers(TorchFunctionMode):
    """Gives made-up numbers where code reads fake tensors; arrays of tensors on the device are refused."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = args[0] if args else None
        if isinstance(given, FakeTensor):
            if func in _NUMBERS:
                return _NUMBERS[func]
            if func is torch.Tensor.tolist:
                return np.full(tuple(given.shape), 0.5).tolist()
            if func is torch.Tensor.numpy:
                if given.device.type != "cpu":
                    raise TypeError(f"an array of a tensor on {given.device}")
                return np.zeros(tuple(given.shape), str(given.dtype).removeprefix("torch."))
        return func(*args, **(kwargs or {}))


class OnDevice(Numbers):
    """Makes new tensors on the device, as `torch.set_default_device` does; that cannot copy lists to it."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func is torch.Tensor.__bool__:
            return True  # bounds are finite, weights are sound
        if func in _device_constructors() and given.get("device") is None:
            if func in (torch.tensor, torch.as_tensor):
                return func(*args, **given).to(DEVICE)
            given["device"] = DEVICE
        return super().__torch_function__(func, types, args, given)


@contextmanager
def learners_on_device() -> Iterator[None]:
    """Learners are made on the device, rather than moved there: fake parameters cannot be moved."""
    plain = Learner.__init__

    def on_device(self: Learner, nets: Any) -> None:
        plain(self, nets)
        self.device = DEVICE

    with mock.patch.object(Learner, "__init__", on_device), mock.patch.object(contract, "_probe"), OnDevice():
        yield


def update(name: str) -> None:
    """Play and fill the buffer on the CPU; then take one update on the device."""
    task = task_of(name)
    with tempfile.TemporaryDirectory() as folder:
        actor = new_process(task, ArtifactStore(folder))
        actor.prepare(task, True)
        actor.advance(3)
        training = actor._training
        with FakeTensorMode(allow_non_fake_inputs=True), mock.patch.object(fake_tensor, "CONSTANT_NUMEL_LIMIT", 0):
            with learners_on_device():
                learner = build_learner(training.algorithm, task.model, training._game.spec, 0)
            training.learner = learner
            with Numbers():
                training.learn(MetricMeans())
        assert learner.updates > 0
        assert all(each.device == DEVICE for net in learner.nets.values() for each in net.parameters())


def mix() -> None:
    """What an algorithm must not do."""
    with FakeTensorMode():
        torch.zeros(3, device=DEVICE).add(torch.zeros(3))


def main() -> None:
    """Prints a line for each algorithm: its name and `ok`, or the error; `mixed` is the error that is looked for."""
    for name in sys.argv[1:]:
        try:
            mix() if name == "mixed" else update(name)
            sys.stdout.write(f"{name}: ok\n")
        except Exception as error:
            traceback.print_exc()
            sys.stdout.write(f"{name}: {type(error).__name__}: {error}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
