"""Matches and ratings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_rating_fits()
    _create_rating_covariances()
    _create_ratings()
    _create_matches()


def downgrade() -> None:
    op.drop_table("matches")
    op.drop_table("ratings")
    op.drop_table("rating_covariances")
    op.drop_table("rating_fits")


def _create_rating_fits() -> None:
    op.create_table(
        "rating_fits",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("tournament_id", sa.Uuid(), nullable=True),
        sa.Column("anchor_version_id", sa.Uuid(), nullable=True),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.Column("last_match_id", sa.BigInteger(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(game) <> ''", name=op.f("ck_rating_fits_game_not_blank")),
        sa.CheckConstraint(
            "method IN ('bradley_terry', 'elo_online', 'openskill', 'alpha_rank', 'nash_averaging')",
            name=op.f("ck_rating_fits_method"),
        ),
        sa.CheckConstraint("games >= 0 AND last_match_id >= 0", name=op.f("ck_rating_fits_counts")),
        sa.ForeignKeyConstraint(
            ["anchor_version_id"], ["model_versions.id"], name=op.f("fk_rating_fits_anchor_version_id")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_rating_fits_project_id")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_rating_fits_tournament_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating_fits")),
    )
    op.create_index(
        op.f("ix_rating_fits_project_id_game_method_id"), "rating_fits", ["project_id", "game", "method", "id"]
    )
    op.create_index(
        "uq_rating_fits_tournament",
        "rating_fits",
        ["tournament_id", "method"],
        unique=True,
        postgresql_where=sa.text("tournament_id IS NOT NULL"),
    )


def _create_rating_covariances() -> None:
    op.create_table(
        "rating_covariances",
        sa.Column("fit_id", sa.Uuid(), nullable=False),
        sa.Column("versions", sa.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("upper_triangle", sa.ARRAY(sa.Double()), nullable=False),
        sa.CheckConstraint(
            "cardinality(upper_triangle) = cardinality(versions) * (cardinality(versions) + 1) / 2",
            name=op.f("ck_rating_covariances_complete"),
        ),
        sa.ForeignKeyConstraint(["fit_id"], ["rating_fits.id"], name=op.f("fk_rating_covariances_fit_id")),
        sa.PrimaryKeyConstraint("fit_id", name=op.f("pk_rating_covariances")),
    )


def _create_ratings() -> None:
    op.create_table(
        "ratings",
        sa.Column("fit_id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("deviation", sa.Double(), nullable=True),
        sa.Column("games", sa.BigInteger(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("prior", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.CheckConstraint("deviation >= 0", name=op.f("ck_ratings_deviation")),
        sa.CheckConstraint("games >= 0", name=op.f("ck_ratings_counts")),
        sa.CheckConstraint("rank >= 1", name=op.f("ck_ratings_rank")),
        sa.ForeignKeyConstraint(["fit_id"], ["rating_fits.id"], name=op.f("fk_ratings_fit_id")),
        sa.ForeignKeyConstraint(["version_id"], ["model_versions.id"], name=op.f("fk_ratings_version_id")),
        sa.PrimaryKeyConstraint("fit_id", "version_id", name=op.f("pk_ratings")),
    )
    op.create_index(op.f("ix_ratings_version_id_fit_id"), "ratings", ["version_id", "fit_id"])


def _create_matches() -> None:
    op.create_table(
        "matches",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("stream", sa.Text(), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("tournament_id", sa.Uuid(), nullable=True),
        sa.Column("gate_id", sa.Uuid(), nullable=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("player_id", sa.Uuid(), nullable=False),
        sa.Column("version_id", sa.Uuid(), nullable=False),
        sa.Column("opponent_id", sa.Uuid(), nullable=False),
        sa.Column("opponent_version_id", sa.Uuid(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("moves", sa.ARRAY(sa.Integer()), nullable=False),
        sa.Column("plies", sa.Integer(), sa.Computed("cardinality(moves)", persisted=True), nullable=False),
        sa.Column("opening", postgresql.JSONB(), nullable=True),
        sa.Column("played_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("result IN ('win', 'draw', 'loss')", name=op.f("ck_matches_result")),
        sa.CheckConstraint(
            "stream = CASE WHEN gate_id IS NULL THEN 'rating' ELSE 'gating' END",
            name=op.f("ck_matches_stream_of_occasion"),
        ),
        sa.CheckConstraint("stream IN ('training', 'gating', 'rating')", name=op.f("ck_matches_stream")),
        sa.CheckConstraint("num_nonnulls(tournament_id, gate_id) = 1", name=op.f("ck_matches_one_occasion")),
        sa.CheckConstraint("round >= 0 AND pair >= 0 AND seat >= 0", name=op.f("ck_matches_key")),
        sa.CheckConstraint("version_id <> opponent_version_id", name=op.f("ck_matches_opponents_differ")),
        sa.ForeignKeyConstraint(
            ["gate_id", "round"], ["gate_batches.gate_id", "gate_batches.number"], name=op.f("fk_matches_gate_id_round")
        ),
        sa.ForeignKeyConstraint(["gate_id"], ["gates.id"], name=op.f("fk_matches_gate_id")),
        sa.ForeignKeyConstraint(
            ["opponent_id", "opponent_version_id"],
            ["model_versions.player_id", "model_versions.id"],
            name=op.f("fk_matches_opponent_id_opponent_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["player_id", "version_id"],
            ["model_versions.player_id", "model_versions.id"],
            name=op.f("fk_matches_player_id_version_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id", "round", "pair"],
            ["pairings.tournament_id", "pairings.round", "pairings.pair"],
            name=op.f("fk_matches_tournament_id_round_pair"),
        ),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_matches_tournament_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_matches_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
    )
    op.create_index(op.f("ix_matches_opponent_id_id"), "matches", ["opponent_id", "id"])
    op.create_index(op.f("ix_matches_opponent_version_id_id"), "matches", ["opponent_version_id", "id"])
    op.create_index(op.f("ix_matches_player_id_id"), "matches", ["player_id", "id"])
    op.create_index(op.f("ix_matches_player_id_opponent_id_id"), "matches", ["player_id", "opponent_id", "id"])
    op.create_index(op.f("ix_matches_trial_id_id"), "matches", ["trial_id", "id"])
    op.create_index(op.f("ix_matches_trial_id_stream_id"), "matches", ["trial_id", "stream", "id"])
    op.create_index(op.f("ix_matches_version_id_id"), "matches", ["version_id", "id"])
    op.create_index(
        "uq_matches_gate_key",
        "matches",
        ["gate_id", "round", "pair", "seat", "seed"],
        unique=True,
        postgresql_where=sa.text("gate_id IS NOT NULL"),
    )
    op.create_index(
        "uq_matches_tournament_key",
        "matches",
        ["tournament_id", "round", "pair", "seat", "seed"],
        unique=True,
        postgresql_where=sa.text("tournament_id IS NOT NULL"),
    )
