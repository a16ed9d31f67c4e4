"""Events, tokens, idempotency keys and the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_api_tokens()
    _create_audit_log()
    _create_idempotency_keys()
    _create_events()


def downgrade() -> None:
    op.drop_table("events")
    op.drop_table("idempotency_keys")
    op.drop_table("audit_log")
    op.drop_table("api_tokens")


def _create_api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_sha256", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("btrim(name) <> ''", name=op.f("ck_api_tokens_name_not_blank")),
        sa.CheckConstraint("scope IN ('viewer', 'operator', 'admin')", name=op.f("ck_api_tokens_scope")),
        sa.CheckConstraint("token_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_api_tokens_token_sha256")),
        sa.CheckConstraint("expires_at > created_at", name=op.f("ck_api_tokens_expires_later")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_api_tokens_token_sha256")),
    )


def _create_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("token_id", sa.Uuid(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("detail", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("remote_address", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(action) <> ''", name=op.f("ck_audit_log_action_not_blank")),
        sa.CheckConstraint("btrim(actor) <> ''", name=op.f("ck_audit_log_actor_not_blank")),
        sa.ForeignKeyConstraint(["token_id"], ["api_tokens.id"], name=op.f("fk_audit_log_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_target_id"), "audit_log", ["target", "id"])
    op.create_index(op.f("ix_audit_log_token_id_id"), "audit_log", ["token_id", "id"])


def _create_idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("token_id", sa.Uuid(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_sha256", sa.Text(), nullable=False),
        sa.Column("status_code", sa.SmallInteger(), nullable=True),
        sa.Column("headers", postgresql.JSONB(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("method IN ('POST', 'PUT', 'PATCH', 'DELETE')", name=op.f("ck_idempotency_keys_method")),
        sa.CheckConstraint("request_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_idempotency_keys_request_sha256")),
        sa.CheckConstraint("length(key) BETWEEN 1 AND 255", name=op.f("ck_idempotency_keys_key")),
        sa.CheckConstraint(
            "num_nonnulls(status_code, completed_at) IN (0, 2)", name=op.f("ck_idempotency_keys_completed")
        ),
        sa.CheckConstraint("status_code BETWEEN 200 AND 599", name=op.f("ck_idempotency_keys_status_code")),
        sa.ForeignKeyConstraint(["token_id"], ["api_tokens.id"], name=op.f("fk_idempotency_keys_token_id")),
        sa.PrimaryKeyConstraint("token_id", "method", "path", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"])


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("trial_id", sa.Uuid(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("btrim(type) <> ''", name=op.f("ck_events_type_not_blank")),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name=op.f("fk_events_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_trial_id_id"), "events", ["trial_id", "id"])
