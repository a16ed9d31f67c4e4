"""Gates and aliases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_aliases()
    _create_gates()
    _create_alias_events()
    _create_gate_batches()


def downgrade() -> None:
    op.drop_table("gate_batches")
    op.drop_table("alias_events")
    op.drop_table("gates")
    op.drop_table("aliases")


def _create_aliases() -> None:
    op.create_table(
        "aliases",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(game) <> ''", name=op.f("ck_aliases_game_not_blank")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_aliases_name_not_blank")),
        sa.CheckConstraint("revision >= 1", name=op.f("ck_aliases_revision")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_aliases_project_id")),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=op.f("fk_aliases_version_id")),
        sa.PrimaryKeyConstraint("project_id", "game", "name", name=op.f("pk_aliases")),
    )
    op.create_index(op.f("ix_aliases_version_id"), "aliases", ["version_id"])


def _create_gates() -> None:
    op.create_table(
        "gates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("candidate_version_id", sa.Uuid(), nullable=False),
        sa.Column("champion_version_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("elo0", sa.Double(), nullable=False),
        sa.Column("elo1", sa.Double(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("beta", sa.Double(), nullable=False),
        sa.Column("lower_bound", sa.Double(), nullable=False),
        sa.Column("upper_bound", sa.Double(), nullable=False),
        sa.Column("max_pairs", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("pairs", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "pentanomial", sa.ARRAY(sa.BigInteger()), server_default=sa.text("'{0,0,0,0,0}'::bigint[]"), nullable=False
        ),
        sa.Column("llr", sa.Double(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(status NOT IN ('waiting', 'running')) = (finished_at IS NOT NULL)", name=op.f("ck_gates_finished")
        ),
        sa.CheckConstraint("btrim(alias) <> ''", name=op.f("ck_gates_alias_not_blank")),
        sa.CheckConstraint("btrim(game) <> ''", name=op.f("ck_gates_game_not_blank")),
        sa.CheckConstraint(
            "champion_version_id IS NOT NULL OR status IN ('waiting', 'passed', 'invalid', 'superseded')",
            name=op.f("ck_gates_unopposed_plays_nothing"),
        ),
        sa.CheckConstraint(
            "status IN ('waiting', 'running', 'passed', 'failed', 'exhausted', 'invalid', 'superseded')",
            name=op.f("ck_gates_status"),
        ),
        sa.CheckConstraint("alpha > 0 AND beta > 0 AND alpha + beta < 1", name=op.f("ck_gates_errors")),
        sa.CheckConstraint("candidate_version_id <> champion_version_id", name=op.f("ck_gates_contenders_differ")),
        sa.CheckConstraint(
            "cardinality(pentanomial) = 5 AND 0 <= ALL (pentanomial)", name=op.f("ck_gates_pentanomial")
        ),
        sa.CheckConstraint("elo0 < elo1", name=op.f("ck_gates_hypotheses")),
        sa.CheckConstraint("lower_bound < 0 AND upper_bound > 0", name=op.f("ck_gates_bounds")),
        sa.CheckConstraint("max_pairs > 0", name=op.f("ck_gates_max_pairs")),
        sa.CheckConstraint("pairs >= 0", name=op.f("ck_gates_counts")),
        sa.ForeignKeyConstraint(
            ["champion_version_id"], ["model_versions.id"], name=op.f("fk_gates_champion_version_id")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_gates_project_id")),
        sa.ForeignKeyConstraint(
            ["trial_id", "candidate_version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_gates_trial_id_candidate_version_id"),
        ),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_gates_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gates")),
        sa.UniqueConstraint("trial_id", "id", name=op.f("uq_gates_trial_id_id")),
    )
    op.create_index(op.f("ix_gates_champion_version_id"), "gates", ["champion_version_id"])
    op.create_index(op.f("ix_gates_trial_id_id"), "gates", ["trial_id", "id"])
    op.create_index(
        "uq_gates_candidate",
        "gates",
        ["project_id", "game", "alias", "candidate_version_id"],
        unique=True,
        postgresql_where=sa.text("status <> 'invalid'"),
    )
    op.create_index(
        "uq_gates_running",
        "gates",
        ["project_id", "game", "alias"],
        unique=True,
        postgresql_where=sa.text("status = 'running'"),
    )
    op.create_index(
        "uq_gates_waiting",
        "gates",
        ["project_id", "game", "alias"],
        unique=True,
        postgresql_where=sa.text("status = 'waiting'"),
    )


def _create_alias_events() -> None:
    op.create_table(
        "alias_events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("move", sa.Text(), nullable=False),
        sa.Column("from_version_id", sa.Uuid(), nullable=True),
        sa.Column("to_version_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("gate_id", sa.Uuid(), nullable=True),
        sa.Column("tournament_id", sa.Uuid(), nullable=True),
        sa.Column("evidence", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(reason) <> ''", name=op.f("ck_alias_events_reason_not_blank")),
        sa.CheckConstraint("move IN ('promoted', 'set', 'rolled_back')", name=op.f("ck_alias_events_move")),
        sa.CheckConstraint("(revision = 1) = (from_version_id IS NULL)", name=op.f("ck_alias_events_first_move")),
        sa.CheckConstraint("from_version_id <> to_version_id", name=op.f("ck_alias_events_moves")),
        sa.CheckConstraint("revision >= 1", name=op.f("ck_alias_events_revision")),
        sa.ForeignKeyConstraint(
            ["from_version_id"], ["model_versions.id"], name=op.f("fk_alias_events_from_version_id")
        ),
        sa.ForeignKeyConstraint(["gate_id"], ["gates.id"], name=op.f("fk_alias_events_gate_id")),
        sa.ForeignKeyConstraint(
            ["project_id", "game", "name"],
            ["aliases.project_id", "aliases.game", "aliases.name"],
            name=op.f("fk_alias_events_project_id_game_name"),
        ),
        sa.ForeignKeyConstraint(["to_version_id"], ["model_versions.id"], name=op.f("fk_alias_events_to_version_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_alias_events_tournament_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alias_events")),
        sa.UniqueConstraint(
            "project_id", "game", "name", "revision", name=op.f("uq_alias_events_project_id_game_name_revision")
        ),
    )
    op.create_index(op.f("ix_alias_events_to_version_id"), "alias_events", ["to_version_id"])
    op.create_index(
        "uq_alias_events_gate_id",
        "alias_events",
        ["gate_id"],
        unique=True,
        postgresql_where=sa.text("gate_id IS NOT NULL"),
    )


def _create_gate_batches() -> None:
    op.create_table(
        "gate_batches",
        sa.Column("gate_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("pentanomial", sa.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("llr", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "cardinality(pentanomial) = 5 AND 0 <= ALL (pentanomial)", name=op.f("ck_gate_batches_pentanomial")
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_gate_batches_number")),
        sa.CheckConstraint("pairs > 0", name=op.f("ck_gate_batches_pairs")),
        sa.ForeignKeyConstraint(["gate_id"], ["gates.id"], name=op.f("fk_gate_batches_gate_id")),
        sa.PrimaryKeyConstraint("gate_id", "number", name=op.f("pk_gate_batches")),
    )
