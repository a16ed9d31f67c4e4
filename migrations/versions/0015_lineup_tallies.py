"""Results of mixed line-ups: teams that a learner shared with a mate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

TABLE = "lineup_tallies"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("lineup", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("opponent_version_id", sa.Uuid(), nullable=True),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("opponent_seat", sa.SmallInteger(), nullable=True),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.Column("wins", sa.BigInteger(), nullable=False),
        sa.Column("draws", sa.BigInteger(), nullable=False),
        sa.Column("losses", sa.BigInteger(), nullable=False),
        sa.Column("returns", sa.Double(), nullable=True),
        sa.Column("opponent_returns", sa.Double(), nullable=True),
        sa.CheckConstraint("seat >= 0 AND seat IS DISTINCT FROM opponent_seat", name=op.f("ck_lineup_tallies_seats")),
        sa.CheckConstraint(
            "(opponent_version_id IS NULL) = (opponent_seat IS NULL)", name=op.f("ck_lineup_tallies_opponent")
        ),
        sa.CheckConstraint(
            "games > 0 AND (opponent_seat IS NULL OR wins + draws + losses = games)",
            name=op.f("ck_lineup_tallies_played"),
        ),
        sa.CheckConstraint("wins >= 0 AND draws >= 0 AND losses >= 0", name=op.f("ck_lineup_tallies_counts")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"],
            ["commits.trial_id", "commits.number"],
            name=op.f("fk_lineup_tallies_trial_id_commit"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_lineup_tallies_trial_id_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "opponent_version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_lineup_tallies_trial_id_opponent_version_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lineup_tallies")),
    )
    op.create_index(op.f("ix_lineup_tallies_trial_id_commit"), TABLE, ["trial_id", "commit"])
    op.create_index(op.f("ix_lineup_tallies_version_id"), TABLE, ["version_id"])
    op.create_index(op.f("ix_lineup_tallies_opponent_version_id"), TABLE, ["opponent_version_id"])
    op.execute(
        f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def downgrade() -> None:
    op.drop_table(TABLE)
