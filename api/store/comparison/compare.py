"""Several trials side by side, from what is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from api.schemas.compare import ChampionResults, ComparedTrial, Comparison, Difference
from api.schemas.enums import MatchResult
from api.schemas.metrics import Series
from api.store.aliases.champion import read_champion
from api.store.comparison.over_time import generation_clock, rated_line, rating_fit, rating_zero
from api.store.generations.metrics import MetricFilter, metric_series
from api.store.players.versions import present_version
from api.store.tables import Alias, AliasEvent, Match, ModelVersion, Player, Project, Trial
from api.store.trials.reads import get_trial
from league.types import Role, Stream

MOST_SERIES = 200


def compare_trials(session: Session, trial_ids: Sequence[str], metrics: Sequence[str], points: int) -> Comparison:
    """The trials in this order; only these metrics, if any are named."""
    rows = [get_trial(session, trial_id) for trial_id in trial_ids]
    champions = [champion_of(session, row) for row in rows]
    which = MetricFilter(names=tuple(metrics), points=points)
    return Comparison(
        trials=[_compared(session, row, version, which) for row, version in zip(rows, champions, strict=True)],
        differences=differences([row.spec for row in rows]),
        head_to_head=list(_meetings(session, rows, champions)),
    )


def champion_of(session: Session, trial: Trial) -> ModelVersion | None:
    """The last version of the trial that held an alias, or the newest version of its first main."""
    held = session.scalars(
        select(ModelVersion)
        .join(AliasEvent, AliasEvent.to_version_id == ModelVersion.id)
        .where(ModelVersion.trial_id == trial.id)
        .order_by(AliasEvent.id.desc())
        .limit(1)
    ).one_or_none()
    main = _main(session, trial)
    return held if held is not None or main is None else present_version(session, main.id)


def _standing(session: Session, version: ModelVersion) -> Literal["champion", "former", "newest"]:
    if session.scalar(select(Alias.name).where(Alias.version_id == version.id).limit(1)) is not None:
        return "champion"
    held = session.scalar(select(AliasEvent.id).where(AliasEvent.to_version_id == version.id).limit(1))
    return "newest" if held is None else "former"


def _shared_champion(session: Session, trial: Trial) -> dict[str, Any]:
    """The version that the trial's gates have to beat: that of its project and game, whichever trial made it."""
    now = read_champion(session, trial)
    if now is None:
        return {}
    return {
        "shared_champion": f"{now.player} v{now.number}",
        "shared_champion_version_id": now.version_id,
        "shared_champion_trial_id": now.trial_id,
        "shared_champion_trial": now.trial,
    }


def differences(specs: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Fields that are not the same in all files; items of lists by their number, players by their name."""
    flat = [dict(_fields(spec)) for spec in specs]
    paths = dict.fromkeys(path for fields in flat for path in fields)
    found = [Difference(path=path, values=[fields.get(path) for fields in flat]) for path in paths]
    return [each for each in found if any(value != each.values[0] for value in each.values[1:])]


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from _fields(below, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            yield from _fields(item, f"{path}.{item.get('name', number)}")
    else:
        yield path, value


def _main(session: Session, trial: Trial) -> Player | None:
    query = select(Player).where(Player.trial_id == trial.id, Player.role == Role.MAIN).order_by(Player.id)
    return session.scalars(query.limit(1)).one_or_none()


def _compared(session: Session, trial: Trial, champion: ModelVersion | None, which: MetricFilter) -> ComparedTrial:
    main = _main(session, trial)
    own = MetricFilter(player_id=None if main is None else main.id, names=which.names, points=which.points)
    series = metric_series(session, trial.id, own, skip=0, limit=MOST_SERIES)
    fit = rating_fit(session, trial)
    clock = [] if main is None else generation_clock(session, trial, main, which.points)
    player = None if champion is None else session.get_one(Player, champion.player_id)
    return ComparedTrial(
        id=trial.id,
        label=f"{session.get_one(Project, trial.project_id).name}/{trial.name}",
        game=trial.game,
        status=trial.status,
        steps=trial.steps,
        champion=None if champion is None or player is None else f"{player.name} v{champion.number}",
        champion_version_id=None if champion is None else champion.id,
        champion_is=None if champion is None else _standing(session, champion),
        **_shared_champion(session, trial),
        curves=[Series.model_validate(each) for each in series],
        forked_from_trial_id=trial.forked_from_trial_id,
        rating_fit_id=fit,
        rating_zero=None if fit is None else rating_zero(session, fit),
        ratings=[] if main is None or fit is None else rated_line(session, trial, main, fit),
        generations=[number for number, _ in clock],
        seconds=[seconds for _, seconds in clock],
    )


def _meetings(
    session: Session, rows: Sequence[Trial], champions: Sequence[ModelVersion | None]
) -> Iterator[ChampionResults]:
    pairs = [(row, version) for row, version in zip(rows, champions, strict=True) if version is not None]
    for (first, one), (second, other) in combinations(pairs, 2):
        counts = dict.fromkeys(MatchResult, 0)
        here = (Match.version_id == one.id) & (Match.opponent_version_id == other.id)
        there = (Match.version_id == other.id) & (Match.opponent_version_id == one.id)
        found = session.execute(
            select(here, Match.result, func.count())
            .where(Match.stream == Stream.RATING, or_(here, there))
            .group_by(here, Match.result)
        )
        for as_first, result, count in found:
            counts[result if as_first else _MIRRORED[result]] += count
        if any(counts.values()):
            yield ChampionResults(
                first=first.id,
                second=second.id,
                wins=counts[MatchResult.WIN],
                draws=counts[MatchResult.DRAW],
                losses=counts[MatchResult.LOSS],
            )


_MIRRORED = {
    MatchResult.WIN: MatchResult.LOSS,
    MatchResult.DRAW: MatchResult.DRAW,
    MatchResult.LOSS: MatchResult.WIN,
}
