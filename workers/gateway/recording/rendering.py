"""Draws recorded games: a user's function makes a picture of each tick; PNG, GIF or MP4 comes out."""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.agents.agent_set import AgentSet
from workers.agents.serializers import Protobuf
from workers.gateway.recording.errors import BadRecording, CannotRender
from workers.gateway.rpc.generated import gamecore_pb2
from workers.gateway.rpc.generated import recording_pb2 as pb

_log = logging.getLogger(__name__)
SUFFIXES = (".png", ".gif", ".mp4")
MOST_FRAMES = 2000
MOST_PIXELS = 1 << 22
"""Pixels of one picture."""
MOST_BYTES = 256 << 20
"""Bytes of all pictures of a game together, not compressed; the ticks that follow are not drawn."""
_INSTALL = {"PIL": "pip install pillow", "imageio_ffmpeg": "pip install imageio-ffmpeg"}

Frame = NDArray[np.uint8]
"""[height, width, 3]."""


@dataclass(frozen=True, kw_only=True)
class RecordedTick:
    """What a function that draws is called with: one step of a recorded game and its reply."""

    number: int
    """0 for the start, then 1, 2, ..."""
    at: float
    """Seconds since the game began."""
    kind: str
    """`start`, `tick` or `end`."""
    agent: str
    request: bytes
    reply: bytes
    """Empty where the step was refused."""
    data: Any = None
    """The request as the agent's serializer reads it; None without an agent."""
    answer: Any = None
    """The reply likewise; None of protobuf."""


Render = Callable[[RecordedTick], Any]
"""Returns an array of bytes [height, width] or [height, width, 3 or 4], an image of Pillow, or None for no picture."""


def load_render(name: str) -> Render:
    """The function that an import path names; raises CannotRender."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise CannotRender(f"render {name!r}: write module:function")
    try:
        target: Any = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        raise CannotRender(f"render {name!r} does not import: {type(error).__name__}: {error}") from error
    if not inspect.isfunction(target):
        raise CannotRender(f"render {name!r} is a {type(target).__name__}; allowed: a function of one RecordedTick")
    render: Render = target
    return render


def load_renders(names: Sequence[str]) -> Render:
    """One function out of several: their pictures of a tick one below the other. Raises CannotRender."""
    renders = [load_render(name) for name in names]
    if len(renders) == 1:
        return renders[0]

    def together(tick: RecordedTick) -> Frame | None:
        made = [_frame(picture, tick) for render in renders if (picture := render(tick)) is not None]
        width = max((frame.shape[1] for frame in made), default=0)
        wide = [np.pad(frame, [(0, 0), (0, width - frame.shape[1]), (0, 0)]) for frame in made]
        return np.concatenate(wide) if wide else None

    return together


def recorded_ticks(game: pb.RecordedGame, agents: AgentSet | None = None) -> Iterator[RecordedTick]:
    """The steps of a game with their replies, in the order of the replies."""
    waiting: dict[str, pb.RecordedStep] = {}
    number = 0
    for event in game.events:
        match event.WhichOneof("kind"):
            case "step":
                waiting[event.step.agent] = event.step
            case "reply":
                step = waiting.pop(event.reply.agent, None)
                if step is not None:
                    yield _tick(number, event.at, step, event.reply, agents)
                    number += 1


def render_frames(game: pb.RecordedGame, render: Render, agents: AgentSet | None = None) -> list[Frame]:
    """The pictures of a game. Errors of the user's function are raised as they are."""
    frames: list[Frame] = []
    size = 0
    for tick in recorded_ticks(game, agents):
        made = render(tick)
        if made is not None:
            frames.append(_frame(made, tick))
            size += frames[-1].nbytes
        if len(frames) >= MOST_FRAMES or size >= MOST_BYTES:
            _log.warning("tick %d is the last that is drawn: %d pictures, %d MB", tick.number, len(frames), size >> 20)
            break
    if not frames:
        raise CannotRender("the function made no picture of any tick")
    return frames


def write_frames(frames: Sequence[Frame], path: Path, seconds: float = 0.2) -> list[Path]:
    """Write pictures by the file's ending; several as PNG are numbered files. Returns what was written."""
    match path.suffix.lower():
        case ".png":
            return _png(frames, path)
        case ".gif":
            path.write_bytes(gif(frames, seconds))
            return [path]
        case ".mp4":
            _mp4(frames, path, seconds)
            return [path]
    raise CannotRender(f"{path.name}: allowed endings are {', '.join(SUFFIXES)}")


def gif(frames: Sequence[Frame], seconds: float = 0.2) -> bytes:
    """An animation that repeats."""
    from io import BytesIO

    first, *others = (_pillow().fromarray(frame) for frame in _same_size(frames))
    written = BytesIO()
    first.save(written, "GIF", save_all=True, append_images=others, duration=max(20, round(seconds * 1000)), loop=0)
    return written.getvalue()


def _png(frames: Sequence[Frame], path: Path) -> list[Path]:
    if len(frames) == 1:
        paths = [path]
    else:
        digits = len(str(len(frames) - 1))
        paths = [path.with_stem(f"{path.stem}-{number:0{digits}}") for number in range(len(frames))]
    for frame, each in zip(frames, paths, strict=True):
        _pillow().fromarray(frame).save(each, "PNG")
    return paths


def _mp4(frames: Sequence[Frame], path: Path, seconds: float) -> None:
    ffmpeg = _needed("imageio_ffmpeg")
    even = [np.pad(frame, [(0, frame.shape[0] % 2), (0, frame.shape[1] % 2), (0, 0)]) for frame in _same_size(frames)]
    height, width = even[0].shape[:2]
    writer = ffmpeg.write_frames(str(path), (width, height), fps=1 / seconds)
    writer.send(None)
    for frame in even:
        writer.send(np.ascontiguousarray(frame))
    writer.close()


def _same_size(frames: Sequence[Frame]) -> list[Frame]:
    """Pictures of one size: smaller ones get a black edge below and to the right."""
    height, width = (max(frame.shape[axis] for frame in frames) for axis in (0, 1))
    return [np.pad(frame, [(0, height - frame.shape[0]), (0, width - frame.shape[1]), (0, 0)]) for frame in frames]


def _frame(made: Any, tick: RecordedTick) -> Frame:
    array = np.asarray(made.convert("RGB") if hasattr(made, "convert") else made)
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] not in (3, 4) or array.dtype != np.uint8 or not array.size:
        raise CannotRender(
            f"tick {tick.number}: the function returned {array.dtype} of shape {list(array.shape)}; allowed: bytes "
            "(uint8) [height, width] or [height, width, 3 or 4], an image of Pillow, or None"
        )
    if array.shape[0] * array.shape[1] > MOST_PIXELS:
        raise CannotRender(f"tick {tick.number}: a picture of {array.shape[1]} x {array.shape[0]} is too large")
    return np.ascontiguousarray(array[:, :, :3])


def _tick(
    number: int, at: float, step: pb.RecordedStep, reply: pb.RecordedReply, agents: AgentSet | None
) -> RecordedTick:
    kind = gamecore_pb2.StepKind.Name(step.kind).removeprefix("STEP_KIND_").lower()
    data = answer = None
    if agents is not None:
        serializer = agents.at(step.agent)[0].serializer
        try:
            data = serializer.loads(step.body, kind)
            if reply.body and not isinstance(serializer, Protobuf):  # Protobuf decodes requests only
                answer = serializer.loads(reply.body, kind)
        except ValueError as error:
            raise BadRecording(f"tick {number} is not what the agent's serializer reads: {error}") from error
    return RecordedTick(
        number=number,
        at=at,
        kind=kind,
        agent=step.agent,
        request=step.body,
        reply=reply.body,
        data=data,
        answer=answer,
    )


def _pillow() -> Any:
    return _needed("PIL.Image")


def _needed(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise CannotRender(f"this needs {package}, which is not installed here: {_INSTALL[package]}") from None
