"""A TCP proxy whose connections can be cut, silenced, or answered with an HTTP error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Literal

Mode = Literal["open", "cut", "silent", "error"]
HTTP_ERROR = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/xml\r\nContent-Length: 46\r\n"
    b"Connection: close\r\n\r\n<Error><Code>ServiceUnavailable</Code></Error>"
)


class TcpProxy:
    """Forwards a port to another, in a thread.

    `cut` resets what is connected and refuses what is new; `silent` forwards nothing and keeps connections, as a
    network does that loses every packet; `error` answers 503 to every request.
    """

    def __init__(self, port: int, target: int, *, host: str = "127.0.0.1", target_host: str = "127.0.0.1") -> None:
        self._listen = (host, port)
        self._target = (target_host, target)
        self._mode: Mode = "open"
        self._flows = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._serving: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._call(self._set("open"))

    def set_mode(self, mode: Mode) -> None:
        self._call(self._set(mode))

    def close(self) -> None:
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()

    async def _end(self) -> None:
        await self._set("cut")
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _set(self, mode: Mode) -> None:
        before, self._mode = self._mode, mode
        if mode == "silent":
            self._flows.clear()
        else:
            self._flows.set()
        if mode in ("cut", "error") or (before == "error" and mode == "open"):
            for writer in list(self._writers):
                writer.transport.abort()
        if mode == "cut":
            if self._server:
                self._server.close()
                self._server = None
        elif self._server is None:
            self._server = await asyncio.start_server(self._serve, *self._listen)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        if task := asyncio.current_task():
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        far: asyncio.StreamWriter | None = None
        try:
            if self._mode == "error":
                asked = await reader.read(65536)
                head, _, body = HTTP_ERROR.partition(b"\r\n\r\n")
                # the answer to HEAD has no body, whatever its length says
                writer.write(head + b"\r\n\r\n" + (b"" if asked.startswith(b"HEAD ") else body))
                await writer.drain()
                return
            back, far = await asyncio.open_connection(*self._target)
            self._writers.add(far)
            await asyncio.gather(self._pump(reader, far), self._pump(back, writer))
        except OSError:
            pass
        finally:
            for each in (writer, far):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort() if self._mode == "cut" else each.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                await self._flows.wait()
                sink.write(data)
                await sink.drain()
        with suppress(OSError):
            if sink.can_write_eof():
                sink.write_eof()
