"""Finds address and token of the API where the caller gives none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lanista.client.errors import TokenWithheld, Unreachable
from lanista.given_settings import DEFAULT_HOME, any_given


@dataclass(frozen=True)
class ApiAddress:
    """An address and the token for it."""

    url: str
    token: str | None = field(repr=False)
    owner: Callable[[], object] | None = field(default=None, repr=False, compare=False)
    """For the local stack: finds the process that must own the address; raises StackError. See `own_process`."""


Allow = Callable[[str], bool]
"""Whether a token may be sent to the address that a folder's lanista.toml names."""


def find_api(
    url: str | ApiAddress | None = None,
    token: str | None = None,
    home: Path | None = None,
    allow: Allow = lambda url: False,
) -> ApiAddress:
    """The given address and token, else LANISTA_URL with LANISTA_TOKEN, else the local stack with its admin token.

    `home` is the data folder of a local stack; it takes precedence over LANISTA_URL.

    The local stack's admin token is sent to the local stack only, and any token to it only while its own process
    listens there. An address of a lanista.toml in the working folder gets a token that is not from this file only if
    `allow` says so: else TokenWithheld is raised.
    """
    if isinstance(url, ApiAddress):
        return url
    if url:
        return ApiAddress(url, token or _settings_token())
    named = _settings_url()
    if named and home is None:
        given = token or os.environ.get("LANISTA_TOKEN")
        if given and _is_of_the_folder("LANISTA_URL") and not allow(named):
            raise TokenWithheld(named)
        return ApiAddress(named, token or _settings_token())
    from lanista.stack.api_process import api_process
    from lanista.stack.errors import StackError
    from lanista.stack.home import Home
    from lanista.stack.reach import reach

    folder = Home(home or _settings_home())
    try:
        local = reach(folder)["LANISTA_URL"]
    except StackError as error:
        raise Unreachable(str(error)) from None
    if chosen := token or _settings_token():
        return ApiAddress(local, chosen, partial(api_process, folder, local))
    try:
        own = folder.own_token()
    except StackError as error:
        raise Unreachable(str(error)) from None
    return ApiAddress(local, own.text, partial(api_process, folder, local, token_owner=own.owner))


def _is_of_the_folder(variable: str) -> bool:
    """Whether a setting comes from a lanista.toml that happens to be in the working folder: others may have put it."""
    return not os.environ.get(variable) and "LANISTA_CONFIG" not in os.environ


def _settings_url() -> str:
    if not any_given():
        return ""
    from lanista.settings import ClientSettings

    return ClientSettings.load().url


def _settings_home() -> Path:
    if not any_given():
        return DEFAULT_HOME
    from lanista.settings import StackSettings

    return StackSettings.load().home


def _settings_token() -> str | None:
    if not any_given():
        return None
    from lanista.settings import ClientSettings

    token = ClientSettings.load().token
    return None if token is None else token.get_secret_value()
