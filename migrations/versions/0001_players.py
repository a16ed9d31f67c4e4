"""Projects, trials with their commits, players and model versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_projects()
    _create_trials()
    _create_commits()
    # trials and commits point at each other
    op.create_foreign_key(
        "fk_trials_forked_from_trial_id_forked_at_commit",
        "trials",
        "commits",
        ["forked_from_trial_id", "forked_at_commit"],
        ["trial_id", "number"],
    )
    _create_players()
    _create_model_versions()


def downgrade() -> None:
    op.drop_constraint("fk_trials_forked_from_trial_id_forked_at_commit", "trials")
    op.drop_table("model_versions")
    op.drop_table("players")
    op.drop_table("commits")
    op.drop_table("trials")
    op.drop_table("projects")


def _create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_projects_name_not_blank")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
    )


def _create_trials() -> None:
    op.create_table(
        "trials",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("last_commit", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("payoff_decay", sa.Double(), nullable=False),
        sa.Column("payoff_revision", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("steps", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("forked_from_trial_id", sa.Uuid(), nullable=True),
        sa.Column("forked_at_commit", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("workflow_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)",
            name=op.f("ck_trials_finished"),
        ),
        sa.CheckConstraint("btrim(game) <> ''", name=op.f("ck_trials_game_not_blank")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_trials_name_not_blank")),
        sa.CheckConstraint(
            "status IN ('pending', 'running', 'pausing', 'paused', 'stopping', 'stopped', 'completed', 'failed')",
            name=op.f("ck_trials_status"),
        ),
        sa.CheckConstraint(
            "(forked_from_trial_id IS NULL) = (forked_at_commit IS NULL)", name=op.f("ck_trials_fork_complete")
        ),
        sa.CheckConstraint("forked_from_trial_id <> id", name=op.f("ck_trials_fork_of_another")),
        sa.CheckConstraint("last_commit >= 0 AND payoff_revision >= 0 AND steps >= 0", name=op.f("ck_trials_counts")),
        sa.CheckConstraint("payoff_decay > 0 AND payoff_decay <= 1", name=op.f("ck_trials_payoff_decay")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_trials_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_trials_project_id_name")),
    )
    op.create_index(op.f("ix_trials_project_id_id"), "trials", ["project_id", "id"])
    op.create_index(op.f("ix_trials_status_id"), "trials", ["status", "id"])
    op.create_index("ix_trials_unstarted", "trials", ["id"], postgresql_where=sa.text("workflow_started_at IS NULL"))


def _create_commits() -> None:
    op.create_table(
        "commits",
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('created', 'generation', 'snapshot', 'reset', 'rollback', 'import', 'roster', 'pairing')",
            name=op.f("ck_commits_kind"),
        ),
        sa.CheckConstraint("number >= 0 AND (number = 0) = (kind = 'created')", name=op.f("ck_commits_number")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_commits_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", "number", name=op.f("pk_commits")),
    )


def _create_players() -> None:
    op.create_table(
        "players",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("bot", sa.Text(), nullable=True),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("forked_from_player_id", sa.Uuid(), nullable=True),
        sa.Column("hyperparameters", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_commit", sa.BigInteger(), nullable=False),
        sa.Column("generation", sa.Integer(), server_default="0", nullable=False),
        sa.Column("steps", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("steps_at_snapshot", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(role = 'bot') = (bot IS NOT NULL)", name=op.f("ck_players_bot")),
        sa.CheckConstraint("(status = 'retired') = (retired_at IS NOT NULL)", name=op.f("ck_players_retired")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_players_name_not_blank")),
        sa.CheckConstraint("generation = 0 OR role NOT IN ('historical', 'bot')", name=op.f("ck_players_learns")),
        sa.CheckConstraint("parent_id IS NULL OR role = 'historical'", name=op.f("ck_players_parent")),
        sa.CheckConstraint(
            "role IN ('main', 'main_exploiter', 'league_exploiter', 'historical', 'bot')", name=op.f("ck_players_role")
        ),
        sa.CheckConstraint("status IN ('active', 'retired')", name=op.f("ck_players_status")),
        sa.CheckConstraint("generation >= 0 AND steps >= 0 AND steps_at_snapshot >= 0", name=op.f("ck_players_counts")),
        sa.CheckConstraint("parent_id <> id", name=op.f("ck_players_own_parent")),
        sa.CheckConstraint("steps_at_snapshot <= steps", name=op.f("ck_players_snapshot_steps")),
        sa.ForeignKeyConstraint(
            ["forked_from_player_id"], ["players.id"], name=op.f("fk_players_forked_from_player_id")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "created_commit"],
            ["commits.trial_id", "commits.number"],
            name=op.f("fk_players_trial_id_created_commit"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "parent_id"], ["players.trial_id", "players.id"], name=op.f("fk_players_trial_id_parent_id")
        ),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_players_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
        sa.UniqueConstraint("trial_id", "id", name=op.f("uq_players_trial_id_id")),
        sa.UniqueConstraint("trial_id", "name", name=op.f("uq_players_trial_id_name")),
    )
    op.create_index(op.f("ix_players_parent_id"), "players", ["parent_id"])


def _create_model_versions() -> None:
    op.create_table(
        "model_versions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("player_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("commit", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("(origin = 'bot') = (uri IS NULL)", name=op.f("ck_model_versions_checkpoint")),
        sa.CheckConstraint(
            "(origin IN ('initial', 'imported', 'bot')) = (parent_id IS NULL)", name=op.f("ck_model_versions_parent")
        ),
        sa.CheckConstraint(
            "origin IN ('initial', 'imported', 'trained', 'snapshot', 'reset', 'rollback', 'fork', 'bot')",
            name=op.f("ck_model_versions_origin"),
        ),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_model_versions_sha256")),
        sa.CheckConstraint(
            "num_nonnulls(uri, sha256, size) IN (0, 3)", name=op.f("ck_model_versions_checkpoint_complete")
        ),
        sa.CheckConstraint("number >= 0 AND steps >= 0", name=op.f("ck_model_versions_counts")),
        sa.CheckConstraint("parent_id <> id", name=op.f("ck_model_versions_own_parent")),
        sa.CheckConstraint("size > 0", name=op.f("ck_model_versions_size")),
        sa.ForeignKeyConstraint(["parent_id"], ["model_versions.id"], name=op.f("fk_model_versions_parent_id")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"],
            ["commits.trial_id", "commits.number"],
            name=op.f("fk_model_versions_trial_id_commit"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "player_id"],
            ["players.trial_id", "players.id"],
            name=op.f("fk_model_versions_trial_id_player_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_versions")),
        sa.UniqueConstraint("player_id", "id", name=op.f("uq_model_versions_player_id_id")),
        sa.UniqueConstraint("player_id", "number", name=op.f("uq_model_versions_player_id_number")),
        sa.UniqueConstraint("trial_id", "id", name=op.f("uq_model_versions_trial_id_id")),
    )
    op.create_index(op.f("ix_model_versions_parent_id"), "model_versions", ["parent_id"])
    op.create_index(op.f("ix_model_versions_sha256"), "model_versions", ["sha256"])
    op.create_index(op.f("ix_model_versions_trial_id_commit"), "model_versions", ["trial_id", "commit"])
