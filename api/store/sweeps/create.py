"""Creates a sweep; its workflow creates the trials."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.events import SweepCreated
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.sweeps.rows import trial_name
from api.store.tables import Sweep, Trial
from api.store.trials.code_of_trials import inherited_code
from api.store.trials.projects import ensure_project
from orchestrator.spec.code_names import CodeName
from orchestrator.spec.sweeps.sweep import SweepSpec
from orchestrator.spec.trial import TrialSpec


def create_sweep(session: Session, *, project: str, name: str, spec: SweepSpec) -> Sweep:
    """A pending sweep without trials; the caller starts its workflow."""
    project_id = ensure_project(session, project)
    names = [trial_name(name, number) for number in range(spec.trial_count)]
    taken = session.scalar(
        select(Trial.name)
        .where(Trial.project_id == project_id, or_(Trial.name.in_(names), Trial.former_names.overlap(names)))
        .order_by(Trial.name)
        .limit(1)
    )
    if taken is not None:
        raise Conflict(f"project {project!r} has trial {taken!r}, which is or was named as one of the sweep would be")
    sweep_id = session.scalar(
        upsert(Sweep)
        .values(id=new_id(), project_id=project_id, name=name, spec=spec.to_json())
        .on_conflict_do_nothing(index_elements=[Sweep.project_id, Sweep.name])
        .returning(Sweep.id)
    )
    if sweep_id is None:
        raise Conflict(f"project {project!r} already has a sweep named {name!r}")
    payload = SweepCreated(
        sweep_id=sweep_id, project_id=project_id, name=name, method=spec.method, trials=spec.trial_count
    )
    append_events(session, [NewEvent(payload=payload)])
    return session.get_one(Sweep, sweep_id)


def code_of_weights(session: Session, trials: Iterable[TrialSpec]) -> list[CodeName]:
    """The code of the algorithms that the weights come from which any of these trials starts from."""
    # rows that are never added: the trials do not exist yet
    rows = [Trial(id=new_id(), spec=spec.to_json()) for spec in trials]
    return [name for row in rows for name in inherited_code(session, row)]
