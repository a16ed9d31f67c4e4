"""Priorities and quotas of projects and trials."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

TABLES = ("projects", "trials")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("priority", sa.Double(), server_default=sa.text("1"), nullable=False))
        op.add_column(table, sa.Column("quota", sa.BigInteger(), nullable=True))
        op.create_check_constraint(op.f(f"ck_{table}_priority"), table, "priority > 0")
        op.create_check_constraint(op.f(f"ck_{table}_quota"), table, "quota > 0")
    op.add_column("trials", sa.Column("generation_cost", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("trials", "generation_cost")
    for table in TABLES:
        op.drop_constraint(op.f(f"ck_{table}_quota"), table)
        op.drop_constraint(op.f(f"ck_{table}_priority"), table)
        op.drop_column(table, "quota")
        op.drop_column(table, "priority")
