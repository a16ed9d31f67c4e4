"""Checks trial files for callers, without letting one caller's file delay the requests of others.

A small file is checked in a thread. A larger one is checked in a process, because a thread would compete with the event
loop for the interpreter. One file of a token is checked at a time.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from contextlib import suppress

import structlog
from anyio import CapacityLimiter, to_thread

from api.web.problems import ProblemError
from api.web.validation.process import LENGTH
from api.web.validation.reading import Finding, ToRead, read
from orchestrator.spec import InvalidTrial, TrialSpec
from orchestrator.spec.reading.problems import Problem

log = structlog.get_logger()

SMALL = 4_096
"""Bytes of a file that takes a thread a few milliseconds."""
PROCESSES = 2
WAITING_PER_TOKEN = 8
TIME_LIMIT = 20.0
PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "VIRTUAL_ENV")
"""All that the process gets of our environment: it needs no secret."""


class _Checker:
    """A checking process, started when it is first needed, and again after it had to be killed."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, question: bytes) -> bytes:
        """The answer; raises TimeoutError, or EOFError if the process ended."""
        process = self._process = self._process or await _start()
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        try:
            async with asyncio.timeout(TIME_LIMIT):
                process.stdin.write(LENGTH.pack(len(question)) + question)
                header = await process.stdout.readexactly(LENGTH.size)
                return await process.stdout.readexactly(LENGTH.unpack(header)[0])
        except BaseException:  # also if cancelled: the next question must not get this one's answer
            await asyncio.shield(self.close())
            raise

    async def close(self) -> None:
        """Kill the process and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            with suppress(ConnectionError):
                await process.communicate()


async def _start() -> asyncio.subprocess.Process:
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # modules of the working folder must not take the place of ours
        "-m",
        "api.web.validation.process",
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C goes to the API alone, which ends this process
    )


class SpecReader:
    """Checks trial files, a few at once."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._idle = asyncio.LifoQueue[_Checker]()
        self._checkers = [_Checker() for _ in range(PROCESSES)]
        for checker in reversed(self._checkers):
            self._idle.put_nowait(checker)
        self._thread = CapacityLimiter(1)
        self._under_way: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def read(self, token_id: str, file: ToRead) -> TrialSpec:
        """The spec of a file; raises InvalidTrial, 413 for a text that is too long, 429 for too many at once."""
        if file.text is not None and (size := len(file.text.encode("utf-8", "replace"))) > self._largest:
            raise ProblemError(413, f"the text has {size} bytes; a trial file may have at most {self._largest}")
        if self._under_way[token_id] > WAITING_PER_TOKEN:
            detail = f"{WAITING_PER_TOKEN} files of this token wait for their check already"
            raise ProblemError(429, detail, headers={"Retry-After": "2"})
        self._under_way[token_id] += 1
        try:
            async with self._turns.setdefault(token_id, asyncio.Lock()):
                return (await self._find(file)).result()
        finally:
            self._under_way[token_id] -= 1
            if not self._under_way[token_id]:
                del self._under_way[token_id], self._turns[token_id]

    async def close(self) -> None:
        """End the processes."""
        for checker in self._checkers:
            await checker.close()

    async def _find(self, file: ToRead) -> Finding:
        try:
            question = file.to_json()
        except RecursionError:
            raise InvalidTrial([Problem(path="", message="nested too deeply")]) from None
        if len(question) <= SMALL:
            return await to_thread.run_sync(read, file, limiter=self._thread)
        checker = await self._idle.get()
        try:
            return Finding.from_json(await checker.ask(question))
        except (TimeoutError, EOFError, ConnectionError) as error:
            log.warning("a check of a trial file was ended", error=type(error).__name__, bytes=len(question))
            raise ProblemError(
                503, "the check of this file took too much time or memory and was ended", headers={"Retry-After": "10"}
            ) from None
        finally:
            self._idle.put_nowait(checker)
