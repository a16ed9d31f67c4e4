"""Shared links to one trial or tournament."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "share_links",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("tournament_id", sa.Uuid(), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", moment, server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.Column("revoked_at", moment, nullable=True),
        sa.Column("opened", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_opened_at", moment, nullable=True),
        sa.CheckConstraint("token_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_share_links_token_sha256")),
        sa.CheckConstraint("num_nonnulls(trial_id, tournament_id) = 1", name=op.f("ck_share_links_shows_one")),
        sa.CheckConstraint("expires_at > created_at", name=op.f("ck_share_links_expires_later")),
        sa.CheckConstraint("opened >= 0", name=op.f("ck_share_links_counts")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_share_links_trial_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_share_links_tournament_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share_links")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_share_links_token_sha256")),
    )
    op.create_index(op.f("ix_share_links_trial_id_id"), "share_links", ["trial_id", "id"])
    op.create_index(op.f("ix_share_links_tournament_id_id"), "share_links", ["tournament_id", "id"])


def downgrade() -> None:
    op.drop_table("share_links")
