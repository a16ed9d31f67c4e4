"""A recorded game is replayed into its agent: the same agent answers the same, another one is found out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanista.cli import app
from tests.unit.recording.sessions import SPEC, Doubled, Walker, record
from workers.agents.agent_set import load_agents
from workers.games.remote import declared_spec
from workers.gateway.recording.errors import BadRecording
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.replaying import replay_game
from workers.gateway.recording.specs import spec_mapping

MODULE = "tests.unit.recording.sessions"


async def test_the_same_agent_answers_the_same(tmp_path: Path) -> None:
    report = await replay_game(decode_game(await record(tmp_path)), load_agents(Walker))
    assert (report.ticks, report.replies, report.decisions, report.differences) == (5, 7, 5, [])


async def test_another_agent_is_found_out(tmp_path: Path) -> None:
    report = await replay_game(decode_game(await record(tmp_path, ticks=2)), load_agents(Doubled))
    assert [(each.tick, each.what) for each in report.differences] == [
        *((1, "observation"), (1, "reply")),
        *((2, "observation"), (2, "reply")),
    ]
    assert report.differences[1].recorded == '{"go":0}'
    assert report.differences[1].found == '{"go":1}'


@pytest.mark.parametrize("data", [b"", b"no game", b"\x1f\x8b\x08\x00cut off"])
def test_a_file_that_is_no_game_is_refused(data: bytes) -> None:
    with pytest.raises(BadRecording, match="no recorded game"):
        decode_game(data)


def test_the_spec_of_a_game_survives() -> None:
    spaces = [
        {"type": "box", "shape": [2, 3], "low": 0, "high": 255, "dtype": "uint8"},
        {"type": "box", "shape": [2], "low": [0, -1], "high": [1, 1]},
        {"type": "dict", "spaces": {"a": {"type": "multi_binary", "n": 3}, "b": {"type": "discrete", "n": 2}}},
        {"type": "tuple", "spaces": [{"type": "multi_discrete", "n": [2, 3]}, {"type": "box", "shape": [1]}]},
    ]
    for space in spaces:
        spec = declared_spec({**SPEC, "observation": space, "seats": 4, "teams": [0, 0, 1, 1]})
        assert declared_spec(spec_mapping(spec)) == spec


def test_the_command_compares_and_draws(tmp_path: Path) -> None:
    (tmp_path / "x.game").write_bytes(asyncio.run(record(tmp_path / "store")))
    run = CliRunner().invoke
    base = ["gamecore", "replay", str(tmp_path / "x.game")]
    same = run(app, [*base, "--agent", f"{MODULE}:Walker"])
    assert same.exit_code == 0, same.output
    assert "5 ticks, 7 replies and 5 decisions compared, no differences" in same.output
    other = run(app, [*base, "--agent", f"{MODULE}:Doubled"])
    assert other.exit_code == 1
    assert "tick 1: another reply" in other.output
    drawing = ["--render", f"{MODULE}:draw", "--to", str(tmp_path / "x.gif"), "--agent", f"{MODULE}:Walker"]
    drawn = run(app, [*base, *drawing])
    assert drawn.exit_code == 0, drawn.output
    assert (tmp_path / "x.gif").read_bytes().startswith(b"GIF89a")
    assert run(app, base).exit_code == 2
    missing = run(app, [*base, "--agent", "nowhere:Agent"])
    assert missing.exit_code == 1
    assert "nowhere" in missing.output
