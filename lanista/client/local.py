"""Finds address and token of the API where the caller gives none."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lanista.client.errors import Unreachable


@dataclass(frozen=True)
class ApiAddress:
    """An address and the token for it."""

    url: str
    token: str | None = field(repr=False)


def find_api(url: str | None = None, token: str | None = None, home: Path | None = None) -> ApiAddress:
    """The given address and token, else LANISTA_URL with LANISTA_TOKEN, else the local stack with its admin token.

    `home` is the data folder of a local stack; it takes precedence over LANISTA_URL.

    The local stack's admin token is sent to the local stack only.
    """
    if url:
        return ApiAddress(url, token or _settings_token())
    from lanista.settings import ClientSettings, StackSettings

    named = ClientSettings.load().url
    if named and home is None:
        return ApiAddress(named, token or _settings_token())
    from lanista.stack.control import reach
    from lanista.stack.errors import StackError
    from lanista.stack.home import Home

    folder = Home(home or StackSettings.load().home)
    try:
        local = reach(folder)["LANISTA_URL"]
    except StackError as error:
        raise Unreachable(str(error)) from None
    return ApiAddress(local, token or _settings_token() or folder.admin_token.read_text().strip())


def _settings_token() -> str | None:
    from lanista.settings import ClientSettings

    token = ClientSettings.load().token
    return None if token is None else token.get_secret_value()
