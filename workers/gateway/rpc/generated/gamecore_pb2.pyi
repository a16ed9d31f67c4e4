from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StepKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STEP_KIND_UNSPECIFIED: _ClassVar[StepKind]
    STEP_KIND_START: _ClassVar[StepKind]
    STEP_KIND_TICK: _ClassVar[StepKind]
    STEP_KIND_END: _ClassVar[StepKind]
    STEP_KIND_AUTO: _ClassVar[StepKind]
STEP_KIND_UNSPECIFIED: StepKind
STEP_KIND_START: StepKind
STEP_KIND_TICK: StepKind
STEP_KIND_END: StepKind
STEP_KIND_AUTO: StepKind

class StartRequest(_message.Message):
    __slots__ = ("session", "agent", "body", "ticket")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    TICKET_FIELD_NUMBER: _ClassVar[int]
    session: str
    agent: str
    body: bytes
    ticket: str
    def __init__(self, session: _Optional[str] = ..., agent: _Optional[str] = ..., body: _Optional[bytes] = ..., ticket: _Optional[str] = ...) -> None: ...

class TickRequest(_message.Message):
    __slots__ = ("session", "agent", "body", "auto")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    AUTO_FIELD_NUMBER: _ClassVar[int]
    session: str
    agent: str
    body: bytes
    auto: bool
    def __init__(self, session: _Optional[str] = ..., agent: _Optional[str] = ..., body: _Optional[bytes] = ..., auto: _Optional[bool] = ...) -> None: ...

class EndRequest(_message.Message):
    __slots__ = ("session", "agent", "body")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    session: str
    agent: str
    body: bytes
    def __init__(self, session: _Optional[str] = ..., agent: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class StepReply(_message.Message):
    __slots__ = ("body",)
    BODY_FIELD_NUMBER: _ClassVar[int]
    body: bytes
    def __init__(self, body: _Optional[bytes] = ...) -> None: ...

class NextRequest(_message.Message):
    __slots__ = ("seconds", "game")
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    seconds: float
    game: str
    def __init__(self, seconds: _Optional[float] = ..., game: _Optional[str] = ...) -> None: ...

class NextReply(_message.Message):
    __slots__ = ("ticket", "game")
    TICKET_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    ticket: str
    game: str
    def __init__(self, ticket: _Optional[str] = ..., game: _Optional[str] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("id", "kind", "session", "agent", "body", "ticket")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    TICKET_FIELD_NUMBER: _ClassVar[int]
    id: int
    kind: StepKind
    session: str
    agent: str
    body: bytes
    ticket: str
    def __init__(self, id: _Optional[int] = ..., kind: _Optional[_Union[StepKind, str]] = ..., session: _Optional[str] = ..., agent: _Optional[str] = ..., body: _Optional[bytes] = ..., ticket: _Optional[str] = ...) -> None: ...

class Steps(_message.Message):
    __slots__ = ("steps",)
    STEPS_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[Step]
    def __init__(self, steps: _Optional[_Iterable[_Union[Step, _Mapping]]] = ...) -> None: ...

class StreamedReply(_message.Message):
    __slots__ = ("id", "body", "refusal")
    ID_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    id: int
    body: bytes
    refusal: Refusal
    def __init__(self, id: _Optional[int] = ..., body: _Optional[bytes] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ...) -> None: ...

class StepReplies(_message.Message):
    __slots__ = ("replies",)
    REPLIES_FIELD_NUMBER: _ClassVar[int]
    replies: _containers.RepeatedCompositeFieldContainer[StreamedReply]
    def __init__(self, replies: _Optional[_Iterable[_Union[StreamedReply, _Mapping]]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("code", "text", "retry_after")
    CODE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    code: int
    text: str
    retry_after: float
    def __init__(self, code: _Optional[int] = ..., text: _Optional[str] = ..., retry_after: _Optional[float] = ...) -> None: ...
