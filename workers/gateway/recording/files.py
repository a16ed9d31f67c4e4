"""Recorded games as bytes."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO

from google.protobuf.message import DecodeError

from workers.gateway.recording.errors import BadRecording
from workers.gateway.rpc.generated import recording_pb2 as pb

LARGEST = 256 << 20
"""Bytes of a game that is read."""


def encode_game(game: pb.RecordedGame) -> bytes:
    """The game as a file; equal games give equal bytes."""
    return gzip.compress(game.SerializeToString(deterministic=True), 6, mtime=0)


def decode_game(data: bytes) -> pb.RecordedGame:
    """The game of a file; raises BadRecording."""
    try:
        with gzip.open(BytesIO(data)) as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise BadRecording(f"the recording has more than {LARGEST >> 20} MB")
        game = pb.RecordedGame.FromString(content)
    except (OSError, EOFError, zlib.error, DecodeError) as error:
        raise BadRecording(f"this is no recorded game: {error}") from error
    if not game.spec:
        raise BadRecording("this is no recorded game: it has no spec")
    return game
