"""A least-recently-used cache of policies by checkpoint."""

from __future__ import annotations

from collections import OrderedDict

import torch

from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore
from workers.algorithms.building import actor_of
from workers.checkpoints import load
from workers.games.protocol import GameSpec
from workers.inference.policy import Policy

DEFAULT_BYTES = 96 * 1024 * 1024
"""With the 64 MB of weights that 64 opponents of 1 MB need in play, a pool of 500 adds less than 200 MB to an actor."""
DEFAULT_POLICIES = 256
"""Four times the opponents that can be in play: versions of small networks, of which most are never met again, would
go on to fill those bytes for hours, and an actor would grow all the while."""


class PolicyCache:
    """Keeps policies up to a number of them and of bytes of weights, so that a pool of any size costs no more."""

    def __init__(
        self,
        store: ArtifactStore,
        spec: GameSpec,
        max_bytes: int = DEFAULT_BYTES,
        device: str = "cpu",
        max_policies: int = DEFAULT_POLICIES,
    ) -> None:
        self._store = store
        self.spec = spec
        self._max_bytes = max_bytes
        self._max_policies = max_policies
        self._device = torch.device(device)
        self._policies: OrderedDict[str, Policy] = OrderedDict()
        self._bytes = 0
        self.loads = 0
        """How often a checkpoint had to be read."""

    def __len__(self) -> int:
        return len(self._policies)

    def get(self, ref: CheckpointRef) -> Policy:
        """The policy of this checkpoint, loaded only if it is not cached."""
        policy = self._policies.pop(ref.sha256, None)
        if policy is None:
            policy = actor_of(load(self._store, ref), self.spec).to(self._device)
            self.loads += 1
            self._bytes += policy.size
        self._policies[ref.sha256] = policy
        while len(self._policies) > 1 and (self._bytes > self._max_bytes or len(self._policies) > self._max_policies):
            _, forgotten = self._policies.popitem(last=False)
            self._bytes -= forgotten.size
        return policy
