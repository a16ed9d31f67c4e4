"""Matches whose moves were pruned: their results stay.

Matches stay append-only but for this one change. Their number of moves, which was computed from the moves, is filled in
when a match is recorded, and then kept.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

GUARD_MATCH = """
CREATE FUNCTION guard_match() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    pruned matches := OLD;
BEGIN
    pruned.moves := NULL;
    pruned.moves_pruned_at := now();
    IF OLD.moves_pruned_at IS NOT NULL OR NOT NEW *= pruned THEN
        RAISE EXCEPTION 'matches is append-only: UPDATE refused, except to prune the moves'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$
"""

COUNT_PLIES = """
CREATE FUNCTION count_plies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.plies := cardinality(NEW.moves);
    RETURN NEW;
END $$
"""


def upgrade() -> None:
    op.execute("ALTER TABLE matches ALTER COLUMN plies DROP EXPRESSION")
    op.add_column("matches", sa.Column("moves_pruned_at", sa.DateTime(timezone=True), nullable=True))
    op.alter_column("matches", "moves", nullable=True)
    op.create_check_constraint(
        op.f("ck_matches_moves_or_pruned"), "matches", "(moves IS NULL) = (moves_pruned_at IS NOT NULL)"
    )
    op.create_index(
        "ix_matches_with_moves",
        "matches",
        ["played_at", "id"],
        postgresql_where=sa.text("moves_pruned_at IS NULL AND plies > 0"),
    )
    op.execute(GUARD_MATCH)
    op.execute(COUNT_PLIES)
    op.execute("DROP TRIGGER append_only ON matches")
    op.execute(
        "CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON matches "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    op.execute("CREATE TRIGGER only_pruned BEFORE UPDATE ON matches FOR EACH ROW EXECUTE FUNCTION guard_match()")
    op.execute("CREATE TRIGGER plies_counted BEFORE INSERT ON matches FOR EACH ROW EXECUTE FUNCTION count_plies()")


def downgrade() -> None:
    # fails, and changes nothing, where moves were pruned: there is no way back to them
    op.alter_column("matches", "moves", nullable=False)
    for trigger in ("append_only", "only_pruned", "plies_counted"):
        op.execute(f"DROP TRIGGER {trigger} ON matches")
    for function in ("guard_match", "count_plies"):
        op.execute(f"DROP FUNCTION {function}()")
    op.drop_index("ix_matches_with_moves", "matches")
    op.drop_column("matches", "moves_pruned_at")  # and with it the check
    op.drop_column("matches", "plies")
    op.execute("ALTER TABLE matches ADD plies integer GENERATED ALWAYS AS (cardinality(moves)) STORED NOT NULL")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON matches "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
