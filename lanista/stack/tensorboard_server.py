"""TensorBoard on a socket that only this user can open; the API passes signed-in callers on to it.

TensorBoard has no sign-in of its own. Its own command also starts a data server at a port without a password and writes
a file into a folder below /tmp that any user may have prepared; this command does neither.

It reads every chart into memory and goes on to read what is added, which in a long league costs ever more, whether
anybody looks or not. So it is loaded by the first request, and the process starts anew when nobody has asked for long.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from werkzeug.serving import BaseWSGIServer, make_server

UNIX = "unix:"
LOCAL = "127.0.0.1"
IDLE_SECONDS = 1800.0
"""After so long without a request the charts in memory are given up; the next request loads them again."""
FIRST_READ_SECONDS = 10.0
"""How long the first request waits at most until TensorBoard knows which runs there are."""
App = Callable[[dict[str, Any], Any], Iterable[bytes]]


class OnDemand:
    """TensorBoard's application over a folder, loaded by the first request."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._app: App | None = None
        self._last = 0.0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self._last = time.monotonic()
        with self._loading:
            if self._app is None:
                self._app = application(self._folder)
        return self._app(environ, start_response)

    def idle(self) -> bool:
        """Whether it was loaded, and nobody has asked for long."""
        return self._app is not None and time.monotonic() - self._last > IDLE_SECONDS


def application(folder: str) -> App:
    """TensorBoard's own application, whose threads read the folder from now on."""
    from tensorboard import default
    from tensorboard.program import TensorBoard

    class Program(TensorBoard):  # type: ignore[misc]
        def _make_data_provider(self) -> Any:
            self.provider, self.runs = super()._make_data_provider()
            return self.provider, self.runs

    made: list[App] = []
    program = Program(plugins=default.get_plugins(), server_class=lambda app, flags: made.append(app))
    program.configure(("tensorboard", "--logdir", folder, "--load_fast", "false"))
    program._fix_mime_types()
    program._make_server()
    # it reads in a thread of its own; a page without a player would look as if there were none
    patience = time.monotonic() + FIRST_READ_SECONDS
    while any(Path(folder).rglob("*tfevents*")) and not program.runs.Runs() and time.monotonic() < patience:
        time.sleep(0.1)
    return made[0]


def server_at(where: str, app: App) -> BaseWSGIServer:
    """A server of the application at a socket (`unix:/path`) or at a port of 127.0.0.1."""
    if not where.startswith(UNIX):
        return make_server(LOCAL, int(where), app, threaded=True)
    path = where.removeprefix(UNIX)
    with suppress(FileNotFoundError):
        os.unlink(path)  # left by a server that was killed
    os.umask(0o077)
    return make_server(f"unix://{path}", 0, app, threaded=True)


def main(folder: str, where: str) -> None:
    """Serve the charts of a folder until the process is stopped."""
    app = OnDemand(folder)
    server = server_at(where, app)
    threading.Thread(target=_restart_when_idle, args=(app,), daemon=True).start()
    server.serve_forever()


def _restart_when_idle(app: OnDemand) -> None:
    """Replace this process by a fresh one: what TensorBoard has read cannot be given up otherwise."""
    while not app.idle():
        time.sleep(IDLE_SECONDS / 30)
    os.execv(sys.executable, [sys.executable, "-m", "lanista.stack.tensorboard_server", *sys.argv[1:]])  # noqa: S606 - no shell on purpose


if __name__ == "__main__":
    main(*sys.argv[1:])
