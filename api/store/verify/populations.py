"""Audits populations: every decision to copy is computed anew from the rows that it read, and compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.forks.at_commit import hyperparameters_at
from api.store.populations.scores import standings_at
from api.store.tables import Decision, Generation, ModelVersion, Player, Trial
from api.store.trials.spec import algorithm_choice, spec_of
from api.store.verify.report import Finding, FindingKind
from league.lifecycle import RESET
from league.populations.selection import COPY
from league.types import Decision as Verdict
from league.types import DecisionKind, PlayerId
from orchestrator.league_rules import GenerationRef
from orchestrator.populations import Member, is_due, judge_copy
from orchestrator.spec import TrialSpec

NUMBERS = ("difference", "error", "p_value")
EXACT = ("donor", "donor_version", "hyperparameters", "changes", "before", "comparisons")


def wrong_populations(session: Session) -> Iterator[Finding]:
    """Decisions that differ from a recomputation, that are missing, or whose copy is not what they decided."""
    trials = session.scalars(
        select(Trial)
        .where(Trial.id.in_(select(Player.trial_id).where(Player.population.is_not(None))))
        .order_by(Trial.id)
    )
    for trial in trials:
        spec = spec_of(trial)
        for player in session.scalars(
            select(Player).where(Player.trial_id == trial.id, Player.population.is_not(None)).order_by(Player.id)
        ):
            yield from _of_member(session, trial, spec, player)


def _of_member(session: Session, trial: Trial, spec: TrialSpec, player: Player) -> Iterator[Finding]:
    subject = f"{player.name} of trial {trial.name}"
    decided = {each.generation: each for each in _decisions(session, player, DecisionKind.POPULATION)}
    for generation in _due(session, spec, player) - decided.keys():
        detail = f"whether it copies another member after generation {generation} was never decided"
        yield Finding(wrong=FindingKind.LOST, subject=subject, detail=detail)
    for decision in decided.values():
        wrong = _difference(decision, _anew(session, trial, spec, player, decision))
        wrong = wrong or _not_carried_out(session, player, decision)
        if wrong is not None:
            place = f"{subject} after generation {decision.generation}"
            yield Finding(wrong=FindingKind.DISAGREEING, subject=place, detail=wrong)


def _due(session: Session, spec: TrialSpec, player: Player) -> set[int]:
    """The generations after which the member must have decided: those that were judged without a reset."""
    assert player.population is not None
    population = spec.league.population(player.population)
    judged = {each.generation for each in _decisions(session, player, DecisionKind.SNAPSHOT)}
    reset = {each.generation for each in _decisions(session, player, DecisionKind.RESET) if each.verdict == RESET}
    recorded = session.scalars(select(Generation.number).where(Generation.player_id == player.id))
    return {number for number in recorded if is_due(population, number)} & judged - reset


def _decisions(session: Session, player: Player, kind: DecisionKind) -> list[Decision]:
    return list(session.scalars(select(Decision).where(Decision.player_id == player.id, Decision.kind == kind)))


def _anew(session: Session, trial: Trial, spec: TrialSpec, player: Player, decision: Decision) -> Verdict:
    evidence = decision.evidence
    assert player.population is not None and decision.generation is not None
    population, commit = spec.league.population(player.population), evidence["as_of_commit"]
    members = [session.get_one(Player, member) for member in evidence["members"]]
    standings = standings_at(
        session, trial, members, population.exploit, commit=commit, fit_id=evidence.get("rating_fit") or NO_FIT
    )
    turn = GenerationRef(
        trial_seed=trial.seed, learner=PlayerId(player.id), name=player.name, generation=decision.generation
    )
    own = hyperparameters_at(session, trial.id, commit)
    read = {each.id: _member(spec, each, own.get(each.id, {}), evidence.get("donor_version", "")) for each in members}
    return judge_copy(population, turn, standings, read)


NO_FIT = "00000000-0000-0000-0000-000000000000"
"""Stands for "there was no fit": a newer one must not be read instead."""


def _member(spec: TrialSpec, player: Player, hyperparameters: Mapping[str, Any], version: str) -> Member:
    algorithm = algorithm_choice({**(player.algorithm or spec.algorithm.to_json()), **hyperparameters})
    return Member(algorithm=algorithm, hyperparameters=hyperparameters, version=version)


def _difference(decision: Decision, anew: Verdict) -> str | None:
    """What differs from the recomputation; None if nothing does."""
    evidence = decision.evidence
    if decision.verdict != anew.verdict:
        return f"it says {decision.verdict}, not {anew.verdict}: {anew.reason}"
    for name in EXACT:
        if evidence.get(name) != anew.evidence.get(name):
            return f"its {name} is {evidence.get(name)}, not {anew.evidence.get(name)}"
    pairs = [(name, evidence.get(name), anew.evidence.get(name)) for name in NUMBERS]
    pairs += [
        (f"score of {stored['name']}", stored["value"], found["value"])
        for stored, found in zip(evidence["scores"], anew.evidence["scores"], strict=False)
    ]
    if len(evidence["scores"]) != len(anew.evidence["scores"]):
        return f"it compares {len(evidence['scores'])} members, not {len(anew.evidence['scores'])}"
    wrong = ((name, stored, found) for name, stored, found in pairs if not _agree(stored, found))
    return next((f"its {name} is {stored}, not {found}" for name, stored, found in wrong), None)


def _agree(stored: float | None, found: float | None) -> bool:
    if stored is None or found is None:
        return stored is found
    return math.isclose(stored, found, rel_tol=1e-6, abs_tol=1e-9)


def _not_carried_out(session: Session, player: Player, decision: Decision) -> str | None:
    if decision.verdict != COPY:
        return None
    version = session.get_one(ModelVersion, decision.version_id)
    donor = session.get_one(ModelVersion, decision.evidence["donor_version"])
    if version.player_id != player.id or version.parent_id != donor.id or version.sha256 != donor.sha256:
        return f"its version {version.id} does not have the weights of {donor.id}"
    if donor.player_id != decision.evidence["donor"] or donor.commit > decision.evidence["as_of_commit"]:
        return f"version {donor.id} was not one of its donor's"
    return None
