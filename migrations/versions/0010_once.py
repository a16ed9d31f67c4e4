"""Deduplicated events, and withdrawn entrants."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# The event of a retried pairing could be written twice before this index.
DROP_REPETITIONS = """
DELETE FROM events AS later USING events AS earlier
WHERE later.trial_id IS NOT DISTINCT FROM earlier.trial_id AND later.type = earlier.type AND later.id > earlier.id
  AND later.payload ->> 'key' = earlier.payload ->> 'key'
"""


def upgrade() -> None:
    op.execute("ALTER TABLE events DISABLE TRIGGER append_only")
    op.execute(DROP_REPETITIONS)
    op.execute("ALTER TABLE events ENABLE TRIGGER append_only")
    op.create_index(
        "ix_events_key",
        "events",
        ["trial_id", "type", sa.text("(payload ->> 'key')")],
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=sa.text("(payload ->> 'key') IS NOT NULL"),
    )
    op.add_column("tournament_entrants", sa.Column("withdrawn", sa.Text(), nullable=True))
    op.add_column("pairings", sa.Column("walkover", sa.Integer(), nullable=True))
    op.create_check_constraint(
        op.f("ck_pairings_walkover"),
        "pairings",
        "walkover IS NULL OR status = 'cancelled' AND (walkover = first OR walkover = second)",
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_pairings_walkover"), "pairings")
    op.drop_column("pairings", "walkover")
    op.drop_column("tournament_entrants", "withdrawn")
    op.drop_index("ix_events_key", "events")
