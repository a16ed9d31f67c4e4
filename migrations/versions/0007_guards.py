"""Triggers: append-only tables, events in commit order with notifications, aliases of one project and game."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

APPEND_ONLY = (
    "commits",
    "model_versions",
    "alias_events",
    "decisions",
    "generations",
    "tallies",
    "return_tallies",
    "metrics",
    "gate_batches",
    "matches",
    "rating_fits",
    "ratings",
    "events",
    "audit_log",
)

REFUSE_CHANGE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$
"""

# A reader that follows the table by id must never see a higher id before a lower one. Ids are drawn after this
# trigger has the lock, and the lock is held until the writer's transaction ends.
SERIALISE_EVENTS = """
CREATE FUNCTION serialise_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(113628506914818);
    RETURN NULL;
END $$
"""

ANNOUNCE_EVENTS = """
CREATE FUNCTION announce_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    newest bigint;
BEGIN
    SELECT max(id) INTO newest FROM added;
    IF newest IS NOT NULL THEN
        PERFORM pg_notify('lanista_events', newest::text);
    END IF;
    RETURN NULL;
END $$
"""

CHECK_ALIAS = """
CREATE FUNCTION check_alias() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM model_versions JOIN trials ON trials.id = model_versions.trial_id
        WHERE model_versions.id = NEW.version_id
          AND trials.project_id = NEW.project_id AND trials.game = NEW.game
    ) THEN
        RAISE EXCEPTION 'alias %: version % is not of this project and game', NEW.name, NEW.version_id
            USING ERRCODE = 'check_violation', TABLE = 'aliases', CONSTRAINT = 'ck_aliases_version_fits';
    END IF;
    RETURN NEW;
END $$
"""


def upgrade() -> None:
    for function in (REFUSE_CHANGE, SERIALISE_EVENTS, ANNOUNCE_EVENTS, CHECK_ALIAS):
        op.execute(function)
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(
        "CREATE TRIGGER serialise BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION serialise_events()"
    )
    op.execute(
        "CREATE TRIGGER announce AFTER INSERT ON events REFERENCING NEW TABLE AS added "
        "FOR EACH STATEMENT EXECUTE FUNCTION announce_events()"
    )
    op.execute(
        "CREATE TRIGGER version_fits BEFORE INSERT OR UPDATE ON aliases FOR EACH ROW EXECUTE FUNCTION check_alias()"
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER version_fits ON aliases")
    op.execute("DROP TRIGGER announce ON events")
    op.execute("DROP TRIGGER serialise ON events")
    for table in APPEND_ONLY:
        op.execute(f"DROP TRIGGER append_only ON {table}")
    for function in ("check_alias", "announce_events", "serialise_events", "refuse_change"):
        op.execute(f"DROP FUNCTION {function}()")
