"""The API key of the connection; one in a file is read again, so that it can be rotated without a restart."""

from __future__ import annotations

import asyncio
import weakref
from pathlib import Path

import structlog
from temporalio.client import Client

from orchestrator.settings import SettingsError, TemporalSettings

log = structlog.get_logger()

SETTING = "LANISTA_TEMPORAL_API_KEY_FILE"
REREAD_SECONDS = 5.0

_following: set[asyncio.Task[None]] = set()
"""The event loop itself keeps only weak references to tasks."""


def api_key_of(settings: TemporalSettings) -> str | None:
    """The key itself; SettingsError where its file cannot be read or is empty."""
    if settings.temporal_api_key_file is not None:
        return read_key(settings.temporal_api_key_file)
    return settings.temporal_api_key.get_secret_value() if settings.temporal_api_key else None


def read_key(path: Path) -> str:
    """The key in a file, without the white space around it."""
    try:
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{SETTING}={str(path)!r}: cannot be read: {error}") from None
    if not key or not key.isprintable() or " " in key:
        raise SettingsError(f"{SETTING}={str(path)!r}: must hold one API key and nothing else")
    return key


def follow_key_file(client: Client, path: Path) -> None:
    """Give the client, and the workers made from it, each new key of the file for as long as the client is used."""
    task = asyncio.get_running_loop().create_task(_follow(weakref.ref(client), path))
    _following.add(task)
    task.add_done_callback(_following.discard)


async def _follow(client: weakref.ref[Client], path: Path) -> None:
    wrong = ""
    while True:
        await asyncio.sleep(REREAD_SECONDS)
        if (used := client()) is None:
            return
        try:
            key = await asyncio.to_thread(read_key, path)
        except SettingsError as error:  # the key before stays in use, which may still be accepted
            if wrong != str(error):
                wrong = str(error)
                log.error("the API key for Temporal cannot be read again", problem=wrong)
        else:
            wrong = ""
            if key != used.api_key:
                used.api_key = key
                log.info("a new API key is used for Temporal", file=str(path))
        del used
