"""`lanista.load`: a version as an actor, from the API or from a file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from api.schemas.versions import VersionDetail
from lanista.client import Client
from lanista.client.calls.composed import is_id
from lanista.client.errors import NoSuchName
from orchestrator.storage.durable_files import read_whole

if TYPE_CHECKING:
    from workers.serving.loaded import LoadedActor
    from workers.serving.versions import VersionRecord


def load(
    name: str | Path,
    *,
    url: str | None = None,
    token: str | None = None,
    device: str = "cpu",
    seed: int | None = None,
) -> LoadedActor:
    """A version as an actor: `actor.act(observation)` gives an action.

    `name` is an alias (`champion`, or `project@champion`), a version (`project/trial/player:number`, or its id), or a
    file of weights (safetensors). The API is found as `lanista.Client` finds it.
    """
    from workers.serving.loaded import LoadedActor
    from workers.serving.versions import load_version

    data, record = _read(name, url, token)
    return LoadedActor(load_version(data, record, device), seed)


def find_version(client: Client, name: str) -> VersionDetail:
    """A version by reference, or by an alias alone where one project has it."""
    if "@" in name or "/" in name or is_id(name):
        return client.find_version(name)
    return client.find_version(f"{project_of_alias(client, name)}@{name}")


def project_of_alias(client: Client, alias: str) -> str:
    """The one project that has an alias of this name."""
    projects = [project.name for project in client.projects()]
    holders = [name for name in projects if any(each.name == alias for each in client.aliases(name))]
    if not holders:
        known = ", ".join(projects) or "none yet"
        raise NoSuchName(f"no project has an alias {alias!r}; projects: {known}")
    if len(holders) > 1:
        raise NoSuchName(
            f"several projects have an alias {alias!r}: write {' or '.join(f'{each}@{alias}' for each in holders)}"
        )
    return holders[0]


def download(client: Client, version: VersionDetail, revision: int = 0) -> tuple[bytearray, VersionRecord]:
    """A version's weights, checked against their hash, and what is known of it; its own code is then at hand too."""
    from lanista.serving.code import CodeArchives, archives_of
    from lanista.settings import StackSettings

    record = record_of(version, revision)
    with TemporaryDirectory() as folder:  # by way of the disk: on its way a body would be in memory twice
        data = read_whole(client.download_checkpoint(version.id, Path(folder) / "weights").path)
    if archives_of(data):
        CodeArchives(StackSettings.load().home / "serving" / "code").fetch(client, data)
    return data, record


def record_of(version: VersionDetail, revision: int = 0) -> VersionRecord:
    """What is known of a version without its weights; refused for a bot, which has none."""
    from workers.serving.versions import VersionRecord

    name = f"{version.player}:{version.number}"
    if version.sha256 is None:
        raise NoSuchName(f"{name} is a bot: it has no weights")
    return VersionRecord(id=version.id, name=name, sha256=version.sha256, revision=revision)


def _read(name: str | Path, url: str | None, token: str | None) -> tuple[bytearray, VersionRecord]:
    from workers.serving.versions import VersionRecord

    path = Path(name)
    if isinstance(name, Path) or path.suffix == ".safetensors":
        data = read_whole(path)
        return data, VersionRecord(id="", name=path.name, sha256=hashlib.sha256(data).hexdigest())
    with Client(url, token) as client:
        return download(client, find_version(client, name))
