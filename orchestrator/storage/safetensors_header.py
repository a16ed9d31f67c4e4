"""The header of a safetensors file: eight bytes of length, then JSON. Its size, depth and length are checked first.

Files come from callers of the API, and Python's JSON parser follows any depth until its stack ends.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

LARGEST_HEADER = 16 << 20
MOST_TENSORS = 20_000
DEEPEST = 4
"""A header has three levels: tensors, each with a shape."""
DEEPEST_METADATA = 50

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]|"', re.DOTALL)
_TOKENS_OF_A_TENSOR = 16


class InvalidHeader(ValueError):
    """The bytes are not a safetensors file that we read."""


def read_header(data: bytes | bytearray) -> dict[str, Any]:
    """The header: tensors by name, and `__metadata__`, whose values are text; raises InvalidHeader."""
    if len(data) < 8 or (length := struct.unpack_from("<Q", data)[0]) > len(data) - 8:
        raise InvalidHeader(f"not a safetensors file ({len(data)} bytes)")
    if length > LARGEST_HEADER:
        raise InvalidHeader(f"a header of {length} bytes is too large; at most {LARGEST_HEADER} are allowed")
    header = read_json(bytes(data[8 : 8 + length]), deepest=DEEPEST, most_tokens=_TOKENS_OF_A_TENSOR * MOST_TENSORS)
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise InvalidHeader("not a safetensors file: its header is not a mapping")
    if len(header) > MOST_TENSORS + 1:
        raise InvalidHeader(f"{len(header)} tensors are too many; at most {MOST_TENSORS} are allowed")
    return header


def read_json(text: bytes, *, deepest: int, most_tokens: int) -> Any:
    """A JSON value whose depth and number of parts were counted first; raises InvalidHeader."""
    depth = 0
    for count, token in enumerate(_TOKEN.finditer(text)):
        first = text[token.start()]
        if first in b"[{":
            depth += 1
        elif first in b"]}":
            depth -= 1
        elif token.end() - token.start() == 1:
            raise InvalidHeader("not a safetensors file: a text in its header has no end")
        if depth > deepest or count > most_tokens:
            raise InvalidHeader(f"the header has more than {deepest} levels or {most_tokens} parts")
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidHeader(f"not a safetensors file: {error}") from None
