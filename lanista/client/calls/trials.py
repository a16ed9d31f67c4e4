"""Calls about trials and their players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from api.schemas.enums import PlayerStatus
from lanista.client.calls.call import Call, Listing, ReadJson, TrialRef, change, drop_none, get, path_to, trial_path
from league.types import Role

if TYPE_CHECKING:
    from api.schemas.failures import RecordedFailure
    from api.schemas.installation.code import CodeArchive
    from api.schemas.overview import TrialOverview
    from api.schemas.players import Player, PlayerDetail
    from api.schemas.progress import TrialProgress
    from api.schemas.trials import CheckedFile, Trial, TrialSummary


def trials(
    *,
    project: str | None = None,
    name: str | None = None,
    status: Sequence[str] = (),
    archived: bool = False,
    q: str | None = None,
    tag: Sequence[str] = (),
    sort: str | None = None,
    page_size: int = 100,
) -> Listing[TrialSummary]:
    """Trials, the newest first unless sorted by `created`, `name`, `project`, `game`, `status` or `steps`.

    With a hyphen (`-steps`) the order falls. `q` are words of the project, name, game, tags or notes.
    """
    from api.schemas.trials import TrialSummary

    query = drop_none(
        {
            "project": project,
            "name": name,
            "status": list(status) or None,
            "archived": archived or None,
            "q": q or None,
            "tag": list(tag) or None,
            "sort": sort,
        }
    )
    return Listing(path=path_to("trials"), item=TrialSummary, query=query, page_size=page_size)


def trial(trial: TrialRef) -> Call[Trial]:
    """One trial with its file."""
    from api.schemas.trials import Trial

    return get(trial_path(trial), Trial)


def trial_file(trial: TrialRef) -> Call[str]:
    """The trial's file as YAML text, defaults included."""
    return Call(method="GET", path=trial_path(trial, "file"), read=lambda response: response.text)


def trial_progress(trial: TrialRef) -> Call[TrialProgress]:
    """The generations under way, what they wait for, and failed attempts that are tried again."""
    from api.schemas.progress import TrialProgress

    return get(trial_path(trial, "progress"), TrialProgress)


def trial_overview(trial: TrialRef) -> Call[TrialOverview]:
    """Whether a trial goes well: champion, gain, gates and tournaments under way, problems of the last hour."""
    from api.schemas.overview import TrialOverview

    return get(trial_path(trial, "overview"), TrialOverview)


def trial_failures(trial: TrialRef, *, player_id: str | None = None, page_size: int = 100) -> Listing[RecordedFailure]:
    """What went wrong in a trial, or for one of its players; the newest first."""
    from api.schemas.failures import RecordedFailure

    query = drop_none({"player_id": player_id})
    return Listing(path=trial_path(trial, "failures"), item=RecordedFailure, query=query, page_size=page_size)


def create_trial(*, name: str, spec: Mapping[str, Any], project: str = "default") -> Call[Trial]:
    """Record a trial and start it. `spec` is a trial file without `project` and `trial`."""
    from api.schemas.trials import Trial

    return change("POST", path_to("trials"), Trial, {"project": project, "name": name, "spec": dict(spec)})


def validate_trial(*, text: str | None = None, spec: Mapping[str, Any] | None = None) -> Call[CheckedFile]:
    """All problems of a trial file (`text`) or a spec; nothing is created."""
    from api.schemas.trials import CheckedFile

    return change("POST", path_to("trials", "validate"), CheckedFile, {"text": text, "spec": spec})


def upload_code(data: bytes) -> Call[CodeArchive]:
    """Store an archive of own code (a zip file); a trial names it as `lanista_code_<sha256>.module:attr`."""
    from api.schemas.installation.code import CodeArchive

    return Call(method="POST", path=path_to("code"), content=data, read=ReadJson(CodeArchive))


def pause_trial(trial: TrialRef) -> Call[TrialSummary]:
    """Pause: every player finishes its generation and waits."""
    from api.schemas.trials import TrialSummary

    return change("POST", trial_path(trial, "pause"), TrialSummary)


def resume_trial(trial: TrialRef) -> Call[TrialSummary]:
    """Continue after a pause, or start a trial that was created paused."""
    from api.schemas.trials import TrialSummary

    return change("POST", trial_path(trial, "resume"), TrialSummary)


def stop_trial(
    trial: TrialRef, *, mode: Literal["drain", "now"] = "drain", reason: str | None = None
) -> Call[TrialSummary]:
    """End a trial for good; `drain` finishes and records the generations in progress, `now` discards them."""
    from api.schemas.trials import TrialSummary

    return change("POST", trial_path(trial, "stop"), TrialSummary, {"mode": mode, "reason": reason})


def fork_trial(
    trial: TrialRef, *, name: str, at_commit: int | None = None, changes: Mapping[str, Any] | None = None
) -> Call[Trial]:
    """A new trial from a commit of this one (default: the newest); `changes` override options of its file."""
    from api.schemas.trials import Trial

    body = {"name": name, "at_commit": at_commit, "changes": None if changes is None else dict(changes)}
    return change("POST", trial_path(trial, "fork"), Trial, body)


def change_trial(
    trial: TrialRef,
    *,
    name: str | None = None,
    tags: Sequence[str] | None = None,
    notes: str | None = None,
    priority: float | None = None,
    quota: int | None = None,
    if_revision: int | None = None,
) -> Call[Trial]:
    """Rename a trial, or replace its tags, notes, priority or quota (0: none); what is not given stays.

    Former names still lead to it.
    """
    from api.schemas.trials import Trial

    body = {
        "name": name,
        "tags": None if tags is None else list(tags),
        "notes": notes,
        "priority": priority,
        "quota": quota,
    }
    return change("PATCH", trial_path(trial), Trial, body, if_revision=if_revision)


def archive_trial(trial: TrialRef, *, if_revision: int | None = None) -> Call[TrialSummary]:
    """Archive an ended trial: it leaves the lists."""
    from api.schemas.trials import TrialSummary

    return change("POST", trial_path(trial, "archive"), TrialSummary, if_revision=if_revision)


def players(
    trial: TrialRef, *, role: Sequence[Role] = (), status: PlayerStatus | str | None = None, page_size: int = 100
) -> Listing[Player]:
    """The players in the order they were added, snapshots included."""
    from api.schemas.players import Player

    query = drop_none({"role": list(role) or None, "status": status})
    return Listing(path=trial_path(trial, "players"), item=Player, query=query, page_size=page_size)


def player(player_id: str) -> Call[PlayerDetail]:
    """One player."""
    from api.schemas.players import PlayerDetail

    return get(path_to("players", player_id), PlayerDetail)


def add_player(
    trial: TrialRef,
    *,
    name: str,
    role: Role = Role.MAIN,
    bot: str | None = None,
    hyperparameters: Mapping[str, Any] | None = None,
    algorithm: Mapping[str, Any] | None = None,
    model: Mapping[str, Any] | None = None,
) -> Call[Player]:
    """Add a player to a running or paused league; without an algorithm or a model of its own it has the trial's."""
    from api.schemas.players import Player

    body = {
        "name": name,
        "role": role,
        "bot": bot,
        "hyperparameters": hyperparameters,
        "algorithm": algorithm,
        "model": model,
    }
    return change("POST", trial_path(trial, "players"), Player, body)


def change_player(
    player_id: str,
    *,
    retire: bool = False,
    hyperparameters: Mapping[str, Any] | None = None,
    if_revision: int | None = None,
) -> Call[Player]:
    """Retire a player, or retune it from its next generation on."""
    from api.schemas.players import Player

    body = {"retire": retire, "hyperparameters": hyperparameters}
    return change("PATCH", path_to("players", player_id), Player, body, if_revision=if_revision)
