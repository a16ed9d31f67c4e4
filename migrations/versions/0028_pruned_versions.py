"""Versions whose checkpoints were pruned."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "pruned_versions",
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", moment, server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=op.f("fk_pruned_versions_version_id")),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_pruned_versions")),
    )
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON pruned_versions "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def downgrade() -> None:
    op.drop_table("pruned_versions")
