"""TensorBoard on a socket that only this user can open; the API passes signed-in callers on to it.

TensorBoard has no sign-in of its own. Its own command also starts a data server at a port without a password and writes
a file into a folder below /tmp that any user may have prepared; this command does neither.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from tensorboard import default
from tensorboard.program import TensorBoard, TensorBoardServer
from werkzeug.serving import make_server

UNIX = "unix:"
LOCAL = "127.0.0.1"


class PlainServer(TensorBoardServer):  # type: ignore[misc]
    """Serves TensorBoard's application at a socket (`unix:/path`) or at a port of 127.0.0.1."""

    where = ""

    def __init__(self, wsgi_app: Any, flags: Any) -> None:
        if self.where.startswith(UNIX):
            path = self.where.removeprefix(UNIX)
            with suppress(FileNotFoundError):
                os.unlink(path)  # left by a server that was killed
            os.umask(0o077)
            self._server = make_server(f"unix://{path}", 0, wsgi_app, threaded=True)
        else:
            self._server = make_server(LOCAL, int(self.where), wsgi_app, threaded=True)

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def get_url(self) -> str:
        return self.where


def main(folder: str, where: str) -> None:
    """Serve the charts of a folder until the process is stopped."""
    PlainServer.where = where
    program = TensorBoard(plugins=default.get_plugins(), server_class=PlainServer)
    program.configure(("tensorboard", "--logdir", folder, "--load_fast", "false"))
    program._fix_mime_types()
    program._make_server().serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
