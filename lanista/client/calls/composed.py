"""Operations that need several calls: a whole league, and lookups by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from lanista.client.calls import league as league_calls
from lanista.client.calls.call import LARGEST_PAGE, Listing, Steps, TrialRef
from lanista.client.calls.registry import alias as get_alias
from lanista.client.calls.registry import aliases, versions
from lanista.client.calls.registry import version as get_version
from lanista.client.calls.sweeps import sweep as get_sweep
from lanista.client.calls.sweeps import sweeps
from lanista.client.calls.trials import players, trials
from lanista.client.calls.trials import trial as get_trial
from lanista.client.errors import NoSuchName

if TYPE_CHECKING:
    from api.schemas.aliases import Alias
    from api.schemas.metrics import Series
    from api.schemas.players import Player
    from api.schemas.sweeps import Sweep
    from api.schemas.trials import Trial, TrialSummary
    from api.schemas.versions import Version, VersionDetail
    from lanista.client.league import League

Item = TypeVar("Item")

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def every(listing: Listing[Item]) -> Steps[list[Item]]:
    """All items of a list, page after page."""
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = yield listing.page(cursor)
        items.extend(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return items


def league(trial: TrialRef) -> Steps[League]:
    """The league as it is now: trial, players, payoff, ratings and aliases."""
    from lanista.client.league import League

    found: Trial = yield get_trial(trial)
    members: list[Player] = yield from every(players(found, page_size=LARGEST_PAGE))
    names: list[Alias] = yield from every(aliases(found.project))
    payoff = yield league_calls.payoff(found)
    ratings = yield from league_calls.ratings(found)
    measured: list[Series] = yield from every(league_calls.metrics(found, name=["return_mean"], points=1))
    returns = {each.player_id: each.values[-1] for each in measured if each.values and each.values[-1] is not None}
    return League(trial=found, players=members, payoff=payoff, ratings=ratings, aliases=names, returns=returns)


def find_trial(reference: str) -> Steps[Trial]:
    """A trial by id, by `project/name`, or by its name alone where no other project has one of that name."""
    if is_id(reference):
        found: Trial = yield get_trial(reference)
        return found
    project, _, name = reference.rpartition("/")
    listing = trials(project=project or None, name=name, archived=True, page_size=LARGEST_PAGE)
    named: list[TrialSummary] = yield from every(listing)
    if len(named) > 1:
        labels = ", ".join(sorted(trial.label for trial in named))
        raise NoSuchName(f"several trials are named {name!r}: {labels}. Write one of these.")
    if not named:
        newest = yield trials(page_size=LARGEST_PAGE).page(None)
        raise NoSuchName(_unknown_trial(reference, newest.items))
    found = yield get_trial(named[0])
    return found


def _unknown_trial(reference: str, known: list[TrialSummary]) -> str:
    by_name = {trial.name: trial.label for trial in reversed(known)}
    by_name |= {trial.label: trial.label for trial in known}
    newest = ", ".join(trial.label for trial in known[:5]) or "none yet"
    return f"there is no trial {reference!r}{_did_you_mean(reference, by_name)}; the newest are: {newest}"


def _did_you_mean(wrong: str, known: Mapping[str, str]) -> str:
    """The nearest name as a question, after a comma; nothing where none is near."""
    near = difflib.get_close_matches(wrong, known, n=1)
    return f", did you mean {known[near[0]]!r}?" if near else ""


def find_player(trial: TrialRef, name: str) -> Steps[Player]:
    """A player of a trial by name or id."""
    members: list[Player] = yield from every(players(trial, page_size=LARGEST_PAGE))
    for player in members:
        if name in (player.name, player.id):
            return player
    known = ", ".join(player.name for player in members[:20])
    hint = _did_you_mean(name, {player.name: player.name for player in members})
    raise NoSuchName(f"the trial has no player {name!r}{hint}; it has: {known}")


def find_version(reference: str) -> Steps[VersionDetail]:
    """A version by id, as `trial/player:number` (without a number the newest), or as `project@alias`.

    `project@alias:game` names the game where several games of the project have the alias.
    """
    if is_id(reference):
        found: VersionDetail = yield get_version(reference)
        return found
    if "@" in reference:
        project, _, named = reference.partition("@")
        name, _, game = named.partition(":")
        held: Alias = yield get_alias(project, name, game=game or None)
        found = yield get_version(held.version_id)
        return found
    label, _, player_part = reference.rpartition("/")
    name, _, number = player_part.partition(":")
    if not label or not name or (number and not number.isdigit()):
        raise NoSuchName(
            f"{reference!r} names no version: write its id, project/trial/player:number, "
            "project/trial/player for the newest, project@alias, or project@alias:game"
        )
    trial = yield from find_trial(label)
    player = yield from find_player(trial, name)
    version = yield from _numbered(trial, player, int(number) if number else None)
    found = yield get_version(version.id)
    return found


def _numbered(trial: Trial, player: Player, number: int | None) -> Steps[Version]:
    listing = versions(trial, player_id=player.id, page_size=1 if number is None else LARGEST_PAGE)
    cursor: str | None = None
    newest: int | None = None
    while True:
        page = yield listing.page(cursor)
        for version in page.items:
            newest = version.number if newest is None else newest
            if number in (None, version.number):
                return version  # type: ignore[no-any-return]
        cursor = page.next_cursor
        if cursor is None:
            known = "it has none yet" if newest is None else f"the newest is {newest}"
            raise NoSuchName(f"{player.name} has no version {'' if number is None else number}; {known}")


def find_sweep(reference: str) -> Steps[Sweep]:
    """A sweep by id, by `project/name`, or by its name alone where no other project has one of that name."""
    if is_id(reference):
        found: Sweep = yield get_sweep(reference)
        return found
    project, _, name = reference.rpartition("/")
    page = yield sweeps(project=project or None, name=name, page_size=LARGEST_PAGE).page(None)
    if len(page.items) > 1:
        labels = ", ".join(sorted(each.label for each in page.items))
        raise NoSuchName(f"several sweeps are named {name!r}: {labels}. Write one of these.")
    if not page.items:
        newest = yield sweeps(page_size=5).page(None)
        known = ", ".join(each.label for each in newest.items) or "none yet"
        raise NoSuchName(f"there is no sweep {reference!r}; the newest are: {known} (`lanista sweep list`)")
    found = yield get_sweep(page.items[0].id)
    return found
