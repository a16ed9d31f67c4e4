"""Decisions, generations, tallies, metrics and payoffs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_payoffs()
    _create_return_tallies()
    _create_tallies()
    _create_decisions()
    _create_generations()
    _create_metrics()


def downgrade() -> None:
    op.drop_table("metrics")
    op.drop_table("generations")
    op.drop_table("decisions")
    op.drop_table("tallies")
    op.drop_table("return_tallies")
    op.drop_table("payoffs")


def _create_payoffs() -> None:
    op.create_table(
        "payoffs",
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("player_id", sa.Uuid(), nullable=False),
        sa.Column("opponent_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("opponent_seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("wins", sa.Double(), nullable=False),
        sa.Column("draws", sa.Double(), nullable=False),
        sa.Column("losses", sa.Double(), nullable=False),
        sa.Column("raw_wins", sa.BigInteger(), nullable=False),
        sa.Column("raw_draws", sa.BigInteger(), nullable=False),
        sa.Column("raw_losses", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("stream <> 'gating'", name=op.f("ck_payoffs_no_gating")),
        sa.CheckConstraint("stream IN ('training', 'gating', 'rating')", name=op.f("ck_payoffs_stream")),
        sa.CheckConstraint("player_id <> opponent_id", name=op.f("ck_payoffs_opponents_differ")),
        sa.CheckConstraint("raw_wins + raw_draws + raw_losses > 0", name=op.f("ck_payoffs_played")),
        sa.CheckConstraint("seat >= 0 AND opponent_seat >= 0 AND seat <> opponent_seat", name=op.f("ck_payoffs_seats")),
        sa.CheckConstraint(
            "wins <= raw_wins * (1 + 1e-9) AND draws <= raw_draws * (1 + 1e-9) AND losses <= raw_losses * (1 + 1e-9)",
            name=op.f("ck_payoffs_decayed_within_raw"),
        ),
        sa.CheckConstraint(
            "wins >= 0 AND draws >= 0 AND losses >= 0 AND raw_wins >= 0 AND raw_draws >= 0 AND raw_losses >= 0",
            name=op.f("ck_payoffs_counts"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "opponent_id"],
            ["players.trial_id", "players.id"],
            name=op.f("fk_payoffs_trial_id_opponent_id"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "player_id"], ["players.trial_id", "players.id"], name=op.f("fk_payoffs_trial_id_player_id")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "revision"], ["commits.trial_id", "commits.number"], name=op.f("fk_payoffs_trial_id_revision")
        ),
        sa.PrimaryKeyConstraint(
            "trial_id", "stream", "player_id", "opponent_id", "seat", "opponent_seat", name=op.f("pk_payoffs")
        ),
    )


def _create_return_tallies() -> None:
    op.create_table(
        "return_tallies",
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.Column("mean", sa.Double(), nullable=False),
        sa.Column("deviations", sa.Double(), nullable=False),
        sa.CheckConstraint("stream IN ('training', 'gating', 'rating')", name=op.f("ck_return_tallies_stream")),
        sa.CheckConstraint("deviations >= 0", name=op.f("ck_return_tallies_deviations")),
        sa.CheckConstraint("games > 0", name=op.f("ck_return_tallies_played")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"],
            ["commits.trial_id", "commits.number"],
            name=op.f("fk_return_tallies_trial_id_commit"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_return_tallies_trial_id_version_id"),
        ),
        sa.PrimaryKeyConstraint("trial_id", "commit", "version_id", "stream", name=op.f("pk_return_tallies")),
    )
    op.create_index(op.f("ix_return_tallies_version_id"), "return_tallies", ["version_id"])


def _create_tallies() -> None:
    op.create_table(
        "tallies",
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("learner_version_id", sa.Uuid(), nullable=False),
        sa.Column("opponent_version_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("opponent_seat", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("wins", sa.BigInteger(), nullable=False),
        sa.Column("draws", sa.BigInteger(), nullable=False),
        sa.Column("losses", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("stream IN ('training', 'gating', 'rating')", name=op.f("ck_tallies_stream")),
        sa.CheckConstraint("learner_version_id <> opponent_version_id", name=op.f("ck_tallies_opponents_differ")),
        sa.CheckConstraint("seat >= 0 AND opponent_seat >= 0 AND seat <> opponent_seat", name=op.f("ck_tallies_seats")),
        sa.CheckConstraint("wins + draws + losses > 0", name=op.f("ck_tallies_played")),
        sa.CheckConstraint("wins >= 0 AND draws >= 0 AND losses >= 0", name=op.f("ck_tallies_counts")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_tallies_trial_id_commit")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "learner_version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_tallies_trial_id_learner_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "opponent_version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_tallies_trial_id_opponent_version_id"),
        ),
        sa.PrimaryKeyConstraint(
            "trial_id",
            "commit",
            "learner_version_id",
            "opponent_version_id",
            "seat",
            "opponent_seat",
            "stream",
            name=op.f("pk_tallies"),
        ),
    )
    op.create_index(op.f("ix_tallies_learner_version_id"), "tallies", ["learner_version_id"])
    op.create_index(op.f("ix_tallies_opponent_version_id"), "tallies", ["opponent_version_id"])


def _create_decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("player_id", sa.Uuid(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("evidence", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=True),
        sa.Column("gate_id", sa.Uuid(), nullable=True),
        sa.Column("commit", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(reason) <> ''", name=op.f("ck_decisions_reason_not_blank")),
        sa.CheckConstraint("btrim(verdict) <> ''", name=op.f("ck_decisions_verdict_not_blank")),
        sa.CheckConstraint(
            "kind <> 'rollback' OR version_id IS NOT NULL", name=op.f("ck_decisions_rollback_names_version")
        ),
        sa.CheckConstraint(
            "kind IN ('matchmaking', 'snapshot', 'promotion', 'reset', 'rollback')", name=op.f("ck_decisions_kind")
        ),
        sa.CheckConstraint(
            "kind NOT IN ('matchmaking', 'snapshot', 'reset') OR num_nonnulls(player_id, generation) = 2",
            name=op.f("ck_decisions_of_generation"),
        ),
        sa.CheckConstraint("attempt >= 1", name=op.f("ck_decisions_attempt")),
        sa.CheckConstraint("generation >= 0", name=op.f("ck_decisions_generation")),
        sa.ForeignKeyConstraint(["gate_id"], ["gates.id"], name=op.f("fk_decisions_gate_id")),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_decisions_trial_id_commit")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "player_id"], ["players.trial_id", "players.id"], name=op.f("fk_decisions_trial_id_player_id")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "version_id"],
            ["model_versions.trial_id", "model_versions.id"],
            name=op.f("fk_decisions_trial_id_version_id"),
        ),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_decisions_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
    )
    op.create_index(op.f("ix_decisions_trial_id_id"), "decisions", ["trial_id", "id"])
    op.create_index(op.f("ix_decisions_trial_id_kind_id"), "decisions", ["trial_id", "kind", "id"])
    op.create_index(op.f("ix_decisions_version_id"), "decisions", ["version_id"])
    op.create_index(
        "uq_decisions_gate_id", "decisions", ["gate_id"], unique=True, postgresql_where=sa.text("gate_id IS NOT NULL")
    )
    op.create_index(
        "uq_decisions_generation",
        "decisions",
        ["player_id", "generation", "kind", "attempt"],
        unique=True,
        postgresql_where=sa.text("kind IN ('matchmaking', 'snapshot', 'reset')"),
    )
    op.create_index(
        "uq_decisions_rollback",
        "decisions",
        ["player_id", "version_id"],
        unique=True,
        postgresql_where=sa.text("kind = 'rollback'"),
    )


def _create_generations() -> None:
    op.create_table(
        "generations",
        sa.Column("player_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.BigInteger(), nullable=False),
        sa.Column("parent_version_id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("plan_decision_id", sa.BigInteger(), nullable=True),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("hyperparameters", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("matchmaker_state", postgresql.JSONB(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("attempt >= 1", name=op.f("ck_generations_attempt")),
        sa.CheckConstraint("games >= 0", name=op.f("ck_generations_counts")),
        sa.CheckConstraint("number >= 1", name=op.f("ck_generations_number")),
        sa.CheckConstraint("started_at <= finished_at", name=op.f("ck_generations_times")),
        sa.CheckConstraint("steps > 0", name=op.f("ck_generations_steps")),
        sa.ForeignKeyConstraint(["plan_decision_id"], ["decisions.id"], name=op.f("fk_generations_plan_decision_id")),
        sa.ForeignKeyConstraint(
            ["player_id", "parent_version_id"],
            ["model_versions.player_id", "model_versions.id"],
            name=op.f("fk_generations_player_id_parent_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["player_id", "version_id"],
            ["model_versions.player_id", "model_versions.id"],
            name=op.f("fk_generations_player_id_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "commit"], ["commits.trial_id", "commits.number"], name=op.f("fk_generations_trial_id_commit")
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "player_id"],
            ["players.trial_id", "players.id"],
            name=op.f("fk_generations_trial_id_player_id"),
        ),
        sa.PrimaryKeyConstraint("player_id", "number", name=op.f("pk_generations")),
        sa.UniqueConstraint("trial_id", "commit", name=op.f("uq_generations_trial_id_commit")),
        sa.UniqueConstraint("version_id", name=op.f("uq_generations_version_id")),
    )


def _create_metrics() -> None:
    op.create_table(
        "metrics",
        sa.Column("player_id", sa.Uuid(), nullable=False),
        sa.Column("generation", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=False),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_metrics_name_not_blank")),
        sa.CheckConstraint("steps >= 0", name=op.f("ck_metrics_steps")),
        sa.ForeignKeyConstraint(
            ["player_id", "generation"],
            ["generations.player_id", "generations.number"],
            name=op.f("fk_metrics_player_id_generation"),
        ),
        sa.ForeignKeyConstraint(
            ["trial_id", "player_id"], ["players.trial_id", "players.id"], name=op.f("fk_metrics_trial_id_player_id")
        ),
        sa.PrimaryKeyConstraint("player_id", "generation", "name", name=op.f("pk_metrics")),
    )
    op.create_index(
        op.f("ix_metrics_trial_id_name_player_id_generation"),
        "metrics",
        ["trial_id", "name", "player_id", "generation"],
    )
