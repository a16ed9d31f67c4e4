"""Agents as trial files name them, and the serializers that they name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgpack
import numpy as np
import pytest
from google.protobuf.struct_pb2 import Struct, Value

from lanista.agents import Agent, BadAgent, BadBody, GenericAgent, Msgpack, Protobuf, Raw
from orchestrator.catalog import CatalogError
from tests.unit.agents.sessions import SPEC
from workers.agents.agent_set import load_agents
from workers.agents.serializers import Json, serializer_of
from workers.gateway.contract import Refused


class Fine(Agent):
    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def on_tick(self, data: Any) -> Any:
        return data


class NoTick(Agent):
    pass


class BadLength(Fine):
    episode_length = 0


class BadSerializer(Fine):
    serializer = "yaml"


class Proto(Fine):
    serializer = "protobuf"


def not_an_agent() -> int:
    return 3


HERE = f"{__name__}:"


@pytest.mark.parametrize("named", ["generic", "lanista.agents:GenericAgent", GenericAgent, {"id": "generic"}])
def test_one_agent_plays_under_any_name(named: Any) -> None:
    agents = load_agents(named)
    assert agents.names == ()
    assert [factory.cls for factory in agents.at("")] == [factory.cls for factory in agents.at("red")] == [GenericAgent]


def test_options_and_the_episode_length_reach_the_agent() -> None:
    agents = load_agents({"id": f"{HERE}Fine", "options": {"depth": 3}}, episode_length=128)
    made = agents.at("")[0].make()
    assert isinstance(made, Fine) and made.depth == 3 and made.episode_length == 128


def test_agents_by_name_have_seats_in_their_order() -> None:
    agents = load_agents({"red": f"{HERE}Fine", "blue": ["generic", f"{HERE}Fine"]})
    assert [agents.seat_of(name, SPEC) for name in ("red", "blue", "1", "")] == [0, 1, 1, None]
    assert len(agents.at("blue")) == 2
    with pytest.raises(Refused, match="there is no agent 'green'; this game has red, blue"):
        agents.at("green")
    with pytest.raises(Refused, match="there is no agent without a name"):
        agents.at("")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (f"{HERE}NoTick", "defines no on_tick"),
        (f"{HERE}BadLength", "episode_length is 0; allowed: a whole number of at least 1"),
        (f"{HERE}BadSerializer", "serializer 'yaml' is unknown; allowed: json, msgpack, raw"),
        (f"{HERE}Proto", "must say its messages"),
        ({"id": f"{HERE}Fine", "options": {"width": 3}}, "unexpected keyword argument 'width'"),
        ({"id": f"{HERE}Fine", "option": {}}, "an agent has no field option; allowed: id, options"),
        ({}, "at least one agent"),
        ([], "at least one agent"),
        ({"": "generic"}, "each name must be a text"),
        (3, "an agent is named by 3"),
        (int, "builtins.int is no subclass"),
    ],
)
def test_agents_that_cannot_play_are_refused(named: Any, words: str) -> None:
    with pytest.raises(BadAgent, match=words):
        load_agents(named)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{HERE}not_an_agent", "allowed: a subclass of lanista.agents.Agent"),
        ("no.such.module:Agent", "does not import"),
        ("genric", "did you mean 'generic'"),
    ],
)
def test_names_that_do_not_load_say_why(name: str, words: str) -> None:
    with pytest.raises(CatalogError, match=words):
        load_agents(name)


@pytest.mark.parametrize("serializer", [Json(), Msgpack()])
def test_values_survive(serializer: Any) -> None:
    value = {"a": [1, 2.5, None, "text"], "b": {"c": True}}
    assert serializer.loads(serializer.dumps(value, "tick"), "tick") == value
    arrays = {"x": np.arange(3), "y": np.float32(0.5)}
    assert serializer.loads(serializer.dumps(arrays, "tick"), "tick") == {"x": [0, 1, 2], "y": 0.5}
    assert serializer.loads(b"", "tick") is None
    with pytest.raises(BadBody, match="reply to a tick cannot be written"):
        serializer.dumps(object(), "tick")


@pytest.mark.parametrize(
    ("serializer", "body"),
    [(Json(), b"{"), (Json(), b"\xff"), (Msgpack(), b"\xc1"), (Msgpack(), b"\x93\x01"), (Msgpack(), b"\x01\x02")],
)
def test_bodies_that_cannot_be_read_are_bad(serializer: Any, body: bytes) -> None:
    with pytest.raises(BadBody, match="the body of a tick is not"):
        serializer.loads(body, "tick")


def test_msgpack_reads_what_others_write() -> None:
    assert Msgpack().loads(msgpack.packb({1: b"bytes"}), "tick") == {1: b"bytes"}


def test_raw_passes_bytes() -> None:
    raw = Raw()
    assert raw.loads(b"\x00\x01", "tick") == b"\x00\x01"
    assert [raw.dumps(value, "tick") for value in (b"x", bytearray(b"y"), "z")] == [b"x", b"y", b"z"]
    with pytest.raises(BadBody, match="is a int; allowed: bytes or text"):
        raw.dumps(3, "tick")


def test_protobuf_reads_and_writes_messages() -> None:
    serializer = Protobuf(Struct, Value, end=Value)
    sent = Struct()
    sent.update({"health": 3})
    assert serializer.loads(sent.SerializeToString(), "tick") == sent
    assert serializer.loads(b"anything", "start") == b"anything"
    assert Value.FromString(serializer.dumps({"number_value": 2.0}, "tick")).number_value == 2.0
    assert Value.FromString(serializer.dumps(Value(bool_value=True), "end")).bool_value
    with pytest.raises(BadBody, match="the body of a tick is no Struct"):
        serializer.loads(b"\xff\xff", "tick")
    with pytest.raises(BadBody, match="is a Struct; allowed: Value"):
        serializer.dumps(sent, "tick")
    with pytest.raises(BadBody, match="the reply to a tick is no Value"):
        serializer.dumps({"health": 3}, "tick")
    with pytest.raises(BadBody, match="allowed: a protobuf message"):
        serializer.dumps(3, "end")
    with pytest.raises(BadAgent, match="is no class of protobuf messages"):
        Protobuf(int)
    with pytest.raises(BadAgent, match="no argument begin"):
        Protobuf(Struct, begin=Struct)


def test_a_serializer_of_ones_own_needs_both_methods() -> None:
    with pytest.raises(BadAgent, match="needs the methods loads and dumps"):
        serializer_of(3)  # type: ignore[arg-type]
    assert isinstance(serializer_of(Raw), Raw)


def test_the_public_names_load_neither_torch_nor_ray() -> None:
    code = "import sys, lanista.agents; print(sorted({'torch', 'ray', 'sqlalchemy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
