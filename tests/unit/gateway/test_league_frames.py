"""Frames between crews and gateways: what is sent arrives, and what is no frame is refused."""

import socket
import threading

import numpy as np
import pytest

from workers.gateway.contract import Episode
from workers.gateway.league.episodes import episodes_frame, episodes_of
from workers.gateway.league.frames import LONGEST_HEAD, BadFrame, Frame, decode, lengths_of, receive_frame, send_frame


def sent(frame: Frame) -> Frame:
    one, other = socket.socketpair()
    with one, other:
        thread = threading.Thread(target=send_frame, args=(one, frame))
        thread.start()
        found = receive_frame(other)
        thread.join()
    return found


def test_fields_and_arrays_arrive_as_they_were() -> None:
    arrays = {
        "weights": np.arange(200_000, dtype=np.float32).reshape(100, -1),
        "flags": np.array([True, False]),
        "none": np.zeros((0, 3), np.int64),
        "one": np.array(3.5),
        "turned": np.arange(6).reshape(2, 3).T,
    }
    found = sent(Frame("kind", {"id": "a", "more": [1, {"b": None}]}, arrays))
    assert (found.kind, found.fields) == ("kind", {"id": "a", "more": [1, {"b": None}]})
    assert found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].dtype == array.dtype


@pytest.mark.parametrize(
    "head",
    [
        b"no json",
        b"[]",
        b'{"kind": 1, "fields": {}, "arrays": []}',
        b'{"kind": "a", "fields": {}, "arrays": [["x", "O", [1]]]}',
        b'{"kind": "a", "fields": {}, "arrays": [["x", "<f4", [-1]]]}',
        b'{"kind": "a", "fields": {}, "arrays": [["x", "<f4", [9999999999]]]}',
        b'{"kind": "a", "fields": {}, "arrays": [["x", "nothing", [1]]]}',
        b'{"kind": "a", "fields": {}, "arrays": []}',
    ],
)
def test_what_is_no_frame_is_refused(head: bytes) -> None:
    with pytest.raises(BadFrame):
        decode(head, b"1234")


def test_lengths_beyond_the_limits_are_refused() -> None:
    with pytest.raises(BadFrame):
        lengths_of((LONGEST_HEAD + 1).to_bytes(4, "big") + bytes(8))
    with pytest.raises(BadFrame):
        lengths_of((10).to_bytes(4, "big") + (1).to_bytes(8, "big"), most=100)


def test_episodes_travel_together() -> None:
    def episode(rows: int, over: bool) -> Episode:
        columns = {"obs": np.random.rand(rows, 4).astype(np.float32), "action": np.arange(rows)}
        final = None if over else {"obs": np.ones((1, 4), np.float32), "action": np.zeros(1, np.int64)}
        return Episode(f"s{rows}", rows % 2, columns, over, final, np.full(rows, rows))

    episodes = [episode(3, True), episode(1, False), episode(5, True), episode(2, False)]
    found = list(episodes_of(sent(episodes_frame("c", episodes))))
    for one, other in zip(episodes, found, strict=True):
        assert (one.session, one.seat, one.over) == (other.session, other.seat, other.over)
        np.testing.assert_array_equal(one.columns["obs"], other.columns["obs"])
        np.testing.assert_array_equal(one.columns["action"], other.columns["action"])
        assert (one.final is None) == (other.final is None)
        assert one.acted_by is not None and other.acted_by is not None
        np.testing.assert_array_equal(one.acted_by, other.acted_by)


def test_episodes_whose_arrays_do_not_agree_are_refused() -> None:
    frame = episodes_frame("c", [Episode("s", 0, {"action": np.arange(3)}, True)])
    broken = Frame(frame.kind, frame.fields, {**frame.arrays, "column/action": np.arange(2)})
    with pytest.raises(BadFrame):
        list(episodes_of(broken))
