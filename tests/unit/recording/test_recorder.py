"""Every n-th session is kept as it was played; nobody else notices."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.unit.recording.sessions import TRIAL, Director, games, play, record
from workers.gateway.recording.files import decode_game
from workers.gateway.recording.recorder import GameRecorder
from workers.gateway.rpc.arrays import decode_batch


async def test_every_nth_session_is_kept(tmp_path: Path) -> None:
    director = Director(dump={"every": 3}, purpose="training")
    recorder = GameRecorder(director, games(tmp_path))
    replies = [await play(recorder, f"game-{number}") for number in range(7)]
    recorder.close()
    found = games(tmp_path).newest(TRIAL, 10)
    assert sorted(each.session for each in found) == ["game-0", "game-3", "game-6"]
    assert len(director.finishes) == 7
    assert all(each == replies[0] for each in replies), "a recorded session is answered as any other"
    (summary, *_) = found
    assert (summary.ticks, summary.players, summary.returns) == (5, ["main:3"], [6.0])
    assert summary.info == {"trial": TRIAL, "purpose": "training"}


async def test_a_recording_holds_steps_decisions_and_replies_in_order(tmp_path: Path) -> None:
    game = decode_game(await record(tmp_path, ticks=2))
    assert [event.WhichOneof("kind") for event in game.events] == [
        *("step", "reply"),
        *("step", "decision", "reply"),
        *("step", "decision", "reply"),
        *("step", "reply"),
    ]
    assert game.events[2].step.body == b'{"seen": [0, 1]}'
    assert game.events[4].reply.body == b'{"go":0}'
    decision = game.events[6].decision
    assert decode_batch(decision.rows)["obs"].tolist() == [[1.0, 1.0]]
    assert decode_batch(decision.columns)["action"].tolist() == [1]
    assert (game.seed, list(game.returns)) == (5, [1.0])
    assert [event.at for event in game.events] == sorted(event.at for event in game.events)


async def test_an_aborted_session_is_kept_with_its_reason(tmp_path: Path) -> None:
    director = Director(dump={"every": 1})
    recorder = GameRecorder(director, games(tmp_path))
    await play(recorder, "lost", end=False)
    recorder.close()
    (summary,) = games(tmp_path).newest(TRIAL, 10)
    assert (summary.aborted, summary.returns) == ("the game fell silent", [])
    assert director.aborts == ["the game fell silent"]


async def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    recorder = GameRecorder(Director(dump={"every": 1, "keep": 2}), games(tmp_path))
    for number in range(4):
        await play(recorder, f"game-{number}")
    recorder.close()
    left = games(tmp_path).newest(TRIAL, 10)
    assert len(left) == 2
    assert {path.suffix for path in tmp_path.rglob("*.*")} == {".game", ".json"}
    assert len(list(tmp_path.rglob("*.game"))) == 2


async def test_without_the_option_nothing_is_kept(tmp_path: Path) -> None:
    recorder = GameRecorder(Director(), games(tmp_path))
    await play(recorder, "game")
    recorder.close()
    assert games(tmp_path).newest(TRIAL, 10) == []


async def test_a_game_that_is_too_large_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.gateway.recording.recorder.LARGEST", 200)
    game = decode_game(await record(tmp_path, ticks=50))
    assert game.cut
    assert 0 < len(game.events) < 20
    assert games(tmp_path).newest(TRIAL, 1)[0].cut


async def test_a_store_that_fails_harms_no_session(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "recorded_games").write_text("a file in the way")
    director = Director(dump={"every": 1})
    recorder = GameRecorder(director, games(tmp_path))
    await play(recorder, "game")
    recorder.close()
    assert len(director.finishes) == 1
    assert "the recording of session game could not be kept" in caplog.text


def test_pages_of_recorded_games(tmp_path: Path) -> None:
    from orchestrator.storage.recorded_games import RecordedSummary

    store = games(tmp_path)
    for number in range(5):
        id = f"{number:013d}-00000000"
        store.put(TRIAL, RecordedSummary(id=id, session=str(number), started_at=0, seconds=1, ticks=1, size=1), b"x", 9)
    first = store.newest(TRIAL, 2)
    assert [each.session for each in first] == ["4", "3"]
    assert [each.session for each in store.newest(TRIAL, 9, first[-1].id)] == ["2", "1", "0"]
    assert store.newest(None, 9) == []
    assert store.get(TRIAL, "../../etc/passwd") is None
    with pytest.raises(ValueError, match="no id"):
        store.newest("../x", 1)


async def test_recordings_under_way_share_their_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.gateway.recording.recorder.LARGEST_TOGETHER", 300)
    recorder = GameRecorder(Director(dump={"every": 1}), games(tmp_path))
    first = recorder.cast("first", "")
    await play(recorder, "long", ticks=50)
    recorder.aborted(first, "first", "over")
    await play(recorder, "short", ticks=1)
    recorder.close()
    cut = {each.session: each.cut for each in games(tmp_path).newest(TRIAL, 10)}
    assert cut == {"first": False, "long": True, "short": False}


async def test_the_games_of_a_trial_are_bounded_in_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = GameRecorder(Director(dump={"every": 1}), games(tmp_path))
    await play(recorder, "game-0")
    recorder.close()
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.*"))
    monkeypatch.setattr("orchestrator.storage.recorded_games.MOST_BYTES", int(2.5 * size))
    recorder = GameRecorder(Director(dump={"every": 1}), games(tmp_path))
    for number in range(1, 5):
        await asyncio.sleep(0.002)  # games that began in the same millisecond have no order
        await play(recorder, f"game-{number}")
    recorder.close()
    assert [each.session for each in games(tmp_path).newest(TRIAL, 10)] == ["game-4", "game-3"]
    monkeypatch.setattr("orchestrator.storage.recorded_games.MOST_BYTES", 1)
    recorder = GameRecorder(Director(dump={"every": 1}), games(tmp_path))
    await play(recorder, "game-5")
    recorder.close()
    assert [each.session for each in games(tmp_path).newest(TRIAL, 10)] == ["game-5"], "the newest stays"
