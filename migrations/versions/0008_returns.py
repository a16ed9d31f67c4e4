"""Returns: tallies and payoffs have the returns of both sides."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = ("tallies", "payoffs")
COLUMNS = ("returns", "opponent_returns")


def upgrade() -> None:
    for table in TABLES:
        for column in COLUMNS:
            # NULL in older rows, whose returns were not counted
            op.add_column(table, sa.Column(column, sa.Double(), nullable=True))
        op.create_check_constraint(
            op.f(f"ck_{table}_returns_of_both"), table, "(returns IS NULL) = (opponent_returns IS NULL)"
        )


def downgrade() -> None:
    for table in TABLES:
        op.drop_constraint(op.f(f"ck_{table}_returns_of_both"), table)
        for column in reversed(COLUMNS):
            op.drop_column(table, column)
