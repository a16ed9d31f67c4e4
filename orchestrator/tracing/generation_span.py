"""The topmost span of a generation, written by its player's workflow when the generation has ended."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from temporalio import workflow

from orchestrator.contracts.generations import GenerationKey
from orchestrator.tracing import spans
from orchestrator.tracing.ids import generation_of
from orchestrator.tracing.temporal_calls import request_ref


class GenerationSpan:
    """Around a generation. Its times are the workflow's, so that a replay would write the same span; it writes none."""

    def __init__(self, key: GenerationKey, *, trial_name: str, player_name: str) -> None:
        self._key = key
        self._attributes = {
            "trial": key.trial,
            "player": key.player,
            "generation": key.generation,
            "attempt": key.attempt,
            "trial_name": trial_name,
            "player_name": player_name,
        }

    def __enter__(self) -> Self:
        self._started = workflow.time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # what is no Exception ends a workflow that leaves this worker's memory: it goes on by a replay
        if not spans.tracing() or workflow.unsafe.is_replaying() or not isinstance(error, Exception | None):
            return
        own, request = generation_of(self._key), request_ref()
        with workflow.unsafe.sandbox_unrestricted():
            spans.record(
                "generation",
                self._started,
                workflow.time(),
                spans.own(self._attributes),
                own=own,
                links=[request] if request else [],
                problem="" if error is None else f"{kind.__name__ if kind else ''}: {error}",
            )
