"""Kinds of failure that an activity names and a workflow acts upon; the words are ApplicationError's `type`."""

from __future__ import annotations

from enum import StrEnum


class Failure(StrEnum):
    """Why an attempt failed, as far as it matters for what to do next."""

    BAD_INPUT = "bad_input"
    """It can never work; never retried."""
    CREW_LOST = "crew_lost"
    """A Ray process or node died; retried at once."""
    STALLED = "stalled"
    """Steps stood still for too long; stopped and retried."""
    STORE_FULL = "store_full"
    """No room for a checkpoint; retried with back-off."""
    STORE_UNAVAILABLE = "store_unavailable"
    """Checkpoints can be neither read nor written at the moment; retried with back-off."""
    DAMAGED_CHECKPOINT = "damaged_checkpoint"
    """The learner's or an opponent's checkpoint does not match its hash; rolled back, visibly."""
    GAMES_LOST = "games_lost"
    """The file of games that were played is gone or damaged; they are played again."""
    STOPPED = "stopped"
    """Asked to stop; nothing was stored."""
    NOT_FOUND = "not_found"
    """The row it was asked about does not exist; never retried."""
    WORKER_LOST = "worker_lost"
    """No heartbeat came; the worker died or hung. Named by the workflow, not by an activity."""
    UNKNOWN = "unknown"
    """Anything else; retried with back-off."""
