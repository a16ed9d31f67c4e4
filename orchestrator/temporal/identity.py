"""The identity of a worker process, as Temporal lists it among the pollers of a queue.

It has the process, the host, the release and the process's birth, which tells it from every
other one: so another process of the machine can say whether it is dead.
"""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_FORM = re.compile(
    r"(?P<shown>(?P<process>\d+)@(?P<host>[^ ]*)( lanista-(?P<release>[^ ]+))?)( (?P<place>[^ ]+)/(?P<began>\d+))?"
)
_PROC = Path("/proc")


@dataclass(frozen=True, kw_only=True)
class ProcessIdentity:
    """What an identity tells; empty where it does not."""

    shown: str = ""
    """The part for people."""
    process: int = 0
    host: str = ""
    release: str = ""
    place: str = ""
    """The boot of a machine and the namespace of process ids there, in which no two processes look alike."""
    began: str = ""
    """When the process began, in ticks since the boot: stepping the clock does not change it."""

    def is_dead(self) -> bool:
        """Whether it was a process of this place that no longer runs; False where this process cannot know."""
        return bool(self.place) and self.place == _place() and _began(self.process) not in (self.began, None)


def own_identity() -> str:
    """This process's: Temporal's default, the release of Lanista, and the process's birth."""
    process = os.getpid()
    found = f"{process}@{socket.gethostname()} lanista-{version('lanista')}"
    place, began = _place(), _began(process)
    return f"{found} {place}/{began}" if place and began else found


def parse_identity(identity: str) -> ProcessIdentity:
    """What the identity tells; a process of an earlier release tells less."""
    found = _FORM.fullmatch(identity)
    if found is None:
        return ProcessIdentity(shown=identity)
    told = {name: found[name] or "" for name in ("shown", "host", "release", "place", "began")}
    return ProcessIdentity(process=int(found["process"]), **told)


def _place() -> str:
    """Empty where the system does not tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}-{os.stat(_PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _began(process: int) -> str | None:
    """Empty for a process that does not run: none of that id, or one that only waits to be reaped. None: not known."""
    try:
        text = (_PROC / str(process) / "stat").read_text(errors="replace")
        # the name before the last bracket may hold anything
        state, *fields = text.rpartition(")")[2].split()
        return "" if state in "ZXx" else fields[18]
    except (OSError, ValueError, IndexError):
        return None if _exists(process) else ""


def _exists(process: int) -> bool:
    """Also of a process that another user's may not see in /proc."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
