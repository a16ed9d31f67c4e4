"""The probes of a gate: of a candidate that passed all else, and of the champion where the two are compared.

Which probes they are is kept in the gate's settings. They are ordinary probes: the API starts their workflows, and the
gate only waits for them. See docs/guides/probes.md.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import ProbeStatus
from api.store.core.events import NewEvent
from api.store.probes.advance import stop_probe
from api.store.probes.create import add_version_probe
from api.store.tables import Gate, Probe
from league.gates import Exploitation
from league.lifecycle import ProbedCandidate
from league.seeds import derived_seed
from orchestrator.spec.judgement import GateProbeSpec
from orchestrator.spec.probe import NewProbeSpec, ProbeSpec

PROBE = "probe"
_USABLE = (ProbeStatus.PENDING, ProbeStatus.RUNNING, ProbeStatus.COMPLETED)


def is_probing(gate: Gate) -> bool:
    """Whether the gate has opened its probes."""
    return "candidate" in (gate.settings.get(PROBE) or {})


def open_probes(session: Session, gate: Gate) -> list[NewEvent]:
    """Probe the candidate, and the champion where the gate compares them; a probe of the same budget is used again."""
    rule = gate.settings[PROBE]
    asked = {"candidate": gate.candidate_version_id}
    if rule["margin"] is not None and gate.champion_version_id is not None:
        asked["champion"] = gate.champion_version_id
    probes, made, events = {}, [], []
    for side, version in asked.items():
        known = _of_version(session, version, rule)
        if known is None:
            probe, event = add_version_probe(session, version, _budget(gate, rule, side))
            made.append(probe.id)
            events.append(event)
        probes[side] = probe.id if known is None else known
    gate.settings = {**gate.settings, PROBE: {**rule, **probes, "opened": made}}
    session.flush()
    return events


def probes_are_over(session: Session, gate: Gate) -> bool:
    """Whether every probe of the gate has ended."""
    return all(probe.status.is_final for probe in _probes(session, gate).values())


def no_result(session: Session, gate: Gate) -> str | None:
    """Why the gate cannot be decided: a probe that it depends on ended without a result."""
    if not _rule(gate).decides:
        return None
    for side, probe in _probes(session, gate).items():
        if probe.status.is_final and probe.status is not ProbeStatus.COMPLETED:
            return f"the probe of its {side} is {probe.status}: {probe.status_reason or 'no reason given'}"
    return None


def probed_candidate(session: Session, gate: Gate) -> ProbedCandidate:
    """What the probes found, for the decision."""
    rule, probes = _rule(gate), _probes(session, gate)
    return ProbedCandidate(
        candidate=_found(probes.get("candidate")),
        champion=_found(probes.get("champion")),
        limit=rule.limit,
        margin=rule.margin,
        why=probes["candidate"].status_reason or "",
    )


def stop_probes(session: Session, gate: Gate, reason: str) -> None:
    """Stop the probes that the gate itself opened."""
    for probe in (gate.settings.get(PROBE) or {}).get("opened", []):
        stop_probe(session, probe, f"its gate ended: {reason}")


def _rule(gate: Gate) -> GateProbeSpec:
    return GateProbeSpec.model_validate({name: gate.settings[PROBE][name] for name in GateProbeSpec.model_fields})


def _probes(session: Session, gate: Gate) -> dict[str, Probe]:
    """The probe of each side."""
    kept = gate.settings[PROBE]
    return {side: session.get_one(Probe, kept[side]) for side in ("candidate", "champion") if side in kept}


def _budget(gate: Gate, rule: dict[str, Any], side: str) -> NewProbeSpec:
    same = {name: rule[name] for name in ProbeSpec.model_fields}
    return NewProbeSpec(**same, seed=derived_seed(gate.seed, "probe", side))


def _of_version(session: Session, version_id: str, rule: dict[str, Any]) -> str | None:
    """The newest probe of the version with the gate's budget that has, or will have, a result."""
    same = [Probe.spec[name].as_integer() == rule[name] for name in ProbeSpec.model_fields]
    query = select(Probe.id).where(Probe.version_id == version_id, Probe.status.in_(_USABLE), *same)
    return session.scalars(query.order_by(Probe.id.desc()).limit(1)).one_or_none()


def _found(probe: Probe | None) -> Exploitation | None:
    if probe is None or probe.win_rate is None or probe.low is None or probe.high is None:
        return None
    return Exploitation(win_rate=probe.win_rate, low=probe.low, high=probe.high)
