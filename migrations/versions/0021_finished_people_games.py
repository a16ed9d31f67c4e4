"""Finished games of people are kept, with their result and the position they began with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("people_games", sa.Column("start", postgresql.JSONB(), nullable=True))
    op.add_column("people_games", sa.Column("result", sa.Text(), nullable=True))
    op.add_column("people_games", sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True))
    op.create_check_constraint(op.f("ck_people_games_result"), "people_games", "result IN ('win', 'draw', 'loss')")
    op.create_check_constraint(
        op.f("ck_people_games_finished"), "people_games", "(result IS NULL) = (finished_at IS NULL)"
    )
    op.create_index(op.f("ix_people_games_version_id_id"), "people_games", ["version_id", "id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_people_games_version_id_id"), "people_games")
    for column in ("finished_at", "result", "start"):
        op.drop_column("people_games", column)
