"""Names of trials: a trial keeps its former ones, so that scripts, schedules and links by name still find it."""

from __future__ import annotations

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.tables import Trial


def is_named(name: str) -> ColumnElement[bool]:
    """Whether a trial has this name, or had it before it was renamed."""
    return or_(Trial.name == name, Trial.former_names.contains([name]))


def first_name(trial: Trial) -> str:
    """The name it was created with: its folder in TensorBoard and its schedule are named by it."""
    return trial.former_names[0] if trial.former_names else trial.name


def first_names() -> ColumnElement[str]:
    """The same as a column."""
    return func.coalesce(Trial.former_names[1], Trial.name)


def refuse_former_name(session: Session, trial: Trial) -> None:
    """Refuse the name of a new or renamed trial that another one of the project had.

    To be asked after the row is written: the unique name makes a concurrent rename wait, and this then sees it.
    """
    holder = session.scalars(
        select(Trial.name).where(
            Trial.project_id == trial.project_id,
            Trial.id != trial.id,
            Trial.former_names.contains([trial.name]),
        )
    ).first()
    if holder is not None:
        raise Conflict(f"{trial.name!r} is a former name of trial {holder!r}, to which it still leads")
