"""The games of a gate: recorded in batches until the test decides or an operator stops the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import GateStatus
from api.schemas.events import GateProgress
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.gates.lifecycle import (
    alias_holder,
    alias_key,
    end_gate,
    gate_payload,
    load_gate,
    promote,
    record_promotion,
    reopen_gate,
    sprt_of,
    start_waiting_gate,
)
from api.store.gates.panel import (
    PANEL,
    contenders,
    count_batch,
    members_of,
    next_batch,
    open_panel,
    panel_verdicts,
    plays_alone,
)
from api.store.gates.probing import (
    PROBE,
    is_probing,
    no_result,
    open_probes,
    probed_candidate,
    probes_are_over,
    stop_probes,
)
from api.store.matches.openings import with_openings_played
from api.store.matches.scoring import Contest, longest_opening, match_row, pentanomial, score_games
from api.store.tables import Gate, GateBatch, Match, ModelVersion, Player, Trial
from league.gates import SprtStatus
from league.lifecycle import KEEP, PROMOTE, decide_by_panel, decide_by_probe, decide_promotion, without_panel
from league.seeds import derived_seed
from league.types import Decision, DecisionKind, VersionId
from orchestrator.contracts.play import PlayedGame

_ENDS = {
    SprtStatus.PASSED: GateStatus.PASSED,
    SprtStatus.FAILED: GateStatus.FAILED,
    SprtStatus.INCONCLUSIVE: GateStatus.EXHAUSTED,
}


@dataclass(frozen=True, kw_only=True)
class GateState:
    """The state of a gate and the batch to play next; 0 pairs once the gate is over."""

    gate: Gate
    trial: Trial
    next_batch: int
    pairs: int
    seed: int
    contenders: tuple[tuple[Player, ModelVersion], ...]
    successor: Gate | None
    probing: bool = False
    """Whether the gate waits for its probes."""


def gate_state(session: Session, gate_id: str) -> GateState:
    """The present state of a gate."""
    return _state(session, load_gate(session, gate_id))


def record_gate_batch(session: Session, gate_id: str, batch: int, games: Sequence[PlayedGame]) -> GateState:
    """Record a batch and evaluate the test. A batch that is recorded already, or comes too late, changes nothing."""
    gate = load_gate(session, gate_id, locked=True)
    recorded = _batches(session, gate)
    if gate.status is not GateStatus.RUNNING or batch <= recorded or is_probing(gate):
        return _state(session, gate)
    if batch != recorded + 1:
        raise Conflict(f"batch {batch} of gate {gate_id} cannot follow batch {recorded}")
    if alias_holder(session, alias_key(gate)) != gate.champion_version_id:
        append_events(session, _champion_changed(session, gate))
        return _state(session, gate)
    plan = next_batch(gate)
    found = score_games(games, _pairs_of_next(gate))
    if plan is None:
        over = _count(session, gate, batch, found)
    else:
        count_batch(session, gate, batch, plan, found)
        over = next_batch(gate) is None
    member = None if plan is None else members_of(gate)[plan.member]["name"]
    progress = GateProgress(**gate_payload(session, gate), batch=batch, member=member)
    events = [NewEvent(trial_id=gate.trial_id, payload=progress)]
    if over:
        events += _conclude(session, gate)
    append_events(session, events)
    return _state(session, gate)


def judge_gate_probe(session: Session, gate_id: str) -> GateState:
    """Decide a gate whose probes are over; one that waits for them, or is over, stays as it is."""
    gate = load_gate(session, gate_id, locked=True)
    if gate.status is not GateStatus.RUNNING or not is_probing(gate):
        return _state(session, gate)
    if alias_holder(session, alias_key(gate)) != gate.champion_version_id:
        append_events(session, _champion_changed(session, gate))
    elif reason := no_result(session, gate):
        append_events(session, [_invalidate(session, gate, reason), *start_waiting_gate(session, gate)[1]])
    elif probes_are_over(session, gate):
        append_events(session, _conclude(session, gate))
    return _state(session, gate)


def stop_gate(session: Session, gate_id: str, reason: str) -> GateState:
    """Stop a gate as invalid; a gate that is over stays as it is."""
    gate = load_gate(session, gate_id, locked=True)
    if gate.status in (GateStatus.RUNNING, GateStatus.WAITING):
        ran = gate.status is GateStatus.RUNNING
        events = [_invalidate(session, gate, reason)]
        if ran:
            events += start_waiting_gate(session, gate)[1]
        append_events(session, events)
    return _state(session, gate)


def stop_waiting_gate(session: Session, gate_id: str, reason: str) -> bool:
    """Stop a waiting gate as invalid; False if it is not waiting: then its workflow must stop it."""
    gate = load_gate(session, gate_id, locked=True)
    if gate.status is not GateStatus.WAITING:
        return False
    append_events(session, [_invalidate(session, gate, reason)])
    return True


def _batches(session: Session, gate: Gate) -> int:
    return session.scalars(select(func.count()).where(GateBatch.gate_id == gate.id)).one()


def _pairs_of_next(gate: Gate) -> int:
    plan = next_batch(gate)
    if plan is not None:
        return plan.pairs
    return int(min(gate.settings["batch_pairs"], gate.max_pairs - gate.pairs))


def _count(session: Session, gate: Gate, batch: int, found: list[Contest]) -> bool:
    """Record a batch against the champion; True if the gate is over, False if it goes on, perhaps with its panel."""
    counts = [before + more for before, more in zip(gate.pentanomial, pentanomial(found), strict=True)]
    verdict = sprt_of(gate).judge(counts)
    pairs = sum(counts) - gate.pairs
    gate.settings = with_openings_played(gate.settings, longest_opening(found))
    gate.pentanomial, gate.pairs, gate.llr = counts, sum(counts), verdict.llr
    session.flush()
    session.execute(
        insert(GateBatch).values(gate_id=gate.id, number=batch, pairs=pairs, pentanomial=counts, llr=verdict.llr)
    )
    candidate = session.get_one(ModelVersion, gate.candidate_version_id)
    champion = session.get_one(ModelVersion, gate.champion_version_id)
    session.execute(
        insert(Match),
        [
            match_row(
                contest,
                candidate,
                champion,
                gate_id=gate.id,
                trial_id=gate.trial_id,
                round=batch,
                pair=contest.pair,
            )
            for contest in found
        ],
    )
    if verdict.status is SprtStatus.PASSED:
        return not open_panel(session, gate, alias_key(gate))
    return verdict.status is not SprtStatus.RUNNING


def _conclude(session: Session, gate: Gate) -> list[NewEvent]:
    """Record the decision, move the alias on a pass, and start the waiting candidate's gate; or open the probes."""
    verdict = sprt_of(gate).judge(gate.pentanomial)
    decision = decide_promotion(
        candidate=VersionId(gate.candidate_version_id),
        champion=None if gate.champion_version_id is None else VersionId(gate.champion_version_id),
        verdict=verdict,
    )
    panel = panel_verdicts(gate)
    if panel:
        decision = decide_by_panel(decision, panel)
    elif gate.settings.get(PANEL) is not None and decision.verdict == PROMOTE and plays_alone(session, gate):
        decision = without_panel(decision)
    if decision.verdict == PROMOTE and gate.settings.get(PROBE) is not None and not plays_alone(session, gate):
        if not is_probing(gate):
            return open_probes(session, gate)
        decision = decide_by_probe(decision, probed_candidate(session, gate))
    status = _ENDS[verdict.status]
    if (panel or is_probing(gate)) and decision.verdict != PROMOTE:
        status = GateStatus.FAILED
    events = [end_gate(session, gate, status, decision.reason)]
    record_promotion(session, gate, decision)
    if status is GateStatus.PASSED:
        promote(session, gate, decision)
    return events + start_waiting_gate(session, gate)[1]


def _champion_changed(session: Session, gate: Gate) -> list[NewEvent]:
    """The alias was moved: a pass against the old champion says nothing about the present one."""
    events = [_invalidate(session, gate, "the champion was changed while the gate ran")]
    successor, opened = start_waiting_gate(session, gate)
    if successor is None:
        opened += reopen_gate(session, gate)[1]
    return events + opened


def _invalidate(session: Session, gate: Gate, reason: str) -> NewEvent:
    verdict = sprt_of(gate).judge(gate.pentanomial, stopped_by_operator=True)
    evidence = {
        "candidate": gate.candidate_version_id,
        "champion": gate.champion_version_id,
        "counts": list(verdict.counts),
        "llr": verdict.llr,
        "status": GateStatus.INVALID.value,
    }
    stop_probes(session, gate, reason)
    event = end_gate(session, gate, GateStatus.INVALID, reason)
    decision = Decision(
        kind=DecisionKind.PROMOTION, verdict=KEEP, reason=f"the gate proves nothing: {reason}", evidence=evidence
    )
    record_promotion(session, gate, decision)
    return event


def _state(session: Session, gate: Gate) -> GateState:
    batch = _batches(session, gate) + 1
    running, probing = gate.status is GateStatus.RUNNING, gate.status is GateStatus.RUNNING and is_probing(gate)
    plan = next_batch(gate) if running else None
    return GateState(
        gate=gate,
        trial=session.get_one(Trial, gate.trial_id),
        next_batch=batch,
        pairs=_pairs_of_next(gate) if running and not probing else 0,
        seed=derived_seed(gate.seed, batch) if plan is None else plan.seed,
        contenders=_contenders(session, gate) if plan is None else contenders(session, gate, plan),
        successor=_successor(session, gate),
        probing=probing,
    )


def _contenders(session: Session, gate: Gate) -> tuple[tuple[Player, ModelVersion], ...]:
    """The candidate, then the champion if there is one."""
    sides = [side for side in (gate.candidate_version_id, gate.champion_version_id) if side is not None]
    versions = [session.get_one(ModelVersion, side) for side in sides]
    return tuple((session.get_one(Player, version.player_id), version) for version in versions)


def _successor(session: Session, gate: Gate) -> Gate | None:
    """The running gate that was opened by the end of this one."""
    return session.scalars(
        select(Gate).where(Gate.opened_after_id == gate.id, Gate.status == GateStatus.RUNNING)
    ).one_or_none()
