"""A process that steps some tables of a game in shared memory: `python -m workers.games.adapters.table_process`.

It is started with three inherited file descriptors: a socket for orders and answers, the shared memory, and the reading
end of a pipe that closes when the starting process is gone.
"""

from __future__ import annotations

import mmap
import os
import pickle
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.code_importing import import_archives_from
from workers.games.adapters.drivers import DrivenTables
from workers.games.adapters.table_arrays import TableArrays


def main(orders: int, memory: int, lifeline: int) -> None:
    """Answer orders until the other side closes the socket."""
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    connection = Connection(orders)
    tables: DrivenTables | None = None
    while True:
        try:
            order, *arguments = connection.recv()
        except EOFError:
            return
        try:
            if order == "import_archives_from":  # before an order that needs own code is unpickled
                import_archives_from(ArtifactStore(*arguments))
                answer: Any = None
            elif order == "open":
                setup, first, end = arguments
                arrays = TableArrays.over(setup.layout, mmap.mmap(memory, setup.layout.size))
                tables = DrivenTables(setup, arrays, first, end)
                answer = None
            else:
                answer = getattr(tables, order)(*arguments)
            connection.send((True, answer))
        except BaseException as error:  # an environment may raise anything; the game raises it again
            connection.send((False, _portable(error)))


def _portable(error: BaseException) -> tuple[BaseException | None, str, str]:
    """The exception if it can be pickled, its message and its traceback."""
    kept: BaseException | None = error
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- it was made here a moment ago
    except Exception:  # a user's exception may refuse to be pickled in any way
        kept = None
    return kept, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))


def _die_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(1)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:4]))
