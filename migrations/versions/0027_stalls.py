"""Stalls join the index of the events that tell what went wrong."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

NAME = "ix_events_rare"
BEFORE = (
    "generation_retried",
    "evaluation_retried",
    "evaluation_dropped",
    "gate_retried",
    "weights_retried",
    "pairing.retried",
    "checkpoint.damaged",
    "tournament.withdrawn",
    "schedule.failed",
    "workflow.restarted",
)


def upgrade() -> None:
    _index((*BEFORE, "trial.stalled", "trial.status"))


def downgrade() -> None:
    _index((*BEFORE, "trial.status"))


def _index(kinds: tuple[str, ...]) -> None:
    op.drop_index(NAME, table_name="events")
    rare = ", ".join(repr(kind) for kind in kinds)
    op.create_index(NAME, "events", ["trial_id", "id"], postgresql_where=sa.text(f"type IN ({rare})"))
