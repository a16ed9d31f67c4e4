"""Results of canaries: sessions that a serving gateway played with two versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

TABLE = "canary_results"
STATUSES = ("running", "passed", "failed", "inconclusive")
COUNTS = ("losses", "draws", "wins", "champion_sessions", "canary_sessions")


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("report_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("champion_version_id", sa.Uuid(), nullable=False),
        sa.Column("canary_version_id", sa.Uuid(), nullable=False),
        sa.Column("losses", sa.BigInteger(), nullable=False),
        sa.Column("draws", sa.BigInteger(), nullable=False),
        sa.Column("wins", sa.BigInteger(), nullable=False),
        sa.Column("champion_sessions", sa.BigInteger(), nullable=False),
        sa.Column("champion_returns", sa.Double(), nullable=False),
        sa.Column("canary_sessions", sa.BigInteger(), nullable=False),
        sa.Column("canary_returns", sa.Double(), nullable=False),
        sa.Column("llr", sa.Double(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            f"status IN ({', '.join(repr(each) for each in STATUSES)})", name=op.f("ck_canary_results_status")
        ),
        sa.CheckConstraint("champion_version_id <> canary_version_id", name=op.f("ck_canary_results_versions_differ")),
        sa.CheckConstraint("champion_sessions + canary_sessions > 0", name=op.f("ck_canary_results_sessions")),
        sa.CheckConstraint(" AND ".join(f"{each} >= 0" for each in COUNTS), name=op.f("ck_canary_results_counts")),
        sa.ForeignKeyConstraint(
            ["project_id", "game", "alias"],
            ["aliases.project_id", "aliases.game", "aliases.name"],
            name=op.f("fk_canary_results_project_id_game_alias"),
        ),
        sa.ForeignKeyConstraint(
            ["champion_version_id"], ["model_versions.id"], name=op.f("fk_canary_results_champion_version_id")
        ),
        sa.ForeignKeyConstraint(
            ["canary_version_id"], ["model_versions.id"], name=op.f("fk_canary_results_canary_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_canary_results")),
        sa.UniqueConstraint("report_id", name=op.f("uq_canary_results_report_id")),
    )
    columns = ["project_id", "game", "alias", "canary_version_id", "champion_version_id", "id"]
    op.create_index("ix_canary_results_pair", TABLE, columns)
    op.execute(
        f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def downgrade() -> None:
    op.drop_table(TABLE)
