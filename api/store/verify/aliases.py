"""Audits aliases: each points where its history ends; and the tests of canaries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.store.aliases.canaries import judge_canary, sprt_of
from api.store.aliases.moves import AliasKey, alias_history
from api.store.tables import Alias, AliasEvent, CanaryResult, Gate
from api.store.verify.report import Finding, FindingKind


def wrong_aliases(session: Session) -> Iterator[Finding]:
    """Aliases that disagree with their history, and passed gates that moved no alias."""
    for alias in session.scalars(select(Alias)):
        subject = f"alias {alias.name} of {alias.game}"
        history = alias_history(session, AliasKey(project_id=alias.project_id, game=alias.game, name=alias.name))
        if [event.revision for event in history] != list(range(1, alias.revision + 1)):
            yield Finding(wrong=FindingKind.LOST, subject=subject, detail=f"moves are missing up to {alias.revision}")
        elif history[-1].to_version_id != alias.version_id:
            detail = f"it points at {alias.version_id}, its history ends at {history[-1].to_version_id}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    unmoved = (
        select(Gate.id)
        .outerjoin(AliasEvent, AliasEvent.gate_id == Gate.id)
        .where(Gate.status == GateStatus.PASSED, AliasEvent.id.is_(None))
    )
    for gate_id in session.scalars(unmoved):
        yield Finding(wrong=FindingKind.LOST, subject=f"gate {gate_id}", detail="it passed, and its alias never moved")


def wrong_canaries(session: Session) -> Iterator[Finding]:
    """Reports of canaries whose test differs from a recomputation over all reports before them."""
    pair = CanaryResult.alias, CanaryResult.champion_version_id, CanaryResult.canary_version_id
    rows = session.scalars(select(CanaryResult).order_by(*pair, CanaryResult.id))
    for (alias, champion, canary), reports in groupby(rows, _pair):
        test, counts = sprt_of(session, canary), [0, 0, 0]
        last: CanaryResult | None = None
        for report in reports:
            counts = [a + b for a, b in zip(counts, (report.losses, report.draws, report.wins), strict=True)]
            llr, status = judge_canary(test, counts, last)
            if not math.isclose(llr, report.llr, rel_tol=1e-6, abs_tol=1e-9) or status is not report.status:
                yield Finding(
                    wrong=FindingKind.DISAGREEING,
                    subject=f"canary {canary} beside {champion} of alias {alias}",
                    detail=f"report {report.report_id} says {report.status} at {report.llr}, not {status} at {llr}",
                )
            last = report


def _pair(report: CanaryResult) -> tuple[str, str, str]:
    return report.alias, report.champion_version_id, report.canary_version_id
