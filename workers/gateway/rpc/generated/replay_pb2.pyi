from workers.gateway.rpc.generated import arrays_pb2 as _arrays_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpenRequest(_message.Message):
    __slots__ = ("buffer", "capacity", "warm_up", "gamma", "n_step", "compressed", "priorities", "sequences")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    WARM_UP_FIELD_NUMBER: _ClassVar[int]
    GAMMA_FIELD_NUMBER: _ClassVar[int]
    N_STEP_FIELD_NUMBER: _ClassVar[int]
    COMPRESSED_FIELD_NUMBER: _ClassVar[int]
    PRIORITIES_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    capacity: int
    warm_up: int
    gamma: float
    n_step: int
    compressed: bool
    priorities: Priorities
    sequences: SequenceOptions
    def __init__(self, buffer: _Optional[str] = ..., capacity: _Optional[int] = ..., warm_up: _Optional[int] = ..., gamma: _Optional[float] = ..., n_step: _Optional[int] = ..., compressed: _Optional[bool] = ..., priorities: _Optional[_Union[Priorities, _Mapping]] = ..., sequences: _Optional[_Union[SequenceOptions, _Mapping]] = ...) -> None: ...

class Priorities(_message.Message):
    __slots__ = ("alpha", "beta")
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BETA_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    beta: float
    def __init__(self, alpha: _Optional[float] = ..., beta: _Optional[float] = ...) -> None: ...

class SequenceOptions(_message.Message):
    __slots__ = ("length", "burn_in")
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    BURN_IN_FIELD_NUMBER: _ClassVar[int]
    length: int
    burn_in: int
    def __init__(self, length: _Optional[int] = ..., burn_in: _Optional[int] = ...) -> None: ...

class PushRequest(_message.Message):
    __slots__ = ("buffer", "columns")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    columns: _arrays_pb2.Batch
    def __init__(self, buffer: _Optional[str] = ..., columns: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ...) -> None: ...

class SampleRequest(_message.Message):
    __slots__ = ("buffer", "rows", "seed")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    rows: int
    seed: int
    def __init__(self, buffer: _Optional[str] = ..., rows: _Optional[int] = ..., seed: _Optional[int] = ...) -> None: ...

class SampleReply(_message.Message):
    __slots__ = ("columns", "ids", "weights")
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    columns: _arrays_pb2.Batch
    ids: _arrays_pb2.Array
    weights: _arrays_pb2.Array
    def __init__(self, columns: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ..., ids: _Optional[_Union[_arrays_pb2.Array, _Mapping]] = ..., weights: _Optional[_Union[_arrays_pb2.Array, _Mapping]] = ...) -> None: ...

class FeedbackRequest(_message.Message):
    __slots__ = ("buffer", "ids", "errors")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    ids: _arrays_pb2.Array
    errors: _arrays_pb2.Array
    def __init__(self, buffer: _Optional[str] = ..., ids: _Optional[_Union[_arrays_pb2.Array, _Mapping]] = ..., errors: _Optional[_Union[_arrays_pb2.Array, _Mapping]] = ...) -> None: ...

class DescribeBufferRequest(_message.Message):
    __slots__ = ("buffer",)
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    def __init__(self, buffer: _Optional[str] = ...) -> None: ...

class CloseRequest(_message.Message):
    __slots__ = ("buffer",)
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    def __init__(self, buffer: _Optional[str] = ...) -> None: ...

class BufferInfo(_message.Message):
    __slots__ = ("buffer", "capacity", "rows", "added", "bytes")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    buffer: str
    capacity: int
    rows: int
    added: int
    bytes: int
    def __init__(self, buffer: _Optional[str] = ..., capacity: _Optional[int] = ..., rows: _Optional[int] = ..., added: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...
