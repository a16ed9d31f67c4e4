"""Calls about versions, aliases and the installation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx

from api.schemas.enums import Scope
from lanista.client.calls.call import Call, Listing, ReadJson, TrialRef, change, drop_none, get, path_to, trial_path
from lanista.client.errors import UnexpectedAnswer

if TYPE_CHECKING:
    from api.schemas.aliases import Alias, Move
    from api.schemas.canaries import Canary
    from api.schemas.installation.audit_log import Entry
    from api.schemas.installation.catalog import Catalog, Example
    from api.schemas.installation.crew_queue import CrewQueue
    from api.schemas.installation.projects import Project
    from api.schemas.installation.session import BrowserSession
    from api.schemas.installation.system import LogFiles, LogLines, SilentParts, System, SystemHistory
    from api.schemas.installation.tokens import MadeToken, Token
    from api.schemas.versions import Version, VersionDetail


def versions(trial: TrialRef, *, player_id: str | None = None, page_size: int = 100) -> Listing[Version]:
    """Versions of a trial's players, the newest first."""
    from api.schemas.versions import Version

    query = drop_none({"player_id": player_id})
    return Listing(path=trial_path(trial, "versions"), item=Version, query=query, page_size=page_size)


def version(version_id: str) -> Call[VersionDetail]:
    """One version, its aliases and its ancestors."""
    from api.schemas.versions import VersionDetail

    return get(path_to("versions", version_id), VersionDetail)


def checkpoint(version_id: str) -> Call[bytes]:
    """The weights as safetensors, verified against their hash."""
    return Call(method="GET", path=path_to("versions", version_id, "checkpoint"), read=_checked)


def code_archive(sha256: str) -> Call[bytes]:
    """An archive of own code (zip) by its hash, verified against it."""
    return Call(method="GET", path=path_to("code", sha256), read=_checked)


def import_weights(trial: TrialRef, *, name: str, data: bytes, like: str | None = None) -> Call[Version]:
    """Add a frozen player with weights made elsewhere (a safetensors file) to a league.

    `like` names the player whose model they are of; without it they are of the trial's.
    """
    from api.schemas.versions import Version

    query = drop_none({"trial_id": trial if isinstance(trial, str) else trial.id, "name": name, "like": like})
    return Call(method="POST", path=path_to("versions"), query=query, content=data, read=ReadJson(Version))


def _checked(response: httpx.Response) -> bytes:
    named = response.headers.get("ETag", "").strip('"')
    found = hashlib.sha256(response.content).hexdigest()
    if found != named:
        raise UnexpectedAnswer(f"the file was damaged in transit: its hash is {found}, not {named}")
    return response.content


def aliases(project: str, *, page_size: int = 100) -> Listing[Alias]:
    """A project's aliases, by name."""
    from api.schemas.aliases import Alias

    return Listing(path=path_to("projects", project, "aliases"), item=Alias, page_size=page_size)


def alias(project: str, alias: str, *, game: str | None = None) -> Call[Alias]:
    """One alias and the version it points at."""
    from api.schemas.aliases import Alias

    return get(path_to("projects", project, "aliases", alias), Alias, {"game": game})


def set_alias(project: str, alias: str, *, version_id: str, reason: str, if_revision: int | None = None) -> Call[Alias]:
    """Point an alias at a version; a new alias is created. The move is recorded with its reason."""
    from api.schemas.aliases import Alias

    body = {"version_id": version_id, "reason": reason}
    return change("PUT", path_to("projects", project, "aliases", alias), Alias, body, if_revision=if_revision)


def alias_history(project: str, alias: str, *, game: str | None = None, page_size: int = 100) -> Listing[Move]:
    """Every move of an alias, the newest first."""
    from api.schemas.aliases import Move

    path = path_to("projects", project, "aliases", alias, "history")
    return Listing(path=path, item=Move, query=drop_none({"game": game}), page_size=page_size)


def roll_back_alias(
    project: str, alias: str, *, game: str | None = None, reason: str | None = None, if_revision: int | None = None
) -> Call[Alias]:
    """Point an alias at its previous version."""
    from api.schemas.aliases import Alias

    path = path_to("projects", project, "aliases", alias, "rollback")
    return change("POST", path, Alias, drop_none({"reason": reason}), query={"game": game}, if_revision=if_revision)


def canaries(project: str, alias: str, *, game: str | None = None, page_size: int = 100) -> Listing[Canary]:
    """Canaries of an alias and how they did beside the champion, the newest first."""
    from api.schemas.canaries import Canary

    path = path_to("projects", project, "aliases", alias, "canaries")
    return Listing(path=path, item=Canary, query=drop_none({"game": game}), page_size=page_size)


def report_canary(project: str, alias: str, *, report: Mapping[str, Any], game: str | None = None) -> Call[Canary]:
    """Record what a serving process counted: the fields of `api.schemas.canaries.ReportCanary`."""
    from api.schemas.canaries import Canary

    path = path_to("projects", project, "aliases", alias, "canaries")
    return change("POST", path, Canary, report, query={"game": game})


def projects(*, page_size: int = 100) -> Listing[Project]:
    """Projects by name."""
    from api.schemas.installation.projects import Project

    return Listing(path=path_to("projects"), item=Project, page_size=page_size)


def change_project(project: str, *, priority: float | None = None, quota: int | None = None) -> Call[Project]:
    """Change a project's priority or quota (0: none); what is not given stays."""
    from api.schemas.installation.projects import Project

    return change("PATCH", path_to("projects", project), Project, {"priority": priority, "quota": quota})


def crew_queue() -> Call[CrewQueue]:
    """Who waits for whom: the trials that share crews."""
    from api.schemas.installation.crew_queue import CrewQueue

    return get(path_to("system", "queue"), CrewQueue)


def catalog() -> Call[Catalog]:
    """Names that a trial file may use."""
    from api.schemas.installation.catalog import Catalog

    return get(path_to("catalog"), Catalog)


def examples(*, page_size: int = 100) -> Listing[Example]:
    """Example trial files."""
    from api.schemas.installation.catalog import Example

    return Listing(path=path_to("examples"), item=Example, page_size=page_size)


def system() -> Call[System]:
    """Version, state of each part, workers, queues, Ray, links."""
    from api.schemas.installation.system import System

    return get(path_to("system"), System)


def silent_parts() -> Call[SilentParts]:
    """The parts that do not answer, and kinds of workers that do not poll."""
    from api.schemas.installation.system import SilentParts

    return get(path_to("system", "silent"), SilentParts)


def system_history() -> Call[SystemHistory]:
    """CPU, memory, CPUs reserved in Ray and queue lengths of the last hour."""
    from api.schemas.installation.system import SystemHistory

    return get(path_to("system", "history"), SystemHistory)


def logs() -> Call[LogFiles]:
    """The logs of the parts that can be read."""
    from api.schemas.installation.system import LogFiles

    return get(path_to("system", "logs"), LogFiles)


def log_lines(part: str, *, lines: int = 200, after: int | None = None) -> Call[LogLines]:
    """The last lines of a part's log, without secrets; `after` an `end` only newer ones."""
    from api.schemas.installation.system import LogLines

    return get(path_to("system", "logs", part), LogLines, drop_none({"lines": lines, "after": after}))


def who_am_i() -> Call[BrowserSession]:
    """The name and scope of this client's token."""
    from api.schemas.installation.session import BrowserSession

    return get(path_to("session"), BrowserSession)


def tokens(*, page_size: int = 100) -> Listing[Token]:
    """All tokens, the newest first."""
    from api.schemas.installation.tokens import Token

    return Listing(path=path_to("tokens"), item=Token, page_size=page_size)


def create_token(
    *, name: str, scope: Scope | str = Scope.VIEWER, expires_in_days: float | None = None
) -> Call[MadeToken]:
    """Create a token. The answer contains its secret, this once only."""
    from api.schemas.installation.tokens import MadeToken

    body: dict[str, Any] = {"name": name, "scope": scope, "expires_in_days": expires_in_days}
    return change("POST", path_to("tokens"), MadeToken, body)


def revoke_token(token_id: str) -> Call[None]:
    """End a token and every browser session made from it."""
    return Call(method="DELETE", path=path_to("tokens", token_id), read=lambda response: None)


def audit(*, target: str | None = None, token_id: str | None = None, page_size: int = 100) -> Listing[Entry]:
    """The audit log of changes, the newest first."""
    from api.schemas.installation.audit_log import Entry

    return Listing(
        path=path_to("audit"),
        item=Entry,
        query=drop_none({"target": target, "token_id": token_id}),
        page_size=page_size,
    )
