"""Schedules, tournaments, their entrants and pairings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_schedules()
    _create_tournaments()
    _create_tournament_entrants()
    _create_pairings()


def downgrade() -> None:
    op.drop_table("pairings")
    op.drop_table("tournament_entrants")
    op.drop_table("tournaments")
    op.drop_table("schedules")


def _create_schedules() -> None:
    op.create_table(
        "schedules",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=True),
        sa.Column("every_seconds", sa.Integer(), nullable=True),
        sa.Column("time_zone", sa.Text(), server_default="UTC", nullable=False),
        sa.Column("overlap", sa.Text(), server_default="skip", nullable=False),
        sa.Column("catchup_window_seconds", sa.Integer(), server_default="3600", nullable=False),
        sa.Column("paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("pause_note", sa.Text(), nullable=True),
        sa.Column("tournament", postgresql.JSONB(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("workflow_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_schedules_name_not_blank")),
        sa.CheckConstraint("btrim(time_zone) <> ''", name=op.f("ck_schedules_time_zone_not_blank")),
        sa.CheckConstraint(
            "overlap IN ('skip', 'buffer_one', 'buffer_all', 'cancel_other', 'terminate_other', 'allow_all')",
            name=op.f("ck_schedules_overlap"),
        ),
        sa.CheckConstraint("catchup_window_seconds >= 0", name=op.f("ck_schedules_catchup_window")),
        sa.CheckConstraint("every_seconds > 0", name=op.f("ck_schedules_interval")),
        sa.CheckConstraint("num_nonnulls(cron, every_seconds) = 1", name=op.f("ck_schedules_cron_or_interval")),
        sa.CheckConstraint("revision >= 1", name=op.f("ck_schedules_revision")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_schedules_project_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_schedules_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
    )
    op.create_index(op.f("ix_schedules_trial_id"), "schedules", ["trial_id"])
    op.create_index(
        "uq_schedules_name",
        "schedules",
        ["project_id", "name"],
        unique=True,
        postgresql_where=sa.text("deleted_at IS NULL"),
    )


def _create_tournaments() -> None:
    op.create_table(
        "tournaments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("schedule_id", sa.Uuid(), nullable=True),
        sa.Column("occasion", sa.Text(), nullable=True),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("status_reason", sa.Text(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("spec", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("workflow_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(status IN ('completed', 'cancelled', 'failed')) = (finished_at IS NOT NULL)",
            name=op.f("ck_tournaments_finished"),
        ),
        sa.CheckConstraint("btrim(game) <> ''", name=op.f("ck_tournaments_game_not_blank")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_tournaments_name_not_blank")),
        sa.CheckConstraint(
            "format IN ('round_robin', 'gauntlet', 'swiss', 'knockout', 'adaptive')", name=op.f("ck_tournaments_format")
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'running', 'completed', 'cancelled', 'failed')", name=op.f("ck_tournaments_status")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_tournaments_project_id")),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedules.id"], name=op.f("fk_tournaments_schedule_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_tournaments_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournaments")),
        sa.UniqueConstraint("occasion", name=op.f("uq_tournaments_occasion")),
    )
    op.create_index(op.f("ix_tournaments_project_id_game_id"), "tournaments", ["project_id", "game", "id"])
    op.create_index(op.f("ix_tournaments_schedule_id_id"), "tournaments", ["schedule_id", "id"])
    op.create_index(op.f("ix_tournaments_status_id"), "tournaments", ["status", "id"])
    op.create_index(op.f("ix_tournaments_trial_id_id"), "tournaments", ["trial_id", "id"])
    op.create_index(
        "ix_tournaments_unstarted", "tournaments", ["id"], postgresql_where=sa.text("workflow_started_at IS NULL")
    )


def _create_tournament_entrants() -> None:
    op.create_table(
        "tournament_entrants",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.CheckConstraint("btrim(label) <> ''", name=op.f("ck_tournament_entrants_label_not_blank")),
        sa.CheckConstraint("number >= 0", name=op.f("ck_tournament_entrants_counts")),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name=op.f("fk_tournament_entrants_tournament_id")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=op.f("fk_tournament_entrants_version_id")),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_tournament_entrants")),
        sa.UniqueConstraint(
            "tournament_id", "version_id", name=op.f("uq_tournament_entrants_tournament_id_version_id")
        ),
    )
    op.create_index(op.f("ix_tournament_entrants_version_id"), "tournament_entrants", ["version_id"])


def _create_pairings() -> None:
    op.create_table(
        "pairings",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("round", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pair", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("second", sa.Integer(), nullable=True),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), server_default="planned", nullable=False),
        sa.Column("wins", sa.Integer(), server_default="0", nullable=False),
        sa.Column("draws", sa.Integer(), server_default="0", nullable=False),
        sa.Column("losses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("commit", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("played_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(status = 'played') = (played_at IS NOT NULL)", name=op.f("ck_pairings_played")),
        sa.CheckConstraint(
            "CASE WHEN status = 'played' THEN wins + draws + losses <= games ELSE wins + draws + losses = 0 END",
            name=op.f("ck_pairings_results"),
        ),
        sa.CheckConstraint("status IN ('planned', 'played', 'cancelled')", name=op.f("ck_pairings_status")),
        sa.CheckConstraint("(second IS NOT NULL) = (games > 0)", name=op.f("ck_pairings_bye_plays_nothing")),
        sa.CheckConstraint("(trial_id IS NULL) = (commit IS NULL)", name=op.f("ck_pairings_commit_of_trial")),
        sa.CheckConstraint("first <> second", name=op.f("ck_pairings_entrants_differ")),
        sa.CheckConstraint("games >= 0 AND wins >= 0 AND draws >= 0 AND losses >= 0", name=op.f("ck_pairings_counts")),
        sa.CheckConstraint("round >= 0 AND pair >= 0", name=op.f("ck_pairings_key")),
        sa.ForeignKeyConstraint(
            ["tournament_id", "first"],
            ["tournament_entrants.tournament_id", "tournament_entrants.number"],
            name=op.f("fk_pairings_tournament_id_first"),
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id", "second"],
            ["tournament_entrants.tournament_id", "tournament_entrants.number"],
            name=op.f("fk_pairings_tournament_id_second"),
        ),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_pairings_tournament_id")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_pairings_trial_id_commit")
        ),
        sa.PrimaryKeyConstraint("tournament_id", "round", "pair", name=op.f("pk_pairings")),
    )
