"""Sweeps: their trials, values at rungs and decisions."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

STATUSES = ("pending", "running", "paused", "stopping", "stopped", "completed", "failed")
VERDICTS = ("go_on", "stop", "complete")
APPEND_ONLY = ("sweep_trials", "sweep_values", "sweep_decisions")


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(each) for each in values)})"


def _created_at() -> sa.Column[Any]:
    return sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    _create_sweeps()
    _create_trials()
    _create_values()
    _create_decisions()
    op.add_column("trials", sa.Column("sweep_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(op.f("fk_trials_sweep_id"), "trials", "sweeps", ["sweep_id"], ["id"])
    op.create_index(
        op.f("ix_trials_sweep_id_id"),
        "trials",
        ["sweep_id", "id"],
        postgresql_where=sa.text("sweep_id IS NOT NULL"),
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )


def _create_sweeps() -> None:
    op.create_table(
        "sweeps",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("best_trial_id", sa.Uuid(), nullable=True),
        _created_at(),
        sa.Column("workflow_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(_one_of("status", STATUSES), name=op.f("ck_sweeps_status")),
        sa.CheckConstraint(
            "(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)",
            name=op.f("ck_sweeps_finished"),
        ),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_sweeps_name_not_blank")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_sweeps_project_id")),
        sa.ForeignKeyConstraint(["best_trial_id"], ["trials.id"], name=op.f("fk_sweeps_best_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweeps")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_sweeps_project_id_name")),
    )
    op.create_index(op.f("ix_sweeps_project_id_id"), "sweeps", ["project_id", "id"])
    unstarted = sa.text("workflow_started_at IS NULL")
    op.create_index("ix_sweeps_unstarted", "sweeps", ["id"], postgresql_where=unstarted)


def _create_trials() -> None:
    op.create_table(
        "sweep_trials",
        sa.Column("sweep_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("bracket", sa.Integer(), nullable=False),
        sa.Column("first_rung", sa.Integer(), nullable=False),
        sa.Column("point", postgresql.JSONB(), nullable=False),
        _created_at(),
        sa.CheckConstraint("number >= 0 AND bracket >= 0 AND first_rung >= 0", name=op.f("ck_sweep_trials_counts")),
        sa.ForeignKeyConstraint(["sweep_id"], ["sweeps.id"], name=op.f("fk_sweep_trials_sweep_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_sweep_trials_trial_id")),
        sa.PrimaryKeyConstraint("sweep_id", "number", name=op.f("pk_sweep_trials")),
        sa.UniqueConstraint("trial_id", name=op.f("uq_sweep_trials_trial_id")),
    )


def _create_values() -> None:
    op.create_table(
        "sweep_values",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("sweep_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("source", postgresql.JSONB(), nullable=False),
        _created_at(),
        sa.CheckConstraint("rung >= 0 AND steps >= 0", name=op.f("ck_sweep_values_counts")),
        sa.ForeignKeyConstraint(
            ["sweep_id", "number"],
            ["sweep_trials.sweep_id", "sweep_trials.number"],
            name=op.f("fk_sweep_values_sweep_id_number"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_sweep_values_trial_id_commit")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sweep_values")),
        sa.UniqueConstraint("sweep_id", "number", "rung", name=op.f("uq_sweep_values_sweep_id_number_rung")),
    )


def _create_decisions() -> None:
    key = ["sweep_id", "number", "rung"]
    op.create_table(
        "sweep_decisions",
        sa.Column("sweep_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rung", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("evidence", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        _created_at(),
        sa.CheckConstraint(_one_of("verdict", VERDICTS), name=op.f("ck_sweep_decisions_verdict")),
        sa.ForeignKeyConstraint(
            key, [f"sweep_values.{each}" for each in key], name=op.f("fk_sweep_decisions_sweep_id_number_rung")
        ),
        sa.PrimaryKeyConstraint(*key, name=op.f("pk_sweep_decisions")),
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_trials_sweep_id_id"), table_name="trials")
    op.drop_constraint(op.f("fk_trials_sweep_id"), "trials", type_="foreignkey")
    op.drop_column("trials", "sweep_id")
    for table in ("sweep_decisions", "sweep_values", "sweep_trials", "sweeps"):
        op.drop_table(table)
