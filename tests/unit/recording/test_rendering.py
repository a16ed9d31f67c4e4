"""Recorded games as pictures, drawn by a user's function."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from orchestrator.catalog import Component
from orchestrator.contracts.interactive import DrawRecordedGame
from tests.unit.recording.sessions import SPEC, TRIAL, Walker, draw, draw_wrongly, games, record
from workers.agents.agent_set import load_agents
from workers.gateway.recording.drawing import draw_game
from workers.gateway.recording.errors import CannotRender
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.rendering import gif, load_render, load_renders, render_frames, write_frames

MODULE = "tests.unit.recording.sessions"


async def test_frames_are_what_the_function_drew(tmp_path: Path) -> None:
    frames = render_frames(decode_game(await record(tmp_path)), draw, load_agents(Walker))
    assert [frame.shape for frame in frames] == [(1, 2, 3)] * 5
    assert [int(frame[0, 0, 0]) for frame in frames] == [0, 1, 2, 3, 4]


async def test_several_functions_draw_one_below_the_other(tmp_path: Path) -> None:
    together = load_renders([f"{MODULE}:draw", f"{MODULE}:draw"])
    frames = render_frames(decode_game(await record(tmp_path)), together, load_agents(Walker))
    assert [frame.shape for frame in frames] == [(2, 2, 3)] * 5
    assert [frame[:, 0, 0].tolist() for frame in frames[:2]] == [[0, 0], [1, 1]]


async def test_pictures_are_bounded_in_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = decode_game(await record(tmp_path))
    monkeypatch.setattr("workers.gateway.recording.rendering.MOST_BYTES", 15)
    assert len(render_frames(game, draw, load_agents(Walker))) == 3  # of six bytes each


def test_png_gif_and_mp4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [np.full((4, 6 + number, 3), 60 * number, np.uint8) for number in range(3)]
    paths = write_frames(frames, tmp_path / "x.png")
    assert [path.name for path in paths] == ["x-0.png", "x-1.png", "x-2.png"]
    with Image.open(paths[2]) as image:
        assert image.size == (8, 4)
    assert write_frames(frames[:1], tmp_path / "one.png") == [tmp_path / "one.png"]
    (animation,) = write_frames(frames, tmp_path / "x.gif", 0.1)
    with Image.open(animation) as image:
        assert (image.n_frames, image.size) == (3, (8, 4))  # type: ignore[attr-defined]
    with pytest.raises(CannotRender, match=r"allowed endings are \.png, \.gif, \.mp4"):
        write_frames(frames, tmp_path / "x.bmp")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(CannotRender, match="pip install imageio-ffmpeg"):
        write_frames(frames, tmp_path / "x.mp4")


def test_mp4_by_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of one even size reach the encoder, whole and in order."""
    sent: list[object] = []

    class Ffmpeg:
        @staticmethod
        def write_frames(path: str, size: tuple[int, int], fps: float):  # type: ignore[no-untyped-def]
            sent.append((size, fps))
            while True:
                frame = yield
                sent.append(frame.shape)

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", Ffmpeg)  # type: ignore[arg-type]
    write_frames([np.zeros((3, 5, 3), np.uint8)] * 2, tmp_path / "x.mp4", 0.5)
    assert sent == [((6, 4), 2.0), (4, 6, 3), (4, 6, 3)]


async def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    game = decode_game(await record(tmp_path))
    with pytest.raises(CannotRender, match=r"tick 0: the function returned float64 of shape \[3\]"):
        render_frames(game, draw_wrongly)
    with pytest.raises(CannotRender, match="made no picture"):
        render_frames(game, lambda tick: None)
    for name, words in (("x", "write module:function"), ("nowhere:f", "does not import"), (f"{MODULE}:SPEC", "a dict")):
        with pytest.raises(CannotRender, match=words):
            load_render(name)


async def test_a_worker_draws_the_game_of_a_trial(tmp_path: Path) -> None:
    await record(tmp_path)
    (summary,) = games(tmp_path).newest(TRIAL, 1)
    options = {"spec": SPEC, "agent": f"{MODULE}:Walker", "dump": {"every": 1, "render": f"{MODULE}:draw"}}
    request = DrawRecordedGame(game=Component(id="remote", options=options), trial=TRIAL, recording=summary.id)
    made = draw_game(request, games(tmp_path))
    picture = games(tmp_path).get(TRIAL, summary.id, ".gif")
    assert picture is not None and len(picture) == made.bytes
    frames = render_frames(decode_game(games(tmp_path).get(TRIAL, summary.id) or b""), draw, load_agents(Walker))
    assert picture == gif(frames, 0.2)
