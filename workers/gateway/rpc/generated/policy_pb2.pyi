from workers.gateway.rpc.generated import arrays_pb2 as _arrays_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Choice(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHOICE_GREEDY: _ClassVar[Choice]
    CHOICE_SAMPLE: _ClassVar[Choice]
CHOICE_GREEDY: Choice
CHOICE_SAMPLE: Choice

class ActRequest(_message.Message):
    __slots__ = ("model", "rows", "choice", "seed")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    model: str
    rows: _arrays_pb2.Batch
    choice: Choice
    seed: int
    def __init__(self, model: _Optional[str] = ..., rows: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ..., choice: _Optional[_Union[Choice, str]] = ..., seed: _Optional[int] = ...) -> None: ...

class ActReply(_message.Message):
    __slots__ = ("version", "columns")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    version: str
    columns: _arrays_pb2.Batch
    def __init__(self, version: _Optional[str] = ..., columns: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class DescribeReply(_message.Message):
    __slots__ = ("version", "game", "seats", "observation", "action", "mask_width", "state")
    class ObservationEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ArraySpec
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ArraySpec, _Mapping]] = ...) -> None: ...
    class StateEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ArraySpec
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ArraySpec, _Mapping]] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEATS_FIELD_NUMBER: _ClassVar[int]
    OBSERVATION_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    MASK_WIDTH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    version: str
    game: str
    seats: int
    observation: _containers.MessageMap[str, ArraySpec]
    action: ArraySpec
    mask_width: int
    state: _containers.MessageMap[str, ArraySpec]
    def __init__(self, version: _Optional[str] = ..., game: _Optional[str] = ..., seats: _Optional[int] = ..., observation: _Optional[_Mapping[str, ArraySpec]] = ..., action: _Optional[_Union[ArraySpec, _Mapping]] = ..., mask_width: _Optional[int] = ..., state: _Optional[_Mapping[str, ArraySpec]] = ...) -> None: ...

class ArraySpec(_message.Message):
    __slots__ = ("dtype", "shape")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    dtype: _arrays_pb2.DataType
    shape: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dtype: _Optional[_Union[_arrays_pb2.DataType, str]] = ..., shape: _Optional[_Iterable[int]] = ...) -> None: ...
