"""Mid-generation checkpoints: what a long generation has done so far, so that a lost attempt costs minutes.

A partial checkpoint is the learner at the end of an update, with the outcome so far: the steps, and the tallies of the
games that have ended. The next attempt trains what is left, as a task of its own: it starts at the partial checkpoint,
with fewer steps, another seed and new games. The outcomes of both are added. Games under way at the partial checkpoint
were in no tally, so none counts twice; the metric `exact` of such a generation is 0.

See docs/decisions/crews.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import chain
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from league.payoff import Returns
from league.seeds import derived_seed
from league.types import Earned, LineupTally, ReturnTally, Tally
from orchestrator.contracts.generations import GenerationOutcome, GenerationTask, PartialGeneration
from orchestrator.storage.artifacts import ArtifactError, ArtifactStore
from workers.algorithms.contract import algorithm_class
from workers.checkpoints import UnreadableCheckpoint

KIND = "partial"
"""Of artifacts: apart from checkpoints of versions, so that removing one never removes a version's."""
EXACT = "exact"
"""The metric of generations that remember, do not wait or were resumed: 1 if another run from the same checkpoint would
be the same, 0 where a buffer is not part of the checkpoint, sampling is asynchronous, games call in, or a lost attempt
was continued. Others, which are exact, have none."""
_KEPT = 2
"""Partial checkpoints that are kept: the heartbeat that names the newest may not have arrived."""
_OF_THE_LAST_ATTEMPT = frozenset({"steps_per_second"})
_BY_GAMES = frozenset({"game_length", "return_mean"})
_OUTCOME = TypeAdapter(GenerationOutcome)

OnPartial = Callable[[PartialGeneration], None]
"""Called when a partial checkpoint is stored."""
AnyTally = TypeVar("AnyTally", Tally, LineupTally)


class PartialGenerations:
    """The partial checkpoints of one attempt at a generation, and what earlier attempts have done."""

    def __init__(self, store: ArtifactStore, task: GenerationTask, on_partial: OnPartial | None) -> None:
        """Raises MissingArtifact or DamagedArtifact where the task goes on from what cannot be read."""
        self._store, self._on_partial = store, on_partial
        self._every = task.checkpoint_seconds if on_partial is not None else None
        self._resumed = task.resume
        self._earlier = None if task.resume is None else read_outcome(store, task.resume)
        self._counts = algorithm_class(task.algorithm).count_metrics | {"games", "dropped_batches"}
        self._stored = [] if task.resume is None else [task.resume]
        self._last = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the next update should end with a partial checkpoint."""
        return self._every is not None and time.monotonic() - self._last >= self._every

    @property
    def earlier_steps(self) -> int:
        """Steps of earlier attempts."""
        return 0 if self._resumed is None else self._resumed.steps

    def rest(self, task: GenerationTask, updates: int, update_steps: int) -> GenerationTask:
        """What is left of the task, which has this many updates of so many steps."""
        done = self._resumed
        if done is None:
            return task
        left = max(1, updates - done.updates)
        seed = derived_seed(task.seed, "resume", done.updates) % 2**63
        return replace(task, checkpoint=done.checkpoint, steps=left * update_steps, seed=seed)

    def write(self, outcome: GenerationOutcome, updates: int) -> None:
        """Store what this attempt has done after so many updates, beside the learner's checkpoint in `outcome`."""
        whole = self.add(outcome)
        document = json.dumps(asdict(whole), sort_keys=True).encode()
        partial = PartialGeneration(
            checkpoint=outcome.checkpoint,
            outcome=self._store.put(document, kind=KIND),
            updates=updates + (0 if self._resumed is None else self._resumed.updates),
            steps=whole.steps,
        )
        self._stored.append(partial)
        self._last = time.monotonic()
        assert self._on_partial is not None
        self._on_partial(partial)
        self._discard(self._stored[:-_KEPT])
        del self._stored[:-_KEPT]

    def finish(self, outcome: GenerationOutcome) -> GenerationOutcome:
        """The outcome of all attempts. The newest partial checkpoint stays: this outcome may be lost on its way."""
        self._discard(self._stored[:-1])
        return self.add(outcome)

    def add(self, outcome: GenerationOutcome) -> GenerationOutcome:
        """The outcome of this attempt and of those before it."""
        return outcome if self._earlier is None else add_outcomes(self._earlier, outcome, self._counts)

    def _discard(self, partials: Sequence[PartialGeneration]) -> None:
        kept = {ref for partial in self._stored[-1:] for ref in (partial.checkpoint, partial.outcome)}
        for ref in (ref for partial in partials for ref in (partial.checkpoint, partial.outcome)):
            if ref not in kept:
                with suppress(ArtifactError, OSError):  # garbage collection removes what is left
                    self._store.discard(ref)


def read_outcome(store: ArtifactStore, partial: PartialGeneration) -> GenerationOutcome:
    """What the attempts before this partial checkpoint had done; UnreadableCheckpoint if another release wrote it."""
    try:
        return _OUTCOME.validate_json(store.get(partial.outcome))
    except ValidationError as error:
        raise UnreadableCheckpoint(f"{partial.outcome.sha256}: {error.error_count()} values are wrong") from error


def concerns(resume: PartialGeneration | None, problem: Exception) -> bool:
    """Whether the error names a file of this partial checkpoint."""
    return resume is not None and any(ref.sha256 in str(problem) for ref in (resume.checkpoint, resume.outcome))


def add_outcomes(first: GenerationOutcome, then: GenerationOutcome, counts: Collection[str]) -> GenerationOutcome:
    """Both parts of a generation as one; metrics named in `counts` are summed, others are means."""
    return replace(
        then,
        steps=first.steps + then.steps,
        tallies=_added(first.tallies, then.tallies),
        lineups=_added(first.lineups, then.lineups),
        returns=_returns(first.returns, then.returns),
        metrics=_metrics(first, then, counts) | {EXACT: 0.0},
    )


def _added(first: Sequence[AnyTally], then: Sequence[AnyTally]) -> list[AnyTally]:
    """One tally for each pair and team, in the order in which they were met."""
    found: dict[Any, AnyTally] = {}
    for tally in chain(first, then):
        key = _key(tally)
        found[key] = _sum(found[key], tally) if key in found else tally
    return list(found.values())


def _key(tally: Tally | LineupTally) -> tuple[Any, ...]:
    lineup = tally.lineup if isinstance(tally, LineupTally) else ()
    return tally.learner, lineup, tally.opponent, tally.seat, tally.opponent_seat


def _sum(one: AnyTally, other: AnyTally) -> AnyTally:
    earned = None
    if one.earned is not None and other.earned is not None:
        earned = Earned(one.earned.own + other.earned.own, one.earned.other + other.earned.other)
    summed: dict[str, Any] = {name: getattr(one, name) + getattr(other, name) for name in ("wins", "draws", "losses")}
    if isinstance(one, LineupTally) and isinstance(other, LineupTally):
        summed["returns"] = _returns(one.returns, other.returns)
    return replace(one, earned=earned, **summed)


def _returns(one: ReturnTally | None, other: ReturnTally | None) -> ReturnTally | None:
    if one is None or other is None:
        return one or other
    return ReturnTally(**asdict(Returns(**asdict(one)).merged(Returns(**asdict(other)))))


def _metrics(first: GenerationOutcome, then: GenerationOutcome, counts: Collection[str]) -> dict[str, float]:
    mixed = dict(first.metrics)
    for name, value in then.metrics.items():
        before = first.metrics.get(name)
        if before is None or name in _OF_THE_LAST_ATTEMPT:
            mixed[name] = value
        elif name in counts:
            mixed[name] = before + value
        elif name.endswith("_max"):
            mixed[name] = max(before, value)
        else:
            earlier, later = _weights(name, first, then)
            mixed[name] = (before * earlier + value * later) / (earlier + later)
    return mixed


def _weights(name: str, first: GenerationOutcome, then: GenerationOutcome) -> tuple[float, float]:
    if name in _BY_GAMES:
        weights = first.metrics.get("games", 0.0), then.metrics.get("games", 0.0)
    else:
        weights = float(first.steps), float(then.steps)
    return weights if sum(weights) > 0 else (1.0, 1.0)
