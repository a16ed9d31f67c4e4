"""Records results of canaries, and judges them by the test that the canary's trial names for its gates.

Reports of one alias are recorded one after the other, under the alias's lock, so that each sees all before it.
See docs/decisions/serving.md.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from api.schemas.canaries import ReportCanary
from api.schemas.enums import CanaryStatus
from api.store.aliases.moves import AliasKey, lock_alias
from api.store.aliases.reads import project_and_game_of
from api.store.core.errors import Conflict
from api.store.core.records import Record, read_records
from api.store.tables import Alias, CanaryResult, ModelVersion, Trial
from api.store.trials.spec import spec_of
from league.gates import Sprt
from orchestrator.spec.judgement import GateSpec


def record_canary(session: Session, alias: Alias, report: ReportCanary, actor: str) -> Record:
    """Record a report once, and the test after it; the comparison as it is now."""
    key = AliasKey(project_id=alias.project_id, game=alias.game, name=alias.name)
    champion, canary = str(report.champion_version_id), str(report.canary_version_id)
    _check(session, key, report)
    lock_alias(session, key)
    if session.scalar(select(CanaryResult.id).where(CanaryResult.report_id == str(report.report_id))) is None:
        session.add(_judged(session, key, report, actor))
        session.flush()
    query = _pairs(key).where(CanaryResult.champion_version_id == champion, CanaryResult.canary_version_id == canary)
    (pair,) = read_records(session, query)
    return _record(session, pair)


def list_canaries(session: Session, alias: Alias, *, before: int | None, limit: int) -> list[tuple[int, Record]]:
    """Comparisons of an alias, that with the newest report first, each with the number of that report."""
    key = AliasKey(project_id=alias.project_id, game=alias.game, name=alias.name)
    newest = func.max(CanaryResult.id)
    query = _pairs(key).order_by(newest.desc()).limit(limit)
    if before is not None:
        query = query.having(newest < before)
    return [(pair["newest"], _record(session, pair)) for pair in read_records(session, query)]


def _check(session: Session, key: AliasKey, report: ReportCanary) -> None:
    champion, canary = str(report.champion_version_id), str(report.canary_version_id)
    if champion == canary:
        raise Conflict("the canary is the champion itself: there is nothing to compare")
    if not report.champion_sessions + report.canary_sessions:
        raise Conflict("the report has no sessions")
    for version_id in (champion, canary):
        if project_and_game_of(session, version_id) != (key.project_id, key.game):
            raise Conflict(f"version {version_id} is of another project or game than the alias {key.name!r}")


def _judged(session: Session, key: AliasKey, report: ReportCanary, actor: str) -> CanaryResult:
    values = report.model_dump()
    values |= {name: str(value) for name, value in values.items() if name.endswith("_id")}
    query = _pairs(key).where(
        CanaryResult.champion_version_id == values["champion_version_id"],
        CanaryResult.canary_version_id == values["canary_version_id"],
    )
    past = next(iter(read_records(session, query)), None)
    last = None if past is None else session.get_one(CanaryResult, past["newest"])
    counts = [int(values[name] + (0 if past is None else past[name])) for name in ("losses", "draws", "wins")]
    llr, status = judge_canary(sprt_of(session, values["canary_version_id"]), counts, last)
    return CanaryResult(
        project_id=key.project_id, game=key.game, alias=key.name, actor=actor, llr=llr, status=status, **values
    )


def judge_canary(test: Sprt, counts: list[int], last: CanaryResult | None) -> tuple[float, CanaryStatus]:
    """The test on all counts so far; a verdict that `last`, the report before, has reached stays."""
    if last is not None and last.status is not CanaryStatus.RUNNING:
        return last.llr, last.status
    verdict = test.judge(counts)
    return verdict.llr, CanaryStatus(verdict.status)


def sprt_of(session: Session, canary_version_id: str) -> Sprt:
    """The test of the canary's trial; the default one where the trial has no gate."""
    trial = session.scalars(
        select(Trial).join(ModelVersion, ModelVersion.trial_id == Trial.id).where(ModelVersion.id == canary_version_id)
    ).one()
    rule = spec_of(trial).league.champion_gate or GateSpec()
    return Sprt(
        elo0=rule.elo0, elo1=rule.elo1, alpha=rule.alpha, beta=rule.beta, max_pairs=rule.max_pairs, model=rule.model
    )


def _record(session: Session, pair: Record) -> Record:
    """The comparison of a pair with the test's verdict: a record of `api.schemas.canaries.Canary`."""
    last = session.get_one(CanaryResult, pair["newest"])
    test = sprt_of(session, last.canary_version_id)
    lower, upper = test.bounds
    means = {
        f"{arm}_mean_return": pair[f"{arm}_returns"] / int(sessions) if (sessions := pair[f"{arm}_sessions"]) else None
        for arm in ("champion", "canary")
    }
    return {
        "champion_version_id": last.champion_version_id,
        "canary_version_id": last.canary_version_id,
        "game": last.game,
        "status": last.status,
        "llr": last.llr,
        "lower_bound": lower,
        "upper_bound": upper,
        "elo0": test.elo0,
        "elo1": test.elo1,
        "first_reported_at": pair["first_reported_at"],
        "last_reported_at": pair["last_reported_at"],
        **{name: int(pair[name]) for name in _COUNTED},
        **means,
    }


_COUNTED = ("losses", "draws", "wins", "champion_sessions", "canary_sessions")
_SUMMED = (*_COUNTED, "champion_returns", "canary_returns")


def _pairs(key: AliasKey) -> Select[Any]:
    """One row for each champion and canary of the alias: sums of all reports, and the number of the newest."""
    sums = [func.sum(getattr(CanaryResult, name)).label(name) for name in _SUMMED]
    return (
        select(
            func.max(CanaryResult.id).label("newest"),
            func.min(CanaryResult.created_at).label("first_reported_at"),
            func.max(CanaryResult.created_at).label("last_reported_at"),
            *sums,
        )
        .where(CanaryResult.project_id == key.project_id, CanaryResult.game == key.game, CanaryResult.alias == key.name)
        .group_by(CanaryResult.champion_version_id, CanaryResult.canary_version_id)
    )
