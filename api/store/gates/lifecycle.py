"""The life of a gate: a candidate enters, waits, runs and ends. One gate per alias runs at a time.

The games of a gate are recorded in `gates.results`.

See docs/decisions/gates.md.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import AliasMove, GateStatus
from api.schemas.events import GateFinished, GateOpened, GateWaiting
from api.store.aliases.moves import AliasKey, Promotion, lock_alias, move_alias
from api.store.core.clock import now
from api.store.core.decisions import Subject, record_decision
from api.store.core.errors import NotFound
from api.store.core.events import NewEvent
from api.store.core.ids import new_id
from api.store.matches.openings import opening_plies
from api.store.players.versions import other_trial, version_name
from api.store.tables import Alias, Gate, ModelVersion, Player, Trial
from league.gates import Sprt
from league.lifecycle import decide_promotion
from league.seeds import derived_seed
from league.types import Decision as Verdict
from league.types import VersionId
from orchestrator.spec.judgement import GateProbeSpec, GateSpec

CHAMPION = "champion"
"""The alias of a gate whose trial file names none."""
BATCH_PAIRS = 32
"""Pairs of games per batch: the test is evaluated after each batch."""


def alias_key(gate: Gate) -> AliasKey:
    """The alias that a gate is about."""
    return AliasKey(project_id=gate.project_id, game=gate.game, name=gate.alias)


def load_gate(session: Session, gate_id: str, *, locked: bool = False) -> Gate:
    """The gate. With `locked`, no gate of its alias changes until the transaction ends."""
    gate = session.get(Gate, gate_id)
    if gate is None:
        raise NotFound(f"there is no gate {gate_id}")
    if locked:
        lock_alias(session, alias_key(gate))
        session.refresh(gate)
    return gate


def alias_holder(session: Session, key: AliasKey) -> str | None:
    """The version that the alias points at; None if there is no such alias."""
    return session.scalar(
        select(Alias.version_id).where(
            Alias.project_id == key.project_id, Alias.game == key.game, Alias.name == key.name
        )
    )


def sprt_of(gate: Gate) -> Sprt:
    """The gate's test, at the alpha that this candidate may spend."""
    return _sprt(gate, gate.alpha)


def enter_candidate(
    session: Session, trial: Trial, version: ModelVersion, rule: GateSpec, *, alias: str
) -> tuple[Gate, list[NewEvent]]:
    """A gate for a new candidate. It passes unopposed if the alias has no holder, runs if no other does, else waits."""
    key = AliasKey(project_id=trial.project_id, game=trial.game, name=alias)
    lock_alias(session, key)
    gate = _new_gate(session, trial, version, rule, key)
    champion = alias_holder(session, key)
    if champion is None:
        return gate, _promote_unopposed(session, gate)
    if _in_status(session, key, GateStatus.RUNNING) is None:
        session.add(gate)
        return gate, [start_gate(session, gate, champion)]
    events = []
    waiting = _in_status(session, key, GateStatus.WAITING)
    if waiting is not None:
        events.append(supersede(session, waiting, "a newer candidate took its place while it waited"))
    session.add(gate)
    session.flush()
    return gate, [*events, NewEvent(trial_id=gate.trial_id, payload=GateWaiting(**gate_payload(session, gate)))]


def start_gate(session: Session, gate: Gate, champion_version_id: str, *, after: Gate | None = None) -> NewEvent:
    """Start a gate against the present champion, with what is left of the champion's error budget."""
    number = 1 + _candidates_tried(session, alias_key(gate), champion_version_id)
    test = _sprt(gate, gate.settings["alpha"]).for_candidate(number)
    moment = now(session)
    gate.alpha = test.alpha
    gate.lower_bound, gate.upper_bound = test.bounds
    gate.champion_version_id = champion_version_id
    gate.status = GateStatus.RUNNING
    gate.started_at = moment
    gate.settings = {**gate.settings, "candidate_number": number}
    gate.opened_after_id = None if after is None else after.id
    session.flush()
    return NewEvent(trial_id=gate.trial_id, payload=GateOpened(**gate_payload(session, gate)))


def start_waiting_gate(session: Session, after: Gate) -> tuple[Gate | None, list[NewEvent]]:
    """Start the waiting candidate's gate after another one has ended."""
    key = alias_key(after)
    waiting = _in_status(session, key, GateStatus.WAITING)
    champion = alias_holder(session, key)
    if waiting is None or champion is None:
        return None, []
    if waiting.candidate_version_id == champion:
        return None, [supersede(session, waiting, "the candidate holds the alias already")]
    return waiting, [start_gate(session, waiting, champion, after=after)]


def reopen_gate(session: Session, gate: Gate) -> tuple[Gate | None, list[NewEvent]]:
    """A new gate for the same candidate against the present champion; the old one must have ended as invalid."""
    champion = alias_holder(session, alias_key(gate))
    if champion is None or champion == gate.candidate_version_id:
        return None, []
    again = _copy(gate)
    session.add(again)
    return again, [start_gate(session, again, champion, after=gate)]


def end_gate(session: Session, gate: Gate, status: GateStatus, reason: str) -> NewEvent:
    """End a gate; returns its event."""
    moment = now(session)
    gate.status, gate.status_reason, gate.finished_at = status, reason, moment
    session.flush()
    return NewEvent(
        trial_id=gate.trial_id, payload=GateFinished(**gate_payload(session, gate), status=status, reason=reason)
    )


def supersede(session: Session, gate: Gate, reason: str) -> NewEvent:
    """End a waiting gate that will never run."""
    return end_gate(session, gate, GateStatus.SUPERSEDED, reason)


def record_promotion(session: Session, gate: Gate, verdict: Verdict) -> None:
    """Record the gate's decision."""
    candidate = session.get_one(ModelVersion, gate.candidate_version_id)
    subject = Subject(trial_id=gate.trial_id, player_id=candidate.player_id, version_id=candidate.id, gate_id=gate.id)
    record_decision(session, subject, verdict)


def promote(session: Session, gate: Gate, verdict: Verdict) -> None:
    """Move the alias to the gate's candidate, with the evidence attached."""
    promotion = Promotion(
        reason=verdict.reason,
        actor=f"gate {gate.id}",
        move=AliasMove.PROMOTED,
        gate_id=gate.id,
        evidence=verdict.evidence,
    )
    move_alias(session, alias_key(gate), gate.candidate_version_id, promotion)


def gate_payload(session: Session, gate: Gate) -> dict[str, Any]:
    """The fields that every event about a gate has."""
    champion = gate.champion_version_id
    home = None if champion is None else other_trial(session, champion, than=gate.trial_id)
    return {
        "gate_id": gate.id,
        "alias": gate.alias,
        "candidate_version_id": gate.candidate_version_id,
        "candidate": version_name(session, gate.candidate_version_id),
        "champion_version_id": champion,
        "champion": None if champion is None else version_name(session, champion),
        "champion_trial_id": None if home is None else home.id,
        "champion_trial": None if home is None else home.name,
        "pairs": gate.pairs,
        "llr": gate.llr,
    }


def _sprt(rule: Gate | GateSpec, alpha: float) -> Sprt:
    """The test of a gate, or of the rule that gates are made by, at this alpha."""
    return Sprt(elo0=rule.elo0, elo1=rule.elo1, alpha=alpha, beta=rule.beta, max_pairs=rule.max_pairs, model=rule.model)


def _new_gate(session: Session, trial: Trial, version: ModelVersion, rule: GateSpec, key: AliasKey) -> Gate:
    lower, upper = _sprt(rule, rule.alpha).bounds
    player = session.get_one(Player, version.player_id)
    return Gate(
        id=new_id(),
        project_id=key.project_id,
        trial_id=trial.id,
        game=key.game,
        alias=key.name,
        candidate_version_id=version.id,
        status=GateStatus.WAITING,
        elo0=rule.elo0,
        elo1=rule.elo1,
        alpha=rule.alpha,
        beta=rule.beta,
        lower_bound=lower,
        upper_bound=upper,
        max_pairs=rule.max_pairs,
        seed=derived_seed(trial.seed, player.name, "gate", key.name),
        settings={
            "alpha": rule.alpha,
            "model": rule.model,
            "batch_pairs": BATCH_PAIRS,
            "opening_plies": opening_plies(trial),
            "panel": None if rule.panel is None else rule.panel.to_json(),
            "probe": None if rule.probe is None else rule.probe.to_json(),
            "search": rule.search,
        },
        pairs=0,
        pentanomial=[0, 0, 0, 0, 0],
        llr=0.0,
    )


def _copy(gate: Gate) -> Gate:
    same = ("project_id", "trial_id", "game", "alias", "candidate_version_id", "elo0", "elo1", "beta", "max_pairs")
    return Gate(
        id=new_id(),
        **{name: getattr(gate, name) for name in same},
        status=GateStatus.WAITING,
        alpha=gate.settings["alpha"],
        lower_bound=gate.lower_bound,
        upper_bound=gate.upper_bound,
        seed=derived_seed(gate.seed, "again"),
        settings={"model": gate.model, "panel": _panel_rule(gate), "search": gate.settings.get("search")}
        | {"probe": _probe_rule(gate)}
        | {name: gate.settings[name] for name in ("alpha", "batch_pairs", "opening_plies")},
        pairs=0,
        pentanomial=[0, 0, 0, 0, 0],
        llr=0.0,
    )


def _panel_rule(gate: Gate) -> dict[str, Any] | None:
    """The panel as the trial file asks for it, without the members that this gate met."""
    panel = gate.settings.get("panel")
    return None if panel is None else {name: panel[name] for name in ("past_holders", "mixture")}


def _probe_rule(gate: Gate) -> dict[str, Any] | None:
    """The probe as the trial file asks for it, without the probes that this gate opened."""
    probe = gate.settings.get("probe")
    return None if probe is None else {name: probe[name] for name in GateProbeSpec.model_fields}


def _promote_unopposed(session: Session, gate: Gate) -> list[NewEvent]:
    verdict = decide_promotion(candidate=VersionId(gate.candidate_version_id), champion=None, verdict=None)
    gate.started_at = now(session)
    gate.status, gate.status_reason, gate.finished_at = GateStatus.PASSED, verdict.reason, gate.started_at
    session.add(gate)
    session.flush()
    record_promotion(session, gate, verdict)
    promote(session, gate, verdict)
    finished = GateFinished(**gate_payload(session, gate), status=GateStatus.PASSED, reason=verdict.reason)
    return [NewEvent(trial_id=gate.trial_id, payload=finished)]


def _in_status(session: Session, key: AliasKey, status: GateStatus) -> Gate | None:
    return session.scalars(
        select(Gate)
        .where(Gate.project_id == key.project_id, Gate.game == key.game, Gate.alias == key.name, Gate.status == status)
        .execution_options(populate_existing=True)
    ).one_or_none()


def _candidates_tried(session: Session, key: AliasKey, champion_version_id: str) -> int:
    """The number of candidates that have played against this champion: each has spent its part of alpha."""
    return session.scalars(
        select(func.count())
        .select_from(Gate)
        .where(
            Gate.project_id == key.project_id,
            Gate.game == key.game,
            Gate.alias == key.name,
            Gate.champion_version_id == champion_version_id,
            Gate.pairs > 0,
        )
    ).one()
