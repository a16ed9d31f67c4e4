"""An index of the events that tell what went wrong, and of changes of status: few among very many."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

NAME = "ix_events_rare"
KINDS = (
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
    "trial.status",
)


def upgrade() -> None:
    rare = ", ".join(repr(kind) for kind in KINDS)
    op.create_index(NAME, "events", ["trial_id", "id"], postgresql_where=sa.text(f"type IN ({rare})"))


def downgrade() -> None:
    op.drop_index(NAME, table_name="events")
