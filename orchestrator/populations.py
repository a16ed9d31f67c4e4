"""What a population decides, by its trial file: values in, values out. The store and a league in memory share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from league.populations.exploration import Change, explore, first_values
from league.populations.selection import COPY, Standings, decide_copy
from league.seeds import derived_seed
from league.types import Decision
from orchestrator.league_rules import GenerationRef
from orchestrator.spec import TrialSpec
from orchestrator.spec.algorithms.choice import AlgorithmChoice
from orchestrator.spec.components import Choice
from orchestrator.spec.population import PopulationSpec, value_of

_ALGORITHM: TypeAdapter[Choice] = TypeAdapter(AlgorithmChoice)


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member that may be copied: its algorithm, and which of its options are its own."""

    algorithm: Choice
    """With its own hyperparameters merged in."""
    hyperparameters: Mapping[str, Any]
    version: str
    """The version that a copy takes over."""


def first_hyperparameters(spec: TrialSpec) -> dict[str, dict[str, Any]]:
    """The own hyperparameters that each member of a population starts with, by the member's name."""
    found: dict[str, dict[str, Any]] = {}
    for player in spec.league.players:
        if player.population is None:
            continue
        rules = player.population.explorations(player.algorithm or spec.algorithm)
        drawn = first_values(rules, player.population.size, derived_seed(spec.seed, player.name, "population"))
        found |= {member.name: own for member, own in zip(player.members, drawn, strict=True)}
    return found


def is_due(population: PopulationSpec, generation: int) -> bool:
    """Whether a member decides after this generation."""
    return generation % population.every_generations == 0


def judge_copy(
    population: PopulationSpec, turn: GenerationRef, standings: Standings, members: Mapping[str, Member]
) -> Decision:
    """Decide whether the member copies another, and with which hyperparameters it goes on then."""
    verdict = decide_copy(population.exploit.rule, standings, member=turn.learner, seed=turn.seed("exploit"))
    if verdict.verdict != COPY:
        return verdict
    donor = members[verdict.evidence["donor"]]
    rules = population.explorations(donor.algorithm)
    values = {name: value_of(donor.algorithm, name) for name in rules}
    changes = explore(rules, values, turn.seed("explore"))
    hyperparameters, problem = _varied(donor, changes)
    evidence = {
        **verdict.evidence,
        "donor_version": donor.version,
        "before": dict(members[turn.learner].hyperparameters),
        "changes": {name: asdict(change) for name, change in changes.items()},
        "hyperparameters": hyperparameters,
        "unchanged_because": problem,
    }
    words = "with its hyperparameters unchanged" if problem else _in_words(changes)
    return replace(verdict, reason=f"{verdict.reason}; {words}", evidence=evidence)


def _varied(donor: Member, changes: Mapping[str, Change]) -> tuple[dict[str, Any], str | None]:
    """The donor's hyperparameters with the changes; without them, and the reason, where options then contradict."""
    varied = {**donor.hyperparameters, **{name: change.after for name, change in changes.items()}}
    try:
        _ALGORITHM.validate_python({**donor.algorithm.to_json(), **varied})
    except ValidationError as error:
        return dict(donor.hyperparameters), str(error.errors(include_url=False)[0]["msg"])
    return varied, None


def _in_words(changes: Mapping[str, Change]) -> str:
    return ", ".join(
        f"{name} {change.before:.4g} → {change.after:.4g} ({change.how})" for name, change in changes.items()
    )
