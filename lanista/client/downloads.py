"""A body that goes to a file as it arrives, block by block: the whole file is there in the end, or nothing of it.

See docs/decisions/client-and-command-line.md.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from lanista.client.calls.call import Call
from lanista.client.errors import UnexpectedAnswer, Unreachable
from lanista.client.transport import arguments_of
from orchestrator.storage.durable_files import durable_file

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Downloaded:
    """A file that was downloaded: its bytes are those that the installation has."""

    path: Path
    sha256: str
    size: int


class Download:
    """One body on its way to a file, over all attempts. An attempt begins anew, because a part of it proves nothing."""

    def __init__(self, call: Call[Any], path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder", str(path))
        self.arguments = arguments_of(call)
        # as it is: its length is then the file's, and weights do not get smaller by compression
        self.arguments["headers"]["Accept-Encoding"] = "identity"
        self._path = path
        self._hash, self._received, self._declared = hashlib.sha256(), 0, ""
        self._begun = False

    @contextmanager
    def file(self, response: httpx.Response) -> Iterator[Callable[[bytes], None]]:
        """Takes the blocks of an answer; the file is put in place at the end, if they are the right ones."""
        self._hash, self._received, self._begun = hashlib.sha256(), 0, True
        encoded = response.headers.get("Content-Encoding", "identity") != "identity"
        self._declared = "" if encoded else response.headers.get("Content-Length", "")
        with durable_file(self._path) as file:

            def write(block: bytes) -> None:
                file.write(block)
                self._hash.update(block)
                self._received += len(block)

            yield write
            self._check(response.headers.get("ETag", "").strip('"'))

    @property
    def result(self) -> Downloaded:
        return Downloaded(path=self._path, sha256=self._hash.hexdigest(), size=self._received)

    def lost(self, error: httpx.TransportError, otherwise: Unreachable) -> Unreachable:
        """The error after the last attempt; `otherwise` where no answer had begun."""
        if not self._begun:
            return otherwise
        declared = f" of {int(self._declared):,}" if self._declared.isdecimal() else ""
        return Unreachable(
            f"the download of {self._path} broke off after {self._received:,}{declared} bytes, and nothing of it is "
            f"kept: {str(error) or type(error).__name__}. If it always does so, `lanista audit` says whether the file "
            "is damaged"
        )

    def _check(self, named: str) -> None:
        if self._declared.isdecimal() and self._received != int(self._declared):
            raise UnexpectedAnswer(
                f"the file was damaged in transit: {self._received:,} bytes came, not {int(self._declared):,}"
            )
        if (found := self._hash.hexdigest()) != named:
            raise UnexpectedAnswer(f"the file was damaged in transit: its hash is {found}, not {named}")


def save(http: httpx.Client, download: Download) -> httpx.Response:
    """One attempt; the answer has its body only where it is an error."""
    with http.stream(**download.arguments) as response:
        if not response.is_success:
            response.read()
            return response
        with download.file(response) as write:
            for block in response.iter_bytes(BLOCK_BYTES):
                write(block)
        return response


async def save_async(http: httpx.AsyncClient, download: Download) -> httpx.Response:
    """The same for asyncio: the disk is waited for in threads, most of all for the flush at the end."""
    async with http.stream(**download.arguments) as response:
        if not response.is_success:
            await response.aread()
            return response
        with ExitStack() as file:
            write = file.enter_context(download.file(response))
            async for block in response.aiter_bytes(BLOCK_BYTES):
                await asyncio.to_thread(write, block)
            await asyncio.to_thread(file.close)
        return response
