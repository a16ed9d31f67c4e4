"""The checking process: reads questions from its standard input, and writes findings to its standard output.

Run as `python -m api.web.validation.process`. Each message is its length in four bytes, then JSON.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from typing import IO

from api.web.validation.reading import ToRead, read

LENGTH = struct.Struct("!I")
MOST_MEMORY = 1 << 30
"""Bytes of address space. The largest file that the API passes on needs a tenth of it."""


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not disturb the answers
    while header := questions.read(LENGTH.size):
        answer = read(ToRead.from_json(_read(questions, header))).to_json()
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


def _read(source: IO[bytes], header: bytes) -> bytes:
    return source.read(LENGTH.unpack(header)[0])


if __name__ == "__main__":
    main()
