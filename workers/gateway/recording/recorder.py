"""Records every n-th session: its steps, its replies and the decisions of its models."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from typing import cast as cast_to

from numpy.typing import NDArray

from orchestrator.storage.recorded_games import RecordedGames, RecordedSummary, is_trial
from workers.gateway.contract import (
    Cast,
    Director,
    Episode,
    Model,
    Refused,
    Reply,
    Runner,
    RunnerFactory,
    SessionResult,
    Step,
    StepKind,
)
from workers.gateway.recording.files import encode_game
from workers.gateway.recording.options import DUMP
from workers.gateway.recording.specs import spec_mapping
from workers.gateway.rpc.arrays import encode_batch
from workers.gateway.rpc.generated import gamecore_pb2
from workers.gateway.rpc.generated import recording_pb2 as pb
from workers.gateway.rpc.statuses import code_number
from workers.inference.actor import Actor

KEPT = 100
"""Games of a trial that are kept, unless it says otherwise."""
LARGEST = 64 << 20
"""Bytes of one recording; what follows is not recorded."""
MOST_OPEN = 8
"""Games recorded at once, so that memory stays small."""
LARGEST_TOGETHER = 128 << 20
"""Bytes of all recordings that are under way in one process; one that would need more is cut off."""

_log = logging.getLogger(__name__)
_KINDS: dict[StepKind, Any] = {kind: gamecore_pb2.StepKind.Value(f"STEP_KIND_{kind.name}") for kind in StepKind}
Decided = Callable[[dict[str, NDArray[Any]] | Exception], None]
Columns = Mapping[str, NDArray[Any]]


class GameRecorder:
    """A director that passes everything on to another one, and keeps every n-th session of casts that ask for it."""

    def __init__(self, director: Director, store: RecordedGames) -> None:
        self._director, self._store = director, store
        self._seen: Counter[str] = Counter()
        """Sessions so far, by trial."""
        self._open: dict[int, Recording] = {}
        """By the identity of the session's cast."""
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="recordings")

    def cast(self, session: str, ticket: str) -> Cast:
        """See `Director`."""
        cast = self._director.cast(session, ticket)
        dump = cast.info.get(DUMP)
        if not dump or not session:
            return cast
        trial = str(cast.info.get("trial") or "")
        self._seen[trial] += 1
        if (self._seen[trial] - 1) % int(dump["every"]) == 0 and len(self._open) < MOST_OPEN:
            keep = int(dump.get("keep") or KEPT)
            recording = self._open[id(cast)] = Recording(session, cast, trial, keep, self._has_room)
            _watch_models(cast, recording)
        return cast

    def _has_room(self) -> bool:
        return sum(recording.bytes for recording in self._open.values()) <= LARGEST_TOGETHER

    def episode(self, cast: Cast, episode: Episode) -> None:
        """See `Director`."""
        self._director.episode(cast, episode)

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """See `Director`."""
        recording = self._open.pop(id(cast), None)
        if recording is not None:
            recording.game.returns.extend(result.returns.tolist())
            recording.over = True
        self._director.finished(cast, result)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """See `Director`."""
        recording = self._open.pop(id(cast), None)
        if recording is not None:
            recording.game.aborted = reason
            self.keep(recording)
        self._director.aborted(cast, session, reason)

    def runners(self, make: RunnerFactory) -> RunnerFactory:
        """What makes runners, with those of recorded sessions watched."""

        def made(session: str, cast: Cast) -> Runner:
            recording = self._open.get(id(cast))
            runner = make(session, cast)
            return runner if recording is None else cast_to(Runner, _RecordedRunner(runner, recording, self.keep))

        return made

    def keep(self, recording: Recording) -> None:
        """Write a recording in a thread beside the event loop."""
        if not recording.kept:
            recording.kept = True
            self._writer.submit(self._write, recording)

    def close(self) -> None:
        """Wait for what is being written."""
        self._writer.shutdown()

    async def stop(self) -> None:
        """The same, without holding up the event loop."""
        await asyncio.to_thread(self.close)

    def _write(self, recording: Recording) -> None:
        try:
            data = encode_game(recording.game)
            trial = recording.trial if is_trial(recording.trial) else None
            self._store.put(trial, recording.summary(len(data)), data, recording.keep)
        except Exception as error:  # a lost recording must not end the game
            _log.error("the recording of session %s could not be kept", recording.game.session, exc_info=error)


def _watch_models(cast: Cast, recording: Recording) -> None:
    """Let the models of a cast, which is this session's own, be recorded."""

    def watched(model: Model, seat: int = 0, name: str = "") -> Model:
        return cast_to(Model, _RecordedModel(model, recording, seat, name))

    cast.seats = [
        seat if seat.model is None else replace(seat, model=watched(seat.model, number))
        for number, seat in enumerate(cast.seats)
    ]
    cast.models = {name: watched(model, name=name) for name, model in cast.models.items()}


class Recording:
    """A game that is being recorded."""

    def __init__(self, session: str, cast: Cast, trial: str, keep: int, has_room: Callable[[], bool]) -> None:
        """`has_room` says whether the process may hold what was added last."""
        self.trial, self.keep, self._has_room = trial, keep, has_room
        self.over = self.kept = False
        self.ticks = 0
        self._begun = time.monotonic()
        self._last = 0.0
        self.bytes = 0
        self.game = pb.RecordedGame(
            session=session,
            info=json.dumps(dict(cast.info), default=str),
            players=[seat.name if seat.model is not None else "" for seat in cast.seats],
            learning=[seat.learning for seat in cast.seats],
            spec=json.dumps(spec_mapping(cast.spec)),
            seed=cast.seed,
            started_at=time.time(),
        )

    def add(self, event: pb.RecordedEvent) -> None:
        """Add an event, unless the recording is as large as one may be, or is being written."""
        if self.kept or self.game.cut:
            return
        size = event.ByteSize() + 8
        self.bytes += size
        if self.bytes > LARGEST or not self._has_room():
            self.game.cut = True
            self.bytes -= size
            return
        event.at = self._last = time.monotonic() - self._begun
        self.game.events.append(event)

    def summary(self, size: int) -> RecordedSummary:
        """What is known about the game without its file."""
        return RecordedSummary(
            id=f"{int(self.game.started_at * 1000):013d}-{secrets.token_hex(4)}",
            session=self.game.session,
            started_at=self.game.started_at,
            seconds=round(self._last, 3),
            ticks=self.ticks,
            size=size,
            players=list(self.game.players),
            returns=list(self.game.returns),
            aborted=self.game.aborted,
            cut=self.game.cut,
            info={key: value for key, value in json.loads(self.game.info).items() if key != DUMP},
        )


class _RecordedRunner:
    """A runner whose steps and replies are recorded."""

    def __init__(self, runner: Runner, recording: Recording, keep: Callable[[Recording], None]) -> None:
        self._runner, self._recording, self._keep = runner, recording, keep

    @property
    def over(self) -> bool:
        return self._runner.over

    def step(self, step: Step, reply: Reply) -> None:
        recording = self._recording
        recording.ticks += step.kind is StepKind.TICK
        taken = pb.RecordedStep(kind=_KINDS[step.kind], agent=step.agent, body=step.body)
        recording.add(pb.RecordedEvent(step=taken))

        def record(found: bytes | Refused) -> None:
            answer = pb.RecordedReply(agent=step.agent)
            if isinstance(found, Refused):
                answer.refusal.code, answer.refusal.text = code_number(found), found.text
            else:
                answer.body = found
            recording.add(pb.RecordedEvent(reply=answer))
            if recording.over:  # the result is in, so this was the last reply
                self._keep(recording)
            reply(found)

        self._runner.step(step, record)

    def abort(self, reason: str) -> None:
        self._runner.abort(reason)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)


class _RecordedModel:
    """A model whose decisions are recorded."""

    def __init__(self, model: Model, recording: Recording, seat: int = 0, name: str = "") -> None:
        self._model, self._recording, self._seat, self._name = model, recording, seat, name

    @property
    def actor(self) -> Actor:
        return self._model.actor

    @property
    def version(self) -> str:
        return self._model.version

    @property
    def update(self) -> int:
        return self._model.update

    def submit(self, rows: dict[str, NDArray[Any]], decided: Decided) -> None:
        seen = encode_batch(rows)  # encoded now: the caller may overwrite the arrays later

        def record(found: dict[str, NDArray[Any]] | Exception) -> None:
            if not isinstance(found, Exception):
                made = pb.RecordedDecision(seat=self._seat, rows=seen, columns=encode_batch(found), model=self._name)
                self._recording.add(pb.RecordedEvent(decision=made))
            decided(found)

        self._model.submit(rows, record)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)
