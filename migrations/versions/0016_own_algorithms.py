"""Players with an algorithm or a model of their own; null means the trial's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

COLUMNS = ("algorithm", "model")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("players", sa.Column(name, postgresql.JSONB(none_as_null=True), nullable=True))


def downgrade() -> None:
    for name in reversed(COLUMNS):
        op.drop_column("players", name)
