"""State that was hidden in text and JSON becomes columns.

What a tournament is held for, the gate that opened another, bots that are only measured against, and the hidden trials
that hold a project's shared bots.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

PURPOSES = "'request', 'schedule', 'field_evaluation', 'target_evaluation'"
EVALUATES = (
    "CASE WHEN purpose IN ('field_evaluation', 'target_evaluation') "
    "THEN num_nonnulls(trial_id, player_id, generation) = 3 "
    "ELSE num_nonnulls(player_id, generation) = 0 END"
)

READ_OCCASIONS = (
    "UPDATE tournaments SET purpose = 'schedule' WHERE schedule_id IS NOT NULL",
    # generation:<player>:<generation>
    """
    UPDATE tournaments SET purpose = 'field_evaluation', player_id = split_part(occasion, ':', 2)::uuid,
      generation = split_part(occasion, ':', 3)::integer, occasion = NULL
    WHERE occasion LIKE 'generation:%' AND schedule_id IS NULL
    """,
    # evaluation:<trial>:<player>:<generation>
    """
    UPDATE tournaments SET purpose = 'target_evaluation', player_id = split_part(occasion, ':', 3)::uuid,
      generation = split_part(occasion, ':', 4)::integer, occasion = NULL
    WHERE occasion LIKE 'evaluation:%' AND schedule_id IS NULL
    """,
)
WRITE_OCCASIONS = (
    """
    UPDATE tournaments SET occasion = concat('generation:', player_id, ':', generation)
    WHERE purpose = 'field_evaluation'
    """,
    """
    UPDATE tournaments SET occasion = concat('evaluation:', trial_id, ':', player_id, ':', generation)
    WHERE purpose = 'target_evaluation'
    """,
)

READ_OPENED_AFTER = """
UPDATE gates SET opened_after_id = (settings ->> 'opened_after')::uuid, settings = settings - 'opened_after'
WHERE settings ? 'opened_after'
"""
WRITE_OPENED_AFTER = """
UPDATE gates SET settings = settings || jsonb_build_object('opened_after', opened_after_id)
WHERE opened_after_id IS NOT NULL
"""

READ_RATING_ONLY = """
UPDATE players SET rating_only = true, hyperparameters = hyperparameters - 'rating_only'
WHERE hyperparameters ? 'rating_only' AND role = 'bot'
"""
WRITE_RATING_ONLY = """
UPDATE players SET hyperparameters = hyperparameters || '{"rating_only": true}' WHERE rating_only
"""

# no trial that a person makes can have a name with spaces
READ_KINDS = "UPDATE trials SET kind = 'project_bots' WHERE name = concat('bots of ', game)"


def upgrade() -> None:
    _add_purposes()
    op.add_column("gates", sa.Column("opened_after_id", sa.Uuid(), nullable=True))
    op.execute(READ_OPENED_AFTER)
    op.create_foreign_key(op.f("fk_gates_opened_after_id"), "gates", "gates", ["opened_after_id"], ["id"])
    op.create_check_constraint(op.f("ck_gates_opened_after_another"), "gates", "opened_after_id <> id")
    op.create_index(op.f("ix_gates_opened_after_id"), "gates", ["opened_after_id"])
    op.add_column("players", sa.Column("rating_only", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.execute(READ_RATING_ONLY)
    op.create_check_constraint(op.f("ck_players_rating_only"), "players", "NOT rating_only OR role = 'bot'")
    op.add_column("trials", sa.Column("kind", sa.Text(), server_default="league", nullable=False))
    op.execute(READ_KINDS)
    op.create_check_constraint(op.f("ck_trials_kind"), "trials", "kind IN ('league', 'project_bots')")
    op.create_index(
        "uq_trials_project_bots",
        "trials",
        ["project_id", "game"],
        unique=True,
        postgresql_where=sa.text("kind = 'project_bots'"),
    )


def _add_purposes() -> None:
    op.add_column("tournaments", sa.Column("purpose", sa.Text(), server_default="request", nullable=False))
    op.add_column("tournaments", sa.Column("player_id", sa.Uuid(), nullable=True))
    op.add_column("tournaments", sa.Column("generation", sa.Integer(), nullable=True))
    for statement in READ_OCCASIONS:
        op.execute(statement)
    op.create_foreign_key(
        op.f("fk_tournaments_trial_id_player_id"),
        "tournaments",
        "players",
        ["trial_id", "player_id"],
        ["trial_id", "id"],
    )
    op.create_check_constraint(op.f("ck_tournaments_purpose"), "tournaments", f"purpose IN ({PURPOSES})")
    op.create_check_constraint(op.f("ck_tournaments_generation"), "tournaments", "generation >= 0")
    op.create_check_constraint(op.f("ck_tournaments_evaluates"), "tournaments", EVALUATES)
    op.create_index(
        "uq_tournaments_evaluation",
        "tournaments",
        ["player_id", "generation", "purpose"],
        unique=True,
        postgresql_where=sa.text("player_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_column("trials", "kind")
    op.execute(WRITE_RATING_ONLY)
    op.drop_column("players", "rating_only")
    op.execute(WRITE_OPENED_AFTER)
    op.drop_column("gates", "opened_after_id")
    for statement in WRITE_OCCASIONS:
        op.execute(statement)
    op.drop_column("tournaments", "generation")
    op.drop_column("tournaments", "player_id")
    op.drop_column("tournaments", "purpose")
