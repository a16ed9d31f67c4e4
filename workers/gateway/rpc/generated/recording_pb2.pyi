from workers.gateway.rpc.generated import arrays_pb2 as _arrays_pb2
from workers.gateway.rpc.generated import gamecore_pb2 as _gamecore_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RecordedGame(_message.Message):
    __slots__ = ("session", "info", "players", "seed", "started_at", "events", "returns", "aborted", "cut", "spec", "learning")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    RETURNS_FIELD_NUMBER: _ClassVar[int]
    ABORTED_FIELD_NUMBER: _ClassVar[int]
    CUT_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    LEARNING_FIELD_NUMBER: _ClassVar[int]
    session: str
    info: str
    players: _containers.RepeatedScalarFieldContainer[str]
    seed: int
    started_at: float
    events: _containers.RepeatedCompositeFieldContainer[RecordedEvent]
    returns: _containers.RepeatedScalarFieldContainer[float]
    aborted: str
    cut: bool
    spec: str
    learning: _containers.RepeatedScalarFieldContainer[bool]
    def __init__(self, session: _Optional[str] = ..., info: _Optional[str] = ..., players: _Optional[_Iterable[str]] = ..., seed: _Optional[int] = ..., started_at: _Optional[float] = ..., events: _Optional[_Iterable[_Union[RecordedEvent, _Mapping]]] = ..., returns: _Optional[_Iterable[float]] = ..., aborted: _Optional[str] = ..., cut: _Optional[bool] = ..., spec: _Optional[str] = ..., learning: _Optional[_Iterable[bool]] = ...) -> None: ...

class RecordedEvent(_message.Message):
    __slots__ = ("at", "step", "reply", "decision")
    AT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    at: float
    step: RecordedStep
    reply: RecordedReply
    decision: RecordedDecision
    def __init__(self, at: _Optional[float] = ..., step: _Optional[_Union[RecordedStep, _Mapping]] = ..., reply: _Optional[_Union[RecordedReply, _Mapping]] = ..., decision: _Optional[_Union[RecordedDecision, _Mapping]] = ...) -> None: ...

class RecordedStep(_message.Message):
    __slots__ = ("kind", "agent", "body")
    KIND_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    kind: _gamecore_pb2.StepKind
    agent: str
    body: bytes
    def __init__(self, kind: _Optional[_Union[_gamecore_pb2.StepKind, str]] = ..., agent: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class RecordedReply(_message.Message):
    __slots__ = ("agent", "body", "refusal")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    agent: str
    body: bytes
    refusal: _gamecore_pb2.Refusal
    def __init__(self, agent: _Optional[str] = ..., body: _Optional[bytes] = ..., refusal: _Optional[_Union[_gamecore_pb2.Refusal, _Mapping]] = ...) -> None: ...

class RecordedDecision(_message.Message):
    __slots__ = ("seat", "rows", "columns", "model")
    SEAT_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    seat: int
    rows: _arrays_pb2.Batch
    columns: _arrays_pb2.Batch
    model: str
    def __init__(self, seat: _Optional[int] = ..., rows: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ..., columns: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ..., model: _Optional[str] = ...) -> None: ...
