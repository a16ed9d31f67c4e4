from workers.gateway.rpc.generated import arrays_pb2 as _arrays_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Form(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORM_SAFETENSORS: _ClassVar[Form]
    FORM_ARRAYS: _ClassVar[Form]
FORM_SAFETENSORS: Form
FORM_ARRAYS: Form

class GetRequest(_message.Message):
    __slots__ = ("model", "form", "have_sha256")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    FORM_FIELD_NUMBER: _ClassVar[int]
    HAVE_SHA256_FIELD_NUMBER: _ClassVar[int]
    model: str
    form: Form
    have_sha256: str
    def __init__(self, model: _Optional[str] = ..., form: _Optional[_Union[Form, str]] = ..., have_sha256: _Optional[str] = ...) -> None: ...

class GetReply(_message.Message):
    __slots__ = ("version", "safetensors", "arrays")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SAFETENSORS_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    version: VersionInfo
    safetensors: bytes
    arrays: _arrays_pb2.Batch
    def __init__(self, version: _Optional[_Union[VersionInfo, _Mapping]] = ..., safetensors: _Optional[bytes] = ..., arrays: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class VersionInfo(_message.Message):
    __slots__ = ("id", "player", "number", "steps", "sha256", "origin", "alias")
    ID_FIELD_NUMBER: _ClassVar[int]
    PLAYER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    id: str
    player: str
    number: int
    steps: int
    sha256: str
    origin: str
    alias: str
    def __init__(self, id: _Optional[str] = ..., player: _Optional[str] = ..., number: _Optional[int] = ..., steps: _Optional[int] = ..., sha256: _Optional[str] = ..., origin: _Optional[str] = ..., alias: _Optional[str] = ...) -> None: ...

class PublishRequest(_message.Message):
    __slots__ = ("trial", "name", "like", "safetensors", "arrays")
    TRIAL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LIKE_FIELD_NUMBER: _ClassVar[int]
    SAFETENSORS_FIELD_NUMBER: _ClassVar[int]
    ARRAYS_FIELD_NUMBER: _ClassVar[int]
    trial: str
    name: str
    like: str
    safetensors: bytes
    arrays: _arrays_pb2.Batch
    def __init__(self, trial: _Optional[str] = ..., name: _Optional[str] = ..., like: _Optional[str] = ..., safetensors: _Optional[bytes] = ..., arrays: _Optional[_Union[_arrays_pb2.Batch, _Mapping]] = ...) -> None: ...
