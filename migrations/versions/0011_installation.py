"""The id of the installation, which marks its artifact store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("only_one", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("id", sa.Uuid(as_uuid=False), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("only_one", name=op.f("ck_installation_only_one")),
        sa.PrimaryKeyConstraint("only_one", name=op.f("pk_installation")),
    )
    op.execute("INSERT INTO installation DEFAULT VALUES")


def downgrade() -> None:
    op.drop_table("installation")
