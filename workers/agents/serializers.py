"""Serializers: the bytes of a game as Python values, and an agent's answers as bytes."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
import orjson

from workers.agents.errors import BadAgent, BadBody


class Serializer(Protocol):
    """Reads bodies and writes replies. `kind` is `start`, `tick` or `end`."""

    def loads(self, body: bytes, kind: str) -> Any:
        """What the agent's method gets; raises BadBody, or ValueError, for a body that cannot be read."""
        ...

    def dumps(self, value: Any, kind: str) -> bytes:
        """What the agent's method returned, as bytes."""
        ...


class Json:
    """JSON; an empty body is None. Replies may hold arrays and numbers of numpy."""

    _OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS

    def loads(self, body: bytes, kind: str) -> Any:
        if not body:
            return None
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise BadBody(f"the body of a {kind} is not JSON: {error}") from error

    def dumps(self, value: Any, kind: str) -> bytes:
        try:
            return orjson.dumps(value, option=self._OPTIONS)
        except TypeError as error:
            raise BadBody(f"the reply to a {kind} cannot be written as JSON: {error}") from error


class Msgpack:
    """MessagePack; an empty body is None. Arrays of numpy are written as lists."""

    def __init__(self) -> None:
        self._msgpack = importlib.import_module("msgpack")

    def loads(self, body: bytes, kind: str) -> Any:
        if not body:
            return None
        try:
            return self._msgpack.unpackb(body, strict_map_key=False)
        except (ValueError, self._msgpack.exceptions.UnpackException) as error:
            raise BadBody(f"the body of a {kind} is not MessagePack: {error or type(error).__name__}") from error

    def dumps(self, value: Any, kind: str) -> bytes:
        try:
            packed: bytes = self._msgpack.packb(value, default=_plain)
        except (TypeError, ValueError, OverflowError) as error:
            raise BadBody(f"the reply to a {kind} cannot be written as MessagePack: {error}") from error
        return packed


class Raw:
    """Bytes as they are; a reply is bytes, or text as UTF-8."""

    def loads(self, body: bytes, kind: str) -> bytes:
        return body

    def dumps(self, value: Any, kind: str) -> bytes:
        if isinstance(value, str):
            return value.encode()
        try:
            return bytes(memoryview(value))
        except TypeError as error:
            raise BadBody(f"the reply to a {kind} is a {type(value).__name__}; allowed: bytes or text") from error


class Protobuf:
    """Messages of protobuf: `Protobuf(TickInput, TickOutput, start=StartInput)`.

    A kind without a message of its own gets the bytes as they are. A reply may be any message, or bytes.
    """

    def __init__(self, tick: type[Any], reply: type[Any] | None = None, **others: type[Any]) -> None:
        """`tick` and `reply` are the messages of ticks; `others` are `start`, `end`, `start_reply`, `end_reply`."""
        allowed = {"start", "end", "start_reply", "end_reply"}
        if wrong := sorted(others.keys() - allowed):
            raise BadAgent(f"Protobuf has no argument {', '.join(wrong)}; allowed: {', '.join(sorted(allowed))}")
        self._inputs: dict[str, type[Any]] = {
            "tick": tick,
            **{kind: others[kind] for kind in ("start", "end") if kind in others},
        }
        named = {"tick": reply, "start": others.get("start_reply"), "end": others.get("end_reply")}
        self._outputs = {kind: message for kind, message in named.items() if message is not None}
        for message in (*self._inputs.values(), *self._outputs.values()):
            if not hasattr(message, "FromString"):
                raise BadAgent(f"{message!r} is no class of protobuf messages")
        self._error: type[Exception] = importlib.import_module("google.protobuf.message").DecodeError

    def loads(self, body: bytes, kind: str) -> Any:
        message = self._inputs.get(kind)
        if message is None:
            return body
        try:
            return message.FromString(body)
        except self._error as error:
            raise BadBody(f"the body of a {kind} is no {message.__name__}: {error}") from error

    def dumps(self, value: Any, kind: str) -> bytes:
        wanted = self._outputs.get(kind)
        if wanted is not None and isinstance(value, dict):
            try:
                value = wanted(**value)
            except (TypeError, ValueError) as error:
                raise BadBody(f"the reply to a {kind} is no {wanted.__name__}: {error}") from error
        if wanted is not None and not isinstance(value, wanted):
            raise BadBody(f"the reply to a {kind} is a {type(value).__name__}; allowed: {wanted.__name__}")
        if not hasattr(value, "SerializeToString"):
            raise BadBody(f"the reply to a {kind} is a {type(value).__name__}; allowed: a protobuf message")
        written: bytes = value.SerializeToString()
        return written


_BY_NAME: dict[str, type[Serializer]] = {"json": Json, "msgpack": Msgpack, "raw": Raw}


def serializer_of(named: str | Serializer | type[Serializer]) -> Serializer:
    """The serializer that an agent's class names."""
    if isinstance(named, type):
        return named()
    if not isinstance(named, str):
        if not (callable(getattr(named, "loads", None)) and callable(getattr(named, "dumps", None))):
            raise BadAgent(f"serializer is a {type(named).__name__}; it needs the methods loads and dumps")
        return named
    if named in ("proto", "protobuf"):
        raise BadAgent("serializer 'protobuf' must say its messages: serializer = Protobuf(TickInput, TickOutput)")
    if named not in _BY_NAME:
        raise BadAgent(f"serializer {named!r} is unknown; allowed: {', '.join(_BY_NAME)} or Protobuf(...)")
    return _BY_NAME[named]()


def _plain(value: Any) -> Any:
    """Arrays and numbers of numpy as MessagePack has them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not allowed")
