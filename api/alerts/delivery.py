"""The alerts of the store worker: fills the outbox from events, and sends what is in it.

Nothing is kept in memory that matters: a process that dies leaves cursors and messages as they were committed, and any
store worker goes on from there.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import structlog

from api.alerts.errors import AlertError
from api.alerts.sending import Sender
from api.settings import StoreSettings
from api.store.alerts.deliveries import (
    claim_message,
    due_channels,
    note_stalled_trials,
    prune_deliveries,
    record_delivered,
    record_failed,
)
from api.store.alerts.outbox import lagging_channels, write_messages
from api.store.core.engine import Sessions
from orchestrator.sealing import KeyRing

log = structlog.get_logger()

PAUSE_SECONDS = 1.0
STALL_CHECK_SECONDS = 30.0
PRUNE_SECONDS = 3600.0
CHANNELS_AT_ONCE = 4
"""A receiver that is slow delays its own channel, and others only where four of them are."""


class AlertDelivery:
    """Runs beside the activities of the store worker."""

    def __init__(self, sessions: Sessions, settings: StoreSettings, sender: Sender | None = None) -> None:
        self._sessions = sessions
        self._settings = settings
        self._sender = sender or Sender(settings, KeyRing.from_settings(settings))
        self._threads = ThreadPoolExecutor(CHANNELS_AT_ONCE, thread_name_prefix="alerts")
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._next_stall_check = self._next_prune = 0.0

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            while True:
                try:
                    await asyncio.to_thread(self.tick)
                except Exception as error:  # the task must outlive an outage of the database
                    log.warning("alerts are tried again", error=type(error).__name__)
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            self.close()

    def close(self) -> None:
        """Start nothing more; an attempt under way ends by itself, or with the process."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def tick(self) -> None:
        """Collect new messages and start to send those that are due."""
        self._keep_house()
        self.collect()
        with self._sessions() as session:
            due = due_channels(session)
        for channel_id in due:
            if self._closing.is_set():
                return
            with self._lock:
                if channel_id in self._busy:
                    continue
                self._busy.add(channel_id)
            self._threads.submit(self._drain, channel_id)

    def collect(self) -> None:
        """Write the messages of every channel that is behind."""
        with self._sessions() as session:
            behind = lagging_channels(session)
        for channel_id in behind:
            try:
                with self._sessions.begin() as session:
                    write_messages(session, channel_id, public_url=self._settings.public_url)
            except Exception as error:  # the other channels get theirs
                log.warning("a channel's alerts are collected again", channel=channel_id, error=type(error).__name__)

    def _drain(self, channel_id: str) -> None:
        try:
            while not self._closing.is_set() and self.send_next(channel_id):
                pass
        except Exception as error:
            log.warning("a channel's alerts are tried again", channel=channel_id, error=type(error).__name__)
        finally:
            with self._lock:
                self._busy.discard(channel_id)

    def send_next(self, channel_id: str) -> bool:
        """Send one message of the channel; False if none is due or the attempt failed."""
        with self._sessions.begin() as session:
            claimed = claim_message(session, channel_id)
        if claimed is None:
            return False
        try:
            note = self._sender.send(claimed)
        except Exception as error:
            # an error that is not ours may quote what was sent, so only its kind is shown
            words = str(error) if isinstance(error, AlertError) else f"the attempt failed: {type(error).__name__}"
            log.info("an alert was not delivered", channel=channel_id, message=claimed.id, problem=words)
            with self._sessions.begin() as session:
                hours = timedelta(hours=self._settings.alert_retry_hours)
                record_failed(session, claimed, words, give_up_after=hours)
            return False
        with self._sessions.begin() as session:
            record_delivered(session, claimed, note)
        return True

    def _keep_house(self) -> None:
        now = time.monotonic()
        if now >= self._next_stall_check:
            self._next_stall_check = now + STALL_CHECK_SECONDS
            with self._sessions.begin() as session:
                note_stalled_trials(session, timedelta(minutes=self._settings.alert_stall_minutes))
        if now >= self._next_prune:
            self._next_prune = now + PRUNE_SECONDS
            with self._sessions.begin() as session:
                prune_deliveries(session, timedelta(days=self._settings.alert_keep_days))
