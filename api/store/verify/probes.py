"""Audits probes: their responders' trials, and every result from the recorded games."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import ProbeStatus
from api.store.probes.advance import trials_of
from api.store.probes.results import measured
from api.store.tables import Probe
from api.store.verify.report import Finding, FindingKind
from league.probes import best_responder

TOLERANCE = 1e-9


def wrong_probes(session: Session) -> Iterator[Finding]:
    """Completed probes whose trials or results differ from a recomputation."""
    for probe in session.scalars(select(Probe).where(Probe.status == ProbeStatus.COMPLETED).order_by(Probe.id)):
        yield from _wrong(session, probe)


def _wrong(session: Session, probe: Probe) -> Iterator[Finding]:
    subject, listed = f"probe {probe.id}", probe.results["responders"]
    trials = trials_of(session, probe.id)
    if not (len(trials) == len(listed) == probe.spec["responders"]):
        detail = f"it has {len(trials)} trials and {len(listed)} results; it has {probe.spec['responders']} responders"
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail=detail)
        return
    found = measured(session, probe, [(each["name"], each["steps"], each["version_id"]) for each in listed])
    for recorded, again in zip(listed, found, strict=True):
        if not _alike(recorded, again.to_json()):
            detail = f"{recorded['name']}: {again.to_json()}, not {recorded}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)
    best = found[best_responder([each.exploited for each in found])].exploited
    numbers = {"win_rate": probe.win_rate, "low": probe.low, "high": probe.high}
    if not _alike(numbers, {"win_rate": best.win_rate, "low": best.low, "high": best.high}):
        detail = f"the best responder reached {best.win_rate}, {best.low} to {best.high}, not {numbers}"
        yield Finding(wrong=FindingKind.DISAGREEING, subject=subject, detail=detail)


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(a == b)
