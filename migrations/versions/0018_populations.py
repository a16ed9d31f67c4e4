"""Populations: members, decisions to copy, and the commits and versions that copies make."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

COMMITS = ("created", "generation", "snapshot", "reset", "rollback", "import", "roster", "pairing")
ORIGINS = ("initial", "imported", "trained", "snapshot", "reset", "rollback", "fork", "bot")
DECISIONS = ("matchmaking", "snapshot", "promotion", "reset", "rollback")
OF_GENERATION = ("matchmaking", "snapshot", "reset")
LEARNS = "population IS NULL OR role NOT IN ('historical', 'bot')"


def upgrade() -> None:
    op.add_column("players", sa.Column("population", sa.Text(), nullable=True))
    op.create_check_constraint(op.f("ck_players_population"), "players", LEARNS)
    _allow("commits", "kind", (*COMMITS, "copy"))
    _allow("model_versions", "origin", (*ORIGINS, "copy"))
    _allow("decisions", "kind", (*DECISIONS, "population"))
    _key_generations((*OF_GENERATION, "population"))


def downgrade() -> None:
    _key_generations(OF_GENERATION)
    _allow("decisions", "kind", DECISIONS)
    _allow("model_versions", "origin", ORIGINS)
    _allow("commits", "kind", COMMITS)
    op.drop_constraint(op.f("ck_players_population"), "players")
    op.drop_column("players", "population")


def _allow(table: str, column: str, values: tuple[str, ...]) -> None:
    name = op.f(f"ck_{table}_{column}")
    op.drop_constraint(name, table)
    op.create_check_constraint(name, table, f"{column} IN ({_listed(values)})")


def _key_generations(kinds: tuple[str, ...]) -> None:
    """The decisions that a generation has once, which a redelivered activity finds."""
    name = op.f("ck_decisions_of_generation")
    op.drop_constraint(name, "decisions")
    op.create_check_constraint(
        name, "decisions", f"kind NOT IN ({_listed(kinds)}) OR num_nonnulls(player_id, generation) = 2"
    )
    op.drop_index("uq_decisions_generation", "decisions")
    op.create_index(
        "uq_decisions_generation",
        "decisions",
        ["player_id", "generation", "kind", "attempt"],
        unique=True,
        postgresql_where=sa.text(f"kind IN ({_listed(kinds)})"),
    )


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values)
