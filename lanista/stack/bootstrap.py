"""Prepares the database before the workers start: the newest schema and an admin token."""

from __future__ import annotations

from pathlib import Path

from api.schemas.enums import Scope
from api.store.access.tokens import add_token, find_token
from api.store.core.audit_log import add_audit_entry
from api.store.core.engine import create_store_engine, session_factory
from api.store.core.migrate import upgrade
from api.web.auth.tokens import new_token, token_hash
from lanista.stack.home import Home, write_atomically

ADMIN = "local admin"


def bootstrap(database_url: str, home: Home) -> None:
    """Migrate the schema and ensure the admin token. Safe to repeat and to run concurrently."""
    upgrade(database_url)
    ensure_admin_token(database_url, home.admin_token)


def ensure_admin_token(database_url: str, path: Path) -> None:
    """Keep an admin token in a file of mode 0600, and its hash in the database.

    The file is written first: after an interruption the next start finds it and records its hash. A revoked
    token stays revoked.
    """
    if not path.exists():
        write_atomically(path, new_token())
    sha256 = token_hash(path.read_text().strip())
    engine = create_store_engine(database_url, pool_size=1, application="lanista-bootstrap")
    try:
        with session_factory(engine).begin() as session:
            if find_token(session, sha256) is None:
                token = add_token(session, name=ADMIN, scope=Scope.ADMIN, sha256=sha256)
                add_audit_entry(session, actor="lanista up", action="token.create", target=f"token/{token.id}")
    finally:
        engine.dispose()
