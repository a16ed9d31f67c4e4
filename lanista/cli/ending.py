"""The end of a process that has spoken to Temporal."""

from __future__ import annotations

import logging
import os
import sys


def exit_now(code: int = 0) -> None:
    """Exit without interpreter shutdown, during which threads of Temporal's core can abort the process."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
