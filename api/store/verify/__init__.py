"""The audit: recomputes payoffs, ratings and counts from the recorded games, and compares."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session

from api.schemas.enums import TrialKind
from api.store.core.engine import snapshot_factory
from api.store.tables import (
    Gate,
    Generation,
    Match,
    Metric,
    ModelVersion,
    Payoff,
    Player,
    Probe,
    PrunedVersion,
    RatingFit,
    Sweep,
    SweepDecision,
    SweepValue,
    Tally,
    Trial,
)
from api.store.verify.aliases import wrong_aliases, wrong_canaries
from api.store.verify.commits import wrong_commits
from api.store.verify.files import referenced_files, wrong_files
from api.store.verify.games import wrong_games
from api.store.verify.generations import wrong_generations
from api.store.verify.payoffs import wrong_payoffs
from api.store.verify.populations import wrong_populations
from api.store.verify.probes import wrong_probes
from api.store.verify.ratings import wrong_ratings
from api.store.verify.report import AuditReport, Finding, FindingKind
from api.store.verify.rows import orphaned_rows
from api.store.verify.sweeps import wrong_sweeps
from orchestrator.storage.artifacts import ArtifactStore

__all__ = ["AuditReport", "Finding", "FindingKind", "audit", "wrong_rows"]

_CHECKS = (
    wrong_commits,
    wrong_generations,
    wrong_payoffs,
    wrong_games,
    wrong_aliases,
    wrong_canaries,
    wrong_ratings,
    wrong_populations,
    wrong_sweeps,
    wrong_probes,
)

_COUNTED = {
    "players": Player,
    "versions": ModelVersion,
    "pruned_versions": PrunedVersion,
    "generations": Generation,
    "tallies": Tally,
    "payoff_cells": Payoff,
    "matches": Match,
    "gates": Gate,
    "rating_fits": RatingFit,
    "sweeps": Sweep,
    "probes": Probe,
    "sweep_values": SweepValue,
    "sweep_decisions": SweepDecision,
}

_TRIALS = select(func.count()).select_from(Trial).where(Trial.kind == TrialKind.LEAGUE)
"""Trials that somebody started: those that hold the bots of a project are in no list, and are not counted either."""
_PRUNED_MATCHES = select(func.count()).select_from(Match).where(Match.moves_pruned_at.is_not(None))
"""Matches without their moves: everything is recomputed from results, so nothing is amiss."""
_INEXACT = select(func.count()).select_from(Metric).where(Metric.name == "exact", Metric.value == 0)
"""Generations that another run from the same checkpoint would not repeat bit for bit: no finding, but worth knowing."""


def audit(engine: Engine, artifacts: ArtifactStore) -> AuditReport:
    """Recompute payoffs, ratings and counts of all trials and check every file. Safe while leagues run."""
    # one snapshot of the database, so that concurrent commits are seen completely or not at all
    with snapshot_factory(engine)() as session:
        counts = {"trials": session.scalar(_TRIALS) or 0}
        for name, model in _COUNTED.items():
            counts[name] = session.scalar(select(func.count()).select_from(model)) or 0
        counts["pruned_matches"] = session.scalar(_PRUNED_MATCHES) or 0
        counts["inexact_generations"] = session.scalar(_INEXACT) or 0
        findings = list(wrong_rows(session))
        referenced = referenced_files(session)
    findings += wrong_files(artifacts, referenced)
    kept = {checkpoint.sha256 for checkpoint in referenced}
    garbage = sum(stored.sha256 not in kept for stored in artifacts.stored())
    return AuditReport(counts={**counts, "files": len(kept)}, garbage=garbage, findings=tuple(findings))


def wrong_rows(session: Session) -> Iterator[Finding]:
    """All findings in the rows that this transaction sees."""
    orphans = list(orphaned_rows(session))
    yield from orphans
    for check in _CHECKS:
        try:
            yield from check(session)
        except (KeyError, NoResultFound):
            if not orphans:
                raise
            detail = "it could not be finished, because rows miss their parents"
            yield Finding(wrong=FindingKind.ORPHANED, subject=f"the search for {check.__name__}", detail=detail)
