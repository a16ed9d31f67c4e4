"""Names for gRPC: messages, stubs, arrays, and the base of services of your own. See docs/guides/grpc.md."""

from workers.gateway.contract import Refused
from workers.gateway.rpc.arrays import decode_array, decode_batch, encode_array, encode_batch, nested
from workers.gateway.rpc.binding import RpcService as Service
from workers.gateway.rpc.generated import (
    arrays_pb2,
    gamecore_pb2,
    parameters_pb2,
    policy_pb2,
    replay_pb2,
)
from workers.gateway.rpc.generated.gamecore_pb2_grpc import GamecoreStub
from workers.gateway.rpc.generated.parameters_pb2_grpc import ParametersStub
from workers.gateway.rpc.generated.policy_pb2_grpc import PolicyStub
from workers.gateway.rpc.generated.replay_pb2_grpc import ReplayStub
from workers.gateway.rpc.services import ServiceContext

__all__ = [
    "GamecoreStub",
    "ParametersStub",
    "PolicyStub",
    "Refused",
    "ReplayStub",
    "Service",
    "ServiceContext",
    "arrays_pb2",
    "decode_array",
    "decode_batch",
    "encode_array",
    "encode_batch",
    "gamecore_pb2",
    "nested",
    "parameters_pb2",
    "policy_pb2",
    "replay_pb2",
]
