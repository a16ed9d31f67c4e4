"""Resolves which alias a server follows: through the API, or from the version cache on disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from lanista.client import Client, LanistaError
from lanista.client.errors import NoSuchName, Unavailable, Unreachable
from lanista.serving.loading import project_of_alias


@dataclass(frozen=True, kw_only=True)
class Followed:
    """The alias, and the canary beside it."""

    project: str
    """Empty where a file is served: then the alias is its name."""
    alias: str
    game: str | None = None
    canary: str | None = None
    """A version (`project/trial/player:number`, an id), or an alias (`project@name`) that is followed too."""

    @property
    def label(self) -> str:
        return f"{self.project}@{self.alias}" if self.project else self.alias

    @property
    def folder(self) -> str:
        """The name of its folder on disk; a game with options has a long name."""
        game = "" if self.game is None else f"@{sha256(self.game.encode()).hexdigest()[:12]}"
        return f"{self.label}{game}"


def find_followed(
    connect: Callable[[], Client], alias: str, game: str | None, canary: str | None, root: Path
) -> Followed:
    """The alias `project@name`, or `name` where one project has it; while the API is away, one that `root` has."""
    project, _, name = alias.rpartition("@")
    if not name:
        raise NoSuchName(f"{alias!r} names no alias: write champion, or project@champion")
    if not project:
        project = _project(connect, name, root)
    return Followed(project=project, alias=name, game=game, canary=canary)


def _project(connect: Callable[[], Client], name: str, root: Path) -> str:
    try:
        with connect() as client:
            return project_of_alias(client, name)
    except (Unreachable, Unavailable) as error:
        known = sorted({path.name.split("@")[0] for path in root.glob(f"*@{name}*") if path.is_dir()})
        if len(known) == 1:
            return known[0]
        raise _unknown(error, name, known) from None


def _unknown(error: LanistaError, name: str, known: list[str]) -> Unreachable:
    if not known:
        return Unreachable(f"{error}, and no version of {name!r} is on disk")
    return Unreachable(f"{error}; the disk has several: write {' or '.join(f'{each}@{name}' for each in known)}")
