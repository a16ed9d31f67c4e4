"""Probes: what fresh responders reach against a version or a mixture."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

STATUSES = ("pending", "running", "stopping", "stopped", "completed", "failed")


def _moment(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=True)


def _created_at() -> sa.Column[Any]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    _create_probes()
    op.create_table(
        "probe_trials",
        sa.Column("probe_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        _created_at(),
        sa.CheckConstraint("number >= 0", name=op.f("ck_probe_trials_counts")),
        sa.ForeignKeyConstraint(["probe_id"], ["probes.id"], name=op.f("fk_probe_trials_probe_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_probe_trials_trial_id")),
        sa.PrimaryKeyConstraint("probe_id", "number", name=op.f("pk_probe_trials")),
        sa.UniqueConstraint("trial_id", name=op.f("uq_probe_trials_trial_id")),
    )
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON probe_trials "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def _create_probes() -> None:
    statuses = ", ".join(repr(each) for each in STATUSES)
    op.create_table(
        "probes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=True),
        sa.Column("commit", sa.BigInteger(), nullable=False),
        sa.Column("target", postgresql.JSONB(), nullable=False),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("tournament_id", sa.Uuid(), nullable=True),
        sa.Column("results", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("win_rate", sa.Double(), nullable=True),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("high", sa.Double(), nullable=True),
        _created_at(),
        _moment("workflow_started_at"),
        _moment("started_at"),
        _moment("finished_at"),
        sa.CheckConstraint(f"status IN ({statuses})", name=op.f("ck_probes_status")),
        sa.CheckConstraint(
            "(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)",
            name=op.f("ck_probes_finished"),
        ),
        sa.CheckConstraint("(status = 'completed') = (win_rate IS NOT NULL)", name=op.f("ck_probes_measured")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_probes_project_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_probes_trial_id")),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=op.f("fk_probes_version_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_probes_tournament_id")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_probes_trial_id_commit")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probes")),
    )
    op.create_index(op.f("ix_probes_trial_id_id"), "probes", ["trial_id", "id"])
    op.create_index(op.f("ix_probes_version_id_id"), "probes", ["version_id", "id"])
    unstarted = sa.text("workflow_started_at IS NULL")
    op.create_index("ix_probes_unstarted", "probes", ["id"], postgresql_where=unstarted)


def downgrade() -> None:
    op.drop_table("probe_trials")
    op.drop_table("probes")
