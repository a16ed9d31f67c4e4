"""Alerts: channels, rules, and the outbox of messages."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

KINDS = "'trial_failed', 'stalled', 'setback', 'new_champion', 'target_reached', 'schedule_result'"


def _time(name: str, *, now: bool = False) -> sa.Column[Any]:
    moment = sa.DateTime(timezone=True)
    return sa.Column(name, moment, server_default=sa.text("now()") if now else None, nullable=not now)


def upgrade() -> None:
    _create_channels()
    _create_rules()
    _create_deliveries()


def _create_channels() -> None:
    op.create_table(
        "alert_channels",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        _time("last_error_at"),
        _time("last_success_at"),
        _time("blocked_until"),
        _time("created_at", now=True),
        sa.CheckConstraint("kind IN ('webhook', 'slack', 'email')", name=op.f("ck_alert_channels_kind")),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_alert_channels_name_not_blank")),
        sa.CheckConstraint("failures >= 0 AND cursor >= 0", name=op.f("ck_alert_channels_counts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_channels")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_channels_name")),
    )


def _channel_key(table: str) -> sa.ForeignKeyConstraint:
    name = op.f(f"fk_{table}_channel_id")
    return sa.ForeignKeyConstraint(["channel_id"], ["alert_channels.id"], name=name, ondelete="CASCADE")


def _create_rules() -> None:
    op.create_table(
        "alert_rules",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("channel_id", sa.Uuid(), nullable=False),
        sa.Column("kinds", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("after_event", sa.BigInteger(), nullable=False),
        _time("created_at", now=True),
        sa.CheckConstraint(f"kinds <@ ARRAY[{KINDS}] AND cardinality(kinds) > 0", name=op.f("ck_alert_rules_kinds")),
        _channel_key("alert_rules"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_alert_rules_project_id")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_alert_rules_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_rules")),
    )
    op.create_index(op.f("ix_alert_rules_channel_id"), "alert_rules", ["channel_id"])


def _create_deliveries() -> None:
    op.create_table(
        "alert_deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("channel_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        _time("next_attempt_at", now=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        _time("created_at", now=True),
        _time("delivered_at"),
        sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name=op.f("ck_alert_deliveries_status")),
        sa.CheckConstraint(f"kind IN ({KINDS}, 'test')", name=op.f("ck_alert_deliveries_kind")),
        sa.CheckConstraint(
            "(status = 'delivered') = (delivered_at IS NOT NULL)", name=op.f("ck_alert_deliveries_delivered")
        ),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_alert_deliveries_counts")),
        _channel_key("alert_deliveries"),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_alert_deliveries_event_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_deliveries")),
        sa.UniqueConstraint("channel_id", "event_id", name=op.f("uq_alert_deliveries_channel_id_event_id")),
    )
    op.create_index(
        "ix_alert_deliveries_due",
        "alert_deliveries",
        ["channel_id", "next_attempt_at", "id"],
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(op.f("ix_alert_deliveries_created_at"), "alert_deliveries", ["created_at"])


def downgrade() -> None:
    for table in ("alert_deliveries", "alert_rules", "alert_channels"):
        op.drop_table(table)
