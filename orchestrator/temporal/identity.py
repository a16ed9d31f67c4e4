"""The identity of a worker process, as Temporal lists it among the pollers of a queue: process, host and release."""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from importlib.metadata import version

_FORM = re.compile(r"(?P<process>\d+)@(?P<host>[^ ]*)( lanista-(?P<release>[^ ]+))?")


@dataclass(frozen=True, kw_only=True)
class ProcessIdentity:
    """What an identity tells; empty where it does not."""

    host: str = ""
    release: str = ""


def own_identity() -> str:
    """This process's: Temporal's default with the release of Lanista."""
    return f"{os.getpid()}@{socket.gethostname()} lanista-{version('lanista')}"


def parse_identity(identity: str) -> ProcessIdentity:
    """What the identity tells; a process of an earlier release tells its host alone."""
    found = _FORM.fullmatch(identity)
    if found is None:
        return ProcessIdentity()
    return ProcessIdentity(host=found["host"], release=found["release"] or "")
