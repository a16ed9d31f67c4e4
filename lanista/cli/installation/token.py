"""`lanista token`: makes, lists and revokes API tokens directly in the database, so that it needs no token."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from api.schemas.enums import Scope
from lanista.cli.installation.database import explain_connection_errors
from lanista.cli.installation.stack import load_settings
from lanista.cli.options import HomeOption, JsonOption
from lanista.cli.terminal import errors, out, print_json, print_line, uncut_table
from lanista.client.errors import NoSuchName
from lanista.settings import StackSettings
from lanista.stack import control as remote
from lanista.stack.errors import StackError
from lanista.stack.home import Home
from orchestrator.settings import SHORTEST_SECRET
from orchestrator.spec.values import is_id

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from api.store.core.records import Record
    from api.store.tables import ApiToken

token = typer.Typer(help="API tokens: make, list and revoke them.", no_args_is_help=True)

MOST_LISTED = 1_000
BOOTSTRAP_TOKEN = "LANISTA_BOOTSTRAP_TOKEN"  # noqa: S105 the name of the variable


@token.command()
def create(
    name: Annotated[str, typer.Argument(help="What the token is for.")],
    scope: Annotated[Scope, typer.Option(help="What it may do.")] = Scope.VIEWER,
    days: Annotated[float | None, typer.Option(min=0.001, max=3650, help="Days until it expires.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token. It is printed once; only its hash is stored."""
    from api.store.access.tokens import add_token, read_token
    from api.web.auth.tokens import new_token, token_hash

    secret = new_token()
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with _session(load_settings(home=home)) as session:
        row = add_token(session, name=name, scope=scope, sha256=token_hash(secret), expires_at=expires_at)
        _audit(session, "token.create", row)
        record = read_token(session, row.id)
    if as_json:
        print_json({**_shown(record), "token": secret})
        return
    out.print(secret, highlight=False, soft_wrap=True)
    errors.print(
        f"Keep this token: it is not shown again. Use it as LANISTA_TOKEN, or revoke it: lanista token revoke {row.id}"
    )


@token.command()
def bootstrap(
    name: Annotated[str, typer.Option(help="What the token is called.")] = "first admin",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the first admin's token of an installation; where there is one that is valid, do nothing.

    The secret is that of the environment variable LANISTA_BOOTSTRAP_TOKEN, of which only the hash is stored, or else
    a new one that is printed once. Safe to repeat and to run at the start of every deployment.
    """
    from api.store.access.tokens import add_first_admin, read_token
    from api.web.auth.tokens import new_token, token_hash

    given = os.environ.get(BOOTSTRAP_TOKEN, "").strip()
    if given and len(given) < SHORTEST_SECRET:
        raise StackError(f"{BOOTSTRAP_TOKEN} has {len(given)} characters; a token needs at least {SHORTEST_SECRET}.")
    secret = given or new_token()
    with _session(load_settings(home=home)) as session:
        row = add_first_admin(session, name=name, sha256=token_hash(secret))
        if row is None:
            print_line("There is an admin's token already; nothing was changed.")
            return
        _audit(session, "token.bootstrap", row)
        record = read_token(session, row.id)
    if as_json:
        print_json(_shown(record) | ({} if given else {"token": secret}))
        return
    if given:
        print_line(f"The token of {BOOTSTRAP_TOKEN} is now an admin's ({row.id}).")
        return
    out.print(secret, highlight=False, soft_wrap=True)
    errors.print("Keep this admin's token: it is not shown again. Use it as LANISTA_TOKEN.")


@token.command("list")
def list_all(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List tokens, newest first."""
    from api.store.access.tokens import list_tokens

    with _session(load_settings(home=home)) as session:
        rows = [_shown(record) for record in list_tokens(session, after=None, limit=MOST_LISTED)]
    if as_json:
        print_json(rows)
        return
    table = uncut_table("id", "name", "scope", "created", "expires", "last used", "revoked")
    for row in rows:
        table.add_row(*(escape(str(value or "")) for value in row.values()))
    out.print(table)


@token.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token, as `lanista token list` shows it.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token, and end every browser session made from it."""
    from api.store.access.tokens import read_token, revoke_token

    if not is_id(token_id):
        raise NoSuchName(f"{token_id!r} is not the id of a token; `lanista token list` shows them")
    with _session(load_settings(home=home)) as session:
        row = revoke_token(session, token_id)
        _audit(session, "token.revoke", row)
        record = read_token(session, token_id)
    if as_json:
        print_json(_shown(record))
    else:
        print_line(f"Revoked {escape(repr(row.name))} ({row.id}).")


@contextmanager
def _session(settings: StackSettings) -> Iterator[Session]:
    """A transaction on the database from the settings, else on that of the local stack."""
    from api.store.core.engine import create_store_engine, session_factory

    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
    else:
        url = remote.reach(Home(settings.home))["LANISTA_DATABASE_URL"]
    engine = create_store_engine(url, pool_size=1, application="lanista-token")
    try:
        with explain_connection_errors(), session_factory(engine).begin() as session:
            yield session
    finally:
        engine.dispose()


def _audit(session: Session, action: str, row: ApiToken) -> None:
    from api.store.core.audit_log import add_audit_entry

    actor = f"command line: {getpass.getuser()}"
    detail = {"name": row.name, "scope": row.scope}
    add_audit_entry(session, actor=actor, action=action, target=f"token/{row.id}", detail=detail)


def _shown(record: Record) -> dict[str, Any]:
    named = {name: record[name] for name in ("id", "name", "scope")}
    times = ("created_at", "expires_at", "last_used_at", "revoked_at")
    return {**named, **{name: _time(record[name]) for name in times}}


def _time(when: datetime | None) -> str | None:
    return None if when is None else when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
