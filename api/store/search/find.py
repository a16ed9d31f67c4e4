"""Finds trials, players, versions, tournaments and sweeps by words of their names.

Trials and sweeps are few, and their words may be anywhere: those tables are scanned. Players, versions and tournaments
are many: their names are found by prefix, on an index (`text_pattern_ops`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, func, literal, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.schemas.enums import SearchKind, TournamentPurpose, TrialKind, VersionOrigin
from api.schemas.search import Found
from api.store.core.records import plain
from api.store.tables import ModelVersion, Player, Project, Sweep, Tournament, Trial

_NUMBER = re.compile(r"[v:]?(\d{1,9})")
_BY_HAND = (TournamentPurpose.REQUEST, TournamentPurpose.SCHEDULE)
_LAST = "\U0010ffff"


def search(session: Session, text: str, *, limit: int) -> list[Found]:
    """At most `limit` of each kind: exact names first, then the newest."""
    words = text.lower().split()
    if not words:
        return []
    wanted = _id_of(text.strip())
    found = [] if wanted is None else [one for query in _by_id(wanted) for one in _read(session, query)]
    if found:
        return found
    queries = [_trials(words), *_players(words), *_versions(words), _tournaments(words), _sweeps(words)]
    return [one for query in queries for one in _read(session, query.limit(limit))]


def _read(session: Session, query: Select[Any]) -> Iterator[Found]:
    for row in session.connection().execute(query).mappings():
        yield Found(**row)


def _trials(words: Sequence[str]) -> Select[Any]:
    text = func.lower(
        func.concat_ws(
            " ",
            Project.name,
            Trial.name,
            func.array_to_string(Trial.former_names, " "),
            Trial.game,
            func.array_to_string(Trial.tags, " "),
        )
    )
    return _TRIALS.where(_has_all(text, words)).order_by((Trial.name == words[-1]).desc(), Trial.id.desc())


def _players(words: Sequence[str]) -> Iterator[Select[Any]]:
    """The last word begins the name; words before it are of the trial."""
    *before, name = words
    query = _PLAYERS.where(_starts_with(Player.name, name), _has_all(_LABEL, before))
    yield query.order_by((Player.name == name).desc(), Player.id.desc())


def _versions(words: Sequence[str]) -> Iterator[Select[Any]]:
    """`main v12`, `main:12` or `first-league main 12`."""
    *before, name, number = ["", "", *" ".join(words).replace(":", " ").split()]
    found = _NUMBER.fullmatch(number)
    if not name or found is None:
        return
    query = _VERSIONS.where(
        _starts_with(Player.name, name),
        ModelVersion.number == int(found[1]),
        ModelVersion.origin != VersionOrigin.BOT,
        _has_all(_LABEL, [word for word in before if word]),
    )
    yield query.order_by((Player.name == name).desc(), ModelVersion.id.desc())


def _tournaments(words: Sequence[str]) -> Select[Any]:
    *before, name = words
    query = _TOURNAMENTS.where(_starts_with(Tournament.name, name), _has_all(func.lower(Project.name), before))
    return query.order_by(
        Tournament.purpose.in_(_BY_HAND).desc(), (Tournament.name == name).desc(), Tournament.id.desc()
    )


def _sweeps(words: Sequence[str]) -> Select[Any]:
    text = func.lower(func.concat(Project.name, " ", Sweep.name))
    return _SWEEPS.where(_has_all(text, words)).order_by((Sweep.name == words[-1]).desc(), Sweep.id.desc())


def _by_id(wanted: str) -> Iterator[Select[Any]]:
    yield _TRIALS.where(Trial.id == wanted)
    yield _PLAYERS.where(Player.id == wanted)
    yield _VERSIONS.where(ModelVersion.id == wanted)
    yield _TOURNAMENTS.where(Tournament.id == wanted)
    yield _SWEEPS.where(Sweep.id == wanted)


def _id_of(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None


def _has_all(text: ColumnElement[str], words: Sequence[str]) -> ColumnElement[bool]:
    return and_(literal(True), *(text.contains(word, autoescape=True) for word in words))


def _starts_with(name: InstrumentedAttribute[str], prefix: str) -> ColumnElement[bool]:
    """As a range, which the index serves also in a prepared statement; LIKE with a parameter would not."""
    return and_(name.op("~>=~")(prefix), name.op("~<~")(prefix + _LAST))


_LABEL = func.lower(func.concat(Project.name, "/", Trial.name))


def _select(kind: SearchKind, id_: Any, name: Any, within: Any, detail: Any) -> Select[Any]:
    columns = {"id": id_, "name": name, "within": within, "detail": detail}
    kind_column = literal(kind.value).label("kind")
    return select(kind_column, *plain(column.label(key) for key, column in columns.items()))


_TRIALS = (
    _select(SearchKind.TRIAL, Trial.id, Trial.name, Project.name, func.concat(Trial.game, " · ", Trial.status))
    .select_from(Trial)
    .join(Project, Project.id == Trial.project_id)
    .where(Trial.kind == TrialKind.LEAGUE)
)
_PLAYERS = (
    _select(
        SearchKind.PLAYER, Player.id, Player.name, func.concat(Project.name, "/", Trial.name), func.concat(Player.role)
    )
    .select_from(Player)
    .join(Trial, Trial.id == Player.trial_id)
    .join(Project, Project.id == Trial.project_id)
    .where(Trial.kind == TrialKind.LEAGUE)
)
_VERSIONS = (
    _select(
        SearchKind.VERSION,
        ModelVersion.id,
        func.concat(Player.name, " v", ModelVersion.number),
        func.concat(Project.name, "/", Trial.name),
        func.concat(ModelVersion.steps, " steps"),
    )
    .select_from(ModelVersion)
    .join(Player, Player.id == ModelVersion.player_id)
    .join(Trial, Trial.id == ModelVersion.trial_id)
    .join(Project, Project.id == Trial.project_id)
)
_TOURNAMENTS = (
    _select(
        SearchKind.TOURNAMENT,
        Tournament.id,
        Tournament.name,
        Project.name,
        func.concat(Tournament.format, " · ", Tournament.status),
    )
    .select_from(Tournament)
    .join(Project, Project.id == Tournament.project_id)
)
_SWEEPS = (
    _select(SearchKind.SWEEP, Sweep.id, Sweep.name, Project.name, func.concat(Sweep.status))
    .select_from(Sweep)
    .join(Project, Project.id == Sweep.project_id)
)
