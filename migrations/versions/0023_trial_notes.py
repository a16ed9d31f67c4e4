"""Tags, notes and former names of trials, and indexes of the search."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

BY_PREFIX = {"name": "text_pattern_ops"}


def upgrade() -> None:
    nothing = sa.text("'{}'::text[]")
    op.add_column("trials", sa.Column("tags", ARRAY(sa.Text()), server_default=nothing, nullable=False))
    op.add_column("trials", sa.Column("notes", sa.Text(), server_default=sa.text("''"), nullable=False))
    op.add_column("trials", sa.Column("former_names", ARRAY(sa.Text()), server_default=nothing, nullable=False))
    op.create_index(op.f("ix_trials_former_names"), "trials", ["former_names"], postgresql_using="gin")
    op.create_index("ix_players_name_prefix", "players", ["name"], postgresql_ops=BY_PREFIX)
    op.create_index("ix_tournaments_name_prefix", "tournaments", ["name"], postgresql_ops=BY_PREFIX)


def downgrade() -> None:
    op.drop_index("ix_tournaments_name_prefix", table_name="tournaments")
    op.drop_index("ix_players_name_prefix", table_name="players")
    op.drop_index(op.f("ix_trials_former_names"), table_name="trials")
    for column in ("former_names", "notes", "tags"):
        op.drop_column("trials", column)
