"""The scope `code`: admins have it, operators do not gain it."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

CONSTRAINT = "ck_api_tokens_scope"


def upgrade() -> None:
    op.drop_constraint(op.f(CONSTRAINT), "api_tokens", type_="check")
    op.create_check_constraint(op.f(CONSTRAINT), "api_tokens", "scope IN ('viewer', 'operator', 'code', 'admin')")


def downgrade() -> None:
    # without the scope its tokens may do what operators may
    op.execute("UPDATE api_tokens SET scope = 'operator' WHERE scope = 'code'")
    op.drop_constraint(op.f(CONSTRAINT), "api_tokens", type_="check")
    op.create_check_constraint(op.f(CONSTRAINT), "api_tokens", "scope IN ('viewer', 'operator', 'admin')")
